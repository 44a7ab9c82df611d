# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside compare' with --pilot, --resolve, --budget and --aa N, over a runner that does not boot anything."""

import json
import os
import re
import signal
import subprocess

import pytest
from test_compare import FAKE, RINGSIDE, Bench, cores


@pytest.fixture
def bench(tmp_path):
    b = Bench(tmp_path)
    b.behave("faster=25 noise=2 boot=2.5")
    return b


def words(bench, *more, a=None, b=None, seed=("--seed", "1"), where=("--icount", "3")):
    to = ["--results", bench.results] if bench.results else []
    return [RINGSIDE, "compare", "--a", a or bench.kernel, "--b",
            b or bench.kernel + ",append=fast", "--bench", "syscall.null,ctxsw.futex.fs",
            "--batches", "5", *seed, "--backend", "qemu", *where, "--runner", FAKE, "--jobs", "1",
            *to, *more]


def run(bench, *more, **kw):
    return bench.run(*words(bench, *more, **kw))


def test_a_pilot_says_what_blocks_find_and_what_they_take_and_gives_no_verdict(bench):
    p = run(bench, "--pilot", "--json")
    assert p.returncode == 0, p.stderr
    pilot = json.loads(p.stdout)
    assert pilot["type"] == "pilot" and pilot["blocks"] == 6 and pilot["boots"] == 24
    assert pilot["seconds_a_boot"] == pytest.approx(2.5)
    assert pilot["seconds_a_block"] == pytest.approx(10)
    rows = {b["name"]: b for b in pilot["benchmarks"]}
    assert rows["syscall.null"]["varies"]
    assert not rows["switch_to.fsgs@ctxsw.futex.fs"]["varies"]
    sizes = {s["blocks"]: s["smallest_detectable"] for s in rows["syscall.null"]["sizes"]}
    s_d = rows["syscall.null"]["s_d"]
    for n, factor in {6: 1.43, 8: 1.15, 12: 0.89, 20: 0.66, 30: 0.53}.items():
        assert sizes[n] / s_d == pytest.approx(factor, abs=0.007)
    for word in ("better", "worse", "verdict"):
        assert word not in p.stdout
    again = bench.run(RINGSIDE, "report", "--json", bench.results)
    assert again.returncode == 0 and json.loads(again.stdout) == pilot


def test_the_size_of_a_pilot_is_the_users(bench):
    p = run(bench, "--pilot", "3")
    assert p.returncode == 0, p.stderr
    assert p.stdout.startswith("Pilot: 3 blocks, 12 boots\n")
    assert bench.lines()[0]["pilot"] is True


def test_resolve_boots_a_comparison_that_has_nothing_of_its_pilot(bench):
    p = run(bench, "--resolve", "1instruction", "--json")
    assert p.returncode == 0, p.stderr
    report = json.loads(p.stdout)
    with open(bench.results + ".pilot") as f:
        pilot = [json.loads(line) for line in f]
    plan, *boots = bench.lines()
    assert plan["sizing"] == {"by": "--resolve 1instruction", "pilot_blocks": 6,
                              "pilot": plan["sizing"]["pilot"]}
    assert report["sizing"] == plan["sizing"]
    blocks = report["blocks"]["planned"]
    assert blocks > 6 and len(boots) == 4 * blocks and len(pilot) == 1 + 24
    seeds = {boot["seed"] for boot in pilot[0]["boots"]}
    assert not seeds & {boot["seed"] for boot in plan["boots"]}
    # What the pilot promises of so many blocks is about what they come to.
    rows = {b["name"]: b for b in report["benchmarks"]}
    assert rows["syscall.null"]["smallest_detectable_effect"] == pytest.approx(1, rel=0.5)
    text = bench.run(RINGSIDE, "report", bench.results).stdout
    assert "chosen by --resolve 1instruction, from a\n           pilot of 6 blocks" in text


def test_a_budget_is_turned_into_blocks(bench):
    p = run(bench, "--budget", "95s", "--json")
    assert p.returncode == 0, p.stderr
    assert json.loads(p.stdout)["blocks"]["planned"] == 9
    assert "--budget 95s: 9 blocks; the pilot's boots are no part of them" in p.stderr
    assert "they take about 90 s" in p.stderr


def test_where_nothing_varies_the_fewest_blocks_are_enough(bench):
    bench.behave("faster=25 boot=2.5")
    p = run(bench, "--pilot")
    assert p.returncode == 0, p.stderr
    assert ("Nothing varied in 24 boots: the smallest number of blocks that gives a verdict,\n"
            "6, is enough.\n") in p.stdout
    bench.results = str(bench.path / "other.ndjson")
    p = run(bench, "--resolve", "1%", "--json")
    assert json.loads(p.stdout)["blocks"]["planned"] == 6


