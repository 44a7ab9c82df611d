# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside test: its words, its exit statuses, and that nothing of it is left, whatever ends it.

What it boots is mostly tests/support/fake_boot.c, whose acts are the words of a test's command; some
tests boot a real guest under QEMU."""
import ctypes
import fcntl
import json
import os
import pty
import random
import signal
import subprocess
import termios
import time
import xml.etree.ElementTree

import pytest

from conftest import BUILD, PATIENCE_S, RINGSIDE, ringside

FAKE = str(BUILD / "tests" / "fake_boot")
TIMES = 20


def suite(tmp_path, *tests, head=""):
    """A suite file of these tests, each a name and the rest of its mapping."""
    path = tmp_path / "suite.yaml"
    path.write_text(f"{head}\ntests:\n" + "".join(f"- {{name: {n}, {rest}}}\n" for n, rest in tests))
    return path


def words(tmp_path, *more):
    return ("test", "--backend", "qemu", "--runner", FAKE, "--out", tmp_path / "out", *more)


def run(tmp_path, *more, **kwargs):
    env = {**os.environ, "FAKE_BOOT_LOG": str(tmp_path / "log")}
    return ringside(*words(tmp_path, *more), env=env, **kwargs)


def start(tmp_path, *more, **kwargs):
    env = {**os.environ, "FAKE_BOOT_LOG": str(tmp_path / "log")}
    return subprocess.Popen([RINGSIDE, *map(str, words(tmp_path, *more))], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, **kwargs)


def results(tmp_path):
    """The results, each of which is a whole line."""
    text = (tmp_path / "out" / "results.ndjson").read_text()
    lines = [json.loads(line) for line in text.splitlines() if text.endswith("\n") or line != text.splitlines()[-1]]
    assert not lines or lines[0]["type"] == "test-plan"
    return lines[1:]


def wait_for(what, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)


def begun(tmp_path):
    log = tmp_path / "log"
    return [int(line.split()[1]) for line in log.read_text().splitlines()
            if line.split()[0] in ("begin", "orphan")] if log.exists() else []


def processes_of(tmp_path):
    """Every process, of whatever program, that was started for a case of that run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f, open(f"/proc/{pid}/stat", "rb") as stat:
                if f"TMPDIR={tmp_path}/out/".encode() in f.read() and b") Z " not in stat.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def assert_nothing_is_left(tmp_path, within=2):
    wait_for(lambda: not processes_of(tmp_path), within)
    path = tmp_path / "out" / "results.ndjson"
    if path.exists():
        with open(path, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for name in ("report.xml", "report.json"):
        path = tmp_path / name
        if path.exists() and name.endswith("xml"):
            xml.etree.ElementTree.parse(path)
        elif path.exists():
            json.loads(path.read_text())


def test_300_failing_tests_exit_1(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [exit=1]") for i in range(300)))
    end = run(tmp_path, path, "--jobs", 8)
    assert end.status == 1, end.err
    assert [r["verdict"] for r in results(tmp_path)] == 300 * ["not-ok"]


@pytest.mark.parametrize("command, status", [("exit=0", 0), ("exit=1", 1), ("exit=239", 1), ("exit=246", 1), ("exit=247", 4),
                                             ("exit=248", 4), ("exit=249", 4), ("crash", 4)])
def test_the_status_is_0_or_1_and_4_for_what_is_no_guests(tmp_path, command, status):
    assert run(tmp_path, "--", command).status == status


def test_what_a_guest_did_outweighs_the_environment_which_is_told_of(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=249]"), ("b", "command: [crash]"), ("c", "command: [exit=3]"))
    end = run(tmp_path, path, "--github", tmp_path / "github")
    assert end.status == 1
    assert "error: 2 of 3 cases say nothing of what was to be tested: this machine or a file did not allow them" in end.err
    assert b": 3 cases: 3 not ok (2 by the environment)\n" in end.out
    assert "::vmm-fault, by the environment: " in (tmp_path / "github").read_text()
    assert ringside("report", tmp_path / "out").status == 1
    os.rename(tmp_path / "out", tmp_path / "old")
    end = run(tmp_path, path, "--filter", "!c")
    assert end.status == 4 and b": 2 cases: 2 not ok by the environment\n" in end.out
    assert ringside("report", tmp_path / "out").status == 4


@pytest.mark.parametrize("words, text", [
    (("--cpu", "bogus"), "--cpu: "),
    (("--cpu", "help"), "--cpu help is for 'ringside run'"),
    (("--cpu", "host,+nonesuch"), "--cpu: "),
    (("--append", 3000 * "x"), "--append: 3000 bytes, and a kernel takes 2047"),
    (("--memory", "0"), "--memory"), (("--cpus", "0"), "--cpus")])
def test_words_for_the_machine_that_are_wrong_are_2_before_a_boot(tmp_path, words, text):
    for more, status in ((), 2), (("--bisect",), 128):
        end = run(tmp_path, *more, *words, "--", "exit=0")
        assert (end.status, end.out) == (status, b""), end.err
        assert text in end.err and end.err.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_words_of_a_suite_that_are_wrong_are_named_with_its_test(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), ("b", "command: [exit=0], matrix: {cpu: [-avx, bogus]}"))
    end = run(tmp_path, path)
    assert end.status == 2 and end.err.startswith(f"ringside: error: {path}:4:3: b[cpu=bogus]: --cpu: "), end.err
    shares = ", ".join(f"/tmp:/mnt/{i}" for i in range(40))
    path = suite(tmp_path, ("a", f"command: [exit=0], shares: [{shares}]"))
    end = run(tmp_path, path)
    assert end.status == 2 and f"{path}:3:3: a: --share /tmp: more than" in end.err, end.err
    assert not (tmp_path / "out").exists()


def test_more_memory_than_this_machine_has_is_4_unless_the_test_needs_it(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), head="matrix: {memory: [8T]}")
    end = run(tmp_path, path)
    assert end.status == 4 and f"{path}:3:3: a: 8 TiB of guest memory, and this machine has " in end.err, end.err
    assert run(tmp_path, "--bisect", path).status == 125
    path = suite(tmp_path, ("a", "command: [exit=0], needs: [memory=8T]"), head="matrix: {memory: [8T]}")
    assert run(tmp_path, path).status == 0


