# SPDX-License-Identifier: GPL-2.0-or-later
"""The real gdb on a machine with a payload, on this KVM: it interprets ring 0 where there is no hardware
for it, and both kinds of breakpoints, steps, registers and memory work there as well."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from test_machine import BUILD, PATIENCE_S, kvm_trouble

GDB = ["gdb", "-q", "-nx", "-batch", "-ex", "set pagination off", "-ex", "set remotetimeout 60"]
FIRMWARE = BUILD / "firmware"


@pytest.fixture(scope="module", autouse=True)
def kvm():
    trouble = kvm_trouble()
    if trouble:
        pytest.skip(trouble)
    assert shutil.which("gdb"), "the package gdb is not installed"


def start(payload, where, *options):
    return subprocess.Popen(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--timeout", "100",
         "--kernel", FIRMWARE / f"{payload}.elf", "--gdb", str(where), *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def address(run):
    """What the run's first line says."""
    line = run.stderr.readline().decode()
    found = re.match(r"ringside: warning: gdb: target remote (\S+?)(;|$)", line)
    assert found, line + run.stderr.read().decode()
    return found.group(1)


def gdb(payload, where, *commands):
    words = [w for c in (f"target remote {where}", *commands) for w in ("-ex", c)]
    file = [FIRMWARE / f"{payload}.elf"] if payload else []
    end = subprocess.run([*GDB, *file, *words], capture_output=True, check=False,
                         timeout=PATIENCE_S, env={**os.environ, "LC_ALL": "C"})
    return end.stdout.decode() + end.stderr.decode()


def finish(run, status):
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == status, err.decode()
    return out


def wait_until(what):
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def vcpu_ns(run):
    """How long its vCPU has run."""
    task = next(t for t in pathlib.Path(f"/proc/{run.pid}/task").iterdir() if (t / "comm").read_text() == "vcpu0\n")
    return int((task / "schedstat").read_text().split()[0])


def wait_until_it_runs(run):
    """The guest, from now on: one that is about to be stopped runs less."""
    before = vcpu_ns(run)
    wait_until(lambda: vcpu_ns(run) > before + 50_000_000)


def connections(where):
    """Of debuggers, that the run has not closed yet."""
    return sum(line.split()[-1] == where for line in pathlib.Path("/proc/net/unix").read_text().splitlines()) - 1


@pytest.mark.parametrize("kind", ["break", "hbreak"])
def test_a_breakpoint_a_step_registers_and_memory(kind):
    run = start("mark", 0)
    out = gdb("mark", address(run), "info registers rip cr0", f"{kind} payload_main", "continue", "bt",
              "x/4xb payload_main", "stepi", "info registers rip", "set $r11 = 0x1234", "p/x $r11",
              "p $xmm0.uint128", "p $mxcsr", "set *(int *)0x8000 = 77", "p *(int *)0x8000",
              "x/1xb 0xfffff00000000000", "delete", "continue")
    finish(run, 0)
    assert re.search(r"rip\s+0x101000\s", out) and re.search(r"cr0\s+0x80000031\s", out)
    assert "Breakpoint 1, payload_main ()" in out
    assert re.search(r"#1 .* in firmware_start .*\n#2 .* in _start", out)
    # What is read is the guest's own instruction, not the breakpoint's.
    assert "<payload_main>:\t0x48\t0x83\t0xec\t0x08" in out
    assert re.search(r"rip\s+0x\w+\s+0x\w+ <payload_main\+4>", out)
    values = re.findall(r"^\$\d = (.*)$", out, re.M)
    assert values == ["0x1234", "0", "8064", "77"], out
    assert "Cannot access memory at address 0xfffff00000000000" in out
    assert "exited normally" in out


def test_gdb_finds_the_program_by_itself():
    run = start("mark", 0)
    out = gdb(None, address(run), "break payload_main", "continue", "delete", "continue")
    finish(run, 0)
    assert "Breakpoint 1, payload_main ()" in out
    assert "exited normally" in out


def watches_are_known():
    """This KVM runs ring 0 on the processor, whose debug registers stop it then."""
    end = subprocess.run([BUILD / "ringside", "doctor", "--json"], capture_output=True, check=False)
    return next(c["status"] for c in json.loads(end.stdout)["checks"] if c["id"] == "ring0") == "ok"


