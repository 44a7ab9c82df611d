# SPDX-License-Identifier: GPL-2.0-or-later
"""'--gate' of 'ringside compare' and 'ringside report': its line, its status, its forms."""

import json
import os
import xml.etree.ElementTree as ElementTree

import pytest
from test_compare import FAKE, RINGSIDE, bench  # noqa: F401: a fixture


def last_line(text):
    return " ".join(text[text.rindex("\n\n"):].split())


def test_a_regression_fails_the_gate_and_the_last_line_says_which(bench):
    bench.behave("faster=-3")
    p = bench.compare("--gate", bench="syscall.null")
    assert p.returncode == 1, p.stderr
    assert last_line(p.stdout) == (
        "gate failed: syscall.null worse: B (fast) costs exactly 3.000 more instructions per "
        "call: the same difference in 6 of 6 blocks, 1.345 % of A.")
    assert " p " not in p.stdout and "interval" not in p.stdout.replace("95 % interval", "")


def test_the_same_passes_a_gate_with_the_arms_changed_round(bench):
    bench.behave("faster=3")
    p = bench.compare("--gate", bench="syscall.null")
    assert p.returncode == 0, p.stderr
    assert last_line(p.stdout) == "gate passed: none of 1 row is worse beyond its margin."
    again = bench.run(RINGSIDE, "report", "--gate", bench.results)
    assert (again.returncode, again.stdout) == (0, p.stdout)
    changed = bench.run(RINGSIDE, "report", "--gate=changed", bench.results)
    assert changed.returncode == 1
    assert last_line(changed.stdout).startswith("gate failed: syscall.null better: ")


def test_by_itself_worse_is_not_worse_among_many_rows(bench):
    """Six blocks give a p of 2/64, which five rows make 10/64."""
    bench.behave("faster=-3 noise=0.5")
    p = bench.compare()
    assert p.returncode == 1, p.stderr
    p = bench.run(RINGSIDE, "report", "--gate", bench.results)
    assert p.returncode == 3, p.stderr
    assert "gate inconclusive: " in last_line(p.stdout)
    assert "it takes 8, or fewer rows" in last_line(p.stdout)
    p = bench.run(RINGSIDE, "report", "--gate=inconclusive", bench.results)
    assert p.returncode == 1, p.stderr
    bench.results = str(bench.path / "more.ndjson")
    p = bench.compare("--gate", blocks=8)
    assert p.returncode == 1, p.stderr
    assert "(Holm)." in last_line(p.stdout)


def test_a_guest_that_fails_is_no_pass(bench):
    bench.behave("panic times=%s:1" % (bench.path / "n"))
    p = bench.compare("--gate", bench="syscall.null", blocks=8)
    assert p.returncode == 3, p.stderr
    assert "a guest failed there" in last_line(p.stdout)


def test_guests_that_fail_again_and_again_leave_the_gate_open(bench):
    bench.behave("panic")
    p = bench.compare("--gate", bench="syscall.null")
    assert p.returncode == 3
    assert "gate inconclusive: the boots are too few" in p.stderr
    os.unlink(bench.results)
    assert bench.compare("--gate=inconclusive", bench="syscall.null").returncode == 1


def test_every_form_says_what_the_gate_does(bench):
    bench.behave("faster=-3")
    assert bench.compare("--gate", bench="syscall.null").returncode == 1

    def form(*words):
        p = bench.run(RINGSIDE, "report", "--gate", *words, bench.results)
        assert p.returncode == 1, p.stderr
        assert words[0] == "--html" or "gate failed: " in p.stderr, words
        return p.stdout

    gate = json.loads(form("--json"))["gate"]
    assert (gate["result"], gate["family"], gate["rows"]["failed"]) == ("failed", 1, 1)
    root = ElementTree.fromstring(form("--junit"))
    assert root.find(".//property[@name='gate']").get("value") == gate["text"]
    assert root.find("testsuite").get("failures") == "1"
    assert form("--github").startswith("::error title=gate::gate failed: syscall.null worse: ")
    assert "gate failed: " in form("--markdown")
    assert '<p class="gate">gate failed: ' in form("--html", "-")


def test_a_margin_of_ones_own_is_in_the_plan_and_decides(bench):
    bench.behave("faster=-3")
    p = bench.compare("--gate", "--margin", "3instructions", bench="syscall.null")
    assert p.returncode == 0, p.stderr
    assert "margin   up to 3 instructions is no change" in p.stdout
    assert "equivalent: no change beyond the margin of 3.0 instructions per call: exactly" in \
        " ".join(p.stdout.split())
    assert bench.lines()[0]["groups"][0]["margins"] == [
        {"benchmarks": None, "margin": "3instructions"}]
    again = bench.run(RINGSIDE, "report", "--gate", bench.results)
    assert (again.returncode, again.stdout) == (0, p.stdout)
    bench.results = str(bench.path / "less.ndjson")
    p = bench.compare("--gate", "--margin", "1%", bench="syscall.null")
    assert p.returncode == 1, p.stderr
    assert "margin   up to 1 % of A is no change" in p.stdout


@pytest.mark.parametrize("text, why", [
    ("2seconds", "--margin: expected a margin such as 2cycles"),
    ("2cycles", "a margin of 2 cycles: class icount counts instructions, and one is not the other"),
])
def test_a_margin_that_is_none_or_of_another_unit_is_refused(bench, text, why):
    p = bench.compare("--margin", text)
    assert p.returncode == 2 and why in p.stderr
    assert p.stdout == ""


@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_word_that_is_no_gate_is_refused(bench, command):
    p = bench.run(RINGSIDE, command, "--gate=better", "x")
    assert p.returncode == 2
    assert "--gate: expected one of worse|changed|inconclusive, got 'better'" in p.stderr


def test_a_gate_is_of_a_comparison(bench, tmp_path):
    suite = tmp_path / "r.ndjson"
    suite.write_text('{"schema_version":1,"type":"test-plan"}\n')
    p = bench.run(RINGSIDE, "report", "--gate", str(suite))
    assert p.returncode in (2, 4)
    assert p.stdout == ""


def test_a_gate_is_of_the_comparison_and_not_of_its_pilot(bench):
    bench.behave("faster=-3 noise=0.5")
    p = bench.run(RINGSIDE, "compare", "--a", bench.kernel, "--b", bench.kernel + ",append=fast",
                  "--bench", "syscall.null", "--resolve", "1%", "--seed", "1", "--backend", "qemu",
                  "--icount", "3", "--runner", FAKE, "--results", bench.results, "--gate")
    assert p.returncode == 1, p.stderr
    assert last_line(p.stdout).startswith("gate failed: syscall.null worse: ")
    assert last_line(p.stdout).endswith(" of A. p 0.0312.")
