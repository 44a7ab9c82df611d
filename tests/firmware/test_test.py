# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside test with payloads in our own machines, on this KVM: outcomes, and that nothing is left of any."""
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import time

import pytest

from test_machine import BUILD, PATIENCE_S, kvm_trouble

TIMES = 20
HEAD = "matrix: {memory: [16M]}\n"


@pytest.fixture(scope="module", autouse=True)
def kvm():
    trouble = kvm_trouble()
    if trouble:
        pytest.skip(trouble)


def suite(tmp_path, *tests):
    path = tmp_path / "suite.yaml"
    path.write_text(HEAD + "tests:\n" + "".join(
        f"- {{name: {name}, firmware: {BUILD}/firmware/{payload}.elf, {more}}}\n" for name, payload, more in tests))
    return path


def start(tmp_path, path, *options):
    return subprocess.Popen([BUILD / "ringside", "test", "--out", tmp_path / "out", *options, path],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def results(tmp_path):
    lines = (tmp_path / "out" / "results.ndjson").read_text().split("\n")
    return [json.loads(line) for line in lines[:-1]][1:]


def machines(tmp_path):
    """Processes of the run's cases, whatever program they are by now."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"TMPDIR={tmp_path}/out/".encode() in environ and state != "Z":
            found.append(int(pid))
    return found


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_payloads_pass_fail_and_time_out(tmp_path):
    path = suite(tmp_path, ("passes", "exit", ""), ("fails", "report_selftest", ""),
                 ("hangs", "echo", "timeouts: {whole: 700ms}"))
    p = start(tmp_path, path)
    _, err = p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 1, err
    got = {r["id"]: (r["outcome"], r["verdict"], r["backend"]) for r in results(tmp_path)}
    assert got == {"passes": ("pass", "ok", "kvm"), "fails": ("fail", "not-ok", "kvm"),
                   "hangs": ("timeout", "not-ok", "kvm")}
    assert "FAIL: this one fails on purpose" in (tmp_path / "out" / "fails" / "console").read_text()


def test_no_machine_outlives_its_timeout_by_a_second(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "echo", "timeouts: {whole: 300ms}") for i in range(TIMES)))
    p = start(tmp_path, path, "--jobs", "2")
    p.communicate(timeout=PATIENCE_S)
    took = [r["duration_ns"] / 1e9 for r in results(tmp_path)]
    assert p.returncode == 1 and len(took) == TIMES, took
    assert {r["outcome"] for r in results(tmp_path)} == {"timeout"}
    # One that has to wait for a processor may be later, as what it is ended by.
    assert statistics.quantiles(took, n=4)[2] < 1.3 and max(took) < 20, took
    assert not machines(tmp_path)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_signal_at_any_moment_leaves_no_machine(tmp_path, sig):
    rng = random.Random(sig)
    for i in range(TIMES):
        here = tmp_path / str(i)
        here.mkdir()
        p = start(here, suite(here, ("a", "exit", ""), ("b", "echo", ""), ("c", "echo", "")), "--jobs", "2")
        wait_for(lambda: machines(here), 30)
        time.sleep(rng.uniform(0, 0.3))
        p.send_signal(sig)
        p.communicate(timeout=PATIENCE_S)
        assert p.returncode in (-sig, 128 + sig)
        wait_for(lambda: not machines(here), 30)
        results(here)


def test_machines_that_are_killed_are_results(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "echo", "") for i in range(TIMES)))
    p = start(tmp_path, path, "--jobs", "2")
    while p.poll() is None:
        for pid in machines(tmp_path):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    p.communicate()
    assert p.returncode == 4
    assert [r["outcome"] for r in results(tmp_path)] == TIMES * ["vmm-fault"]
    assert not machines(tmp_path)
