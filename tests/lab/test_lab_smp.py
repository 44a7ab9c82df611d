# SPDX-License-Identifier: GPL-2.0-or-later
"""Several vCPUs under our own VMM: that the guest finds them as they were asked for, and that all work.

tests/guest/smp.c looks from inside, on each CPU. By day 2 and 16 vCPUs; by night 1, 2, 4, 8 and 16, each under the
stress of tests/guest too, which makes tasks that fork, migrate, map and unmap, signal and are killed.
"""
import json
import os
import re
import sys

import pytest

from cases import TOP, End, case, run_cases

sys.path.insert(0, str(TOP / "tests/guest"))

import boot  # noqa: E402
import ktap  # noqa: E402

ALL = (1, 2, 4, 8, 16)
NIGHT = bool(os.environ.get("RINGSIDE_NIGHTLY"))
STRESS_S = 20
# What a kernel says of CPUs that do not fit together, or do not come.
WRONG_CPUS = re.compile(r"(?i)firmware bug|topology|not respond|do_boot_cpu|mismatch|stuck|disabled local APIC|unsynchronized TSC|"
                        r"Marking TSC unstable")
RUN = """
    ringside run --backend kvm --cpus {n} --initrd $d/../initrd --timeout 400 --fail-on all --append loglevel=7 \
        --console $d/console --json $d/record {options} -- """
CASES = {
    "fewer": """
        ringside run --backend kvm --cpus 3 --append maxcpus=1 --timeout 200 -- true; echo $?
        ringside run --backend kvm --cpus 2 --append nr_cpus=1 --timeout 200 -- true; echo $?""",
}
COUNTS = {f"cpus{n}": RUN.format(n=n, options="--pin 0" if n == 1 else "") + f"/tests/test_smp {n} x2apic"
          for n in ALL}
STRESSED = {f"stress{n}": RUN.format(n=n, options="") + f"/tests/test_stress none {STRESS_S} {n}" for n in ALL}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    where = tmp_path_factory.mktemp("smp")
    files = {"tests": (0o755, None)}
    for name in ("test_smp", "test_stress"):
        files[f"tests/{name}"] = (0o755, (boot.PROGRAMS / name).read_bytes())
    (where / "initrd").write_bytes(boot.newc(files))
    day = {name: COUNTS[name] for name in ("cpus2", "cpus16")}
    return run_cases(where, COUNTS | STRESSED if NIGHT else day | CASES)


def check(end, cpus, program):
    console = end.file("console")
    results = ktap.parse(end.out.decode())
    assert end.status == 0, end.out.decode() + end.err + console[-3000:]
    assert all(r.ok for r in results), end.out.decode()
    assert [line for line in console.splitlines() if boot.WRONG.search(line) or WRONG_CPUS.search(line)] == []
    record = json.loads(end.file("record"))
    assert [line["cpus"] for line in record["guest"] if line["type"] == "agent"] == [cpus]
    assert record["provenance"]["vcpus"] == {"count": cpus, "host": 1, "overcommit": cpus > 1,
                                             "pin": [0] if cpus == 1 and program == "smp" else None}
    return results, console


def check_smp(end, cpus):
    results, console = check(end, cpus, "smp")
    skipped = {r.name for r in results if r.skipped}
    assert skipped == ({"a page taken away is gone on every CPU"} if cpus == 1 else set())
    assert len(results) == 7
    assert re.search(rf"CPU topo: Num\. cores per package: +{cpus}\n", console)
    assert re.search(r"CPU topo: Max\. threads per core: +1\n", console)
    assert re.search(r"CPU topo: Max\. logical packages: +1\n", console)
    assert ("x86: Booting SMP configuration" in console) == (cpus > 1)


@case("cpus2")
def test_two_vcpus_are_two_cores_of_one_socket_and_both_work(end):
    check_smp(end, 2)


@case("cpus16")
def test_sixteen_vcpus_are_sixteen_cores_of_one_socket_and_all_work(end):
    check_smp(end, 16)


@case("fewer")
def test_a_guest_that_leaves_vcpus_out_has_not_booted(end):
    assert end.lines == ["242", "242"]
    assert "ringside: error: the guest brought up 1 of 3 vCPUs\n" in end.err
    assert "ringside: error: the guest brought up 1 of 2 vCPUs\n" in end.err


@pytest.mark.nightly
@pytest.mark.parametrize("cpus", ALL)
def test_each_number_of_vcpus_is_found_as_asked_and_all_work(ends, cpus):
    check_smp(End(ends / f"cpus{cpus}"), cpus)


@pytest.mark.nightly
@pytest.mark.parametrize("cpus", ALL)
def test_each_number_of_vcpus_stands_the_stress(ends, cpus):
    check(End(ends / f"stress{cpus}"), cpus, "stress")
