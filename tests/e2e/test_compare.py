# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside compare' from its words to its report, over a runner that does not boot anything."""

import csv
import fcntl
import json
import os
import random
import re
import resource
import signal
import subprocess
import time

import pytest
from conftest import BUILD

RINGSIDE = str(BUILD / "ringside")
FAKE = str(BUILD / "tests" / "fake_run")


class Bench:
    """A folder with a kernel whose file says how the fake runner behaves."""

    def __init__(self, path):
        self.path = path
        self.kernel = str(path / "vmlinux")
        self.results = str(path / "r.ndjson")
        self.env = dict(os.environ, XDG_CACHE_HOME=str(path / "cache"))
        self.behave("ok")

    def behave(self, how):
        with open(self.kernel, "w") as f:
            f.write(how)

    def gate(self):
        """The word for a behaviour: a boot waits until it is let through."""
        open(self.path / "gate", "w").close()
        return f"gate={self.path}/gate"

    def let(self, n):
        """So many boots through, and those that were before."""
        with open(self.path / "gate", "a") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write(n * "x")

    def words(self, *more, a=None, b=None, bench="syscall.null,ctxsw.futex.fs,ctxsw.futex.fsgs",
              blocks=6, seed=1, jobs=1):
        to = ["--results", self.results] if self.results else []
        return [RINGSIDE, "compare", "--a", a or self.kernel, "--b",
                b or self.kernel + ",append=fast", "--bench", bench, "--blocks", str(blocks),
                "--batches", "5", "--seed", str(seed), "--backend", "qemu", "--icount", "3",
                "--runner", FAKE, "--jobs", str(jobs), *to, *more]

    def run(self, *words, **kw):
        return subprocess.run(list(words), env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, **kw)

    def compare(self, *more, **kw):
        return self.run(*self.words(*more, **kw))

    def start(self, *more, **kw):
        return subprocess.Popen(self.words(*more, **kw), env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_boots(self, n):
        """Until so many are recorded."""
        for _ in range(12000):
            if os.path.exists(self.results) and open(self.results).read().count("\n") > n:
                return
            time.sleep(0.01)
        raise AssertionError("%d boots were never recorded" % n)

    def lines(self):
        with open(self.results) as f:
            return [json.loads(line) for line in f]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def cores():
    """The processors of each core that this process may run on."""
    found = {}
    for cpu in os.sched_getaffinity(0):
        try:
            with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu) as f:
                first = int(re.match(r"\d+", f.read()).group())
        except FileNotFoundError:
            first = cpu
        found.setdefault(first, set()).add(cpu)
    return list(found.values())


def by_name(text):
    return {row["name"]: row for row in json.loads(text)["benchmarks"]}


def test_a_faster_arm_is_better_and_the_size_is_right(bench):
    bench.behave("faster=25 noise=0.5")
    p = bench.compare("--json")
    assert p.returncode == 0, p.stderr
    rows = by_name(p.stdout)
    assert rows["ctxsw.futex.fsgs"]["verdict"] == "better"
    assert rows["ctxsw.futex.fsgs"]["effect"]["value"] == pytest.approx(-25, abs=0.5)
    assert rows["ctxsw.futex.fsgs"]["unit"] == "instructions"
    assert list(rows) == ["syscall.null", "ctxsw.futex.fs", "switch_to.fsgs@ctxsw.futex.fs",
                          "ctxsw.futex.fsgs", "switch_to.fsgs@ctxsw.futex.fsgs"]
    assert rows["switch_to.fsgs@ctxsw.futex.fsgs"]["effect"]["value"] == pytest.approx(-25)


def test_a_slower_arm_is_worse_and_the_status_says_no(bench):
    bench.behave("faster=-3 noise=0.5")
    p = bench.compare()
    assert p.returncode == 1, p.stderr
    assert "worse" in p.stdout


def test_an_arm_compared_with_itself_is_equivalent(bench):
    p = bench.run(RINGSIDE, "compare", "--a", bench.kernel, "--aa", "--bench", "syscall.null",
                  "--blocks", "6", "--backend", "qemu", "--icount", "3", "--runner", FAKE,
                  "--results", bench.results, "--json")
    assert p.returncode == 0, p.stderr
    assert by_name(p.stdout)["syscall.null"]["verdict"] == "equivalent"


