# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of "ringside test" share: a suite file, a run of it with a fake or a real program that boots, its results."""
import fcntl
import json
import os
import subprocess
import time
import xml.etree.ElementTree

from conftest import BUILD, RINGSIDE, ringside

FAKE = str(BUILD / "tests" / "fake_boot")


def suite(tmp_path, *tests, head=""):
    """A suite file of these tests, each a name and the rest of its mapping."""
    path = tmp_path / "suite.yaml"
    path.write_text(f"{head}\ntests:\n" + "".join(f"- {{name: {n}, {rest}}}\n" for n, rest in tests))
    return path


def words(tmp_path, *more):
    return ("test", "--backend", "qemu", "--runner", FAKE, "--out", tmp_path / "out", *more)


def run(tmp_path, *more, **kwargs):
    env = {**os.environ, "FAKE_BOOT_LOG": str(tmp_path / "log")}
    return ringside(*words(tmp_path, *more), env=env, **kwargs)


def start(tmp_path, *more, **kwargs):
    env = {**os.environ, "FAKE_BOOT_LOG": str(tmp_path / "log")}
    return subprocess.Popen([RINGSIDE, *map(str, words(tmp_path, *more))], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, **kwargs)


def results(tmp_path):
    """The results, each of which is a whole line."""
    text = (tmp_path / "out" / "results.ndjson").read_text()
    lines = [json.loads(line) for line in text.splitlines() if text.endswith("\n") or line != text.splitlines()[-1]]
    assert not lines or lines[0]["type"] == "test-plan"
    return lines[1:]


def wait_for(what, seconds=120):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)


def begun(tmp_path):
    log = tmp_path / "log"
    return [int(line.split()[1]) for line in log.read_text().splitlines()
            if line.split()[0] in ("begin", "orphan")] if log.exists() else []


def processes_of(tmp_path):
    """Every process, of whatever program, that was started for a case of that run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f, open(f"/proc/{pid}/stat", "rb") as stat:
                if f"TMPDIR={tmp_path}/out/".encode() in f.read() and b") Z " not in stat.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def assert_nothing_is_left(tmp_path):
    """Soon: what nobody ends sleeps for longer than that."""
    wait_for(lambda: not processes_of(tmp_path), 60)
    path = tmp_path / "out" / "results.ndjson"
    if path.exists():
        with open(path, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for name in ("report.xml", "report.json"):
        path = tmp_path / name
        if path.exists() and name.endswith("xml"):
            xml.etree.ElementTree.parse(path)
        elif path.exists():
            json.loads(path.read_text())


def real(tmp_path, *more, **kwargs):
    return ringside("test", "--backend", "qemu", "--out", tmp_path / "out", *more, **kwargs)
