# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside compare --shard' and 'ringside report' of several files, over a runner that boots nothing."""
import csv
import io
import json
import os
import re
import resource
import shutil
import signal
import xml.etree.ElementTree as ElementTree

import pytest
from test_compare import FAKE, RINGSIDE, Bench, by_name

SHARDS = 3


class Shards(Bench):
    """One comparison, whole and in three shards."""

    def shard(self, i, *more, n=SHARDS, host=None, cpu=None, cls=None, name=None, **kw):
        kept = self.results, self.env
        self.results = str(self.path / (name or "%s%d.ndjson" % (host or "s", i)))
        self.env = dict(self.env, **{k: v for k, v in (("FAKE_HOST", host), ("FAKE_CPU", cpu),
                                                       ("FAKE_CLASS", cls)) if v})
        p = self.compare(*(["--shard", f"{i}/{n}"] if n else []), *more, **kw)
        path = self.results
        self.results, self.env = kept
        assert "Traceback" not in p.stderr
        return p, path

    def files(self, **kw):
        out = []
        for i in range(1, SHARDS + 1):
            p, path = self.shard(i, **kw)
            assert p.returncode == 0, p.stderr
            out.append(path)
        return out

    def report(self, *words):
        return self.run(RINGSIDE, "report", *words)


@pytest.fixture
def bench(tmp_path):
    b = Shards(tmp_path)
    b.behave("faster=25 noise=2 dirty=1")
    return b


def lines_of(path):
    return [json.loads(line) for line in open(path)]


def test_shards_boot_whole_blocks_that_are_all_together(bench):
    files = [lines_of(path) for path in bench.files(blocks=7)]
    blocks = [{b["block"] for b in boots} for _, *boots in files]
    assert blocks == [{0, 3, 6}, {1, 4}, {2, 5}]
    assert [len(boots) for _, *boots in files] == [12, 8, 8]
    for i, (plan, *_) in enumerate(files):
        assert (plan.pop("shard"), plan.pop("shards")) == (i + 1, 3)
    assert files[0][0] == files[1][0] == files[2][0]


def test_a_shard_reports_nothing_and_ends_well(bench):
    p, path = bench.shard(2)
    assert (p.returncode, p.stdout) == (0, "")
    assert "shard 2 of 3 is whole, 8 of 24 boots" in p.stderr
    assert "boot 1 of 8, block 2 of 6" in p.stderr
    alone = bench.report(path)
    assert alone.returncode == 3
    assert "8 of 24 boots are recorded: what they say so far is no verdict" in alone.stderr
    assert "shard 1 of 3 is missing" in alone.stderr and "shard 3 of 3 is missing" in alone.stderr
    assert "shard 2 of 3 is missing" not in alone.stderr


@pytest.mark.parametrize("merge", [[], ["--merge"]])
@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"], ["--gobench"], ["--markdown"], ["--junit"]])
def test_all_shards_report_what_one_run_does(bench, form, merge):
    whole = bench.compare()
    expected = bench.report(*form, bench.results)
    p = bench.report(*merge, *form, *reversed(bench.files()))
    assert (p.returncode, p.stdout, p.stderr) == (expected.returncode, expected.stdout, "")
    assert form or p.stdout == whole.stdout


def test_what_was_merged_is_a_results_file_like_that_of_one_run(bench):
    bench.compare()
    merged = str(bench.path / "all.ndjson")
    p = bench.report("--results", merged, *bench.files())
    assert p.returncode == 0, p.stderr
    plan, *boots = lines_of(merged)
    assert plan == bench.lines()[0]
    assert [b["slot"] for b in boots] == list(range(24))
    again = bench.report(merged)
    assert (again.returncode, again.stdout) == (p.returncode, p.stdout)
    page = bench.report("--html", "-", merged)
    assert page.returncode == 0 and merged in page.stdout
    twice = bench.report("--results", merged, *bench.files(name=None, blocks=6, bench="syscall.null", seed=9,
                                                           host="other"))
    assert twice.returncode == 4
    assert f"{merged} exists and is never overwritten" in twice.stderr