def test_the_same_seed_gives_the_same_plan_and_report_wherever_the_results_are(bench):
    bench.behave("faster=25 noise=2")
    one = bench.compare()
    first = bench.lines()[0]
    bench.results = str(bench.path / "elsewhere.ndjson")
    two = bench.compare()
    assert one.returncode == two.returncode == 0, one.stderr
    assert bench.lines()[0] == first
    assert one.stdout == two.stdout
    bench.results = str(bench.path / "other.ndjson")
    assert bench.compare(seed=2).returncode == 0
    assert bench.lines()[0]["boots"] != first["boots"]


def test_each_boot_gets_its_arm_and_its_own_nuisances(bench):
    bench.compare()
    plan, *boots = bench.lines()
    assert len(boots) == 24
    for i, (planned, boot) in enumerate(zip(plan["boots"], boots)):
        argv = boot["argv"]
        assert (boot["slot"], boot["block"], boot["arm"]) == (i, planned["block"], planned["arm"])
        assert ("--append" in argv) == (planned["arm"] == "b")
        assert boot["env"]["RINGSIDE_STACKPAD"] == str(planned["stack_bytes"])
        assert len(boot["env"]["RINGSIDE_ENVPAD"]) == planned["env_bytes"]
        assert argv[argv.index("--backend") + 1] == "qemu"
        assert argv[argv.index("--icount") + 1] == "3"
    assert len({b["stack_bytes"] for b in plan["boots"]}) > 12


def test_report_prints_the_same_again(bench):
    bench.behave("faster=25 noise=2 dirty=1")
    p = bench.compare()
    again = bench.run(RINGSIDE, "report", bench.results)
    assert (again.returncode, again.stdout) == (p.returncode, p.stdout)
    as_json = bench.run(RINGSIDE, "report", "--json", bench.results)
    arm = by_name(as_json.stdout)["syscall.null"]["arms"]["a"]
    assert (arm["batches"], arm["dirty"], arm["dirty_by_cause"]["irq"]) == (60, 12, 12)


def test_boots_side_by_side_report_the_same_to_the_digit(bench):
    bench.behave("faster=25 noise=2 slow=0.2")
    one = bench.compare("--json")
    bench.results = str(bench.path / "four.ndjson")
    four = bench.compare("--json", jobs=4)
    assert one.returncode == four.returncode == 0, four.stderr
    assert one.stdout == four.stdout
    boots = bench.lines()[1:]
    begun = sorted(b["ran_from"] for b in boots)
    ended = sorted(b["ran_from"] + b["ran_for"] for b in boots)
    assert len(cores()) < 2 or any(b < e for b, e in zip(begun[1:], ended)), "they ran one by one"
    assert sorted(line["slot"] for line in boots) == list(range(24))


def test_boots_side_by_side_are_refused_where_they_would_disturb_each_other(bench):
    words = bench.words(jobs=2)
    at = words.index("--icount")
    p = bench.run(*words[:at], *words[at + 2:])
    assert p.returncode == 2
    assert "--jobs 2: boots that run side by side disturb each other's time" in p.stderr
    assert not os.path.exists(bench.results)