def test_without_qemu_it_is_4_in_one_line(tmp_path):
    for more, status in ((), 4), (("--bisect",), 125):
        end = real(tmp_path, *more, "--", "true", env={**os.environ, "PATH": f"{tmp_path}:/nowhere"})
        assert (end.status, end.out) == (status, b"")
        assert "qemu: there is no qemu-system-x86_64 in PATH" in end.err and "install the package" in end.err
        assert end.err.count("\n") == 1 and not (tmp_path / "out").exists()


def without_override():
    """As root without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, to whom a file's mode means something."""
    for capability in 1, 2:
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.write_bytes(bytes(4096))], ids=["folder", "image"])
def test_a_root_that_cannot_be_read_is_4(tmp_path, make):
    make(tmp_path / "root")
    os.chmod(tmp_path / "root", 0)
    path = suite(tmp_path, ("a", "command: ['true'], root: root"))
    p = subprocess.run([RINGSIDE, "test", "--backend", "qemu", "--out", tmp_path / "out", path], capture_output=True,
                       text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=without_override)
    assert p.returncode == 4, (p.stdout, p.stderr)
    assert "1 of 1 cases say nothing of what was to be tested" in p.stderr
    assert "Permission denied" in p.stderr and "1 not ok by the environment" in p.stdout


def test_a_kernel_that_is_none_is_4(tmp_path):
    (tmp_path / "kernel").write_text("a text\n")
    for words in ("test", "--out", tmp_path / "out"), ("run",):
        end = ringside(*words, "--backend", "qemu", "--kernel", tmp_path / "kernel", "--", "true")
        assert end.status == (4 if words[0] == "test" else 249) and end.out == b""
        assert f"{tmp_path}/kernel: " in end.err and "not a kernel" in end.err and end.err.count("\n") == 1, end.err
    assert not (tmp_path / "out").exists()


def test_what_the_words_have_wrong_is_2_in_one_line(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"))
    for more, text in [
            ((), "what is to be tested? Name a suite file, or a command behind '--'"),
            ((path, "--", "x"), "a suite file and a command behind '--' exclude each other"),
            ((path, "--cpus", 2), "--cpus goes with a command behind '--'"),
            (("--shard", "3/2", path), "--shard: expected I/N"),
            (("--jobs", "0", path), "--jobs: expected auto or a number, 1 to 256, got '0'"),
            (("--filter", "nonesuch", path), "nonesuch"),
            (("/nowhere.yaml",), "/nowhere.yaml: No such file or directory"),
            (("--until-failure", "--repeat", 2, path), "--until-failure and --repeat exclude each other"),
            (("--require-kvm", path), "--require-kvm and --backend qemu exclude each other")]:
        end = run(tmp_path, *more)
        assert (end.status, end.out) == (2, b""), end.err
        assert text in end.err and end.err.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_what_this_machine_lacks_is_4_in_one_line(tmp_path):
    end = run(tmp_path, "--kernel", "/nowhere/vmlinux", "--", "exit=0")
    assert (end.status, end.out) == (4, b"")
    assert end.err == "ringside: error: --kernel /nowhere/vmlinux: No such file or directory\n"
    assert run(tmp_path, "--", "exit=0").status == 0
    end = run(tmp_path, "--", "exit=0")
    assert end.status == 4 and "results of another run are in it" in end.err


def test_kvm_that_is_required_and_not_there_is_4_with_doctors_check(tmp_path):
    checks = {c["id"]: c["status"] for c in json.loads(ringside("doctor", "--json").out)["checks"]}
    end = ringside("test", "--require-kvm", "--runner", FAKE, "--out", tmp_path / "out", "--", "exit=0")
    if end.status == 0:
        assert checks["ring0"] == "ok"
        return
    assert (end.status, end.out) == (4, b"")
    assert end.err.count("\n") == 1 and not (tmp_path / "out").exists()
    check = end.err.removeprefix("ringside: error: --require-kvm: ").split(":")[0]
    assert checks[check] != "ok", end.err
    # Without it, it is said once, however many there are.
    path = suite(tmp_path, *((f"t{i}", "command: [exit=0]") for i in range(3)))
    end = ringside("test", "--runner", FAKE, "--out", tmp_path / "out", path)
    assert end.status == 0
    assert end.err.count(f": {check}: ") == 1 and "software processor" in end.err
    assert {r["backend"] for r in results(tmp_path)} == {"qemu"}


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
    (("exit=126",), 125), (("exit=127",), 125), (("exit=1", "exit=127"), 1)])
