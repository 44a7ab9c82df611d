# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside report of test runs: every form offline, shards merged, what is cut, foreign or newer refused."""
import hashlib
import json
import subprocess
import sys

import jsonschema
import pytest

from conftest import BUILD, RINGSIDE, TOP, ringside

sys.path.insert(0, str(TOP / "tests/support"))
import junit  # noqa: E402

SCHEMA = json.loads((TOP / "docs/test-results.schema.json").read_text())
GOLDEN = json.loads((TOP / "tests/golden/test-run.json").read_text())
SUITE = "a" * 64


def plan(ids, shard=1, shards=1, until_failure=False, version="1.2.3", **more):
    texts = [f"{shards} {int(until_failure)}", version, SUITE, *ids]
    return {"schema_version": 1, "type": "test-plan",
            "plan_sha256": hashlib.sha256(b"".join(t.encode() + b"\0" for t in texts)).hexdigest(),
            "ringside": version, "title": "smoke", "suite": "smoke.yaml", "suite_sha256": SUITE, "seed": 1,
            "shard": shard, "shards": shards, "until_failure": until_failure, "cases": ids, **more}


def result(id, verdict="ok", **more):
    outcome = {"ok": "pass", "flaky": "pass", "skipped": "skip"}.get(verdict, "fail")
    return {**GOLDEN["results"][0], "id": id, "outcome": outcome, "verdict": verdict, "message": "", "dir": id, **more}


def write(path, *lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def golden_run(tmp_path):
    """The run that the renderers' unit tests have, as a file."""
    ids = [r["id"] for r in GOLDEN["results"]] + GOLDEN["missing"]
    return write(tmp_path / "out/results.ndjson", plan(ids), *GOLDEN["results"])


def test_lines_and_documents_are_of_the_schema(golden_run):
    for line in golden_run.read_text().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)
    end = ringside("report", "--json", golden_run)
    assert end.status == 1
    report = json.loads(end.out)
    jsonschema.validate(report, SCHEMA)
    assert report["results"] == GOLDEN["results"] and report["counts"] == GOLDEN["counts"]
    jsonschema.validate(GOLDEN, SCHEMA)


