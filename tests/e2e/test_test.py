# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside test: its words, its exit statuses, and that nothing of it is left, whatever ends it.

What it boots is mostly tests/support/fake_boot.c, whose acts are the words of a test's command; some
tests boot a real guest under QEMU."""
import fcntl
import json
import os
import pty
import random
import resource
import shutil
import signal
import statistics
import subprocess
import termios
import time
import xml.etree.ElementTree

import pytest

from conftest import PATIENCE_S, RINGSIDE, ringside
from suites import (FAKE, assert_nothing_is_left, begun, processes_of, real, results, run, start, suite, wait_for,
                    words)

TIMES = 20


def test_300_failing_tests_exit_1(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [exit=1]") for i in range(300)))
    end = run(tmp_path, path, "--jobs", 8)
    assert end.status == 1, end.err
    assert [r["verdict"] for r in results(tmp_path)] == 300 * ["not-ok"]


def test_what_a_test_needs_and_is_not_there_skips_it_with_the_reason(tmp_path):
    needs = {"printk": "config=PRINTK=y", "none": "config=NONESUCH", "cpus": "cpus=1000", "one": "cpus=1",
             "file": "file=/nowhere/x", "here": "file=/proc/self", "memory": "memory=900000G", "kvm": "kvm",
             "tcg": "class=tcg", "native": "class=native"}
    path = suite(tmp_path, *((name, f"command: [exit=0], needs: ['{n}']") for name, n in needs.items()))
    end = run(tmp_path, path)
    assert end.status == 0, end.err
    got = {r["id"]: (r["verdict"], r["message"]) for r in results(tmp_path)}
    assert {i for i, (verdict, _) in got.items() if verdict == "ok"} == {"printk", "one", "here", "tcg"}
    assert got["none"] == ("skipped", "config=NONESUCH: kernel base has it not")
    assert got["cpus"][1].startswith("cpus=1000: this machine has ")
    assert got["file"] == ("skipped", "file=/nowhere/x: No such file or directory")
    assert got["kvm"] == ("skipped", "kvm: --backend qemu was asked for")
    assert got["native"] == ("skipped", "class=native: this is class tcg")
    assert all(verdict == "skipped" for i, (verdict, _) in got.items() if i == "memory")


@pytest.mark.parametrize("acts, status", [
    (("exit=0",), 0), (("exit=1",), 1), (("exit=240",), 1), (("exit=242",), 125), (("exit=248",), 125),
    (("exit=0", "exit=242"), 125), (("exit=1", "exit=242"), 1), (("crash",), 125),
    (("exit=125",), 125), (("exit=1", "exit=125"), 1), (("exit=126",), 125), (("exit=127",), 125), (("exit=1", "exit=127"), 1)])
def test_bisect_tells_good_bad_and_neither(tmp_path, acts, status):
    path = suite(tmp_path, *((f"t{i}", f"command: [{a}]") for i, a in enumerate(acts)))
    assert run(tmp_path, "--bisect", path).status == status


def test_bisect_takes_what_passes_in_a_later_try_for_good(tmp_path):
    path = suite(tmp_path, ("t", f"command: [once={tmp_path}/mark], retries: 1"))
    end = run(tmp_path, "--bisect", path)
    assert [r["verdict"] for r in results(tmp_path)] == ["flaky"]
    assert end.status == 0, end.err


def test_a_report_that_cannot_be_written_hides_neither_the_others_nor_the_verdict(tmp_path):
    end = run(tmp_path, "--junit", "/dev/full", "--", "exit=1")
    assert end.status == 1 and "/dev/full: No space left on device" in end.err
    assert b"1 case: 1 not ok" in end.out


def test_a_failure_says_what_the_command_said_last(tmp_path):
    run(tmp_path, "--", "say=no such device", "exit=3")
    assert results(tmp_path)[0]["message"].endswith("it said last: no such device")


@pytest.mark.parametrize("acts", [("warn=4 vCPUs on 2", "say=no such device"), ("say=no such device", *["warn=" + "x" * 200] * 5)])
def test_a_warning_of_ours_is_nothing_that_the_command_said(tmp_path, acts):
    run(tmp_path, "--", *acts, "exit=3")
    assert results(tmp_path)[0]["message"].endswith("it said last: no such device")


def test_a_warning_of_ours_alone_is_no_last_words(tmp_path):
    run(tmp_path, "--", "warn=4 vCPUs on 2", "exit=3")
    assert "it said last" not in results(tmp_path)[0]["message"]


def test_git_bisect_finds_the_bad_commit_and_passes_over_what_does_not_boot(tmp_path):
    repo = tmp_path / "repo"
    repo.mkdir()

    def git(*args):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *map(str, args)],
                              cwd=repo, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    # The fourth does not boot, the sixth is bad.
    for i, act in enumerate(["exit=0", "exit=0", "exit=0", "exit=242", "exit=0", "exit=1", "exit=1", "exit=1"]):
        (repo / "suite.yaml").write_text(f"# {i}\ntests: [{{name: t, command: [{act}]}}]\n")
        git("add", "suite.yaml")
        git("commit", "-q", "-m", f"change {i}")
    git("bisect", "start", "HEAD", "HEAD~7")
    out = git("bisect", "run", "sh", "-c", f"exec {RINGSIDE} test --bisect --backend qemu --runner {FAKE} "
              f"--out {tmp_path}/out-$(git rev-parse HEAD) suite.yaml")
    assert "is the first bad commit" in out and "change 5" in out


def test_listing_runs_nothing_and_order_is_the_seeds(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [exit=0]") for i in range(30)))
    lists = [run(tmp_path, "--list", *more, path).out.decode().split()
             for more in ((), ("--shuffle", 1), ("--shuffle", 1), ("--shuffle", 2))]
    assert lists[0] == [f"t{i}" for i in range(30)]
    assert lists[1] == lists[2] != lists[3] and sorted(lists[1]) == sorted(lists[0])
    shards = [run(tmp_path, "--list", "--shard", f"{i}/3", path).out.decode().split() for i in (1, 2, 3)]
    assert sorted(sum(shards, [])) == sorted(lists[0])
    assert not (tmp_path / "out").exists()


def test_the_printed_suite_is_the_same_suite(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), head="matrix: {cpus: [1, 2]}")
    end = run(tmp_path, "--print-suite", path)
    assert end.status == 0
    (tmp_path / "printed.yaml").write_bytes(end.out)
    assert run(tmp_path, "--list", tmp_path / "printed.yaml").out == run(tmp_path, "--list", path).out


def test_reports_are_of_the_results_and_whole(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), ("b", "command: [say=why, exit=2]"))
    end = run(tmp_path, "--junit", tmp_path / "report.xml", "--json", tmp_path / "report.json",
              "--tap", tmp_path / "report.tap", "--github", tmp_path / "report.github", path)
    assert end.status == 1
    assert b"not ok" in end.out
    tree = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert len(list(tree.iter("testcase"))) == 2 and len(list(tree.iter("failure"))) == 1
    assert json.loads((tmp_path / "report.json").read_text())
    assert "1..2" in (tmp_path / "report.tap").read_text()
    assert f"file={path},line=4" in (tmp_path / "report.github").read_text()
    for name in ("report.xml", "report.json", "report.tap", "report.github"):
        form = {"xml": "--junit", "github": "--github", "tap": "--tap", "json": "--json"}[name.split(".")[1]]
        assert ringside("report", form, tmp_path / "out").out == (tmp_path / name).read_bytes()
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".tmp")]


def test_a_baseline_shows_what_changed(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), ("b", f"command: [once={tmp_path}/b]"))
    assert run(tmp_path, path).status == 1
    os.rename(tmp_path / "out", tmp_path / "old")
    end = run(tmp_path, "--baseline", tmp_path / "old", path)
    assert end.status == 0
    assert b"b" in end.out and b"fixed" in end.out.lower()


def test_a_report_that_cannot_be_written_is_4_and_the_results_stay(tmp_path):
    end = run(tmp_path, "--junit", "/dev/full", "--", "exit=0")
    assert end.status == 4 and "/dev/full: No space left on device" in end.err
    assert len(results(tmp_path)) == 1


def no_large_files():
    """As on a disk that gets full: what is appended to fails at some size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))


