# SPDX-License-Identifier: GPL-2.0-or-later
"""--pin: each vCPU's thread is on the processor that was asked for and on no other, before the guest runs."""
import os
import pathlib
import subprocess

import pytest

from test_machine import BUILD, EOT, PATIENCE_S, kvm, record, run  # noqa: F401 (kvm skips where there is none)
from test_machine_limits import refused

OURS = sorted(os.sched_getaffinity(0))


def affinities(*options, within=None):
    """Where the threads may run while the guest does: {name: processors}."""
    p = subprocess.Popen(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M",
         "--kernel", BUILD / "firmware/echo.elf", *map(str, options)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        preexec_fn=within and (lambda: os.sched_setaffinity(0, within)))
    assert p.stdout.read(6) == b"ready\n"
    found = {(t / "comm").read_text().strip(): os.sched_getaffinity(int(t.name))
             for t in pathlib.Path(f"/proc/{p.pid}/task").iterdir()}
    p.communicate(EOT, timeout=PATIENCE_S)
    assert p.returncode == 0
    return found


def test_without_pin_every_thread_runs_where_the_process_may():
    assert set(map(frozenset, affinities("--cpus", 1).values())) == {frozenset(OURS)}


def test_a_list_puts_each_vcpu_on_its_processor_and_leaves_the_other_threads_alone():
    if len(OURS) < 2:
        pytest.skip("this needs two processors")
    found = affinities("--cpus", 2, "--pin", f"{OURS[1]},{OURS[0]}")
    assert (found["vcpu0"], found["vcpu1"]) == ({OURS[1]}, {OURS[0]})
    assert found["ringside"] == set(OURS)


def test_auto_gives_each_vcpu_a_processor_of_its_own():
    found = affinities("--cpus", len(OURS), "--pin", "auto")
    assert sorted(cpu for i in range(len(OURS)) for cpu in found[f"vcpu{i}"]) == OURS


def test_auto_stays_within_the_processors_that_were_given_to_us():
    assert affinities("--pin", "auto", within={OURS[-1]})["vcpu0"] == {OURS[-1]}


def test_the_record_has_where_each_vcpu_ran_and_whether_they_had_to_share(tmp_path):
    vcpus = record(tmp_path, "exit", "--pin", str(OURS[-1]))["provenance"]["vcpus"]
    assert vcpus == {"count": 1, "pin": [OURS[-1]], "host": len(OURS), "overcommit": False}
    vcpus = record(tmp_path, "exit", "--cpus", str(len(OURS) + 1))["provenance"]["vcpus"]
    assert vcpus == {"count": len(OURS) + 1, "pin": None, "host": len(OURS), "overcommit": True}


def test_what_cannot_be_is_refused():
    n = len(OURS)
    assert refused("--cpus", n + 1, "--pin", "auto") == (
        f"ringside: error: --pin auto: {n + 1} vCPUs, and this process may run on {n} "
        f"processor{'s' * (n != 1)}\n")
    assert refused("--cpus", 2, "--pin", OURS[0]) == (
        f"ringside: error: --pin {OURS[0]}: 1 processor for 2 vCPUs\n")
    assert "there is no processor 1023, or this process may not" in refused("--pin", 1023)
    assert "expected 'auto' or numbers of processors" in refused("--pin", "all")


def test_a_processor_that_was_not_given_to_us_is_refused():
    if len(OURS) < 2:
        pytest.skip("this needs two processors")
    end = subprocess.run(
        ["taskset", "-c", str(OURS[0]), BUILD / "ringside", "run", "--backend", "kvm", "--force",
         "--kernel", BUILD / "firmware/exit.elf", "--pin", str(OURS[1])],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (end.returncode, end.stderr) == (
        249, f"ringside: error: --pin: there is no processor {OURS[1]}, or this process may not run on it\n")


@pytest.mark.parametrize("options", [("--backend", "qemu"), ("--icount", "3")])
def test_only_our_own_machine_can_pin(options):
    end = subprocess.run([BUILD / "ringside", "run", *options, "--pin", "auto", "--", "true"],
                         capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (end.returncode, end.stderr) == (249, "ringside: error: --pin needs --backend kvm\n")