def test_what_the_host_makes_of_no_difference_is_in_the_shards_too(bench):
    """A line that the first file of a host has, at the end of what is merged."""
    files = bench.files()
    floors = '{"schema_version":1,"type":"noise-floor","floors":[{"benchmark":"syscall.null","value":0.25,' \
             '"comparisons":20,"blocks":[6,6]}]}\n'
    for path in files[1:]:
        with open(path, "a") as f:
            f.write(floors)
    merged = str(bench.path / "all.ndjson")
    p = bench.report("--json", "--results", merged, *files)
    assert p.returncode == 0, p.stderr
    assert by_name(p.stdout)["syscall.null"]["noise_floor"]["value"] == 0.25
    assert lines_of(merged)[-1] == json.loads(floors)
    assert bench.report("--json", merged).stdout == p.stdout


def test_a_scenario_deals_the_blocks_of_all_groups(bench):
    scenario = bench.path / "s.yaml"
    scenario.write_text(f"""title: Two groups
seed: 5
backend: qemu
icount: 3
batches: 5
groups:
  - name: one
    blocks: 6
    benches: [syscall.null]
    arms: [{{name: slow, arm: {bench.kernel}}}, {{name: fast, arm: '{bench.kernel},append=fast'}}]
  - name: two
    blocks: 6
    benches: [ctxsw.futex.fs]
    arms:
      - {{name: x, arm: {bench.kernel}}}
      - {{name: y, arm: '{bench.kernel},append=fast'}}
      - {{name: z, arm: '{bench.kernel},append=z'}}
""")

    def run(*words):
        return bench.run(RINGSIDE, "compare", "--scenario", str(scenario), "--runner", FAKE, "--no-build", *words)

    whole = run("--results", bench.results)
    assert whole.returncode in (0, 3), whole.stderr
    files = [str(bench.path / f"{i}") for i in range(1, 6)]
    for i, path in enumerate(files):
        p = run("--results", path, "--shard", f"{i + 1}/5")
        assert p.returncode == 0, p.stderr
    assert {(b["group"], b["block"]) for b in lines_of(files[0])[1:]} == {(0, 0), (0, 5), (1, 4)}
    p = bench.report(*files)
    assert (p.returncode, p.stdout) == (whole.returncode, whole.stdout)


def test_a_killed_shard_is_gone_on_with_and_the_report_is_the_same(bench):
    whole = bench.compare()
    files = bench.files()
    bench.results = files[1]
    os.unlink(files[1])
    bench.behave(open(bench.kernel).read())
    for _ in range(4):
        lines = len(open(files[1]).readlines()) if os.path.exists(files[1]) else 0
        if lines > 8:
            break  # a fast machine has all boots of the shard before it is killed so often
        p = bench.start("--resume", "--shard", "2/3")
        try:
            bench.wait_for_boots(lines)
        finally:
            p.send_signal(signal.SIGKILL)
            p.communicate()
    end = bench.run(RINGSIDE, "compare", "--resume", "--results", files[1])
    assert (end.returncode, end.stdout) == (0, ""), end.stderr
    assert bench.report(*files).stdout == whole.stdout


def test_missing_and_unfinished_shards_are_named(bench):
    one, two, three = bench.files()
    text = open(two).read().splitlines(keepends=True)
    with open(two, "w") as f:
        f.write("".join(text[:4]) + text[4][:50])
    p = bench.report("--json", one, two)
    assert p.returncode == 3
    assert f"{two}: the last record is cut off after 50 bytes, and left out" in p.stderr
    assert "shard 2 of 3 is not whole: 3 of its 8 boots are recorded; go on with: ringside compare " \
           f"--resume --results {two}" in p.stderr
    assert "shard 3 of 3 is missing" in p.stderr and "shard 1" not in p.stderr
    assert "11 of 24 boots are recorded" in p.stderr
    assert json.loads(p.stdout)["blocks"] == {"planned": 6, "complete": 2}
    single = bench.report("--merge", three)
    assert single.returncode == 3
    assert "shard 1 of 3 is missing" in single.stderr and "shard 2 of 3 is missing" in single.stderr


def test_boots_that_fail_in_several_shards_decide_as_in_one_run(bench):
    bench.behave("panic times=%s:2" % (bench.path / "count"))
    one, two, three = bench.files(blocks=12)
    assert bench.report(one, two, three).returncode == 0
    os.unlink(bench.path / "count")
    p, again = bench.shard(2, name="again", blocks=12)
    assert p.returncode == 0
    p = bench.report(one, again, three)
    assert p.returncode == 3
    assert "4 boots failed: there is no verdict" in p.stderr


