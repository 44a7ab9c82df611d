# SPDX-License-Identifier: GPL-2.0-or-later
"""The program's own words, and output that cannot be written."""
import subprocess

import pytest

from conftest import PATIENCE_S, RINGSIDE, ringside


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("doctor",),
                                   ("doctor", "--json")], ids=" ".join)
def test_what_cannot_be_printed_is_no_success(words):
    with open("/dev/full", "wb") as full:
        p = subprocess.run([RINGSIDE, *words], stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.PIPE, timeout=PATIENCE_S)
    assert p.returncode == 4
    assert p.stderr.startswith(b"ringside: error: ") and p.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words, text", [
    (("nonesuch",), "'nonesuch' is no command of ringside; 'ringside --help' lists them"),
    (("--log",), "--log: a value (LEVEL) is missing"),
    (("--log", "x", "run"), "--log: 'x' is no level"),
    (("report",), "the results file is missing"),
    (("report", "--gate=better", "a"), "--gate: expected one of worse|changed|inconclusive"),
], ids=lambda words: " ".join(words) if isinstance(words, tuple) else "")
def test_wrong_words_are_2_in_one_line(words, text):
    end = ringside(*words)
    assert (end.status, end.out) == (2, b"")
    assert text in end.err and end.err.count("\n") == 1


@pytest.mark.parametrize("path, text", [
    ("/nonesuch", "/nonesuch: No such file or directory"),
    ("/", "/: there is no results.ndjson in it"),
    ("/dev/null", "/dev/null: there is no plan in it"),
    ("/dev/zero", "/dev/zero: line 1 is longer than"),
    (__file__, "line 1: not the plan of a comparison"),
])
def test_what_is_no_results_file_is_4_in_one_line(path, text):
    end = ringside("report", path)
    assert (end.status, end.out) == (4, b"")
    assert text in end.err and end.err.count("\n") == 1