def test_stopped_in_the_pilot_it_goes_on_to_the_same_comparison(bench):
    bench.behave("faster=25 noise=2 boot=2.5 " + bench.gate())
    bench.let(10000)
    whole = run(bench, "--resolve", "1instruction")
    os.truncate(bench.path / "gate", 0)
    bench.results = str(bench.path / "stopped.ndjson")
    for name, boots, let in ((bench.results + ".pilot", 3, 3), (bench.results, 3, 24 - 3 + 3)):
        bench.let(let)
        real, bench.results = bench.results, name
        more = ["--resume"] if os.path.exists(real + ".pilot") else []
        go = words(bench, "--resolve", "1instruction", *more)
        go[go.index("--results") + 1] = real
        p = subprocess.Popen(go, env=bench.env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        bench.wait_for_boots(boots)
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=120)
        assert p.returncode == 128 + signal.SIGTERM
        if name.endswith(".pilot"):
            assert "go on with the same words, --resume and --seed 1" in err
        bench.results = real
    bench.let(10000)
    p = run(bench, "--resolve", "1instruction", "--resume")
    assert p.returncode == 0, p.stderr
    assert p.stdout == whole.stdout


@pytest.mark.parametrize("more, where, text, status", [
    (["--resolve", "2cycles"], ("--icount", "3"),
     "--resolve 2cycles: the class here is icount, and its unit is instructions", 2),
    (["--resolve", "1%"], (),
     "--resolve 1%: the class here is tcg, which judges no speed", 4),
    (["--blocks", "-3"], ("--icount", "3"), "--blocks: expected a whole number, 1 to 512, got '-3'", 2),
    (["--resolve", "many"], ("--icount", "3"), "--resolve: expected a size such as", 2),
    (["--resolve", "1%", "--budget", "60s"], ("--icount", "3"),
     "--resolve and --budget both choose the number of blocks: give one", 2),
    (["--resolve", "1%", "--blocks", "8"], ("--icount", "3"),
     "--resolve chooses the number of blocks: leave out --blocks", 2),
    (["--pilot", "--blocks", "8"], ("--icount", "3"),
     "--pilot has a number of blocks of its own (--pilot N): leave out --blocks", 2),
    (["--pilot", "1"], ("--icount", "3"), "--pilot 1: expected 2 to", 2),
    (["--pilot", "--html", "x.html"], ("--icount", "3"), "a pilot has no verdicts", 2),
    (["--budget", "0"], ("--icount", "3"), "--budget 0: expected 1 s to 30 days", 2),
])
def test_wrong_words_are_refused_before_anything_is_booted(bench, more, where, text, status):
    p = run(bench, *more, where=where)
    assert p.returncode == status
    assert text in p.stderr
    assert os.listdir(bench.path) == ["vmlinux"]


def test_a_budget_that_is_too_small_says_what_is_needed(bench):
    p = run(bench, "--budget", "20s")
    assert p.returncode == 3
    assert ("--budget 20s: a block of 4 boots takes 10 s here, so that 6 blocks, the fewest that "
            "give a verdict, need 60 s") in p.stderr
    assert not os.path.exists(bench.results)


def test_a_size_that_no_number_of_blocks_finds_is_no_fault_of_the_words(bench):
    bench.behave("faster=25 noise=9")
    p = run(bench, "--resolve", "0.0001%")
    assert p.returncode == 3, p.stderr
    assert "--resolve 0.0001%: syscall.null varies too much: with 512 blocks, the most there can be" in p.stderr
    assert not os.path.exists(bench.results)


def test_a_pilot_whose_guest_fails_chooses_nothing(bench):
    bench.behave("panic")
    p = run(bench, "--resolve", "1%")
    assert p.returncode == 3
    assert not os.path.exists(bench.results)


@pytest.mark.parametrize("form", ["--csv", "--markdown", "--details", "--html=x"])
def test_a_pilot_has_no_forms_of_verdicts(bench, form):
    assert run(bench, "--pilot").returncode == 0
    p = bench.run(RINGSIDE, "report", form, bench.results)
    assert p.returncode == 2
    assert "is of a pilot, which has no verdicts" in p.stderr


