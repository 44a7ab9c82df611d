# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that others run on machines of theirs have no complaint of shellcheck."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def test_shellcheck_finds_nothing_in_tools_slurm():
    scripts = sorted((TOP / "tools" / "slurm").iterdir())
    assert len(scripts) == 5
    p = subprocess.run(["shellcheck", "-x", *scripts], cwd=TOP, capture_output=True, text=True)
    assert p.returncode == 0, p.stdout + p.stderr
