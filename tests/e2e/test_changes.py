# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/suites/changes.yaml by one command: all that it holds, and that it neither skips nor hides anything."""
import collections
import json
import re
import shutil
import subprocess
import sys
import time

import pytest

from conftest import BUILD, RINGSIDE, TOP

sys.path.insert(0, str(TOP / "tests/support"))
import junit  # noqa: E402

SUITE = "bench/suites/changes.yaml"
LIMIT_S = 1800
MASKS = ("host", "host,-fsgsbase,-smap")
AXES = [(mask, cpus) for mask in MASKS for cpus in (1, 2)]

# The kernel's own suites of the image, with how many results each has.
KUNIT = {"usercopy": 4, "string": 20, "string_helpers": 3, "list-kunit-test": 39, "hlist": 18, "klist": 8, "hashtable": 9,
         "bitfields": 2, "bits-test": 4, "cpumask": 6, "cmdline": 4, "overflow": 22, "is_signed_type": 1,
         "sysctl_test": 11, "resource": 3, "exec": 1, "binfmt_elf": 1, "compat_binfmt_elf": 1, "example_init": 1,
         "example": 12}
KUNIT_SKIPS = {
    "example/example_skip_test": "SKIP this test should be skipped",
    "example/example_mark_skipped_test": "SKIP this test should be skipped",
    "example/example_params_test/example value 3": "SKIP unsupported param value 3",
    "example/example_params_test/example value 0": "SKIP unsupported param value 0",
}
TWO_CPUS = {"a storm of NMIs from another CPU", "flagged threads on every CPU", "a storm of migrations",
            "unmapping reaches flagged threads on all CPUs"}