def test_bisect_tells_good_bad_and_neither(tmp_path, acts, status):
    path = suite(tmp_path, *((f"t{i}", f"command: [{a}]") for i, a in enumerate(acts)))
    assert run(tmp_path, "--bisect", path).status == status


def test_bisect_skips_what_was_not_built_and_gives_up_on_wrong_words(tmp_path):
    assert run(tmp_path, "--bisect", "--kernel", "/nowhere/vmlinux", "--", "exit=0").status == 125
    assert run(tmp_path, "--bisect", "/nowhere.yaml").status == 128


def test_a_bisection_skips_when_the_program_that_boots_is_missing(tmp_path):
    end = run(tmp_path, "--bisect", "--runner", "/nowhere/ringside", "--", "exit=0")
    assert end.status == 125 and "--runner /nowhere/ringside: No such file" in end.err


@pytest.mark.parametrize("words, text", [
    (["--junit", "/nowhere/x"], "--junit /nowhere/x: No such file or directory"),
    (["--baseline", "/nowhere"], "--baseline: /nowhere: No such file or directory"),
])
def test_a_place_that_there_is_not_is_refused_before_a_boot(tmp_path, words, text):
    end = run(tmp_path, *words, "--", "exit=1")
    assert end.status == 4 and text in end.err
    assert not (tmp_path / "out").exists()


def test_a_report_that_cannot_be_written_hides_neither_the_others_nor_the_verdict(tmp_path):
    end = run(tmp_path, "--junit", "/dev/full", "--", "exit=1")
    assert end.status == 1 and "/dev/full: No space left on device" in end.err
    assert b"1 case: 1 not ok" in end.out


@pytest.mark.parametrize("words, text", [
    (["--json", "-", "--tap", "-", "--", "exit=0"], "only one report can go to stdout"),
    (["--", ""], "the command behind '--' is empty"),
])
def test_words_that_exclude_each_other_or_are_empty_are_2(tmp_path, words, text):
    end = run(tmp_path, *words)
    assert end.status == 2 and text in end.err


def test_a_failure_says_what_the_command_said_last(tmp_path):
    run(tmp_path, "--", "say=no such device", "exit=3")
    assert results(tmp_path)[0]["message"].endswith("it said last: no such device")


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


def test_timeouts_are_outlived_by_less_than_a_second(tmp_path):
    path = suite(tmp_path, *((f"t{i}", "command: [deaf, orphan, sleep=100]") for i in range(TIMES)),
                 head="defaults: {timeouts: {whole: 300ms}}")
    end = run(tmp_path, path, "--jobs", 4)
    assert end.status == 1
    took = [r["duration_ns"] / 1e9 for r in results(tmp_path)]
    assert len(took) == TIMES and max(took) < 1.3, took
    assert {r["outcome"] for r in results(tmp_path)} == {"timeout"}
    assert_nothing_is_left(tmp_path)


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

def real(tmp_path, *more, **kwargs):
    return ringside("test", "--backend", "qemu", "--out", tmp_path / "out", *more, **kwargs)


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
    wait_for(lambda: len(processes_of(tmp_path)) >= 2, 60)
    time.sleep(1)
    p.send_signal(sig)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode in (-sig, 128 + sig)
    assert_nothing_is_left(tmp_path, 5)


def test_a_real_machine_that_is_killed_is_a_result(tmp_path):
    p = subprocess.Popen([RINGSIDE, "test", "--backend", "qemu", "--out", tmp_path / "out", "--",
                          "sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    wait_for(lambda: len(processes_of(tmp_path)) >= 2, 60)
    os.kill(min(processes_of(tmp_path)), signal.SIGKILL)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 4
    assert results(tmp_path)[0]["outcome"] == "vmm-fault"
    assert_nothing_is_left(tmp_path, 5)
