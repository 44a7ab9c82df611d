# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate under our own VMM: one instruction more in a system call is found, to the digit."""
import json
import pathlib
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 1500


def test_one_instruction_more_in_a_system_call_fails_the_gate(tmp_path):
    begin = time.monotonic()
    done = subprocess.run([TOP / "tools/lab", "--icount", "3", "--rw", tmp_path, "--", "ringside",
                           "compare", "--a", "base", "--b", "planted", "--bench", "syscall.null",
                           "--blocks", "6", "--batches", "5", "--seed", "1", "--gate", "--json",
                           "--results", tmp_path / "r.ndjson"],
                          cwd=TOP, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE_S)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    print("%.0f s, %s" % (time.monotonic() - begin, report["gate"]["text"]))
    row = report["benchmarks"][0]
    assert (report["class"], report["backend"]) == ("icount", "kvm")
    assert (row["verdict"], row["gate"], row["exact"]) == ("worse", "failed", True)
    assert row["effect"]["value"] == pytest.approx(1, abs=1e-9)
    assert report["gate"]["text"].startswith(
        "gate failed: syscall.null worse: B (planted) costs exactly 1.000 more instructions per "
        "call: the same difference in 6 of 6 blocks, ")