def aa(bench, *more):
    return bench.run(RINGSIDE, "compare", "--a", bench.kernel, "--bench",
                     "syscall.null,ctxsw.futex.fs", "--blocks", "6", "--batches", "5", "--seed", "1",
                     "--backend", "qemu", "--icount", "3", "--runner", FAKE, "--results",
                     bench.results, *more)


def test_an_arm_is_compared_with_itself_so_often(bench):
    bench.behave("noise=2")
    p = aa(bench, "--aa", "20", "--json")
    assert p.returncode == 0, p.stderr
    report = json.loads(p.stdout)
    assert report["title"] == "20 comparisons of %s with itself" % bench.kernel
    assert len(bench.lines()) == 1 + 20 * 24 and len(report["comparisons"]) == 20
    for row in report["aa"]:
        assert row["compared"] == 20
        assert row["rejected"] <= row["expected"][1] == 4
    text = bench.run(RINGSIDE, "report", bench.results)
    assert text.returncode == 0
    assert "\nNo benchmark has more false alarms than a test at 5 % may have.\n" in text.stdout
    for form in "--gate", "--csv", "--junit", "--github":
        p = bench.run(RINGSIDE, "report", form, bench.results)
        assert (p.returncode, p.stdout) == (2, "")
        assert "is of an arm with itself, many times over, which has no verdicts for" in p.stderr


def test_too_few_boots_leave_open_how_many_false_alarms_there_are(bench):
    bench.behave("noise=2")
    assert aa(bench, "--aa", "20").returncode == 0
    with open(bench.results) as f:
        lines = f.readlines()
    with open(bench.results, "w") as f:
        f.writelines(lines[:-30])
    p = bench.run(RINGSIDE, "report", bench.results)
    assert p.returncode == 3
    assert "Not all boots are recorded: how many false alarms there are is open." in p.stdout
    assert json.loads(bench.run(RINGSIDE, "report", "--json", bench.results).stdout)["exit_status"] == 3


def test_once_is_the_comparison_that_it_always_was(bench):
    bench.behave("noise=2")
    assert aa(bench, "--aa").returncode in (0, 3)
    once = bench.lines()
    os.unlink(bench.results)
    assert aa(bench, "--aa", "1").returncode in (0, 3)
    assert bench.lines()[0] == once[0] and once[0]["title"] is None


@pytest.mark.parametrize("more, text", [
    (["--aa", "65"], "--aa 65: expected 1 to 64"),
    (["--aa", "20", "--b", "x"], "--aa compares --a with itself: leave out --b"),
    (["--aa", "20", "--gate"], "--aa 20 has no verdicts for --gate"),
    (["--aa", "20", "--pilot"], "--pilot has a number of blocks of its own"),
])
def test_wrong_words_for_comparisons_with_itself_are_refused(bench, more, text):
    p = aa(bench, *more)
    assert p.returncode == 2
    assert text in p.stderr
    assert not os.path.exists(bench.results)


def history(bench):
    return bench.path / "cache" / "ringside" / "aa" / (os.uname().nodename + ".ndjson")


def test_what_a_host_makes_of_no_difference_stands_beside_each_effect(bench):
    bench.behave("faster=25 noise=2")
    first = aa(bench, "--aa", "20", "--json")
    assert first.returncode == 0, first.stderr
    effects = [abs(c["benchmarks"][0]["effect"]["value"])
               for c in json.loads(first.stdout)["comparisons"]]
    assert "noise_floor" not in first.stdout  # nothing was known when it ran
    bench.results = str(bench.path / "ab.ndjson")
    p = bench.compare("--json")
    assert p.returncode == 0, p.stderr
    row = {b["name"]: b for b in json.loads(p.stdout)["benchmarks"]}["syscall.null"]
    assert row["noise_floor"] == {"value": sorted(effects)[18], "comparisons": 20,
                                  "blocks_least": 6, "blocks_most": 6}
    text = bench.run(RINGSIDE, "report", bench.results).stdout
    shown = re.search(r"\n  noise floor +([0-9.]+), the 95th percentile of \|effect\| in 20", text)
    assert float(shown.group(1)) == pytest.approx(sorted(effects)[18], abs=0.05)
    assert "| noise floor | verdict |" in bench.run(
        RINGSIDE, "report", "--markdown", bench.results).stdout
    assert "<dt>noise floor</dt>" in bench.run(
        RINGSIDE, "report", "--html", "-", bench.results).stdout
    # What is recorded counts, not what this host has come to know.
    os.unlink(history(bench))
    assert bench.run(RINGSIDE, "report", bench.results).stdout == text
    assert bench.compare("--resume").stdout == text


