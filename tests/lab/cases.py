# SPDX-License-Identifier: GPL-2.0-or-later
"""Several cases in one boot of the lab: each a piece of shell that leaves out, err and end in a folder."""
import pathlib
import shlex
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 900

SCRIPT = """
cd {top}
for case in {cases}; do
    d={dir}/$case
    mkdir -p $d
    bash $d.sh $d >$d/out 2>$d/err </dev/null
    echo $? >$d/end
done
"""


def run_cases(where, cases):
    """Run {name: shell} in the lab, each with $d as a folder of its own below where."""
    for name, line in cases.items():
        (where / f"{name}.sh").write_text(f"d=$1\n{line}\n")
    script = SCRIPT.format(top=shlex.quote(str(TOP)), cases=" ".join(cases), dir=where)
    p = subprocess.run([TOP / "tools/lab", "--rw", where, "--timeout", str(PATIENCE_S), "--",
                        "bash", "-c", script],
                       capture_output=True, text=True, timeout=PATIENCE_S + 60)
    assert (p.returncode, p.stdout, p.stderr) == (0, "", "")
    return where


class End:
    """What one case left behind."""

    def __init__(self, where):
        self.where = where
        self.status = int((where / "end").read_text())
        self.out = (where / "out").read_bytes()
        self.lines = self.out.decode(errors="replace").splitlines()
        self.err = (where / "err").read_text(errors="replace")

    def file(self, name):
        return (self.where / name).read_text(errors="replace")


def case(name):
    """Which case the test's fixture "end" is of."""
    return pytest.mark.case(name)
