# SPDX-License-Identifier: GPL-2.0-or-later
"""The main job: ringside's own VMM compares two arms in the lab, counting instructions."""
import json
import pathlib
import statistics
import subprocess

import pytest
import record_schema

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 1500
BENCH = "syscall.null,ctxsw.futex.fs,ctxsw.futex.fsgs"


def compare(prefix, results, *words):
    """Run compare, in the lab when the prefix says so; its exit status and its report."""
    done = subprocess.run([*prefix, "compare", *words, "--seed", "1", "--batches", "8",
                           "--results", results, "--json"],
                          cwd=TOP, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE_S)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    return done.returncode, report, {row["name"]: row for row in report["benchmarks"]}


def lab(folder, *words):
    return compare([TOP / "tools/lab", "--icount", "3", "--rw", folder, "--", "ringside"],
                   folder / "r.ndjson", *words)


def boot_values(row):
    return row["arms"]["a"]["boot_values"] + row["arms"]["b"]["boot_values"]


@pytest.fixture(scope="module")
def fsgsbase(tmp_path_factory):
    """nofsgsbase against FSGSBASE: six blocks, the fewest that can give a verdict."""
    folder = tmp_path_factory.mktemp("fsgsbase")
    return *lab(folder, "--a", "base,append=nofsgsbase", "--b", "base", "--bench", BENCH,
                "--blocks", "6"), folder / "r.ndjson"


def test_fsgsbase_is_better_at_context_switches_and_counted_in_instructions(fsgsbase):
    status, report, rows, _ = fsgsbase
    assert status == 0
    assert report["class"] == "icount"
    for name in ("ctxsw.futex.fs", "ctxsw.futex.fsgs", "switch_to.fsgs@ctxsw.futex.fsgs"):
        assert rows[name]["verdict"] == "better", rows[name]
        assert rows[name]["unit"] == "instructions"
        assert -60 < rows[name]["effect"]["value"] < -5
    assert "cycles" not in json.dumps(report)


def test_the_null_system_call_does_not_differ_and_is_the_same_in_every_boot(fsgsbase):
    row = fsgsbase[2]["syscall.null"]
    values = boot_values(row)
    assert row["verdict"] == "equivalent"
    assert len(values) == 24
    assert max(values) - min(values) <= 0.05


def windows(results):
    """Of the batches of every boot."""
    for line in results.read_text().splitlines():
        yield from json.loads(line).get("windows") or []


def test_no_batch_has_an_exit_to_user_space(fsgsbase):
    exits = [w["exits"] for w in windows(fsgsbase[3])]
    assert len(exits) >= 24 * 3 * 8
    assert set(exits) == {0}


def test_every_line_is_as_the_schema_says(fsgsbase):
    assert len(record_schema.check_file(fsgsbase[3])) == 25


def test_our_vmm_and_qemu_count_the_same_null_system_call(fsgsbase, tmp_path):
    _, report, rows = compare([TOP / "build/ringside"], tmp_path / "q.ndjson", "--backend", "qemu",
                              "--icount", "3", "--a", "base,append=nofsgsbase", "--b", "base",
                              "--bench", BENCH, "--blocks", "1")
    assert report["class"] == "icount"
    ours = statistics.median(boot_values(fsgsbase[2]["syscall.null"]))
    theirs = statistics.median(boot_values(rows["syscall.null"]))
    assert abs(ours - theirs) <= 0.005 * theirs
    # docs/lab.md explains the rest: the guest sees KVM's clock in one and not in the other.
    for name in ("ctxsw.futex.fs", "ctxsw.futex.fsgs"):
        ours = statistics.median(fsgsbase[2][name]["arms"]["b"]["boot_values"])
        theirs = statistics.median(rows[name]["arms"]["b"]["boot_values"])
        assert 0 < ours - theirs <= 0.02 * theirs


@pytest.mark.long
def test_an_arm_compared_with_itself_is_neither_better_nor_worse(tmp_path):
    status, _, rows = lab(tmp_path, "--a", "base", "--aa", "--bench", BENCH, "--blocks", "6")
    assert status in (0, 3)
    for row in rows.values():
        assert row["verdict"] in ("equivalent", "inconclusive"), row