def few_descriptors():
    """As a shell has them: fewer than there may be."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def test_many_guests_at_once_have_the_descriptors_that_there_may_be(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [sleep=0.3]") for i in range(16)))
    p = subprocess.run([RINGSIDE, *map(str, words(tmp_path, "--jobs", 16, path))], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=few_descriptors)
    assert p.returncode == 0, p.stderr


def test_results_that_cannot_be_kept_are_4_and_what_had_ended_is_told(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [exit=0]") for i in range(200)))
    p = subprocess.run([RINGSIDE, *map(str, words(tmp_path, "--jobs", 2, "--junit", "-", path))], capture_output=True,
                       text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=no_large_files)
    kept = (tmp_path / "out" / "results.ndjson").read_text().splitlines()[1:]
    assert p.returncode == 4 and "results.ndjson: writing a record: File too large" in p.stderr, p.stderr
    assert 5 < len(kept) < 200
    cases = [list(c) for c in xml.etree.ElementTree.fromstring(p.stdout).iter("testcase")]
    assert len(cases) == 200 and sum(c[0].tag == "error" for c in cases) == 200 - len(kept)
    assert_nothing_is_left(tmp_path)


def test_results_that_could_not_be_begun_are_not_in_the_way_of_the_next_try(tmp_path):
    def none():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    p = subprocess.run([RINGSIDE, *map(str, words(tmp_path, "--", "exit=0"))], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=none)
    assert p.returncode == 4 and "results.ndjson: writing the first record: File too large" in p.stderr, p.stderr
    assert run(tmp_path, "--", "exit=0").status == 0


@pytest.mark.parametrize("head, title", [("name: Of a <team>", "Of a <team>"), ("", None)])
def test_reports_call_a_suite_by_its_name_or_its_file(tmp_path, head, title):
    path = suite(tmp_path, ("a", "command: [exit=0]"), head=head)
    end = run(tmp_path, "--junit", tmp_path / "report.xml", "--json", tmp_path / "report.json", path)
    title = title or str(path)
    assert end.out.decode().startswith(f"{title}: 1 case: 1 ok\n"), end.out
    assert xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot().get("name") == title
    assert json.loads((tmp_path / "report.json").read_text())["title"] == title


def test_timeouts_are_outlived_by_less_than_a_second(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [deaf, orphan, sleep=100]") for i in range(TIMES)),
                 head="defaults: {timeouts: {whole: 300ms}}")
    end = run(tmp_path, path, "--jobs", 4)
    assert end.status == 1
    took = [r["duration_ns"] / 1e9 for r in results(tmp_path)]
    # One that has to wait for a processor may be later, as what it is ended by.
    assert len(took) == TIMES and statistics.quantiles(took, n=4)[2] < 1.3 and max(took) < 20, took
    assert {r["outcome"] for r in results(tmp_path)} == {"timeout"}
    assert_nothing_is_left(tmp_path)


def test_a_timeout_says_which_and_where_it_stands(tmp_path):
    path = suite(tmp_path, ("whole", "command: [sleep=100], timeouts: {whole: 200ms}"),
                 ("idle", "command: [sleep=100], timeouts: {idle: 200ms, whole: 1m}"), ("default", "command: [sleep=100]"),
                 head="defaults: {timeouts: {whole: 300ms}}")
    assert run(tmp_path, path).status == 1
    got = {r["id"]: r["message"] for r in results(tmp_path)}
    place = {name: text.splitlines()[row].index(word) + 1 for text in [path.read_text()]
             for name, row, word in (("whole", 2, "200ms"), ("idle", 3, "200ms"), ("default", 0, "300ms"))}
    assert got["whole"].endswith(f"('whole' of its timeouts, {path}:3:{place['whole']})"), got
    assert got["idle"].endswith(f"('idle' of its timeouts, {path}:4:{place['idle']})"), got
    assert got["default"].endswith(f"('whole' of its timeouts, {path}:1:{place['default']})"), got


def test_what_is_known_to_fail_and_passes_is_seen_in_every_form(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0], known: {reason: it races}"), ("b", "command: [exit=0]"))
    end = run(tmp_path, path, "--junit", tmp_path / "xml", "--json", tmp_path / "json", "--github", tmp_path / "github")
    assert end.status == 0
    out = end.out.decode()
    assert ": 2 cases: 2 ok (1 though known not to be)\n\npasses   a: pass" in out, out
    assert "as expected, though 'known' says that it is not: it races" in out
    assert (tmp_path / "github").read_text().startswith(f"::warning file={path},line=3,col=3,title=a::pass: as expected, ")
    assert json.loads((tmp_path / "json").read_text())["counts"]["known-but-ok"] == 1
    tree = xml.etree.ElementTree.parse(tmp_path / "xml").getroot()
    assert [p.get("value") for p in tree.iter("property") if p.get("name") == "known_but_ok"] == ["true"]
    assert "| ok | a | pass | as expected" in ringside("report", "--markdown", tmp_path / "out").out.decode()


@pytest.mark.long
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_signal_at_any_moment_leaves_nothing(tmp_path, sig):
    rng = random.Random(sig)
    # After SIGKILL nobody but the kernel ends what is left: what 'ringside run' starts asks for that.
    acts = "say=x, deaf, sleep=0.2" if sig == signal.SIGKILL else "say=x, orphan, deaf, sleep=0.2"
    for i in range(TIMES):
        here = tmp_path / str(i)
        here.mkdir()
        path = suite(here, *((f"t{k}", f"command: [{acts}]") for k in range(12)))
        p = start(here, path, "--jobs", 4, "--junit", here / "report.xml", "--json", here / "report.json")
        if i % 4:
            wait_for(lambda: begun(here))
        time.sleep(rng.uniform(0, 0.9))
        p.send_signal(sig)
        p.communicate(timeout=PATIENCE_S)
        # One that came before or after all of it finds the default, or nobody.
        assert p.returncode in (-sig, 128 + sig, 0), p.returncode
        assert_nothing_is_left(here)
        if (here / "out" / "results.ndjson").exists():
            results(here)


def test_a_machine_that_is_killed_is_a_result(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [sleep=100]") for i in range(TIMES)))
    p = start(tmp_path, path, "--jobs", 4)
    killed = set()
    while p.poll() is None:
        for pid in set(begun(tmp_path)) - killed:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        time.sleep(0.02)
    assert p.returncode == 4
    assert len(killed) == TIMES
    assert [r["outcome"] for r in results(tmp_path)] == TIMES * ["vmm-fault"]
    p.communicate()
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize("how", ["closed", "null", "file", "pipe"])
def test_stdin_may_be_anything(tmp_path, how):
    out = tmp_path / "stdin"
    out.write_text("x\n")
    with open(out) as f:
        stdin = {"closed": None, "null": subprocess.DEVNULL, "file": f, "pipe": subprocess.PIPE}[how]
        p = subprocess.Popen([RINGSIDE, *map(str, words(tmp_path, "--", "exit=0"))], stdin=stdin,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                             preexec_fn=(lambda: os.close(0)) if how == "closed" else None)
        assert p.wait(timeout=PATIENCE_S) == 0, p.stderr.read()


def test_outputs_that_nobody_reads_end_nothing(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [exit=1]") for i in range(5)))
    p = start(tmp_path, path)
    p.stdout.close()
    p.stderr.close()
    assert p.wait(timeout=PATIENCE_S) in (1, 4)
    assert len(results(tmp_path)) == 5


def on_terminal(tmp_path, *more, background, env=None):
    """Run it with a terminal of its own as stdin and stderr; what the terminal got, and the status."""
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[3] |= termios.TOSTOP
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)

    def session():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        if background and os.fork() != 0:
            # The leader stays in the foreground and passes the status on.
            os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
        if background:
            os.setpgid(0, 0)

    p = subprocess.Popen([RINGSIDE, *map(str, words(tmp_path, *more))], stdin=theirs, stdout=subprocess.PIPE,
                         stderr=theirs, preexec_fn=session, env=env)
    os.close(theirs)
    got = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        got += data
    os.close(ours)
    return got, p.wait(timeout=PATIENCE_S)


@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
def test_a_terminal_shows_a_table_and_a_background_job_is_not_stopped(tmp_path, background):
    path = suite(tmp_path, ("one", "command: [sleep=0.6]"), ("two", "command: [exit=1]"))
    got, status = on_terminal(tmp_path, path, "--jobs", 2, background=background)
    assert status == 1
    assert b"0 of 2 cases have ended" in got and b"\x1b[J" in got
    assert b"not ok" in got and len(results(tmp_path)) == 2


def test_without_colour_there_is_none(tmp_path):
    path = suite(tmp_path, ("two", "command: [exit=1]"))
    got, _ = on_terminal(tmp_path, path, background=False, env={**os.environ, "NO_COLOR": "1"})
    assert b"\x1b[3" not in got


def test_interrupted_results_can_be_reported(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), ("b", "command: [sleep=100]"))
    p = start(tmp_path, path, "--jobs", 1)
    wait_for(lambda: len(begun(tmp_path)) == 2)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 128 + signal.SIGINT
    assert b"stopped by Interrupt" in err
    assert [r["id"] for r in results(tmp_path)] == ["a"]
    assert ringside("report", tmp_path / "out").status == 4


# With real guests.

def test_one_command_in_a_real_guest(tmp_path):
    end = real(tmp_path, "--", "sh", "-c", "uname -s; echo oh >&2; exit 3")
    assert end.status == 1, end.err
    r = results(tmp_path)[0]
    assert (r["outcome"], r["status"], r["backend"]) == ("fail", 3, "qemu")
    assert (tmp_path / "out" / "command" / "stdout").read_text() == "Linux\n"
    assert "oh\n" in (tmp_path / "out" / "command" / "stderr").read_text()
    assert (tmp_path / "out" / "command" / "console").exists()
    assert json.loads((tmp_path / "out" / "command" / "record.json").read_text())["outcome"]["status"] == 3


@pytest.mark.long
def test_every_kind_of_test_in_real_guests(tmp_path):
    tree = tmp_path / "tests"
    tree.mkdir()
    for name, text in (("a", "echo out; exit 0"), ("b", "exit 1"), ("skips", "exit 32"),
                       ("ktap", "echo TAP version 13; echo 1..1; echo ok 1 inner")):
        (tree / name).write_text(f"#!/bin/sh\n{text}\n")
        (tree / name).chmod(0o755)
    (tmp_path / "script").write_text('cat /tmp/data && mkdir /out && echo kept >/out/file && test "$WORD" = given\n')
    (tmp_path / "data").write_text("content\n")
    path = suite(
        tmp_path,
        ("script", "script: script, files: [data], env: [WORD=given], artifacts: [/out, /nowhere]"),
        ("scripts", "scripts: tests"),
        ("selftests", "kselftest: tests, only: [a, ktap]"),
        ("rooted", "scripts: tests, only: [a], root: /"),
        ("panics", "command: [sh, -c, 'echo c >/proc/sysrq-trigger'], expect: panic"))
    end = real(tmp_path, path)
    got = {r["id"]: r for r in results(tmp_path)}
    assert {i: r["verdict"] for i, r in got.items()} == {
        "script": "ok", "scripts": "not-ok", "selftests": "ok", "rooted": "ok", "panics": "ok"}, (end.err, got)
    assert (tmp_path / "out" / "script" / "stdout").read_text() == "content\n"
    assert (tmp_path / "out" / "script" / "artifacts" / "out" / "file").read_text() == "kept\n"
    assert '"data"' not in (tmp_path / "out" / "script" / "record.json").read_text()
    assert got["script"]["warnings"] == ["artifact /nowhere did not come back: No such file or directory"]
    subs = {s["name"]: s["verdict"] for s in got["scripts"]["subs"]}
    assert subs == {"a": "ok", "b": "not-ok", "skips": "skipped", "ktap/inner": "ok"}
    assert end.status == 1


@pytest.mark.long
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_signal_leaves_no_real_guest(tmp_path, sig):
    p = subprocess.Popen([RINGSIDE, "test", "--backend", "qemu", "--out", tmp_path / "out", "--",
                          "sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    # ringside run and its QEMU.
    wait_for(lambda: len(processes_of(tmp_path)) >= 2)
    time.sleep(1)
    p.send_signal(sig)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode in (-sig, 128 + sig)
    assert_nothing_is_left(tmp_path)


def test_a_real_machine_that_is_killed_is_a_result(tmp_path):
    p = subprocess.Popen([RINGSIDE, "test", "--backend", "qemu", "--out", tmp_path / "out", "--",
                          "sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    wait_for(lambda: len(processes_of(tmp_path)) >= 2)
    os.kill(min(processes_of(tmp_path)), signal.SIGKILL)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 4
    assert results(tmp_path)[0]["outcome"] == "vmm-fault"
    assert_nothing_is_left(tmp_path)


def test_a_report_never_takes_the_place_of_the_suite_or_of_results(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"))
    text = open(path).read()
    records = tmp_path / "records"
    records.write_text('{"schema_version":1,"type":"plan"}\n')
    for option in "--json", "--junit", "--tap", "--github":
        for to in path, records:
            end = run(tmp_path, path, option, to)
            assert end.status == 2 and "give another name" in end.err, end.err
    assert open(path).read() == text and records.read_text().startswith('{"schema')


def test_a_report_never_takes_the_place_of_a_kernel_or_the_runner(tmp_path):
    kernel, runner = tmp_path / "vmlinux", tmp_path / "runner"
    shutil.copy(ringside("kernel", "path", "base").out.decode().strip(), kernel)
    shutil.copy(FAKE, runner)
    kept = {path: path.read_bytes() for path in (kernel, runner)}
    for to in kernel, runner:
        for option in "--json", "--junit", "--tap", "--github":
            end = ringside("test", "--backend", "qemu", "--out", tmp_path / "out", "--kernel", kernel, "--runner", runner,
                           option, to, "--", "true")
            assert end.status == 2 and "give another name" in end.err, end.err
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert not (tmp_path / "out").exists()