@pytest.mark.parametrize("kind", ["watch", "awatch"])
def test_a_watchpoint_stops_behind_the_write(kind):
    if not watches_are_known():
        pytest.skip("this KVM interprets ring 0, and looks at no debug register for data")
    run = start("mark", 0)
    out = gdb("mark", address(run), f"{kind} -location fw_block.value_count", "continue", "info symbol $pc",
              "delete", "continue")
    finish(run, 0)
    assert re.search(r"Hardware (access \(read/write\) )?watchpoint 1: -location fw_block.value_count", out)
    assert "payload_main" in out and "exited normally" in out
    assert kind == "awatch" or re.search(r"Old value = 0\nNew value = 1", out)


def test_registers_of_every_kind_are_set():
    values = {"rbx": 0x1122334455667788, "fs_base": 0x9000, "k_gs_base": 0x5000, "fctrl": 0x27f,
              "xmm1.uint128": 0x1122334455667788, "mxcsr": 0x1fa0}
    run = start("mark", 0)
    out = gdb("mark", address(run), "break payload_main", "continue",
              *(f"set ${name} = {value:#x}" for name, value in values.items()), "maintenance flush register-cache",
              *(f"p/x ${name}" for name in values), "delete", "kill")
    finish(run, -signal.SIGTERM)
    assert [int(v, 16) for v in re.findall(r"^\$\d = 0x(\w+)$", out, re.M)] == list(values.values()), out


def test_ctrl_c_stops_a_guest_that_runs_and_kill_ends_it():
    run = start("echo", "0,nowait")
    where = address(run)
    assert run.stdout.read(6) == b"ready\n"
    debugger = subprocess.Popen([*GDB, FIRMWARE / "echo.elf", "-ex", f"target remote {where}",
                                 "-ex", "info threads", "-ex", "echo going\\n", "-ex", "continue",
                                 "-ex", "info symbol $pc", "-ex", "kill"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seen = b""
    while b"going" not in seen:
        seen += debugger.stdout.readline()
    wait_until_it_runs(run)
    debugger.send_signal(signal.SIGINT)
    out = (seen + debugger.communicate(timeout=PATIENCE_S)[0]).decode()
    assert "Thread 1 (vCPU 0, runnable)" in out
    assert "Program received signal SIGINT" in out
    assert "in section .text" in out
    assert "[Inferior 1 (Remote target) killed]" in out
    finish(run, -signal.SIGTERM)


def test_who_detaches_or_goes_away_leaves_a_guest_without_breakpoints(tmp_path):
    run = start("echo", tmp_path / "gdb")
    where = address(run)
    out = gdb("echo", where, "break fw_getc", "continue", "detach")
    assert "Breakpoint 1, " in out and "detached]" in out
    assert run.stdout.read(6) == b"ready\n"
    # A second debugger, that sets one and is killed.
    wait_until(lambda: connections(where) == 0)
    wait_until_it_runs(run)
    s = socket.socket(socket.AF_UNIX)
    s.connect(where)
    for packet in (b"g", b"Z1,101020,1"):
        s.sendall(b"$" + packet + b"#%02x" % (sum(packet) % 256))
        answer = b""
        while b"#" not in answer:
            answer += s.recv(65536)
    s.close()
    wait_until(lambda: connections(where) == 0)
    wait_until_it_runs(run)
    assert run.poll() is None
    out = gdb("echo", where, "info registers rip", "detach")
    assert "rip" in out and "detached]" in out
    run.terminate()
    finish(run, -signal.SIGTERM)


def test_nonsense_does_not_end_a_run(tmp_path):
    run = start("echo", tmp_path / "gdb", "--name", f"gdb{os.getpid()}")
    where = address(run)
    for data in (b"\0" * 5000, b"$" * 3000, b"$g#00" * 500, b"-" * 1000, b"\3" * 1000, b"$" + b"m" * 9000,
                 b"$X0,ffffffffffffffff:" + b"a" * 100 + b"#00", b"+++"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(where)
        s.settimeout(2)
        try:
            s.sendall(data)
        except OSError:
            pass
        s.close()
        wait_until(lambda: connections(where) == 0)
        wait_until_it_runs(run)
    assert "rip" in gdb("echo", where, "info registers rip", "detach")
    assert run.stdout.read(6) == b"ready\n"
    run.terminate()
    finish(run, -signal.SIGTERM)


@pytest.mark.parametrize("where, message", [
    ("nowhere", "expected a port, 0 to 65535, or a path with a '/'"),
    ("65536", "expected a port, 0 to 65535, or a path with a '/'"),
    ("/no/such/folder/x", "--gdb /no/such/folder/x: No such file or directory"),
    ("/" + "x" * 200, "at most 107 bytes"),
])
def test_a_wrong_place_is_told(where, message):
    run = start("exit", where)
    _, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 249 and message in err.decode()
