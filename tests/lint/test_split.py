# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/conftest.py: how tools/check splits a suite over two processes."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

SUITE = """
import os, pathlib, time
import pytest

LOG = pathlib.Path(__file__).with_name("log")

def note(what):
    with LOG.open("a") as f:
        f.write(f"{what} {os.getpid()}\\n")

@pytest.fixture(scope="module", autouse=True)
def check():
    pass

@pytest.fixture(scope="module")
def boot():
    note("boot")

@pytest.mark.parametrize("n", range(6))
def test_alone(n):
    note("alone")
    time.sleep(0.2)

@pytest.mark.parametrize("n", range(3))
def test_together(n, boot):
    note("together")
    time.sleep(0.2)

@pytest.mark.long
def test_long():
    note("long")
"""


def run(folder, *words):
    shutil.copy(ROOT / "tests/conftest.py", folder)
    (folder / "test_x.py").write_text(SUITE)
    p = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
                       cwd=folder, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    return [line.split() for line in (folder / "log").read_text().splitlines()]


def test_what_uses_one_boot_stays_together_and_the_rest_is_spread(tmp_path):
    lines = run(tmp_path, "-n", "2", "--dist", "loadgroup")
    (booted,) = [pid for what, pid in lines if what == "boot"]
    assert {pid for what, pid in lines if what == "together"} == {booted}
    assert len({pid for what, pid in lines if what == "alone"}) == 2


def test_what_takes_long_is_started_first(tmp_path):
    whats = [what for what, _ in run(tmp_path, "-p", "no:xdist")]
    assert whats == ["boot"] + 3 * ["together"] + ["long"] + 6 * ["alone"]