def refused(bench, *files, status=4):
    p = bench.report(*files)
    assert (p.returncode, p.stdout) == (status, ""), p.stderr
    assert p.stderr.count("\n") == 1
    return p.stderr.replace("ringside: error: ", "").replace(str(bench.path) + "/", "").strip()


def test_what_does_not_belong_together_is_refused_with_its_place(bench):
    one, two, three = bench.files()
    assert refused(bench, one, one) == "s1.ndjson and s1.ndjson are one file"
    link = str(bench.path / "link")
    os.symlink(one, link)
    assert refused(bench, one, link) == "s1.ndjson and link are one file"

    copy = str(bench.path / "copy")
    shutil.copy(one, copy)
    assert refused(bench, one, copy) == \
        "copy: line 2: boot 0 stands in line 2 of s1.ndjson too, and the two are equal"
    _, again = bench.shard(1, name="again", host="s")
    _, again = bench.shard(1, name="later")
    assert refused(bench, one, again) == \
        "later: line 2: boot 0 stands in line 2 of s1.ndjson too, and the two are not equal"

    _, other = bench.shard(2, name="seed", seed=2)
    assert refused(bench, one, other) == \
        "seed: line 1: these results are of another plan: its seed is 2, not 1 as in s1.ndjson"
    _, other = bench.shard(2, name="benches", bench="syscall.null")
    assert re.match(r'benches: line 1: these results are of another plan: its groups\[0\].benchmarks is '
                    r'\["syscall.null"\], not \["syscall.null",.* as in s1.ndjson$', refused(bench, one, other))
    _, other = bench.shard(2, name="parts", n=4)
    assert refused(bench, one, other) == "parts: line 1: it is of shard 2 of 4, and s1.ndjson of shard 1 of 3"
    bench.behave("faster=24 noise=2")
    _, other = bench.shard(2, name="kernel")
    assert re.match(r'kernel: line 1: these results are of another plan: its groups\[0\].arms\[0\].sha256 is '
                    r'"[0-9a-f]{64}", not "[0-9a-f]{64}" as in s1.ndjson$', refused(bench, one, other))
    bench.behave("faster=25 noise=2 dirty=1")
    _, other = bench.shard(2, name="class", host="h", cls="tcg")
    assert refused(bench, one, other) == \
        "class: line 2: this boot's numbers are tcg, 8 ticks a unit, those in s1.ndjson are icount, 8: " \
        "there is no common unit"
    _, other = bench.shard(2, name="cpu", cpu="Other CPU")
    assert refused(bench, one, other) == \
        "cpu: line 2: this boot's host CPU is 'Other CPU', that of the boots before it 'Fake CPU': one " \
        "comparison is of one machine"


def test_a_full_disk_leaves_no_part_of_what_was_merged(bench):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    files, merged = bench.files(), bench.path / "all"
    p = bench.run(RINGSIDE, "report", "--results", str(merged), *files, preexec_fn=limit)
    assert (p.returncode, p.stdout) == (4, "")
    assert p.stderr == f"ringside: error: {merged}: the results cannot be written\n"
    assert not merged.exists()


def edited(bench, path, name, how):
    text = open(path).read().splitlines(keepends=True)
    out = str(bench.path / name)
    with open(out, "w") as f:
        f.write("".join(how(text)))
    return out