def test_the_schema_can_fail(golden_run):
    for bad in ({"verdict": "green"}, {"status": 256}, {"more": 1}, {"id": ""}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(result("a", **bad) if "id" not in bad else {**result("a"), **bad}, SCHEMA)


def test_junit_is_what_readers_agree_on(golden_run):
    end = ringside("report", "--junit", golden_run)
    assert end.status == 1
    root = junit.check(end.out)
    assert len(root) == len(GOLDEN["results"]) + 1
    assert root[-1].find("testcase/error").get("type") == "missing"
    assert root.get("tests") == "16" and root.get("failures") == "4" and root.get("errors") == "3"


def test_the_junit_check_can_fail():
    text = (TOP / "tests/golden/test-run.xml").read_text()
    junit.check(text)
    for old, new in (('tests="16"', 'tests="15"'), ("<property name=", "<property title="),
                     ("testcase", "case"), (' time="1.235"', ' time="1.2 s"')):
        with pytest.raises(AssertionError):
            junit.check(text.replace(old, new))


def test_prove_counts_what_failed(golden_run, tmp_path):
    tap = tmp_path / "run.tap"
    tap.write_bytes(ringside("report", "--tap", golden_run).out)
    end = subprocess.run(["prove", "-e", "cat", tap], capture_output=True, text=True)
    assert end.returncode != 0
    assert "Tests: 10 Failed: 5" in end.stdout and "Failed tests:  2-3, 8-10" in end.stdout
    good = tmp_path / "good.tap"
    good.write_bytes(ringside("report", "--tap", write(tmp_path / "good", plan(["a"]), result("a"))).out)
    assert subprocess.run(["prove", "-e", "cat", good]).returncode == 0


@pytest.mark.parametrize("form, name", [(None, "txt"), ("--markdown", "md"), ("--github", "github")])
def test_every_form_is_that_of_the_run_itself(golden_run, form, name):
    end = ringside("report", *([form] if form else []), "results.ndjson", cwd=golden_run.parent)
    shown = end.out.decode().replace("smoke:", "tests/smoke.yaml, shard 1 of 2:", 1)
    golden = (TOP / f"tests/golden/test-run.{name}").read_text().replace("out/", "")
    assert end.status == 1
    # The file has '?' for bytes that are no UTF-8, and wraps such a text elsewhere.
    same = [line for line in golden.splitlines() if "\\x" not in line and "\u4f60" not in line]
    assert len(same) > 5 and not set(same[1:]) - set(shown.splitlines())


def test_a_directory_without_results_is_told_of(tmp_path):
    for form in (), ("--junit",), ("--baseline", tmp_path):
        end = ringside("report", *form, tmp_path)
        assert (end.status, end.out) == (4, b"")
        assert f"{tmp_path}: there is no results.ndjson in it" in end.err, end.err


def test_a_directory_is_that_of_its_results(golden_run):
    assert ringside("report", golden_run.parent).out == ringside("report", golden_run).out


def test_an_annotation_points_into_the_suite(tmp_path):
    run = write(tmp_path / "r", plan(["a"]), result("a", "not-ok", file="ci/smoke.yaml", line=12, column=5))
    end = ringside("report", "--github", run)
    assert end.out.startswith(b"::error file=ci/smoke.yaml,line=12,col=5,title=a::fail")


IDS = ["a", "b", "c", "d", "e"]


def shard(tmp_path, i, n, skip=(), **results):
    ids = [id for k, id in enumerate(IDS) if k % n == i - 1 and id not in skip]
    return write(tmp_path / f"s{i}/results.ndjson", plan(IDS, i, n), *(result(id, **results) for id in ids))


def test_shards_are_merged_to_one_run(tmp_path):
    merged = tmp_path / "whole.ndjson"
    end = ringside("report", "--merge", "--results", merged, shard(tmp_path, 2, 2), shard(tmp_path, 1, 2))
    assert (end.status, end.out, end.err) == (0, b"smoke: 5 cases: 5 ok\n", "")
    assert ringside("report", merged).out == end.out
    lines = [json.loads(line) for line in merged.read_text().splitlines()]
    assert lines[0] == plan(IDS) and [r["id"] for r in lines[1:]] == IDS
    assert lines[1]["dir"] == str(tmp_path / "s1/a")
    again = ringside("report", "--merge", "--results", merged, tmp_path / "s1", tmp_path / "s2")
    assert again.status == 4 and "exists and is never overwritten" in again.err


def test_what_is_missing_is_named_and_never_green(tmp_path):
    one, three = shard(tmp_path, 1, 3), shard(tmp_path, 3, 3, skip=("c",))
    end = ringside("report", "--merge", one, three)
    assert end.status == 4
    assert end.out.decode().splitlines()[0] == "smoke: 5 cases: 3 not run, 2 ok"
    assert [line.split()[2] for line in end.out.decode().splitlines() if line.startswith("not run")] == ["b", "c", "e"]
    assert "shard 2 of 3 is missing" in end.err and "3 of 5 cases have no result" in end.err
    root = junit.check(ringside("report", "--merge", "--junit", one, three).out)
    assert root.get("errors") == "3"
    # A shard by itself is whole without the others.
    assert ringside("report", one).status == 0


def test_a_failure_outweighs_what_is_missing(tmp_path):
    assert ringside("report", "--merge", shard(tmp_path, 1, 2, verdict="not-ok")).status == 1


def test_a_partial_last_line_is_dropped_with_a_warning(tmp_path):
    run = shard(tmp_path, 1, 1)
    run.write_text(run.read_text()[:-9])
    end = ringside("report", run)
    assert end.status == 4
    assert "the last record is cut off after" in end.err and "1 of 5 cases have no result" in end.err
    assert b"not run  e\n" in end.out


def test_cut_at_any_byte_it_is_never_green(tmp_path):
    run = write(tmp_path / "r", plan(["a"]), result("a"))
    text = run.read_bytes()
    for cut in range(0, len(text), 37):
        run.write_bytes(text[:cut])
        assert ringside("report", run).status == 4, cut


@pytest.mark.parametrize("lines, text", [
    ([plan(IDS), result("a"), result("a")], "line 3: case a stands twice in it"),
    ([plan(IDS), result("x")], "line 2: case x is not in the plan"),
    ([plan(IDS, 1, 2), result("b")], "line 2: case b is of shard 2, and this is shard 1"),
    ([plan(IDS), plan(IDS)], "line 2: a second plan"),
    ([plan(IDS), {"schema_version": 1, "type": "boot"}], "line 2: a record of type 'boot', expected 'test'"),
    ([plan(IDS), {**result("a"), "schema_version": 2}], "line 2: schema version 2 is newer than the 1"),
    ([plan(IDS, schema_version=2)], "line 1: schema version 2 is newer than the 1"),
    ([plan(IDS, cases=["a"])], "line 1: 'plan_sha256' is not that of the plan: it was changed"),
    ([plan(IDS), {k: v for k, v in result("a").items() if k != "verdict"}], "line 2: 'verdict' is ''"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_foreign_newer_or_mixed_is_refused(tmp_path, lines, text):
    end = ringside("report", write(tmp_path / "r", *lines))
    assert (end.status, end.out) == (4, b"")
    assert text in end.err and end.err.count("\n") == 1


@pytest.mark.parametrize("other, text", [
    (plan(IDS, 1, 2), "shard 1 of 2 is there twice"),
    (plan(IDS[:4], 2, 2), "its case 5 is none, that of the other e"),
    (plan(IDS, 2, 2, version="9"), "ringside 9 ran it, and 1.2.3 the other"),
    (plan(IDS, 2, 3), "it is one of 3 shards, the other one of 2"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_no_shard_of_the_run_is_refused(tmp_path, other, text):
    end = ringside("report", "--merge", shard(tmp_path, 1, 2), write(tmp_path / "other", other))
    assert (end.status, end.out) == (4, b"")
    assert f"/other: {text}" in end.err and end.err.count("\n") == 1


def test_a_comparison_is_no_shard(tmp_path):
    other = write(tmp_path / "other", {"schema_version": 2, "type": "plan"})
    end = ringside("report", "--merge", shard(tmp_path, 1, 2), other)
    assert end.status == 4 and "a record of type 'plan', expected 'test-plan'" in end.err
    end = ringside("report", "--tap", other)
    assert end.status == 2 and "is not of a test run" in end.err


@pytest.mark.parametrize("words, text", [
    (["--junit", "--tap"], "exclude each other"),
    (["--details"], "--html, --matrix, --gate, --csv and --gobench are for comparisons"),
    (["--results", "x"], "--results goes with --merge"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_wrong_words_are_2(tmp_path, words, text):
    end = ringside("report", *words, shard(tmp_path, 1, 1))
    assert (end.status, end.out) == (2, b"") and text in end.err


def test_a_baseline_leaves_what_changed(tmp_path):
    old = write(tmp_path / "old/results.ndjson", plan(IDS), result("a"), result("b", "not-ok"), result("c"),
                result("d", "not-ok"), result("e"))
    new = write(tmp_path / "new/results.ndjson", plan([*IDS[:4], "f"]), result("a", "not-ok"), result("b"),
                result("c"), result("d", "not-ok"), result("f"))
    end = ringside("report", "--baseline", old.parent, new)
    assert end.status == 1
    assert "since the baseline: 1 newly broken, 1 newly fixed, 1 new, 1 vanished, 1 not ok as before\n" \
        in end.out.decode()
    shown = json.loads(ringside("report", "--json", "--baseline", old, new).out)
    jsonschema.validate(shown, SCHEMA)
    assert [(c["change"], c["case"]) for c in shown["changes"]] == [
        ("newly broken", "a"), ("newly fixed", "b"), ("new", "f"), ("vanished", "e")]
    assert ringside("report", "--baseline", tmp_path / "none", new).status == 4
    root = junit.check(ringside("report", "--junit", "--baseline", old, new).out)
    shown = {s.get("name"): [e.tag for e in s.find("testcase") if e.tag != "system-out"] for s in root}
    assert shown == {"a": ["failure"], "b": [], "d": ["skipped"], "e": ["skipped"], "f": []}
    assert b"\nok 5 e # SKIP vanished" in ringside("report", "--tap", "--baseline", old, new).out
    github = ringside("report", "--github", "--baseline", old, new).out.decode().splitlines()
    assert [line.split("::")[1].split()[0] for line in github] == ["error", "notice", "notice", "notice", "notice"]
    assert "| ok | b | pass | newly fixed |" in ringside("report", "--markdown", "--baseline", old, new).out.decode()


def test_what_a_filter_or_a_shard_left_out_has_not_vanished(tmp_path):
    old = write(tmp_path / "old/results.ndjson", plan(IDS), *(result(i) for i in IDS))
    for name, now in ("filter", {**plan(IDS[:2]), "filter": "a|b"}), ("shard", plan(IDS[:4], 1, 2)):
        new = write(tmp_path / f"{name}/results.ndjson", now, result("a"), result("b" if name == "filter" else "c"))
        end = ringside("report", "--baseline", old, new)
        assert end.status == 0 and "since the baseline: 3 not run, 0 not ok as before\n" in end.out.decode(), end
        shown = json.loads(ringside("report", "--json", "--baseline", old, new).out)
        jsonschema.validate(shown, SCHEMA)
        assert (shown["changes"], shown["not_run"]) == ([], 3)
        # Nor is what was left out then new now.
        end = ringside("report", "--baseline", new, old)
        assert end.status == 0 and "since the baseline: 0 not ok as before\n" in end.out.decode(), end


def test_a_document_is_as_good_as_the_results(golden_run, tmp_path):
    document = tmp_path / "run.json"
    document.write_bytes(ringside("report", "--json", golden_run).out)
    for form in ("--junit", "--tap", "--markdown"):
        shown = ringside("report", form, document).out
        # A document has the suite's title, and that of the file is its path.
        assert shown == ringside("report", form, golden_run).out
    changes = json.loads(ringside("report", "--json", "--baseline", document, golden_run).out)
    assert changes["changes"] == [] and changes["still_not_ok"] == 5
    # Its own word for how it ended is not believed.
    lie = json.loads(document.read_text())
    document.write_text(json.dumps({**lie, "exit_status": 0}, indent=2))
    assert ringside("report", document).status == 1
    for bad, text in (({"schema_version": 2}, "is newer than the 1"), ({"results": 1}, "'results' or 'missing'"),
                      ({"missing": [1]}, "a case has no 'id'"), ({"missing": [lie["results"][0]["id"]]}, "twice")):
        document.write_text(json.dumps({**lie, **bad}, indent=2))
        end = ringside("report", document)
        assert (end.status, end.out) == (4, b"") and text in end.err and end.err.count("\n") == 1
    document.write_text(json.dumps(lie, indent=2)[:-9])
    assert ringside("report", document).status == 4


def test_results_may_come_through_a_pipe(golden_run):
    p = subprocess.run([RINGSIDE, "report", "--junit", "/dev/stdin"], input=golden_run.read_bytes(),
                       capture_output=True)
    assert p.returncode == 1
    junit.check(p.stdout)


def test_slower_is_beyond_the_noise(tmp_path):
    ids = ["a", "a#2", "a#3"]

    def run(name, *ms):
        return write(tmp_path / name, plan(ids), *(result(id, duration_ns=t * 10**6) for id, t in zip(ids, ms)))

    old = run("old", 1000, 1100, 1050)
    shown = json.loads(ringside("report", "--json", "--baseline", old, run("slow", 2000, 2100, 2050)).out)
    jsonschema.validate(shown, SCHEMA)
    assert shown["changes"][0]["change"] == "slower"
    assert shown["changes"][0]["after"]["median_ns"] == 2050 * 10**6
    same = json.loads(ringside("report", "--json", "--baseline", old, run("same", 1090, 2100, 2050)).out)
    assert same["changes"] == []


def test_text_is_coloured_for_no_pipe(golden_run):
    assert b"\033[3" not in ringside("report", golden_run).out


FAKE = BUILD / "tests" / "fake_boot"
ACTS = {"good": "exit=0", "bad": "exit=1", "crashed": "crash", "more": "exit=0", "most": "exit=0"}


def run_suite(tmp_path, out, *words):
    """Runs a suite of five tests, each a few lines of the file, on a fake of 'ringside run'."""
    suite = tmp_path / "suite.yaml"
    suite.write_text("tests:\n" + "".join(f"  - command: [{act}]\n    name: {name}\n\n" for name, act in ACTS.items()))
    return ringside("test", "--backend", "qemu", "--runner", FAKE, "--out", tmp_path / out, *words, suite)


def test_what_a_run_writes_is_what_its_readers_expect(tmp_path):
    form = {name: tmp_path / f"run.{name}" for name in ("json", "junit", "tap", "github")}
    end = run_suite(tmp_path, "out", *(word for name, path in form.items() for word in (f"--{name}", path)))
    assert end.status == 1, end.err
    for line in (tmp_path / "out/results.ndjson").read_text().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)
    jsonschema.validate(json.loads(form["json"].read_text()), SCHEMA)
    root = junit.check(form["junit"].read_text())
    assert root.get("tests") == "5" and int(root.get("failures")) + int(root.get("errors")) == 2
    prove = subprocess.run(["prove", "-e", "cat", form["tap"]], capture_output=True, text=True)
    assert "Tests: 5 Failed: 2" in prove.stdout
    notes = form["github"].read_text().splitlines()
    lines = (tmp_path / "suite.yaml").read_text().splitlines()
    assert len(notes) == 2
    for note in notes:
        properties = dict(p.split("=", 1) for p in note.split("::")[1].removeprefix("error ").split(","))
        assert properties["file"].endswith("suite.yaml")
        # It points to where the test begins, which is the line before that of its name.
        assert lines[int(properties["line"]) - 1].strip().startswith("- command")
        assert lines[int(properties["line"])].strip() == f"name: {properties['title']}"


def test_the_shards_of_a_run_are_the_run(tmp_path):
    whole = run_suite(tmp_path, "whole")
    for i in (1, 2, 3):
        assert run_suite(tmp_path, f"s{i}", "--shard", f"{i}/3", "--shuffle", i).status in (0, 1, 4)
    merged = ringside("report", "--merge", tmp_path / "s3", tmp_path / "s1", tmp_path / "s2")
    assert (whole.status, merged.status) == (1, 1), whole.err + merged.err
    assert merged.out.decode().splitlines()[0] == whole.out.decode().splitlines()[0]
    assert merged.out.count(b"\nnot ok ") == 2 and b"not run" not in merged.out
    part = ringside("report", "--merge", "--tap", tmp_path / "s1", tmp_path / "s3")
    assert part.out.count(b"# ERROR it was to run and has no result") == 2
