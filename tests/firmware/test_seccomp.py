# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside run and the filters of its threads, in the real program on this KVM.

What each rule lets pass is in tests/unit/test_vmm_sandbox.c. Here a debugger makes threads do what
they must not, and the ways that a run can end go by under the filters as they are by default.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import termios
import time

import pytest

from test_machine import BUILD, EOT, PATIENCE_S, kvm_trouble

STRAY = str(BUILD / "tests" / "stray_call")
PTRACE, EXECVE, SOCKET, OPENAT, TGKILL = 101, 59, 41, 257, 234
NAMES = {PTRACE: "ptrace", EXECVE: "execve", SOCKET: "socket", OPENAT: "openat"}
THREADS = {"loop": "the loop's thread", "vcpu": "a vCPU's thread"}


@pytest.fixture(scope="module", autouse=True)
def kvm():
    trouble = kvm_trouble()
    if trouble:
        pytest.skip(trouble)


def words(payload, *options):
    return [str(BUILD / "ringside"), "run", "--backend", "kvm", "--force", "--memory", "16M",
            "--kernel", str(BUILD / "firmware" / f"{payload}.elf"), *map(str, options)]


def run(payload, *options, stray=None, stdin=b""):
    """With stray = (thread, number, when): that thread makes that call, once."""
    by = [STRAY, *map(str, stray)] if stray else []
    return subprocess.run(by + words(payload, *options), input=stdin, capture_output=True,
                          check=False, timeout=PATIENCE_S)


def line_of(thread, nr):
    return (f"ringside: error: seccomp: {THREADS[thread]} made the system call {NAMES[nr]} ({nr}), "
            "which is not in its list; arguments 0x1 0x2 0x3 0x4 0x5 0x6\n")


@pytest.mark.parametrize("nr", NAMES)
@pytest.mark.parametrize("thread", THREADS)
def test_a_call_outside_the_list_ends_the_run_with_248_and_a_line(tmp_path, thread, nr):
    status = tmp_path / "status"
    end = run("echo", "--status-file", status, stray=(thread, nr, 3), stdin=b"x" * 64)
    assert end.returncode == 248
    assert end.stderr.decode() == line_of(thread, nr)
    assert status.read_text() == "internal\n"


@pytest.mark.parametrize("thread", THREADS)
def test_trap_says_so_and_dies_of_the_signal(thread):
    end = run("echo", "--seccomp", "trap", stray=(thread, PTRACE, 3), stdin=b"x" * 64)
    assert end.returncode == -signal.SIGSYS
    assert end.stderr.decode() == line_of(thread, PTRACE)


@pytest.mark.parametrize("mode", ["log", "off"])
@pytest.mark.parametrize("thread", THREADS)
def test_log_and_off_let_the_run_go_on(thread, mode):
    end = run("echo", "--seccomp", mode, stray=(thread, PTRACE, 3), stdin=b"x" * 64 + EOT)
    assert (end.returncode, end.stdout, end.stderr) == (0, b"ready\n" + b"x" * 64, b"")


@pytest.mark.parametrize("mode", ["kill", "trap", "log", "off"])
def test_the_record_says_which_mode_it_was(tmp_path, mode):
    file = tmp_path / "record"
    assert run("exit", "--json", file, "--seccomp", mode).returncode == 0
    assert json.loads(file.read_text())["provenance"]["seccomp"] == mode


def filters_of(pid):
    """For each thread: is it filtered, and may it gain rights."""
    rows = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        comm = (task / "comm").read_text().strip()
        if comm.startswith("kvm-"):
            continue  # the kernel's own, which it counts among ours
        rows[comm] = (
            int(re.search(r"^Seccomp:\t(\d)", text, re.M)[1]),
            int(re.search(r"^NoNewPrivs:\t(\d)", text, re.M)[1]))
    return rows