def run_suite(out, suite, *more, cwd=TOP):
    begin = time.monotonic()
    p = subprocess.run([RINGSIDE, "test", "--backend", "qemu", "--out", out, *more, suite], cwd=cwd,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    print(f"{suite}: {time.monotonic() - begin:.0f} s")
    return p


class Run:
    def __init__(self, out, process, folder):
        self.status, self.text, self.err = process.returncode, process.stdout, process.stderr
        self.folder, self.out = folder, out
        lines = [json.loads(line) for line in (out / "results.ndjson").read_text().splitlines()]
        self.plan, self.results = lines[0], {r["id"]: r for r in lines[1:]}

    def of(self, test):
        return {i: r for i, r in self.results.items() if r["test"] == test}

    def subs(self, verdict):
        return {(i, s["name"]): s["directive"] for i, r in self.results.items()
                for s in r["subs"] if s["verdict"] == verdict}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    assert BUILD == TOP / "build", "the suite names what is in build/"
    folder = tmp_path_factory.mktemp("changes")
    p = run_suite(folder / "out", SUITE, "--junit", folder / "junit.xml", "--github", folder / "github")
    return Run(folder / "out", p, folder)


def case_id(test, kernel, mask, cpus):
    return f"{test}[kernel={kernel},cpu={mask},cpus={cpus}]"


@pytest.mark.long
def test_all_is_as_expected(run):
    assert run.status == 0, run.text
    assert set(run.results) == set(run.plan["cases"])
    others = {i: r["message"] for i, r in run.results.items() if r["verdict"] not in ("ok", "skipped")}
    # It passes in most boots, and what its test has found is known.
    assert {i.split("[")[0] for i in others} <= {"fsgsbase_old"}, others
    assert all("1 of 1 results failed: fsgsbase_64" in text for text in others.values()), others


def test_three_images_by_two_masks_by_two_counts_of_cpus(run):
    for test in ("scripts", "selftests", "kunit"):
        for kernel in ("base", "all", "kunit"):
            assert {case_id(test, kernel, *axes) for axes in AXES} <= set(run.results), (test, kernel)
    for image in ("uaccess", "nopti"):
        assert {case_id("scripts", image, *axes) for axes in AXES} <= set(run.results)


def test_nothing_is_skipped_but_with_these_reasons(run):
    skipped = {i: r["message"] for i, r in run.results.items() if r["verdict"] == "skipped"}
    assert skipped == {
        **{case_id("kunit", kernel, *axes): f"config=KUNIT: kernel {kernel} has it not"
           for kernel in ("base", "all") for axes in AXES},
        **{case_id("nopti", "base", *axes): "config=RINGSIDE_NOPTI: kernel base has it not" for axes in AXES}}
    expected = {(case_id("scripts", kernel, *axes), "nopti_option"): "SKIP exit status 32"
                for kernel in ("base", "uaccess") for axes in AXES}
    for mask, cpus in AXES:
        nopti = case_id("nopti", "all", mask, cpus)
        expected[nopti, "ENODEV with page table isolation off"] = "SKIP page table isolation is on"
        if cpus == 1:
            expected |= {(nopti, name): "SKIP this needs two CPUs" for name in TWO_CPUS}
        expected |= {(case_id("kunit", "kunit", mask, cpus), name): why for name, why in KUNIT_SKIPS.items()}
    assert run.subs("skipped") == expected
    assert run.subs("known").keys() <= {(i, "fsgsbase_64") for i in run.of("fsgsbase_old")}


def test_the_masks_reach_the_guest(run):
    for i, r in run.of("scripts").items():
        has = int("-fsgsbase" not in i)
        said = (run.out / r["dir"] / "stdout").read_text()
        assert f"AT_HWCAP2 has FSGSBASE: {has}, expected {has}" in said and f"smap {has}" in said
    for r in run.of("without").values():
        assert "AT_HWCAP2 has FSGSBASE: 0, expected 0" in (run.out / r["dir"] / "stdout").read_text()


def test_every_self_test_and_script_has_a_result_in_every_boot(run):
    names = {p.name for p in (TOP / "bench/suites/changes").iterdir()}
    assert len(names) >= 6
    for r in run.of("scripts").values():
        assert {s["name"] for s in r["subs"]} == names
    for r in run.of("selftests").values():
        assert len({s["name"] for s in r["subs"]}) == len(r["subs"]) == 36


def test_the_kernels_unit_tests_run_by_number(run):
    boots = [r for r in run.of("kunit").values() if r["verdict"] == "ok"]
    assert len(boots) == len(AXES)
    for r in boots:
        assert collections.Counter(s["name"].split("/")[0] for s in r["subs"]) == KUNIT


def test_its_junit_is_valid_and_counts_the_same(run):
    root = junit.check((run.folder / "junit.xml").read_bytes())
    assert len(root) == len(run.results)
    assert int(root.get("tests")) == len(run.results) + sum(len(r["subs"]) for r in run.results.values())
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_nothing_of_it_is_annotated_as_an_error(run):
    assert "::error" not in (run.folder / "github").read_text()


def test_an_annotation_of_a_failing_copy_points_to_its_test(tmp_path):
    repo = tmp_path / "repo"
    shutil.copytree(TOP / "bench/suites", repo / "bench/suites")
    (repo / "build").symlink_to(BUILD)
    script = repo / "bench/suites/changes/cpus_online"
    script.write_text("#!/bin/sh\necho one is missing\nexit 1\n")
    p = run_suite(tmp_path / "out", SUITE, "--filter", "scripts & kernel=base & cpus=1 & cpu=host",
                  "--github", tmp_path / "github", "--junit", tmp_path / "junit.xml", cwd=repo)
    assert p.returncode == 1, p.stderr
    (annotation,) = (tmp_path / "github").read_text().splitlines()
    m = re.match(r"::error file=([^,]+),line=(\d+),col=(\d+),title=scripts\[[^:]*::(.*)", annotation)
    assert m and m[1] == SUITE, annotation
    line = (repo / m[1]).read_text().splitlines()[int(m[2]) - 1]
    assert line[int(m[3]) - 1:] == "- name: scripts" or line.strip() == "- name: scripts"
    assert "not ok: cpus_online" in m[4]
    root = junit.check((tmp_path / "junit.xml").read_bytes())
    (failed,) = [case for case in root.iter("testcase") if case.get("name") == "cpus_online"]
    assert "one is missing" in failed.find("failure").text
