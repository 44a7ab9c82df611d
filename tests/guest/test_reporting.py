# SPDX-License-Identifier: GPL-2.0-or-later
"""How the programs report, without a guest: each way in which a case or a program can end."""
import subprocess

import pytest

import boot
import ktap


def listed(tmp_path, *lines):
    """test_run's status and results for a list."""
    (tmp_path / "list").write_text("".join(line + "\n" for line in lines))
    p = subprocess.run([boot.PROGRAMS / "test_run", tmp_path / "list"], capture_output=True,
                       text=True, timeout=60, check=False)
    return p.returncode, {r.name: r for r in ktap.parse(p.stdout)}


def script(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_case_that_ends_in_any_way_is_reported_as_it_ended():
    p = subprocess.run([boot.PROGRAMS / "ktap_selftest"], capture_output=True, text=True, timeout=60,
                       check=False)
    results = {r.name: r for r in ktap.parse(p.stdout)}
    assert p.returncode == 1
    assert {name: (r.ok, r.directive) for name, r in results.items()} == {
        "passes": (True, ""), "fails": (False, ""), "fails in a child": (False, ""),
        "is skipped": (True, "SKIP"), "crashes": (False, ""), "hangs": (False, "TIMEOUT"),
        "leaves a child behind": (True, "")}
    assert results["fails"].notes == ["ktap_selftest.c:15: one and one is 2 and no more"]
    assert results["fails in a child"].notes[0].endswith("in the child")
    assert results["is skipped"].reason == "no reason"
    assert results["crashes"].notes == ["crashes: killed by signal 11"]
    assert results["hangs"].notes[-1] == "hangs: no end within 1 s"


def test_programs_are_reported_by_their_status(tmp_path):
    status, results = listed(
        tmp_path,
        f"plain 9 good {script(tmp_path, 'good', 'echo said; exit 0')}",
        f"plain 9 bad {script(tmp_path, 'bad', 'exit 3')}",
        f"plain 9 skipped {script(tmp_path, 'skipped', 'exit 4')}",
        f"plain 9 killed {script(tmp_path, 'killed', 'kill -9 $$')}",
        f"plain 1 slow {script(tmp_path, 'slow', 'sleep 30 & sleep 30')}",
        "plain 9 missing /nonesuch")
    assert status == 1
    assert {name: (r.ok, r.directive) for name, r in results.items()} == {
        "good": (True, ""), "bad": (False, ""), "skipped": (True, "SKIP"), "killed": (False, ""),
        "slow": (False, "TIMEOUT"), "missing": (False, "")}
    assert results["good"].notes[0] == "said"
    assert "/nonesuch: No such file or directory" in results["missing"].notes[0]


def test_a_nested_document_is_nested(tmp_path):
    inner = "printf 'KTAP version 1\\n1..2\\nok 1 a\\nok 2 b # SKIP c\\n'"
    status, results = listed(tmp_path, f"ktap 9 suite {script(tmp_path, 'suite', inner)}")
    assert status == 0
    assert [(c.name, c.skipped) for c in results["suite"].children] == [("a", False), ("b", True)]


@pytest.mark.parametrize("inner", [
    "printf 'KTAP version 1\\n1..2\\nok 1 a\\n'",  # ended early, and with status 0
    "printf 'KTAP version 1\\n1..1\\nnot ok 1 a\\n'",  # failed, and with status 0
    "printf 'KTAP version 1\\n1..1\\nok 1 a\\nok 2 b\\n'",
    "echo Oops",
])
def test_a_suite_that_says_less_or_other_than_its_status_is_an_error(tmp_path, inner):
    with pytest.raises(ktap.KtapError):
        listed(tmp_path, f"ktap 9 suite {script(tmp_path, 'suite', inner)}")


@pytest.mark.parametrize("line", ["plain 9 name", "odd 9 name /bin/true", "plain 0 name /bin/true", ""])
def test_a_bad_list_is_refused_before_anything_runs(tmp_path, line):
    (tmp_path / "list").write_text(f"plain 9 good /bin/true\n{line}\n")
    p = subprocess.run([boot.PROGRAMS / "test_run", tmp_path / "list"], capture_output=True,
                       text=True, timeout=60, check=False)
    assert (p.returncode, p.stdout) == (2, "")
    assert "bad line" in p.stderr
