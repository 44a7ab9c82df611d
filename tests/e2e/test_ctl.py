# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside ctl, and runs that have a name: found, paused, looked at, attached to and stopped."""
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

import pytest

from conftest import PATIENCE_S, RINGSIDE, TOP

COUNT = ["sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done"]


@pytest.fixture
def env():
    """A folder of our own for the sockets, with a name that leaves room for theirs."""
    with tempfile.TemporaryDirectory(prefix="rs") as folder:
        yield {**os.environ, "XDG_RUNTIME_DIR": folder}


def ctl(env, *words):
    p = subprocess.run([RINGSIDE, "ctl", *words], env=env, capture_output=True, timeout=PATIENCE_S)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def status(env, name):
    code, out, err = ctl(env, name, "status", "--json")
    assert code == 0, err
    return json.loads(out)


def start(env, name, *words, options=(), **kwargs):
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([RINGSIDE, "run", "--backend", "qemu", "--name", name, *map(str, options),
                             *(["--", *words] if words else [])],
                            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, **kwargs)


def read_two_numbers(p):
    """That come from now on."""
    while select.select([p.stdout], [], [], 0)[0]:
        assert os.read(p.stdout.fileno(), 65536)
    data = b""
    while data.count(b"\n") < 3:  # the first may be half of one
        wait_for_output(p)
        data += os.read(p.stdout.fileno(), 65536)


def wait_for_silence(p, seconds):
    """Until nothing has come for so long, of what comes ten times a second."""
    end = time.monotonic() + PATIENCE_S
    while select.select([p.stdout], [], [], seconds)[0]:
        assert time.monotonic() < end and os.read(p.stdout.fileno(), 65536)


def wait_for_output(p):
    assert select.select([p.stdout], [], [], PATIENCE_S)[0]


def test_a_run_is_found_paused_resumed_and_stopped_by_its_name(env, tmp_path):
    record = tmp_path / "record"
    p = start(env, "one", *COUNT,
              options=("--timeout", PATIENCE_S, "--json", record, "--memory", "256M", "--cpus", "1"))
    wait_for_output(p)
    code, out, _ = ctl(env)
    assert code == 0 and out.splitlines()[1].split()[:3] == ["one", "running", "user"]
    s = status(env, "one")
    assert (s["pid"], s["vcpus"], s["memory_bytes"], s["backend"]) == (p.pid, 1, 256 << 20, "qemu")
    assert ctl(env, "one", "pause") == (0, "", "")
    wait_for_silence(p, 1)
    assert status(env, "one")["state"] == "paused"
    assert not select.select([p.stdout], [], [], 1)[0]
    assert ctl(env, "one", "resume") == (0, "", "")
    read_two_numbers(p)
    s = status(env, "one")
    assert s["state"] == "running" and 1.0 < s["paused_s"] < s["uptime_s"]
    # Nobody takes a name twice.
    twice = start(env, "one", "true")
    assert twice.wait(PATIENCE_S) == 249
    assert "a machine called 'one' runs already" in twice.stderr.read().decode()
    assert ctl(env, "one", "stop") == (0, "", "")
    # Stop came back when all was over: the name is free, and the record is whole.
    r = json.loads(record.read_text())
    assert r["outcome"]["kind"] == "signal" and r["paused_ns"] > 1e9
    assert ctl(env) == (0, "", "")
    assert p.wait(PATIENCE_S) == -signal.SIGTERM
    assert ctl(env, "one", "status") == (1, "", "ringside: error: no machine called 'one' runs\n")


def test_a_killed_run_leaves_a_name_that_can_be_taken(env):
    p = start(env, "dead", *COUNT)
    wait_for_output(p)
    p.kill()
    p.wait(PATIENCE_S)
    sock = os.path.join(env["XDG_RUNTIME_DIR"], "ringside", "dead.sock")
    assert os.path.exists(sock)
    assert ctl(env, "dead", "pause")[0] == 1
    p = start(env, "dead", "true")
    assert p.wait(PATIENCE_S) == 0, p.stderr.read()
    assert not os.path.exists(sock)


def test_the_console_is_shown_on_a_terminal_and_ctrl_a_x_detaches_it(env):
    p = start(env, "shell", options=("--console", "/dev/null", "--append", "init=/nothing"))
    ours, theirs = pty.openpty()
    c = subprocess.Popen([RINGSIDE, "ctl", "shell", "console"], env=env, stdin=theirs, stdout=theirs,
                         stderr=subprocess.PIPE, preexec_fn=os.setsid)
    os.close(theirs)
    data, end = b"", time.monotonic() + PATIENCE_S
    while b"Linux version" not in data and time.monotonic() < end:
        if select.select([ours], [], [], 1)[0]:
            data += os.read(ours, 65536)
        if c.poll() is not None:
            # It was too early: the run had not taken its name yet.
            ours, theirs = pty.openpty()
            c = subprocess.Popen([RINGSIDE, "ctl", "shell", "console"], env=env, stdin=theirs,
                                 stdout=theirs, stderr=subprocess.PIPE, preexec_fn=os.setsid)
            os.close(theirs)
    assert b"Linux version" in data
    os.write(ours, b"\x01x")
    assert c.wait(PATIENCE_S) == 0
    assert p.wait(PATIENCE_S) == 242