@pytest.mark.parametrize("how, text", [
    (lambda t: [t[0].replace('"schema_version":2', '"schema_version":3'), *t[1:]],
     "bad: line 1: schema version 3 is newer than the 2 this ringside reads: use the one that wrote it"),
    (lambda t: [t[0], t[1], "rubbish\n", *t[2:]], "bad: line 3: not a record: column 7"),
    (lambda t: [t[0], '{"type":"test-plan"}\n'], "bad: line 2: no 'schema_version': this is no record of ringside"),
    (lambda t: t[1:], "bad: line 1: not the plan of a comparison"),
    (lambda t: [], "bad: there is no plan in it"),
    (lambda t: [*t, t[1]], "bad: line 10: boot 4 stands twice in it"),
    (lambda t: [t[0], t[1].replace('"slot":4', '"slot":0').replace('"block":1', '"block":0'), *t[2:]],
     "bad: line 2: boot 0 is "),
    (lambda t: [t[0].replace('"shard":2', '"shard":4'), *t[1:]],
     "bad: line 1: the plan's 'shard' is not a number from 0 to 3"),
    (lambda t: [t[0].replace('"shard":2', '"shard":0'), *t[1:]],
     "bad: line 1: the plan's 'shard' is not a number from 1 to 3"),
    (lambda t: [t[0].replace('"shard":2,', ''), *t[1:]],
     "bad: line 1: the plan's 'shard' is not a number from 0 to 3"),
    (lambda t: [t[0].replace('"shard":2', '"shard":1'), *t[1:]],
     "bad: line 2: boot 4 is of shard 2, these are of shard 1"),
])
def test_corrupted_foreign_and_newer_files_are_refused_wherever_they_stand(bench, how, text):
    one, two, three = bench.files()
    bad = edited(bench, two, "bad", how)
    for files in ([one, bad], [bad, one], ["--merge", bad]):
        assert refused(bench, *files).startswith(text)
    assert refused(bench, one, str(bench.path / "none")) == "none: No such file or directory"


def test_a_file_of_a_test_run_is_no_shard_of_a_comparison(bench):
    one, *_ = bench.files()
    run = str(bench.path / "run.ndjson")
    with open(run, "w") as f:
        f.write('{"schema_version":1,"type":"test-plan"}\n')
    assert refused(bench, one, run) == "run.ndjson: line 1: not the plan of a comparison"


def test_hosts_that_are_alike_part_the_blocks_and_are_named(bench):
    whole = bench.compare()
    files = [bench.shard(i, host="node%d" % i)[1] for i in (1, 2, 3)]
    p = bench.report(*files)
    assert p.returncode == whole.returncode
    line = "  hosts    node1, node2, node3: each block was booted on one of them\n"
    assert line in p.stdout
    assert p.stdout.replace(line, "") == whole.stdout
    assert json.loads(bench.report("--json", *files).stdout)["host"]["names"] == "node1, node2, node3"


def test_the_same_plan_on_two_hosts_is_shown_host_by_host(bench):
    bench.compare()
    here = bench.files(host="left")
    there = bench.files(host="right", cpu="Other CPU")
    p = bench.report(here[0], there[0], here[1], there[1], there[2], here[2])
    assert p.returncode == 0, p.stderr
    alone = bench.report(*here).stdout
    first, second = p.stdout.split("\nright, host 2 of 2 (")
    assert first == f"left, host 1 of 2 ({', '.join(here)}):\n\n" + alone
    assert second == f"{', '.join(there)}):\n\n" + alone.replace("Fake CPU", "Other CPU")
    report = json.loads(bench.report("--json", *here, *there).stdout)
    assert [(h["name"], h["report"]["host"]["cpu"]) for h in report["hosts"]] == \
        [("left", "Fake CPU"), ("right", "Other CPU")]
    assert report["exit_status"] == 0

    part = bench.report(*here, there[1])
    assert part.returncode == 3
    assert "right: shard 1 of 3 is missing" in part.stderr and "right: shard 3 of 3 is missing" in part.stderr
    assert "left: shard" not in part.stderr

    end = bench.report("--results", str(bench.path / "no"), *here, *there)
    assert end.returncode == 4 and not os.path.exists(bench.path / "no")
    assert "left and right are of machines that make no comparison together" in end.stderr


