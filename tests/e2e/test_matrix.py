# SPDX-License-Identifier: GPL-2.0-or-later
"""Each arm of a scenario against each other one."""
import csv
import json

import pytest
from test_scenario import scenario  # noqa: F401: a fixture
from test_scenario import GROUPS, RINGSIDE


def matrix(scenario, *words):
    p = scenario.run(RINGSIDE, "report", "--json", *words, scenario.results)
    return json.loads(p.stdout).get("matrix")


@pytest.fixture
def compared(scenario):
    scenario.behave("faster=25 noise=0.05")
    assert scenario.compare("--calibration", "none", "--blocks", "8").returncode == 0
    return scenario


def test_what_a_pair_says_is_the_same_from_both_sides(compared):
    assert matrix(compared) is None
    tables = matrix(compared, "--matrix")
    assert [(t["group"], t["benchmark"]) for t in tables] == [
        ("three", "syscall.null"), ("three", "ctxsw.pipe.fs"),
        ("three", "switch_to.fsgs@ctxsw.pipe.fs")]
    table = tables[0]
    assert table["arms"] == ["plain", "fast", "same"]
    rows = table["rows"]
    turned = {"better": "worse", "worse": "better", "equivalent": "equivalent"}
    for i in range(3):
        assert rows[i][i] is None
        for j in range(3):
            if i != j:
                assert rows[i][j]["effect"] == -rows[j][i]["effect"]
                assert rows[i][j]["verdict"] == turned[rows[j][i]["verdict"]]
                assert rows[i][j]["p_holm"] == rows[j][i]["p_holm"]
    # "fast" against "same", neither of which is the baseline
    assert rows[1][2]["effect"] == pytest.approx(-25, abs=0.2)
    assert (rows[1][2]["verdict"], rows[2][1]["verdict"]) == ("better", "worse")


def test_the_pairs_of_a_matrix_are_of_the_family(compared):
    """Three rows of two arms, one of the other group; with a matrix three more."""
    def family(*words):
        p = compared.run(RINGSIDE, "report", "--json", "--gate", *words, compared.results)
        return json.loads(p.stdout)["gate"]["family"]
    assert (family(), family("--matrix")) == (7, 10)


def test_a_scenario_that_asks_for_one_has_it_in_every_form(scenario):
    scenario.write(GROUPS.replace("seed: 1\n", "seed: 1\nmatrix: yes\n"))
    p = scenario.compare("--calibration", "none")
    assert p.returncode == 0, p.stderr
    assert scenario.lines()[0]["matrix"] is True
    assert "three: each arm against each, instructions: what the row's arm takes more" in p.stdout
    lines = p.stdout.splitlines()
    at = lines.index("  switch_to.fsgs@ctxsw.pipe.fs", lines.index("  syscall.null"))
    assert [line.split() for line in lines[at + 1:at + 5]] == [
        ["A", "B", "C"],
        ["A", "-", "+25.000", ">", "0.000", "="],
        ["B", "-25.000", "<", "-", "-25.000", "<"],
        ["C", "0.000", "=", "+25.000", ">", "-"]]
    assert max(map(len, lines[at - 12:])) <= 80
    markdown = scenario.run(RINGSIDE, "report", "--markdown", scenario.results).stdout
    assert "| B | -25.000 &lt; | - | -25.000 &lt; |" in markdown
    html = scenario.run(RINGSIDE, "report", "--html", "-", scenario.results).stdout
    assert html.count('aria-label="each arm against each"') == 3
    table = list(csv.DictReader(scenario.run(RINGSIDE, "report", "--csv", "--gate", scenario.results).stdout.splitlines()))
    pairs = [(r["a"], r["b"], round(float(r["effect"])), r["verdict"]) for r in table if r["pair"] == "matrix"]
    assert len(pairs) == 3 and set(pairs) == {("fast", "same", 25, "worse")}
    assert {r["gate"] for r in table if r["pair"] == "baseline"} == {"passed"}


def test_two_arms_make_no_matrix(scenario):
    scenario.write(GROUPS[:GROUPS.index("  - name: three")] + GROUPS[GROUPS.index("  - name: two"):])
    p = scenario.compare("--calibration", "none", "--matrix")
    assert p.returncode == 0, p.stderr
    assert "each arm against each" not in p.stdout
