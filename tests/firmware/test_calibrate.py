# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside calibrate as a program, on this machine's own KVM: what it says, and that it says it again."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import record_schema

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
PATIENCE_S = 240
REPEATABLE = 0.05
# What the exits take is the host kernel's doing and this VMM's, and moves with the machine's load.
EXITS = {"exit.port", "exit.mmio"}
# A clock that ticks in steps cannot tell less than this of what takes a fraction of a tick.
STEP_TICKS = 0.02
FLOORS = ["fsgsbase.fs", "fsgsbase.fsgs", "uaccess.get", "uaccess.put", "nopti.syscall"]


def calibrate(*options, patience=PATIENCE_S):
    return subprocess.run([BUILD / "ringside", "calibrate", *options], capture_output=True, text=True,
                          check=False, timeout=patience)


@pytest.fixture(scope="module", name="measured")
def measured_fixture():
    """Two whole calibrations, one after the other."""
    runs = []
    for _ in range(2):
        end = calibrate("--json")
        if end.returncode == 4:
            pytest.skip(end.stderr.strip())
        assert end.returncode == 0, end.stderr
        runs.append(json.loads(end.stdout))
    return runs


def by_name(run):
    return {p["name"]: p for p in run["primitives"]}


def native(run):
    found = {n: p for n, p in by_name(run).items() if p["native"] and p["median"] is not None}
    if not found:
        pytest.skip(f"class {run['class']}: nothing runs natively here")
    return found


def medians(run):
    """Of each primitive that runs natively, in ticks and in core cycles."""
    return {n: (p["median"], p["core_cycles"]["median"]) for n, p in native(run).items() if n not in EXITS}


def agree(a, b):
    return all(abs(y - x) <= max(REPEATABLE * x, STEP_TICKS) for x, y in zip(a, b))


def test_what_runs_natively_is_repeatable_within_5_percent(measured):
    """Other programs may spoil a whole calibration: of at most four, two have to agree on each primitive."""
    runs = [medians(run) for run in measured]
    assert runs[0].keys() == runs[1].keys() >= {"lfence", "load.masked", "load.fenced"}
    left = {n for n in runs[0] if not agree(runs[0][n], runs[1][n])}
    while left and len(runs) < 4:
        runs.append(medians(json.loads(calibrate("--json").stdout)))
        left = {n for n in left if not any(agree(run[n], runs[-1][n]) for run in runs[:-1])}
    assert not left, {n: [run[n] for run in runs] for n in left}


def test_native_numbers_come_with_an_interval_of_95_percent(measured):
    for name, p in native(measured[0]).items():
        assert p["unit"].startswith("cycles"), name
        assert p["low"] <= p["median"] <= p["high"], name
        assert p["level"] >= 0.95 and p["n"] >= 6, name
        assert p["batches"] > p["dirty"] >= 0, name


def test_natively_a_fence_costs_and_a_load_behind_one_costs_more_than_a_masked_one(measured):
    p = native(measured[0])
    assert p["lfence"]["low"] > 1
    assert p["load.fenced"]["low"] > p["load.masked"]["high"] > p["load.plain"]["low"] > 1
    floor = next(f for f in measured[0]["floors"] if f["id"] == "uaccess.get")
    assert floor["low"] > 0
    assert floor["unit"] == p["load.fenced"]["unit"]


def test_whatever_has_no_number_has_a_reason(measured):
    run = measured[0]
    assert run["type"] == "calibration" and run["schema_version"] == 1
    assert record_schema.complaints(run) == []
    assert [f["id"] for f in run["floors"]] == FLOORS
    for f in run["floors"]:
        assert f["formula"]
        assert (f["value"] is None) == bool(f["reason"]), f
    for p in run["primitives"]:
        assert (p["median"] is None) == bool(p["reason"]), p
        if run["class"] == "emulated" and p["ring"] == 0:
            assert p["median"] is None and p["reason"] == "ring 0 is interpreted here"


def test_the_text_has_each_primitive_and_floor(measured):
    end = calibrate("--replicates", "1", "--batches", "5")
    assert end.returncode == 0, end.stderr
    lines = [line.split() for line in end.stdout.splitlines() if line.startswith("  ")]
    first_words = [line[0] for line in lines]
    for p in measured[0]["primitives"]:
        assert p["name"] in first_words
    for id_ in FLOORS:
        assert id_ in first_words
    # One replicate has no interval, and none is printed.
    assert "inf" not in end.stdout.split()


def test_without_its_payloads_it_measures_nothing_and_names_what_is_missing(tmp_path, measured):
    del measured
    (tmp_path / "ringside").write_bytes((BUILD / "ringside").read_bytes())
    (tmp_path / "ringside").chmod(0o755)
    (tmp_path / "firmware").mkdir()
    for missing, present in (("ring_timing.elf", "calibrate.elf"), ("calibrate.elf", "ring_timing.elf")):
        (tmp_path / "firmware" / present).write_bytes((BUILD / "firmware" / present).read_bytes())
        (tmp_path / "firmware" / missing).unlink(missing_ok=True)
        end = subprocess.run([tmp_path / "ringside", "calibrate", "--json"], capture_output=True,
                             text=True, check=False, timeout=PATIENCE_S)
        assert end.returncode == 4
        assert f"firmware/{missing} is neither in" in end.stderr
        assert end.stdout == ""


def replicates_running():
    """Processes of this build that are a replicate."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(BUILD / "ringside") \
                    and b"--one" in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


def test_a_signal_ends_it_by_that_signal_and_leaves_no_process(measured):
    del measured
    with subprocess.Popen([BUILD / "ringside", "calibrate", "--replicates", "100"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        time.sleep(1)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=PATIENCE_S)
        assert child.returncode == -signal.SIGTERM
    deadline = time.monotonic() + 60
    while replicates_running():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("words, message", [
    (["now"], "unexpected 'now'"),
    (["--replicates", "0"], "--replicates"),
    (["--replicates", "101"], "--replicates"),
    (["--batches", "4"], "--batches"),
    (["--batches", "121"], "--batches"),
])
def test_a_word_or_number_that_is_none_is_a_usage_error(words, message):
    end = calibrate(*words)
    assert end.returncode == 2
    assert message in end.stderr
    assert end.stdout == ""
