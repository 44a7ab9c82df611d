# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate and one instruction: the image "planted" has a NOP more in its system call path."""
import json
import subprocess
import time

import pytest
from conftest import PATIENCE_S, RINGSIDE


def gate(results, *arms):
    """Six blocks under QEMU; the exit status and the report."""
    begin = time.monotonic()
    p = subprocess.run([RINGSIDE, "compare", *arms, "--bench", "syscall", "--blocks", "6",
                        "--batches", "5", "--seed", "1", "--backend", "qemu", "--icount", "3",
                        "--gate", "--json", "--results", results],
                       text=True, capture_output=True, stdin=subprocess.DEVNULL,
                       timeout=4 * PATIENCE_S)
    assert p.stdout, p.stderr
    report = json.loads(p.stdout)
    print("%s: %.0f s, %s" % (" ".join(arms), time.monotonic() - begin, report["gate"]["text"]))
    return p.returncode, report


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return gate(tmp_path_factory.mktemp("planted") / "r.ndjson", "--a", "base", "--b", "planted")


def test_one_instruction_more_fails_the_gate_and_its_number_is_exact(planted):
    status, report = planted
    rows = {row["name"]: row for row in report["benchmarks"]}
    null = rows["syscall.null"]
    assert (status, report["gate"]["result"]) == (1, "failed")
    assert (null["verdict"], null["gate"], null["exact"]) == ("worse", "failed", True)
    assert null["effect"]["value"] == pytest.approx(1, abs=1e-9)
    assert null["effect"]["block_differences"] == pytest.approx([1] * 6, abs=1e-9)
    assert (null["p"]["value"], null["effect"]["interval"]["low"]) == (None, None)
    assert report["gate"]["text"].startswith(
        "gate failed: syscall.null worse: B (planted) costs exactly 1.000 more instructions per "
        "call: the same difference in 6 of 6 blocks, ")


def test_each_call_of_a_pair_has_it_and_a_page_fault_has_not(planted):
    """A write and a read are two calls; a fault takes another way in."""
    rows = {row["name"]: row for row in planted[1]["benchmarks"]}
    assert rows["syscall.pipe1"]["effect"]["value"] == pytest.approx(2, abs=0.05)
    assert rows["syscall.fault"]["effect"]["value"] == pytest.approx(0, abs=0.2)
    assert rows["syscall.fault"]["verdict"] == "equivalent"


def test_the_same_image_against_itself_passes(tmp_path):
    status, report = gate(tmp_path / "r.ndjson", "--a", "planted", "--aa")
    assert (status, report["gate"]["result"]) == (0, "passed")
    assert {row["verdict"] for row in report["benchmarks"]} == {"equivalent"}
    null = report["benchmarks"][0]
    assert null["text"] == "no difference: identical in 24 of 24 boots."