@contextlib.contextmanager
def started(*options):
    """A payload that echoes, and has said that it listens."""
    with subprocess.Popen(words("echo", *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p:
        try:
            assert p.stdout.readline() == b"ready\n"
            yield p
        finally:
            p.kill()


def test_every_thread_is_filtered_while_the_guest_runs():
    with started("--cpus", "2") as p:
        assert filters_of(p.pid) == {"ringside": (2, 1), "vcpu0": (2, 1), "vcpu1": (2, 1)}
        p.communicate(EOT, timeout=PATIENCE_S)
    assert p.returncode == 0


def test_no_vcpu_enters_the_guest_while_a_thread_is_without_its_filter(tmp_path):
    log = tmp_path / "calls"
    watched = ["strace", "-f", "-qq", "-o", log, "-e", "trace=seccomp,ioctl",
               "-e", "inject=seccomp:delay_enter=50ms:when=1"]
    subprocess.run([*watched, *words("exit", "--cpus", "8")], check=True, timeout=PATIENCE_S,
                   capture_output=True)
    lines = log.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if "KVM_RUN" in line)
    assert sum("SPEC_ALLOW, {" in line for line in lines[:first]) == 1 + 8
    assert [line for line in lines[first:] if "seccomp" in line] == []


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_a_filtered_run_as_any_other(tmp_path, sig):
    file = tmp_path / "record"
    with started("--json", file) as p:
        p.send_signal(sig)
        _, err = p.communicate(timeout=PATIENCE_S)
    assert (p.returncode, err) == (-sig, b"")
    assert json.loads(file.read_text())["outcome"]["kind"] == "signal"


def state_of(pid):
    """As ps has it; of one that has ended and was waited for as of one that was not."""
    if not pathlib.Path(f"/proc/{pid}").exists():
        return "Z"
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def stop_and_go_on(p, sig):
    p.send_signal(sig)
    wait_until(lambda: state_of(p.pid) in "TtZ")  # t: and somebody traces it
    p.send_signal(signal.SIGCONT)


def test_a_filtered_run_is_stopped_and_goes_on():
    with started("--cpus", "2") as p:
        stop_and_go_on(p, signal.SIGTSTP)
        out, err = p.communicate(b"again" + EOT, timeout=PATIENCE_S)
    assert (p.returncode, out, err) == (0, b"again", b"")


def test_the_signal_that_stops_vcpus_harms_nothing_when_it_comes_from_outside():
    with started("--cpus", "2") as p:
        for _ in range(3):
            p.send_signal(signal.SIGRTMIN)
            time.sleep(0.05)
        out, err = p.communicate(b"on" + EOT, timeout=PATIENCE_S)
    assert (p.returncode, out, err) == (0, b"on", b"")


def test_a_serial_interrupt_is_raised_by_what_is_typed_and_falls_as_it_is_read():
    with started("--append", "irq=1") as p:
        out, err = p.communicate(b"typed" + EOT, timeout=PATIENCE_S)
    assert (p.returncode, out, err) == (0, b"typed", b"")


def test_output_that_is_not_read_for_long_is_kept(tmp_path):
    text = os.urandom(70_000).replace(EOT, b"_") * 2
    (tmp_path / "text").write_bytes(text + EOT)
    with open(tmp_path / "text", "rb") as stdin, \
            subprocess.Popen(words("echo"), stdin=stdin, stdout=subprocess.PIPE) as p:
        time.sleep(3)  # more than a pipe's worth is with the run by then
        assert p.stdout.read() == b"ready\n" + text
    assert p.returncode == 0


def threads_of(pid):
    rows = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            rows[(task / "comm").read_text().strip()] = int(task.name)
    return rows


def parents():
    rows = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            rows[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
    return rows


def virtiofsds_of(pid):
    """The processes below it: virtiofsd is one that starts another."""
    rows, found = parents(), [pid]
    for p in found:
        found += [child for child, parent in rows.items() if parent == p]
    return [p for p in found[1:] if "virtiofsd" in pathlib.Path(f"/proc/{p}/comm").read_text()]


def test_a_virtiofsd_that_does_not_end_is_ended_also_by_a_run_that_was_stopped(tmp_path):
    with started("--share", tmp_path) as p:
        daemons = virtiofsds_of(p.pid)
        os.kill(daemons[0], signal.SIGSTOP)
        p.stdin.write(EOT)
        p.stdin.flush()
        # It waits for virtiofsd when its vCPU is gone.
        wait_until(lambda: "vcpu0" not in threads_of(p.pid))
        for _ in range(5):
            if state_of(p.pid) != "Z":
                stop_and_go_on(p, signal.SIGSTOP)
                time.sleep(0.02)
        out, err = p.communicate(timeout=PATIENCE_S)
    assert (p.returncode, out, err) == (0, b"", b"")
    wait_until(lambda: not any(pathlib.Path(f"/proc/{d}").exists() for d in daemons))


def test_a_virtiofsd_that_dies_while_a_reset_waits_for_it_ends_the_run(tmp_path):
    with subprocess.Popen(words("virtio", "--share", tmp_path, "--append", "fs_resets=1"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        assert p.stdout.readline() == b"PASS: it starts\n"
        assert p.stdout.readline() == b"PASS: it says what it is\n"
        daemons = virtiofsds_of(p.pid)
        for d in daemons:
            os.kill(d, signal.SIGSTOP)
        time.sleep(1)
        for d in daemons:
            os.kill(d, signal.SIGKILL)
        _, err = p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 248
    assert err.decode() == ("ringside: error: the virtual machine is gone: "
                            f"share {tmp_path}: its virtiofsd is gone\n")


def test_a_reader_that_goes_away_ends_a_filtered_run():
    with started() as p:
        p.stdout.close()
        p.stdin.write(b"x")
        p.stdin.flush()
        assert p.wait(timeout=PATIENCE_S) == 249
        assert b"stdout cannot be written: Broken pipe" in p.stderr.read()


def on_terminal(argv, act):
    """Acts on terminal and process until that ends: its status, what it showed, is the terminal as before."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for n in range(3):
            os.dup2(slave, n)
        os.execv(argv[0], argv)
    os.set_blocking(master, False)
    seen, raw, done = b"", False, 0
    end = time.monotonic() + PATIENCE_S
    while not done:
        assert time.monotonic() < end
        with contextlib.suppress(BlockingIOError):
            seen += os.read(master, 4096)
        raw = raw or termios.tcgetattr(slave) != before
        if raw and b"ready" in seen:
            act(master, pid)
        time.sleep(0.01)
        done, status = os.waitpid(pid, os.WNOHANG)
    with contextlib.suppress(BlockingIOError):
        seen += os.read(master, 65536)
    same = termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)
    assert raw
    return os.waitstatus_to_exitcode(status), seen, same


@pytest.mark.parametrize("thread", THREADS)
def test_the_terminal_is_given_back_by_a_thread_that_is_killed(thread):
    by = [STRAY, thread, str(PTRACE), "2000" if thread == "vcpu" else "20"]
    status, seen, same = on_terminal(by + words("echo"), lambda tty, _: os.write(tty, b"x"))
    assert status == 248
    assert b"made the system call ptrace (101)" in seen
    assert same


@pytest.mark.parametrize("sig", [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT])
@pytest.mark.parametrize("thread", ["ringside", "vcpu0"])
def test_the_terminal_is_given_back_by_a_thread_that_crashes(thread, sig):
    told = []

    def crash(_, pid):
        if not told:
            told.append(pid)
            assert ctypes.CDLL(None).syscall(TGKILL, pid, threads_of(pid)[thread], int(sig)) == 0

    status, _, same = on_terminal(words("echo"), crash)
    assert status == -sig
    assert same


def test_the_terminal_is_given_back_by_a_filtered_run():
    status, _, same = on_terminal(words("echo"), lambda tty, _: os.write(tty, b"\x01x"))
    assert status == -signal.SIGINT
    assert same


def test_seccomp_is_for_our_own_vmm():
    end = subprocess.run([BUILD / "ringside", "run", "--backend", "qemu", "--seccomp", "kill"],
                         capture_output=True, check=False, timeout=PATIENCE_S)
    assert end.returncode == 249
    assert end.stderr == b"ringside: error: --seccomp needs --backend kvm\n"