@pytest.mark.parametrize("gate", [[], ["--gate"]])
def test_each_form_shows_hosts_one_by_one(bench, gate):
    here, there = bench.files(host="left"), bench.files(host="right", cpu="Other CPU")

    def forms(form):
        both = bench.report(form, *gate, *here, *there)
        assert both.returncode == bench.report(form, *gate, *here).returncode, both.stderr
        return both.stdout, bench.report(form, *gate, *here).stdout

    both, alone = forms("--csv")
    head, *rows = csv.reader(io.StringIO(both))
    assert head[-1] == "host" and rows
    assert [row[-1] for row in rows] == [host for host in ("left", "right") for _ in range(len(rows) // 2)]
    assert [row[:-1] for row in rows] == 2 * [row[:-1] for row in csv.reader(io.StringIO(alone))][1:]
    page = bench.report("--html", "-", *here, *there)
    assert page.returncode == 2 and "left and right are of machines that make no comparison" in page.stderr
    both, alone = forms("--gobench")
    assert both == f"host: left\n{alone}host: right\n{alone}"
    both, alone = forms("--markdown")
    assert both == f"### left\n\n{alone}\n### right\n\n{alone}"
    both, alone = forms("--junit")
    suites = ElementTree.fromstring(both).findall("testsuite")
    assert [suite.get("hostname") for suite in suites] == ["left", "right"]
    assert both.count("<testcase") == 2 * alone.count("<testcase") > 0
    both, alone = forms("--github")
    assert both == "".join(alone.replace("title=gate::", f"title=gate::{host}: ") for host in ("left", "right"))


def test_a_host_without_numbers_leaves_no_half_document(bench):
    here, there = bench.files(host="left"), bench.files(host="right", cpu="Other CPU")
    for path in there:
        lines = open(path).read().replace('"type":"bench"', '"type":"other"')
        open(path, "w").write(lines)
    p = bench.report("--junit", *here, *there)
    assert (p.returncode, p.stdout) == (3, "")
    assert "right: no boot has given numbers" in p.stderr


def test_whole_runs_of_two_hosts_need_no_shards(bench):
    files = [bench.shard(1, n=0, host=h)[1] for h in ("x", "y")]
    p = bench.report(*files)
    assert p.returncode == 0, p.stderr
    assert "x, host 1 of 2 (" in p.stdout and "y, host 2 of 2 (" in p.stdout


def test_a_page_of_several_files_is_of_the_one_that_they_are_written_to(bench):
    files = bench.files()
    assert "write the files into one with --results" in refused(bench, "--html", "-", *files, status=2)
    merged = str(bench.path / "all")
    p = bench.report("--html", "-", "--results", merged, *files)
    assert p.returncode == 0 and p.stdout == bench.report("--html", "-", merged).stdout


@pytest.mark.parametrize("words, text", [
    (["--shard", "0/3"], "--shard: expected I/N, the I-th of N parts: I from 1 to N, and N at most 10000, got '0/3'"),
    (["--shard", "4/3"], "--shard: expected I/N"),
    (["--shard", "3"], "--shard: expected I/N"),
    (["--shard", "1/7"], "7 shards of 6 blocks: a block is booted whole"),
    (["--shard", "1/3", "--json"], "--json: a shard has no report of its own"),
    (["--shard", "1/3", "--gate"], "--gate: a shard has no report of its own"),
    (["--shard", "1/3", "--html", "x"], "--html: a shard has no report of its own"),
])
def test_wrong_shards_are_refused(bench, words, text):
    p = bench.compare(*words)
    assert p.returncode == 2
    assert p.stderr.startswith("ringside: error: " + text)
    assert not os.path.exists(bench.results)


def test_shards_need_the_seed_that_makes_them_one_plan(bench):
    words = bench.words("--shard", "1/3")
    at = words.index("--seed")
    p = bench.run(*words[:at], *words[at + 2:])
    assert p.returncode == 2
    assert "the shards are of one plan when they have one seed: give each the same --seed" in p.stderr


def test_one_shard_of_one_is_the_whole_comparison(bench):
    whole = bench.compare()
    p, path = bench.shard(1, n=1)
    assert (p.returncode, p.stdout) == (whole.returncode, whole.stdout)


def test_resume_keeps_to_the_shard_of_the_file(bench):
    _, path = bench.shard(1)
    p = bench.run(RINGSIDE, "compare", "--resume", "--results", path, "--shard", "1/3")
    assert p.returncode == 2 and "leave out --shard" in p.stderr
    p, _ = bench.shard(2, "--resume", name="s1.ndjson")
    assert p.returncode == 4
    assert "line 1: these results are of another plan: its shard is 1, not 2" in p.stderr
    p, _ = bench.shard(1, "--resume", n=0, name="s1.ndjson")
    assert p.returncode == 4
    assert "line 1: these results are of another plan: its shard is 1, not nothing" in p.stderr