def test_hostile_clients_do_not_disturb_a_run(env):
    p = start(env, "calm", *COUNT, options=("--timeout", PATIENCE_S))
    wait_for_output(p)
    address = os.path.join(env["XDG_RUNTIME_DIR"], "ringside", "calm.sock")
    socks = []
    for i in range(100):
        s = socket.socket(socket.AF_UNIX)
        s.connect(address)
        s.sendall([b"x" * 5000, b"{\"ringside\":", b"\n\n\n", b"\0" * 100, b""][i % 5])
        socks.append(s)
    assert status(env, "calm")["state"] == "running"
    for s in socks:
        s.close()
    # One that attaches and reads nothing costs a bounded amount, and the guest goes on.
    s = socket.socket(socket.AF_UNIX)
    s.connect(address)
    s.sendall(b'{"ringside":1,"do":"console"}\n')
    for _ in range(10):
        read_two_numbers(p)
    assert ctl(env, "calm", "stop")[0] == 0
    assert p.wait(PATIENCE_S) == -signal.SIGTERM


@pytest.mark.parametrize("words, message", [
    (["x"], "expected pause, resume, stop, status or console behind the name"),
    (["x", "fly"], "'fly' is none of pause, resume, stop, status and console"),
    (["../x", "stop"], "is no name for a machine"),
])
def test_wrong_words_are_told(env, words, message):
    code, _, err = ctl(env, *words)
    assert code == 2 and message in err


def test_a_wrong_name_is_told_before_anything_starts(env):
    p = start(env, "a/b", "true")
    assert p.wait(PATIENCE_S) == 249
    assert "--name: 'a/b' is no name for a machine" in p.stderr.read().decode()


def test_a_second_sigint_ends_a_run_at_once_that_waits_for_its_reader(env, tmp_path):
    """The first one ends it, and waits a second for whoever reads; the second waits for nobody."""
    # Where somebody has to wait for a processor it only takes longer: of a few, one is quick enough.
    for _ in range(5):
        if (took := until_a_second_sigint(env, tmp_path / "record")) < 0.9:
            return
    assert took < 0.9


def until_a_second_sigint(env, record):
    """Seconds from the first to the end."""
    p = start(env, "full", "cat", "/dev/zero", options=("--json", record))
    wait_for_output(p)
    wait_until_full(p.stdout)
    before = time.monotonic()
    p.send_signal(signal.SIGINT)
    time.sleep(0.1)
    assert p.poll() is None or time.monotonic() - before > 0.9
    p.send_signal(signal.SIGINT)
    assert p.wait(PATIENCE_S) == -signal.SIGINT
    took = time.monotonic() - before
    assert json.loads(record.read_text())["outcome"]["kind"] == "signal"
    return took


def wait_until_full(pipe):
    """Until as much is in it as there was half a second before, and not little."""
    end, there = time.monotonic() + PATIENCE_S, -1
    while (now := struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]) != there or now < 4096:
        assert time.monotonic() < end
        there = now
        time.sleep(0.5)


def test_under_qemu_gdb_is_let_in_by_qemu_and_the_guest_waits_for_it(env):
    where = os.path.join(env["XDG_RUNTIME_DIR"], "gdb")
    p = start(env, "gdb", "sh", "-c", "nproc", options=("--gdb", where, "--timeout", PATIENCE_S))
    end = time.monotonic() + PATIENCE_S
    while not os.path.exists(where):
        assert time.monotonic() < end and p.poll() is None
        time.sleep(0.1)
    assert status(env, "gdb")["state"] == "halted by the debugger"
    kernel = subprocess.run([RINGSIDE, "kernel", "path", "base"], capture_output=True, check=True)
    out = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", kernel.stdout.decode().strip(), "-ex", f"target remote {where}",
         "-ex", "hbreak start_kernel", "-ex", "continue", "-ex", "bt", "-ex", "delete", "-ex", "detach"],
        capture_output=True, timeout=PATIENCE_S).stdout.decode()
    assert "in start_kernel ()" in out and "in x86_64_start_kernel ()" in out
    assert p.communicate(timeout=PATIENCE_S)[0] == b"1\n" and p.returncode == 0
