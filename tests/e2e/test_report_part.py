# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside report --bench LIST' and '--group LIST': a part of a comparison, which says that it is one."""
import json
import os
import xml.etree.ElementTree as ElementTree

import pytest
from test_compare import RINGSIDE, Bench, by_name
from test_scenario import Scenario


@pytest.fixture
def bench(tmp_path):
    b = Bench(tmp_path)
    b.behave("faster=25 noise=2")
    assert b.compare().returncode == 0
    return b


def report(bench, *words):
    return bench.run(RINGSIDE, "report", *words, bench.results)


def test_a_part_has_the_numbers_of_the_whole(bench):
    whole = by_name(report(bench, "--json").stdout)
    p = report(bench, "--json", "--bench", "ctxsw.futex.fs,syscall")
    assert p.returncode == 0
    assert p.stderr == "ringside: shown: 3 of 5 rows, --bench ctxsw.futex.fs,syscall; p-values, and the exit " \
                       "status, are of all\n"
    part = by_name(p.stdout)
    assert list(part) == ["syscall.null", "ctxsw.futex.fs", "switch_to.fsgs@ctxsw.futex.fs"]
    assert all(part[name] == whole[name] for name in part)
    assert json.loads(p.stdout)["filtered"].startswith("3 of 5 rows")
    assert "filtered" not in json.loads(report(bench, "--json").stdout)


def test_the_text_says_that_it_is_a_part(bench):
    p = report(bench, "--bench", "switch_to.fsgs")
    text = " ".join(p.stdout.split())
    assert "shown 2 of 5 rows, --bench switch_to.fsgs; p-values, and the exit status, are of all" in text
    assert "syscall.null" not in p.stdout and "switch_to.fsgs@ctxsw.futex.fs" in p.stdout


@pytest.mark.parametrize("form", ["--csv", "--gobench", "--markdown", "--junit", "--github", "--html=-"])
def test_every_form_has_the_part(bench, form):
    p = report(bench, form, "--bench", "ctxsw.futex.fs")
    assert p.returncode == 0 and "shown: 2 of 5 rows" in p.stderr
    assert "ctxsw.futex.fsgs" not in p.stdout and "syscall.null" not in p.stdout
    assert "ctxsw.futex.fs" in p.stdout or form == "--github"


def test_the_exit_status_is_that_of_the_whole(bench):
    bench.results += ".worse"
    bench.behave("faster=-25 noise=2")
    assert bench.compare().returncode == 1
    p = report(bench, "--json", "--bench", "syscall")
    assert p.returncode == json.loads(p.stdout)["exit_status"] == 1
    gate = report(bench, "--gate", "--bench", "syscall")
    assert gate.returncode == report(bench, "--gate").returncode == 3


@pytest.mark.parametrize("form", ["--json", "--csv", "--markdown", "--junit", "--github", "--gobench"])
def test_two_forms_for_stdout_are_refused(bench, form):
    p = report(bench, "--html", "-", form)
    assert (p.returncode, p.stdout) == (2, "")
    assert "--html - and another form are both for stdout" in p.stderr
    bench.results += ".new"
    p = bench.compare("--html", "-", "--json")
    assert p.returncode == 2 and "--html - and --json are both for stdout" in p.stderr


@pytest.mark.parametrize("words, text", [
    (["--bench", "speed"], "--bench: there is no 'speed' in these results"),
    (["--bench", "ctxsw,"], "--bench: there is no '' in these results"),
    (["--group", "one"], "--group: there is no 'one' in these results"),
    (["--arm", "slow"], "--arm: there is no 'slow' in these results"),
    (["--arm", "fast,"], "--arm: there is no '' in these results (a comma inside a name is written '\\,')"),
])
def test_what_is_not_there_is_refused(bench, words, text):
    p = report(bench, *words)
    assert (p.returncode, p.stdout, p.stderr) == (2, "", f"ringside: error: {text}\n")


def test_groups_of_a_scenario(tmp_path):
    s = Scenario(tmp_path)
    whole = s.run(*s.words())
    p = s.run(RINGSIDE, "report", "--group", "two", s.results)
    assert p.returncode == whole.returncode
    assert "three" not in p.stdout and "a switch takes 25 less" not in p.stdout
    both = s.run(RINGSIDE, "report", "--group", "two", "--bench", "ctxsw", s.results)
    assert (both.returncode, both.stdout) == (2, "")
    assert "--bench, --group and --arm together leave no row to show" in both.stderr
    claims = json.loads(s.run(RINGSIDE, "report", "--json", "--bench", "ctxsw.pipe.fs", s.results).stdout)
    assert len(claims["claims"]) == 2 and len(claims["comparisons"]) == 2


@pytest.mark.parametrize("arms, shown", [
    ("fast", ["three fast", "two fast"]), ("same", ["three same"]),
    ("plain", ["three fast", "three same", "two fast"]), ("same,fast", ["three fast", "three same", "two fast"])])
def test_comparisons_of_an_arm(tmp_path, arms, shown):
    s = Scenario(tmp_path)
    whole = s.run(*s.words())
    p = s.run(RINGSIDE, "report", "--json", "--arm", arms, s.results)
    assert p.returncode == whole.returncode
    found = json.loads(p.stdout)
    assert sorted(f"{c['group']} {c['arms']['b']['label']}" for c in found["comparisons"]) == shown
    assert all(f"--arm {arms}" in c["filtered"] for c in found["comparisons"])
    everything = json.loads(s.run(RINGSIDE, "report", "--json", s.results).stdout)
    kept = {(c["group"], c["arms"]["b"]["label"]): c["benchmarks"] for c in everything["comparisons"]}
    assert all(c["benchmarks"] == kept[c["group"], c["arms"]["b"]["label"]] for c in found["comparisons"])
    for form in [], ["--csv"], ["--markdown"], ["--junit"], ["--html", "-"]:
        assert s.run(RINGSIDE, "report", *form, "--arm", arms, s.results).returncode == whole.returncode


def test_a_path_makes_one_name_of_a_junit_class(tmp_path):
    b = Bench(tmp_path)
    other = tmp_path / "k3.x"
    other.write_text("ok")
    assert b.compare(b=os.path.relpath(other)).returncode == 0
    cases = ElementTree.fromstring(report(b, "--junit").stdout).findall(".//testcase")
    for name in {case.get("classname") for case in cases}:
        group, _, arm = name.partition(".")
        assert group == "compare" and arm.endswith("k3_x") and not set(arm) & set("./")


def test_no_path_and_no_label_moves_the_cursor(tmp_path):
    b = Bench(tmp_path)
    p = b.run(RINGSIDE, "report", "/nonexist/\033[31mx\u202ey")
    assert p.returncode == 4 and "/nonexist/?[31mx???y" in p.stderr
    p = b.compare(b=b.kernel + ",append=x\u202ey")
    assert "\u202e" not in p.stdout + p.stderr and "x?y" in p.stdout, p.stderr