def test_killed_ten_times_at_random_moments_the_report_is_that_of_an_undisturbed_run(bench):
    bench.behave("faster=25 noise=2 slow=0.2")
    whole = bench.compare(blocks=12, jobs=2)
    assert whole.returncode == 0, whole.stderr
    bench.results = str(bench.path / "killed.ndjson")
    rng = random.Random(20)
    for i in range(10):
        before = len(open(bench.results).readlines()) if os.path.exists(bench.results) else 0
        if before > 40:
            break  # a machine that held us up has nearly all of them before it is killed so often
        p = subprocess.Popen(bench.words("--resume", blocks=12, jobs=2), env=bench.env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if i % 2 == 0:
            bench.wait_for_boots(max(before, 1))
        time.sleep(rng.uniform(0, 0.3))
        p.kill()
        p.wait()
        if os.path.exists(bench.results):
            with open(bench.results, "rb") as f:
                for line in f.read().split(b"\n")[:-1]:
                    json.loads(line)
    assert len(bench.lines()) > 2, "no kill came after a record"
    end = bench.compare("--resume", blocks=12)
    assert (end.returncode, end.stdout) == (whole.returncode, whole.stdout), end.stderr
    assert sorted(line["slot"] for line in bench.lines()[1:]) == list(range(48))


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_boot_and_says_how_to_go_on(bench, sig):
    bench.behave(bench.gate())
    bench.let(2)
    p = bench.start()
    bench.wait_for_boots(2)
    p.send_signal(sig)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 128 + sig
    assert out == ""
    assert "go on with: ringside compare --resume --results " + bench.results in err
    assert len(bench.lines()) == 1 + 2
    bench.let(24)
    end = bench.run(RINGSIDE, "compare", "--resume", "--results", bench.results)
    assert end.returncode == 0, end.stderr
    assert "going on after 2 of 24 boots" in end.stderr
    assert len(bench.lines()) == 25


def test_a_partial_last_record_is_dropped_with_a_warning(bench):
    whole = bench.compare()
    data = open(bench.results, "rb").read()
    with open(bench.results, "wb") as f:
        f.write(data[:-100])
    shown = bench.run(RINGSIDE, "report", bench.results)
    assert shown.returncode == 3
    assert "the last record is cut off after" in shown.stderr
    assert "23 of 24 boots are recorded" in shown.stderr
    assert os.path.getsize(bench.results) == len(data) - 100
    p = bench.compare("--resume")
    assert "the last record was cut off after" in p.stderr
    assert (p.returncode, p.stdout) == (whole.returncode, whole.stdout)


def test_results_are_never_overwritten(bench):
    bench.compare()
    before = open(bench.results).read()
    p = bench.compare()
    assert p.returncode == 4
    assert "exists and is never overwritten" in p.stderr
    assert open(bench.results).read() == before


def test_results_of_another_plan_are_refused_untouched(bench):
    bench.compare()
    with open(bench.results, "a") as f:
        f.write('{"partial')
    before = open(bench.results).read()
    p = bench.compare("--resume", seed=2)
    assert p.returncode == 4
    assert "line 1: these results are of another plan: its seed is 1, not 2" in p.stderr
    assert open(bench.results).read() == before


@pytest.mark.parametrize("line, mark", [(1, '"schema_version":2,"type":"plan"'),
                                        (2, '"schema_version":1,"type":"boot"')])
def test_results_of_a_newer_schema_are_refused(bench, line, mark):
    bench.compare()
    text = open(bench.results).read()
    assert mark in text
    now = int(mark[17])
    with open(bench.results, "w") as f:
        f.write(text.replace(mark, mark.replace(str(now), str(now + 1), 1), 1))
    p = bench.run(RINGSIDE, "report", bench.results)
    assert p.returncode == 4
    assert ("line %d: schema version %d is newer than the %d this ringside reads"
            % (line, now + 1, now) in p.stderr)


def test_results_of_the_schema_before_groups_are_refused_by_name(bench):
    bench.compare()
    text = open(bench.results).read()
    with open(bench.results, "w") as f:
        f.write(text.replace('"schema_version":2', '"schema_version":1', 1))
    for words in (["report", bench.results], ["compare", "--resume", "--results", bench.results]):
        p = bench.run(RINGSIDE, *words)
        assert p.returncode == 4
        assert ("line 1: schema version 1 is older than the 2 this ringside reads: use the one "
                "that wrote it" in p.stderr)


def mixed(lines):
    return lines + lines


def twice(lines):
    return [*lines[:3], lines[2], *lines[3:]]


def from_a_test_run(lines):
    return ['{"schema_version":1,"type":"test","id":"a"}', *lines[1:]]


def with_a_flipped_byte(lines):
    return [*lines[:2], lines[2].replace(",", ";", 1), *lines[3:]]


def with_a_nul(lines):
    return [*lines[:2], lines[2].replace('"arm"', '"a\0m"', 1), *lines[3:]]


def with_a_hole(lines):
    return [*lines[:2], "", *lines[3:]]


def of_two_machines(lines):
    return [*lines[:2], lines[2].replace("Fake CPU", "Other CPU"), *lines[3:]]


def with_another_order(lines):
    return [lines[0].replace('"arm":"a"', '"arm":"b"', 1), *lines[1:]]


@pytest.mark.parametrize("change, text", [
    (mixed, "line 26: a second plan: a file has the results of one comparison"),
    (twice, "line 4: boot 1 stands twice in it"),
    (from_a_test_run, "line 1: not the plan of a comparison"),
    (with_a_flipped_byte, "line 3: not a record: column"),
    (with_a_nul, "line 3: not a record: column"),
    (with_a_hole, "line 3: not a record: column"),
    (of_two_machines, "line 3: this boot's host CPU is 'Other CPU', that of the boots before it "
                      "'Fake CPU': one comparison is of one machine"),
    (with_another_order, "line 1: the order of the boots is not the one that seed 1 gives"),
    (lambda lines: [], "there is no plan in it"),
])
def test_results_that_are_damaged_mixed_or_foreign_are_refused_untouched(bench, change, text):
    bench.compare()
    lines = change(open(bench.results).read().splitlines())
    before = "".join(line + "\n" for line in lines)
    with open(bench.results, "w") as f:
        f.write(before)
    for words in (["report", bench.results], ["compare", "--resume", "--results", bench.results]):
        p = bench.run(RINGSIDE, *words)
        assert (p.returncode, p.stdout) == (4, ""), p.stderr
        assert text in p.stderr
    assert open(bench.results).read() == before


def test_a_kernel_that_changed_since_is_refused(bench):
    bench.behave(bench.gate())
    bench.let(1)
    p = bench.start()
    bench.wait_for_boots(1)
    p.terminate()
    p.communicate()
    bench.behave("slow=0.2")
    p = bench.run(RINGSIDE, "compare", "--resume", "--results", bench.results)
    assert p.returncode == 4
    assert "was changed since the comparison began" in p.stderr


def test_a_full_disk_ends_it_with_the_records_before_intact(bench):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    p = bench.run(*bench.words(), preexec_fn=limit)
    assert p.returncode == 4
    assert "writing a record: File too large; the records before it are kept" in p.stderr
    recorded = len(bench.lines()) - 1
    assert 0 < recorded < 24
    assert f"{recorded} of 24 boots are recorded; go on with" in p.stderr
    end = bench.compare("--resume")
    assert end.returncode == 0, end.stderr


def test_two_at_once_on_one_file_are_refused(bench):
    bench.behave(bench.gate())
    p = bench.start()
    bench.wait_for_boots(0)
    other = bench.compare("--resume")
    p.terminate()
    p.communicate()
    assert other.returncode == 4
    assert "another ringside is writing it" in other.stderr


@pytest.mark.parametrize("how, text", [
    ("crash", "internal: 'ringside run' was ended by signal 11 (Segmentation fault)"),
    ("none", "internal: 'ringside run' left no record and status 3; it said: nothing to say"),
    ("garbage", "internal: its record cannot be used: not a record: column"),
    ("partial", "internal: its record cannot be used: not a record: column"),
    ("nokvm", "nokvm: /dev/kvm: no permission"),
])
def test_a_boot_that_the_machine_failed_is_recorded_and_ends_it(bench, how, text):
    bench.behave("%s times=%s:1" % (how, bench.path / "count"))
    p = bench.compare()
    assert p.returncode == 4
    assert "error: boot 1 (block 1 of 6, arm " in p.stderr
    assert text in p.stderr
    assert len(bench.lines()) == 2
    end = bench.compare("--resume")
    assert end.returncode == 0, end.stderr
    bench.results = str(bench.path / "whole.ndjson")
    assert bench.compare().stdout == end.stdout


def test_a_boot_that_hangs_is_ended_by_its_timeout(bench):
    bench.behave("hang")
    begin = time.monotonic()
    p = bench.compare("--timeout", "1")
    assert p.returncode == 4
    assert "internal: 'ringside run' did not end when its --timeout ran out" in p.stderr
    assert time.monotonic() - begin < 60


def test_a_few_boots_whose_guest_fails_are_data_and_not_repeated(bench):
    bench.behave("faster=25 panic times=%s:1" % (bench.path / "count"))
    p = bench.compare("--json", blocks=7)
    assert p.returncode == 0, p.stderr
    assert "warning: boot 1 (block 1 of 7, arm " in p.stderr
    assert "failed: panic (status 240): Attempted to kill init!" in p.stderr
    assert len(bench.lines()) == 29
    row = by_name(p.stdout)["syscall.null"]
    assert row["blocks"] == 6
    assert row["arms"]["a"]["boots_lost"] + row["arms"]["b"]["boots_lost"] == 1
    again = bench.compare("--resume", "--json", blocks=7)
    assert again.stdout == p.stdout
    assert len(bench.lines()) == 29


def test_an_arm_whose_guest_fails_again_and_again_ends_it_undecided(bench):
    bench.behave("panic@fast")
    p = bench.compare()
    assert p.returncode == 3
    assert p.stdout == ""
    assert "3 boots failed, so the comparison ends here, undecided" in p.stderr
    assert p.stderr.rstrip().endswith("\n".join("line %d" % i for i in range(8, 20)))
    again = bench.compare("--resume")
    assert again.returncode == 3
    assert "3 boots failed" in again.stderr


def test_a_benchmark_that_fails_its_own_check_says_so(bench):
    bench.behave("benchfail")
    p = bench.compare()
    assert p.returncode == 3
    assert "failed: syscall.null: FSGSBASE is off" in p.stderr


def test_where_no_batch_is_clean_a_boot_has_no_value(bench):
    bench.behave("dirty=5")
    p = bench.compare(bench="syscall.null")
    assert p.returncode == 3
    assert "all 5 batches were disturbed" in p.stdout


def test_where_most_batches_are_dirty_the_rest_counts_when_instructions_are_counted(bench):
    bench.behave("dirty=3 faster=25")
    p = bench.compare(bench="syscall.null")
    assert p.returncode == 0
    text = " ".join(p.stdout.split())
    assert "batches 60 60 dirty, left out 36 36" in text and "(dirty)" not in text


def test_fewer_than_six_blocks_decide_nothing(bench):
    bench.behave("faster=25")
    assert bench.compare(blocks=5).returncode == 3


@pytest.mark.parametrize("words, text", [
    ([], "--a is missing"),
    (["--a", "k"], "--b is missing"),
    (["--a", "k", "--b", "k"], "--bench is missing"),
    (["--a", "k", "--b", "k", "--aa", "--bench", "syscall"], "--aa compares --a with itself"),
    (["--a", "k,x=1", "--b", "k", "--bench", "syscall"],
     "--a 'k,x=1': 'x' is no property of an arm"),
    (["--a", "k", "--b", "k", "--bench", "speed"], "--bench: 'speed' is no benchmark"),
    (["--a", "k", "--b", "k", "--bench", "syscall", "--backend", "kvm", "--icount", "3"],
     "--icount is QEMU's"),
    (["--a", "k", "--b", "k", "--bench", "syscall", "--blocks", "0"],
     "--blocks 0: expected 1 to 512"),
    (["--resume"], "--resume: name the file to go on with"),
    (["--a", "k", "--b", "k", "--bench", "syscall", "--resume"], "--resume: which comparison?"),
    (["now"], "unexpected 'now'"),
])
def test_wrong_words_are_refused(bench, words, text):
    p = bench.run(RINGSIDE, "compare", *words)
    assert p.returncode == 2
    assert p.stderr.startswith("ringside: error: " + text)
    assert p.stderr.count("\n") == 1


def test_a_kernel_that_is_not_there_is_named_before_anything_is_written(bench):
    p = bench.compare(b=bench.kernel + "x")
    assert p.returncode == 4
    assert "--b: --kernel %sx: No such file or directory" % bench.kernel in p.stderr
    assert not os.path.exists(bench.results)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_closed_stdin_stdout_or_stderr_never_becomes_the_results_file(bench, closed):
    p = bench.run("sh", "-c", f'exec "$@" {closed}', "sh", *bench.words())
    assert p.returncode == (4 if "1>" in closed else 0)
    assert [line["type"] for line in bench.lines()] == ["plan"] + 24 * ["boot"]
    resumed = bench.compare("--resume")
    assert resumed.returncode == 0, resumed.stderr


def test_a_pipe_cannot_be_resumed(bench):
    os.mkfifo(bench.results)
    p = bench.run(RINGSIDE, "compare", "--resume", "--results", bench.results)
    assert (p.returncode, p.stdout) == (4, "")
    assert p.stderr == f"ringside: error: {bench.results}: expected a regular file\n"


def test_without_a_file_the_results_go_into_the_cache_by_their_plan(bench):
    bench.results = None
    p = bench.compare()
    assert p.returncode == 0, p.stderr
    (name,) = os.listdir(bench.path / "cache" / "ringside" / "results")
    assert name.endswith(".ndjson") and len(name) == 16 + 7
    again = bench.compare("--resume")
    assert again.stdout == p.stdout


def test_progress_is_told_on_stderr_alone(bench):
    p = bench.compare()
    assert "ringside: boot 1 of 24, block 1 of 6, arm " in p.stderr
    assert "boot 1 of" not in p.stdout


def cut(path, to, boots):
    """The first boots of a results file, as of a comparison that was stopped behind them."""
    with open(path) as f, open(to, "w") as out:
        kept = 0
        for line in f:
            kept += json.loads(line).get("type") == "boot"
            if kept <= boots:
                out.write(line)
    return str(to)


@pytest.mark.parametrize("faster", [-25, 25, 0])
def test_what_is_not_whole_has_no_verdict_in_any_form(bench, faster):
    """Seven of twelve blocks are enough for a p, but not for an end that nobody chose."""
    bench.behave(f"faster={faster}")
    whole = bench.compare(blocks=12)
    assert whole.returncode == (1 if faster < 0 else 0), whole.stderr
    part = cut(bench.results, bench.path / "part.ndjson", 28)
    why = "28 of 48 boots are recorded: what they say so far is no verdict."
    for form in [], ["--csv"], ["--markdown"], ["--junit"], ["--github"], ["--json"], ["--html", "-"]:
        p = bench.run(RINGSIDE, "report", *form, part)
        assert p.returncode == 3, (form, p.stderr)
        assert why[:-1] in p.stderr
        text = p.stdout.split("</style>")[-1].replace("lower is better", "")
        for word in "worse", "better", "equivalent", "::error", "<failure", "would be":
            assert word not in text, (form, text)
        assert "inconclusive" in text
        assert form == ["--csv"] or why in " ".join(text.split()), (form, text)
        if form == ["--json"]:
            report = json.loads(text)
            assert (report["exit_status"], report["boots_planned"], report["boots_recorded"]) == (3, 48, 28)
            assert {(b["verdict"], b["reason"]) for b in report["benchmarks"]} == {("inconclusive", "incomplete")}
        if form == ["--csv"]:
            assert all(",inconclusive,incomplete," in line for line in text.splitlines()[1:])


def test_what_is_not_whole_has_no_p_in_any_form(bench):
    """Nor is it significant: what is there is described, and stands for nothing."""
    bench.behave("faster=25 noise=0.5")
    assert bench.compare(blocks=12).returncode == 0
    whole = bench.run(RINGSIDE, "report", "--json", bench.results)
    assert by_name(whole.stdout)["syscall.null"]["p"]["value"] < 0.05
    part = cut(bench.results, bench.path / "part.ndjson", 28)
    row = by_name(bench.run(RINGSIDE, "report", "--json", part).stdout)["syscall.null"]
    assert row["p"] == {"value": None, "method": "none: boots are missing", "holm": None, "benjamini_hochberg": None}
    assert row["unpaired"]["p"] is None and row["significant"] is False
    assert row["effect"]["value"] == pytest.approx(-25, abs=2) and row["effect"]["interval"]["low"] < -24
    text = bench.run(RINGSIDE, "report", part).stdout
    page = bench.run(RINGSIDE, "report", "--html", "-", part).stdout
    assert "sign-flip" not in text + page and "Mann-Whitney" not in text and not re.search(r"\bnan\b", text + page)
    table = list(csv.DictReader(bench.run(RINGSIDE, "report", "--csv", part).stdout.splitlines()))
    assert table and all((r["p"], r["p_holm"]) == ("", "") for r in table)
