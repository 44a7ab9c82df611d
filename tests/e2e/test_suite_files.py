# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites that are shipped or shown in the manual: read, listed, printed and read again. No boot."""
import re

import pytest
from conftest import TOP, ringside

SHIPPED = sorted((TOP / "bench" / "suites").glob("*.yaml"))


def listed(path, *words):
    end = ringside("test", "--list", *words, path)
    assert (end.status, end.err) == (0, ""), end.err
    return end.out.decode().splitlines()


def manual_example():
    """The suite in ringside-suite(5), without what scdoc needs."""
    text = (TOP / "man" / "ringside-suite.5.scd").read_text()
    example = text.split("# EXAMPLE\n\n")[1].split("\n\n")[0]
    lines = [re.sub(r"\+\+$", "", line).removeprefix("\t") for line in example.splitlines()]
    return "\n".join(lines).replace("\\", "") + "\n"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_suite_is_printed_as_one_of_the_same_cases(path, tmp_path):
    cases = listed(path)
    assert len(cases) == len(set(cases)) > 0
    end = ringside("test", "--print-suite", path)
    assert end.status == 0, end.err
    (tmp_path / "printed.yaml").write_bytes(end.out)
    assert listed(tmp_path / "printed.yaml") == cases
    assert ringside("test", "--print-suite", tmp_path / "printed.yaml").out == end.out


def test_there_is_a_shipped_suite():
    assert SHIPPED


def test_the_manuals_example_is_a_suite_and_its_filter_takes_what_it_says(tmp_path):
    programs = tmp_path / "selftests" / "x86"
    programs.mkdir(parents=True)
    (programs / "ptrace_syscall_64").touch()
    suite = tmp_path / "smoke.yaml"
    suite.write_text(manual_example())
    # 3 tests on 2 kernels, 2 numbers of vCPUs and 2 command lines, less one kernel's one of those.
    assert len(listed(suite)) == 3 * (2 * 2 * 2 - 2)
    manual = (TOP / "man" / "ringside-suite.5.scd").read_text()
    expression = re.search(r"\*ringside test --filter '([^']*)'", manual)[1]
    taken = listed(suite, "--filter", expression)
    assert len(taken) == 2 * 3
    assert all(re.match(r"(uname|ptrace)\[.*cpus=4", case) for case in taken), taken


def test_shards_are_all_cases_and_one_seed_is_one_order(tmp_path):
    path = SHIPPED[0]
    cases = listed(path)
    shards = [listed(path, "--shard", f"{i}/3", "--shuffle", i) for i in (1, 2, 3)]
    assert sorted(sum(shards, [])) == sorted(cases)
    once, again = (listed(path, "--shuffle", 7) for _ in range(2))
    assert once == again and once != cases and sorted(once) == sorted(cases)


@pytest.mark.parametrize("words, error", [
    (["--filter", "cpus>=x"], "filter, column 7: 'cpus': expected a whole number, got 'x'"),
    (["--filter", "smok"], "filter, column 1: there is no test and no case 'smok'; the tests are: "),
])
def test_a_filter_that_is_wrong_is_refused(words, error):
    end = ringside("test", "--list", *words, SHIPPED[0])
    assert end.status == 2 and end.out == b""
    assert error in end.err and end.err.count("\n") == 1


def test_a_mistake_in_a_suite_is_named_with_its_place(tmp_path):
    suite = tmp_path / "bad.yaml"
    suite.write_text("tests:\n  - name: a\n    comand: [x]\n")
    end = ringside("test", suite)
    assert end.status == 2 and end.out == b""
    assert f"{suite}:3:5: test: 'comand' is no key of it; its keys are: name, matrix, " in end.err