def test_comparisons_with_itself_add_up_and_a_resumed_one_counts_once(bench):
    bench.behave("noise=2")
    assert aa(bench, "--aa", "12").returncode == 0
    assert aa(bench, "--aa", "12", "--resume").returncode == 0
    lines = history(bench).read_text().splitlines()
    assert len(lines) == 12 * 3  # two benchmarks and a probe
    bench.results = str(bench.path / "more.ndjson")
    p = aa(bench, "--aa", "8", "--json")
    assert "noise_floor" not in p.stdout
    bench.results = str(bench.path / "third.ndjson")
    p = aa(bench, "--aa", "1", "--seed", "3", "--json")
    assert json.loads(p.stdout)["benchmarks"][0]["noise_floor"]["comparisons"] == 20


def test_what_cannot_be_read_of_a_hosts_history_is_told_and_passed_over(bench):
    bench.behave("noise=2")
    assert aa(bench, "--aa", "20").returncode == 0
    with open(history(bench), "a") as f:
        f.write("{]\nnonsense\n{\"schema_version\":1,\"type\":\"aa-eff")
    bench.results = str(bench.path / "ab.ndjson")
    p = bench.compare("--json")
    assert "%s: 3 lines cannot be read, and are passed over" % history(bench) in p.stderr
    assert json.loads(p.stdout)["benchmarks"][0]["noise_floor"]["comparisons"] == 20


def test_without_a_place_for_it_a_comparison_is_what_it_was(bench):
    history(bench).parent.mkdir(parents=True)
    history(bench).mkdir()
    bench.behave("faster=25 noise=2")
    p = bench.compare()
    assert p.returncode == 0
    assert "warning: noise floors: " in p.stderr


@pytest.mark.skipif(len(cores()) < 2, reason="there is one core only")
def test_boots_side_by_side_never_share_a_core(bench):
    bench.behave("slow=0.1")
    p = bench.compare(jobs=2)
    assert p.returncode == 0, p.stderr
    boots = [(b["ran_from"], b["ran_from"] + b["ran_for"], set(b["ran_on"]))
             for b in bench.lines()[1:]]
    together = 0
    for i, (begin, end, cpus) in enumerate(boots):
        assert cpus in cores()
        for other_begin, other_end, other_cpus in boots[:i]:
            if begin < other_end and other_begin < end:
                together += 1
                assert not cpus & other_cpus
    assert together > 0


def test_more_boots_at_a_time_than_cores_are_not_begun(bench):
    p = bench.compare(jobs=64)
    assert p.returncode == 0
    assert "--jobs 64: this process may run on %d core" % len(cores()) in p.stderr
    bench.results = str(bench.path / "one.ndjson")
    words = bench.words(jobs=2)
    one = str(min(os.sched_getaffinity(0)))
    p = subprocess.run(["taskset", "-c", one, *words], env=bench.env, capture_output=True,
                       text=True, timeout=60)
    assert p.returncode == 0
    assert "--jobs 2: this process may run on 1 core, and boots do not share one" in p.stderr
    assert all(b["ran_on"] == [int(one)] for b in bench.lines()[1:])


def test_what_another_program_did_is_told_by_cause(bench):
    bench.behave("noise=2 steal=1")
    bench.env["FAKE_CLASS"] = "native"
    p = bench.compare("--json")
    row = {b["name"]: b for b in json.loads(p.stdout)["benchmarks"]}["syscall.null"]
    for arm in "a", "b":
        assert row["arms"][arm]["dirty_by_cause"] == {
            "exit": 0, "kvm": 0, "irq": 0, "steal": 12, "preempt": 12, "switch": 0, "clock": 0}
    warnings = {w["kind"]: w for w in row["warnings"]}
    assert warnings["host"]["text"] == (
        "another program ran on this host: 20 % of the batches of A waited for a CPU (steal), 20 % of "
        "the batches of A lost the CPU (preempt)")
    text = bench.run(RINGSIDE, "report", bench.results).stdout
    assert re.search(r"\n    by steal +12 +12\n    by preempt +12 +12\n", text)
    assert "(host) another program ran on this host" in text
    # Where instructions are counted it is in no number.
    del bench.env["FAKE_CLASS"]
    bench.results = str(bench.path / "counted.ndjson")
    p = bench.compare("--json")
    row = {b["name"]: b for b in json.loads(p.stdout)["benchmarks"]}["syscall.null"]
    assert row["arms"]["a"]["dirty_by_cause"]["steal"] == 12
    assert "host" not in {w["kind"] for w in row["warnings"]}
