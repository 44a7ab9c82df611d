# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside run and the host: every kind of stdin and stdout, signals, and the terminal."""
import fcntl
import os
import pty
import select
import shlex
import signal
import subprocess
import termios
import time

import pytest

from conftest import PATIENCE_S, RINGSIDE, TOP, in_guest

WORDS = [str(RINGSIDE), "run", "--backend", "qemu", "--timeout", str(PATIENCE_S - 30)]
OUT = ["--", "sh", "-c", "cat; echo out; echo err >&2; exit 7"]


def check_pass_through(p):
    out, err = p.communicate(timeout=PATIENCE_S)
    assert (p.returncode, out, err) == (7, b"out\n", b"err\n")


def start(words, **kwargs):
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, **kwargs)


def test_stdin_may_be_closed():
    check_pass_through(start(["sh", "-c", 'exec "$@" <&-', "sh", *WORDS, *OUT]))


def test_stdin_may_be_a_pipe_that_stays_open():
    r, w = os.pipe()
    check_pass_through(start(WORDS + OUT, stdin=r))
    os.close(r)
    os.close(w)


def test_stdin_may_be_a_file():
    with open(__file__, "rb") as f:
        check_pass_through(start(WORDS + OUT, stdin=f))


def test_a_closed_stdout_is_told_when_something_is_to_be_written():
    p = start(["sh", "-c", 'exec "$@" >&-', "sh", *WORDS, "--", "echo", "x"])
    _, err = p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 249
    assert b"stdout cannot be written: Bad file descriptor" in err


def test_a_reader_that_goes_away_ends_the_run():
    p = start(WORDS + ["--", "yes"], stdin=subprocess.DEVNULL)
    assert p.stdout.read(2) == b"y\n"
    p.stdout.close()
    _, err = p.stderr.read(), p.wait(timeout=PATIENCE_S)
    assert p.returncode == 249


def test_a_full_disk_ends_the_run():
    with open("/dev/full", "wb") as full:
        p = subprocess.Popen(WORDS + ["--", "yes"], stdout=full, stderr=subprocess.PIPE, cwd=TOP,
                             stdin=subprocess.DEVNULL)
        _, err = p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 249
    assert b"stdout cannot be written: No space left on device" in err


def test_a_reader_that_does_not_read_costs_bounded_memory():
    p = start(WORDS + ["--", "cat", "/dev/zero"], stdin=subprocess.DEVNULL)
    select.select([p.stdout], [], [], PATIENCE_S)
    time.sleep(3)
    status = open(f"/proc/{p.pid}/status").read()
    rss_kib = int(status.split("VmRSS:")[1].split()[0])
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=PATIENCE_S)
    assert rss_kib < 16 * 1024
    assert p.returncode == -signal.SIGTERM


def children_of(pid):
    return [int(c) for c in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def wait_for_child(pid):
    end = time.monotonic() + PATIENCE_S
    while not children_of(pid):
        assert time.monotonic() < end
        time.sleep(0.05)
    return children_of(pid)[0]


def is_gone(pid):
    try:
        state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_qemu_is_left_behind_whatever_ends_us(sig):
    p = start(WORDS + ["--", "sleep", "1000"], stdin=subprocess.DEVNULL)
    qemu = wait_for_child(p.pid)
    time.sleep(0.5)
    p.send_signal(sig)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode == -sig
    end = time.monotonic() + 60
    while not is_gone(qemu):
        assert time.monotonic() < end, "QEMU outlived us"
        time.sleep(0.05)


def test_a_signal_that_was_ignored_at_the_start_stays_ignored():
    p = start(["sh", "-c", 'trap "" INT; exec "$@"', "sh", *WORDS, "--", "sh", "-c",
               "sleep 3; exit 5"], stdin=subprocess.DEVNULL)
    wait_for_child(p.pid)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=PATIENCE_S)
    assert p.returncode == 5


# The console on a terminal. The kernel has no root, so it panics by itself after its boot.


class Terminal:
    """A program as the leader of a session on a terminal of its own."""

    def __init__(self, words):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(self.slave, fd)
            os.chdir(TOP)
            os.execvp(words[0], words)

    def close(self):
        os.close(self.master)
        os.close(self.slave)

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.before

    def is_raw(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def read_until(self, text, seconds=PATIENCE_S):
        end = time.monotonic() + seconds
        while text not in self.seen:
            r, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert r, f"{text!r} did not come: {self.seen[-2000:]!r}"
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            assert data, f"ended without {text!r}: {self.seen[-2000:]!r}"
            self.seen += data

    def wait(self):
        end = time.monotonic() + PATIENCE_S
        while True:
            r, _, _ = select.select([self.master], [], [], 0.1)
            if r:
                try:
                    os.read(self.master, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            assert time.monotonic() < end


BOOT = [str(RINGSIDE), "run", "--backend", "qemu", "--append", "panic=0"]
# Waits for ever after its boot: no root, and nothing that would end it.
WAITS = BOOT + ["--append", "rootwait root=/dev/nonesuch"]


def wait_until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("how", ["keys", "INT", "TERM", "HUP", "QUIT", "SEGV", "panic"])
def test_the_terminal_is_restored_on_every_way_out(how):
    t = Terminal(BOOT if how == "panic" else WAITS)
    if how == "panic":
        # Gone by itself before this could be seen: the boot takes seconds.
        wait_until(t.is_raw)
    else:
        t.read_until(b"Linux version")
        assert t.is_raw()
    if how == "keys":
        os.write(t.master, b"\x01x")
    elif how != "panic":
        os.kill(t.pid, getattr(signal, "SIG" + how))
    status = t.wait()
    assert t.is_as_before()
    t.close()
    if how == "panic":
        assert os.waitstatus_to_exitcode(status) == 242
    elif how != "keys":
        assert os.WTERMSIG(status) == getattr(signal, "SIG" + how)


def test_a_stop_gives_the_terminal_back_and_going_on_takes_it_again():
    t = Terminal(WAITS)
    t.read_until(b"Linux version")
    assert t.is_raw()
    os.kill(t.pid, signal.SIGTSTP)
    _, status = os.waitpid(t.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert t.is_as_before()
    os.kill(t.pid, signal.SIGCONT)
    wait_until(t.is_raw)
    os.kill(t.pid, signal.SIGTERM)
    t.wait()
    assert t.is_as_before()
    t.close()


def test_in_the_background_it_neither_stops_nor_spins_nor_touches_the_terminal():
    # A shell with job control puts it into the background of its own terminal.
    script = shlex.join(WAITS) + " >/dev/null 2>&1 & echo started $! ; sleep 1000"
    t = Terminal(["bash", "-c", "set -m; " + script])
    t.read_until(b"started ")
    t.read_until(b"\n")
    pid = int(t.seen.split(b"started ")[1].split()[0])
    wait_for_child(pid)
    os.write(t.master, b"typed while it is in the background\n")
    time.sleep(1)
    cpu = lambda: sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
    before = cpu()
    time.sleep(3)
    assert (cpu() - before) / os.sysconf("SC_CLK_TCK") < 0.5
    assert open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] in "SRD"
    assert not t.is_raw()
    os.kill(pid, signal.SIGTERM)
    os.kill(t.pid, signal.SIGKILL)
    t.wait()
    t.close()
