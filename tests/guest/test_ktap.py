# SPDX-License-Identifier: GPL-2.0-or-later
"""The KTAP reader: what it makes of good output, and that it takes nothing else."""
import pytest

from ktap import KtapError, parse

GOOD = """\
KTAP version 1
1..3
  KTAP version 1
  1..2
  # why
  ok 1 one
  ok 2 two # SKIP no such machine
# nopti took 3 ms
ok 1 nopti
# [OK] fine
ok 2 plain
not ok 3 slow # TIMEOUT
"""


def test_a_nested_document_is_read_with_its_notes():
    a, b, c = parse(GOOD)
    assert [path for r in (a, b, c) for path, _ in r.leaves()] == [
        "nopti/one", "nopti/two", "plain", "slow"]
    assert a.notes == ["nopti took 3 ms"]
    one, two = a.children
    assert (one.ok, one.skipped, one.notes) == (True, False, ["why"])
    assert (two.ok, two.skipped, two.reason) == (True, True, "no such machine")
    assert (b.ok, b.notes) == (True, ["[OK] fine"])
    assert (c.ok, c.directive) == (False, "TIMEOUT")


def test_a_document_of_no_tests_is_read():
    assert parse("KTAP version 1\n1..0\n") == []


def edit(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


@pytest.mark.parametrize("text, says", [
    ("", "the output's end: expected 'KTAP version 1'"),
    ("TAP version 13\n1..0\n", "expected 'KTAP version 1'"),
    ("KTAP version 2\n1..0\n", "expected 'KTAP version 1'"),
    ("KTAP version 1\n", "without a plan"),
    ("KTAP version 1\nok 1 a\n", "a result before the plan"),
    ("KTAP version 1\n1..1\n1..1\nok 1 a\n", "a second plan"),
    ("KTAP version 1\n1..2\nok 1 a\n1..2\nok 2 b\n", "a second plan"),
    ("KTAP version 1\n1..1\nok 1 a\nok 2 b\n", "result 2 of 1 planned"),
    ("KTAP version 1\n1..2\nok 1 a\n", "1 results, 2 planned"),
    ("KTAP version 1\n1..2\nok 1 a\nok 1 a\n", "result 1 where 2 is due"),
    ("KTAP version 1\n1..2\nok 2 b\nok 1 a\n", "result 2 where 1 is due"),
    ("KTAP version 1\n1..2\nok 1 a\nok 2 a\n", "two tests are called 'a'"),
    ("KTAP version 1\n1..1\nok 1\n", "without a name"),
    ("KTAP version 1\n1..1\nok 1 a # SKIP\n", "give a reason"),
    ("KTAP version 1\n1..1\nnot ok 1 a # SKIP x\n", "has to be 'ok'"),
    ("KTAP version 1\n1..1\nok 1 a # TIMEOUT\n", "ok and TIMEOUT"),
    ("KTAP version 1\n1..1\nok 1 a # MAYBE\n", "directive MAYBE"),
    ("KTAP version 1\n1..1\nfine 1 a\n", "neither plan"),
    ("KTAP version 1\n1..1\nOops: 0000\nok 1 a\n", "neither plan"),
    ("KTAP version 1\n1..1\nok 1 a\nKTAP version 1\n", "neither plan"),
    ("KTAP version 1\n1..1\nok 1 a", "cut off"),
    ("KTAP version 1\n1..1\n  ok 1 b\nok 1 a\n", "in no nested document"),
    ("KTAP version 1\n  KTAP version 1\n  1..1\n  ok 1 b\n1..1\nok 1 a\n", "before the plan"),
    (edit("  1..2\n", ""), "a result before the plan"),
    (edit("  1..2\n", "  1..3\n"), "2 results, 3 planned"),
    (edit("  ok 1 one\n", ""), "result 2 where 1 is due"),
    (edit("  ok 1 one\n", "  not ok 1 one\n"), "ok, though 'one' inside is not"),
    (edit("ok 1 nopti\n", ""), "result 2 where 1 is due"),
    (edit("  1..2\n  # why\n  ok 1 one\n  ok 2 two # SKIP no such machine\n", "  1..0\n"),
     "its document has no results"),
    (edit("# nopti took 3 ms\n", "  KTAP version 1\n  1..0\n"), "neither plan"),
    (GOOD.split("# nopti")[0], "a nested document without a result"),
    (GOOD.split("not ok 3")[0], "2 results, 3 planned"),
])
def test_what_is_no_ktap_is_refused(text, says):
    with pytest.raises(KtapError) as e:
        parse(text)
    assert says in str(e.value)
