# SPDX-License-Identifier: GPL-2.0-or-later
"""What "ringside test" makes of guests that report badly: all of them real boots under QEMU, in one run."""
import json
import re

import pytest

import zoo
from conftest import ringside

V1 = "KTAP version 1\n"
DUE = "the report cannot be believed: "


def says(text, status=0, more=""):
    """A command that writes a report, does more, and ends with a status."""
    return {"command": ["sh", "-c", f"printf '%s' '{text}'; {more or ':'}; exit {status}"]}


def runs(script):
    return {"command": ["sh", "-c", script]}


# Name: what is run, the outcome, the verdict, and the whole message.
CASES = {
    "good": (says(V1 + "1..2\nok 1 a\nok 2 b # SKIP none\n"), "pass", "ok", ""),
    "good-but-status": (says(V1 + "1..1\nok 1 a\n", 1), "fail", "not-ok",
                        "it ended with status 1, though none of 1 results failed"),
    "failed": (says(V1 + "1..2\nok 1 a\nnot ok 2 b\n"), "fail", "not-ok", "1 of 2 results failed: b"),
    "nested-failure": (says(V1 + "1..1\n  " + V1 + "  1..2\n  ok 1 x\n  not ok 2 y\nok 1 a\n"),
                       "fail", "not-ok", "1 of 2 results failed: a/y"),
    "cut-short": (says(V1 + "1..3\nok 1 a\n"), "broken", "not-ok",
                  DUE + "the report: 2 of 3 planned results are missing: 2, 3"),
    "cut-in-a-line": (says(V1 + "1..1\nok 1 a"), "broken", "not-ok",
                      DUE + "the report: cut off in the middle of a line"),
    "wrong-plan": (says(V1 + "1..1\nok 1 a\nok 2 b\n"), "broken", "not-ok",
                   DUE + "the report: result 2 of 1 planned"),
    "no-plan": (says(V1 + "ok 1 a\n"), "broken", "not-ok", DUE + "the report: there is no plan"),
    "twice": (says(V1 + "1..2\nok 1 a\nok 1 b\n"), "broken", "not-ok",
              DUE + "the report: result 1 comes twice, and more"),
    "gives-up": (says("TAP version 13\n1..2\nok 1 a\nBail out! no memory\n", 1), "fail", "not-ok",
                 "the tests gave up: no memory"),
    "skips": (says("TAP version 13\n1..0 # SKIP no device\n", 4), "skip", "skipped", "no device"),
    "known": ({**says(V1 + "1..1\nnot ok 1 a\n"), "known": {"reason": "bug 1"}}, "fail", "known",
              "1 of 1 results failed: a"),
    "panic-in-mid-report": (says(V1 + "1..2\nok 1 a\n", 0, "echo c >/proc/sysrq-trigger"), "panic",
                            "not-ok", zoo.PANIC + "sysrq triggered crash"),
    "power-off-in-mid-report": (says(V1 + "1..2\nok 1 a\n", 0, "poweroff -f; sleep 99"),
                                "no-status", "not-ok",
                                re.compile("the guest .* while the command ran and left no status.*")),
    "reboots-again-and-again": ({**runs("reboot -f; sleep 99"), "retries": 2}, "no-status", "not-ok",
                                re.compile("the guest reset itself while the command ran and left no status.*")),
    "expected-panic": ({**runs("echo c >/proc/sysrq-trigger"), "expect": "panic"}, "panic", "ok",
                       zoo.PANIC + "sysrq triggered crash"),
    "panic-that-does-not-come": ({**runs("true"), "expect": "panic"}, "pass", "not-ok",
                                 "pass, expected panic"),
    "warning": ({**runs("/zoo warn"), "fail_on": "warn"}, "oops", "not-ok",
                re.compile("the guest kernel said: WARNING: .* at zoo.c:7 .*")),
    "warning-allowed": ({**runs("/zoo warn"), "fail_on": "warn", "allow": [
        {"pattern": "^WARNING: .* at zoo", "reason": "made"}]}, "pass", "ok", ""),
}


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    where = tmp_path_factory.mktemp("reports")
    tests = [{"name": name, **case[0], "initrds": [str(zoo.initrd(where / "initrd"))]}
             for name, case in CASES.items()]
    (where / "suite.yaml").write_text(json.dumps({"tests": tests}))  # which is YAML, too
    end = ringside("test", "--backend", "qemu", "--jobs", 2, "--out", where / "out",
                   where / "suite.yaml")
    lines = (where / "out/results.ndjson").read_text().splitlines()
    return end, {r["test"]: r for r in map(json.loads, lines[1:])}


def test_all_ran_and_the_run_is_not_green(run):
    end, results = run
    assert end.status == 1, end.err
    assert set(results) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_comes_of_it(run, name):
    _, outcome, verdict, message = CASES[name]
    r = run[1][name]
    assert (r["outcome"], r["verdict"]) == (outcome, verdict), r["message"]
    if isinstance(message, str):
        assert r["message"] == message
    else:
        assert message.fullmatch(r["message"]), r["message"]
    if name == "warning-allowed":
        assert len(r["warnings"]) == 1 and r["warnings"][0].endswith(" (allowed: made)")
