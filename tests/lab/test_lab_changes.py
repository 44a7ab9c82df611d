# SPDX-License-Identifier: GPL-2.0-or-later
"""
A part of bench/suites/changes.yaml under our own VMM: scripts on two vCPUs, unit tests on one, with and without
FSGSBASE and SMAP. tests/e2e/test_changes.py has the whole of it. The kernel's self-tests cannot run whole here: see
SYSENTER in docs/lab.md.
"""
import json
import sys

import pytest

from cases import TOP, End, run_cases

sys.path.insert(0, str(TOP / "tests/support"))
import junit  # noqa: E402

FILTER = "(kernel=all & cpus=2 & scripts) | (kernel=kunit & cpus=1 & kunit)"
CASES = {f"{test}[kernel={kernel},cpu=host{mask},cpus={cpus}]"
         for test, kernel, cpus in (("scripts", "all", 2), ("kunit", "kunit", 1))
         for mask in ("", ",-fsgsbase,-smap")}


@pytest.fixture(scope="session")
def changes(tmp_path_factory):
    where = tmp_path_factory.mktemp("changes")
    run_cases(where, {"run": f"ringside test --backend kvm --jobs 1 --out $d/results --junit $d/junit.xml "
                             f"--filter '{FILTER}' bench/suites/changes.yaml"})
    return End(where / "run")


def test_all_of_it_is_ok_and_ran_under_kvm(changes):
    lines = [json.loads(line) for line in changes.file("results/results.ndjson").splitlines()]
    results = {r["id"]: r for r in lines[1:]}
    assert {i: (r["verdict"], r["backend"]) for i, r in results.items()} == dict.fromkeys(CASES, ("ok", "kvm")), \
        [r["message"] for r in results.values()]
    assert changes.status == 0
    skipped = {s["name"] for r in results.values() for s in r["subs"] if s["verdict"] == "skipped"}
    assert all(name.startswith("example/") for name in skipped), skipped
    junit.check(changes.file("junit.xml"))


def test_the_masks_reach_the_guest(changes):
    for i in CASES:
        if i.startswith("scripts"):
            has = int("-fsgsbase" not in i)
            said = changes.file("results/" + i.replace("[", "-").replace("]", "") + "/stdout")
            assert f"AT_HWCAP2 has FSGSBASE: {has}, expected {has}" in said and f"smap {has}" in said
