# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside compare' over real boots, counting instructions under QEMU: a block of four."""

import json
import subprocess
import time

import pytest
from conftest import PATIENCE_S, RINGSIDE

WORDS = ["compare", "--a", "base,append=nofsgsbase", "--b", "base", "--bench",
         "syscall.null,ctxsw.futex.fsgs", "--blocks", "1", "--batches", "5", "--seed", "3",
         "--backend", "qemu", "--icount", "3"]


def compare(results, *more):
    return subprocess.run([RINGSIDE, *WORDS, "--results", results, *more], text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=4 * PATIENCE_S)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed comparison: its results file and its report."""
    results = tmp_path_factory.mktemp("whole") / "r.ndjson"
    p = compare(results, "--json")
    # One block decides nothing, whatever the numbers.
    assert p.returncode == 3, p.stderr
    return results, json.loads(p.stdout)


def rows(report):
    return {row["name"]: row for row in report["benchmarks"]}


def test_the_null_system_call_costs_the_same_in_every_boot_of_both_arms(whole):
    row = rows(whole[1])["syscall.null"]
    values = row["arms"]["a"]["boot_values"] + row["arms"]["b"]["boot_values"]
    assert len(values) == 4
    assert max(values) - min(values) <= 0.05
    assert (row["unit"], whole[1]["class"]) == ("instructions", "icount")


def test_fsgsbase_saves_instructions_on_a_switch_and_in_the_kernels_own_count(whole):
    table = rows(whole[1])
    for name in ("ctxsw.futex.fsgs", "switch_to.fsgs@ctxsw.futex.fsgs"):
        assert -60 < table[name]["effect"]["value"] < -5


def test_killed_twice_and_resumed_the_report_is_the_same_to_the_digit(whole, tmp_path):
    results = tmp_path / "r.ndjson"
    for seconds in (3, 15):
        p = subprocess.Popen([RINGSIDE, *WORDS, "--results", results, "--resume"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        p.kill()
        p.wait()
    end = compare(results, "--resume", "--json")
    assert end.returncode == 3, end.stderr
    assert json.loads(end.stdout) == whole[1]


def test_a_pilot_knows_how_long_boots_take_and_that_nothing_varies(tmp_path):
    p = subprocess.run([RINGSIDE, "compare", "--a", "base", "--aa", "--bench", "syscall.null", "--pilot",
                        "2", "--batches", "5", "--seed", "3", "--backend", "qemu", "--icount", "3",
                        "--results", tmp_path / "r.ndjson", "--json"], text=True,
                       capture_output=True, stdin=subprocess.DEVNULL, timeout=4 * PATIENCE_S)
    assert p.returncode == 0, p.stderr
    pilot = json.loads(p.stdout)
    assert (pilot["boots"], pilot["class"]) == (8, "icount")
    assert 0 < pilot["seconds_to_user_space"] < pilot["seconds_a_boot"]
    assert pilot["seconds_a_block"] == pytest.approx(4 * pilot["seconds_a_boot"] / pilot["jobs"])
    assert pilot["benchmarks"][0]["s_d"] <= 0.05


def test_an_arm_compared_with_itself_is_never_taken_for_another(tmp_path):
    """Whole comparisons; tests/unit/test_report_simulated.c has the many that noise needs."""
    p = subprocess.run([RINGSIDE, "compare", "--a", "base", "--aa", "2", "--bench", "syscall.null",
                        "--blocks", "6", "--batches", "3", "--seed", "3", "--backend", "qemu",
                        "--icount", "3", "--results", tmp_path / "r.ndjson", "--json"], text=True,
                       capture_output=True, stdin=subprocess.DEVNULL, timeout=8 * PATIENCE_S)
    assert p.returncode == 0, p.stderr
    report = json.loads(p.stdout)
    assert report["aa"] == [{"benchmark": "syscall.null", "compared": 2, "significant": 0,
                             "rejected": 0, "expected": [0, 1], "largest_effect": pytest.approx(
                                 0, abs=0.05)}]
    assert [c["benchmarks"][0]["verdict"] for c in report["comparisons"]] == ["equivalent"] * 2


SCENARIO = """title: three arms
batches: 5
blocks: 1
groups:
  - name: three
    benches: [syscall.null, ctxsw.futex.fs]
    arms:
      - {name: without, arm: "base,append=nofsgsbase"}
      - {name: with, arm: base}
      - {name: without again, arm: "base,append=nofsgsbase"}
    claims:
      - {text: it saves, hardware: any, source: none, arm: with, bench: ctxsw.futex.fs}
      - {text: a switch is dearer than a call, hardware: any, source: none, arm: without,
         bench: ctxsw.futex.fs, against: syscall.null}
"""


def test_a_scenario_of_three_arms_compares_each_with_the_first(tmp_path):
    """By name of its group and arm; and two arms that are the same come out the same."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    p = subprocess.run([RINGSIDE, "compare", "--scenario", tmp_path / "s.yaml", "--seed", "3",
                        "--backend", "qemu", "--icount", "3", "--no-build", "--json",
                        "--results", tmp_path / "r.ndjson"], text=True, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=6 * PATIENCE_S)
    assert p.returncode == 3, p.stderr
    report = json.loads(p.stdout)
    effects = {c["arms"]["b"]["label"]: rows(c)["ctxsw.futex.fs"]["effect"]["value"]
               for c in report["comparisons"]}
    assert -60 < effects["with"] < -5
    assert abs(effects["without again"]) <= 1
    saves, dearer = (c["measured"] for c in report["claims"])
    assert saves["effect"] == effects["with"]
    assert 1000 < dearer["effect"] < 10000
