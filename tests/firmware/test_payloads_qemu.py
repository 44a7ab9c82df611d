# SPDX-License-Identifier: GPL-2.0-or-later
"""The payloads on another machine than ours: QEMU's microvm starts them by their PVH note, and the exit
port is its isa-debug-exit. With -icount shift=0 a tick of its TSC is an instruction."""
import os
import pathlib
import shutil
import subprocess

import pytest

from calibrate_table import EXITS, INSTRUCTIONS, PCID, primitives

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
QEMU = "qemu-system-x86_64"
PATIENCE_S = 120
BATCHES = 2
UNSUPPORTED = 2
BAD_ARGUMENT = 1
CHAIN_ADDS, CHAIN_COPIES = 16384, 64

pytestmark = pytest.mark.skipif(not shutil.which(QEMU), reason=f"{QEMU} is not installed")


def command(payload, append=""):
    return [QEMU, "-M", "microvm", "-accel", "tcg", "-icount", "shift=0,sleep=off", "-cpu", "max",
            "-m", "64", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
            "-kernel", BUILD / "firmware" / f"{payload}.elf", "-append", append,
            "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]


def run(payload, append=""):
    """The status that the payload wrote to the exit port, and what it said on COM1."""
    end = subprocess.run(command(payload, append), stdin=subprocess.DEVNULL, capture_output=True,
                         check=False, timeout=PATIENCE_S)
    assert end.returncode % 2 == 1, end.stderr.decode()
    return end.returncode >> 1, end.stdout.decode()


def batches(text):
    rows = [[int(n) for n in line.split()[1:]] for line in text.splitlines()
            if line.startswith("BATCH: ")]
    assert len(rows) == BATCHES and all(len(r) == 4 for r in rows), text
    return rows


@pytest.mark.parametrize("name", primitives())
def test_calibrate_runs_each_primitive_exactly_as_often_as_its_table_says(name):
    number, _, operations = primitives()[name]
    status, text = run("calibrate", f"primitive={number + 1} batches={BATCHES} print=1")
    if name in PCID:
        assert (status, text) == (UNSUPPORTED, "")
        return
    assert status == 0, text
    for base, chain, empty, loop in batches(text):
        assert loop - empty == operations * (1 if name in EXITS else INSTRUCTIONS[name])
        assert chain - base == CHAIN_ADDS + 2 * (CHAIN_ADDS // CHAIN_COPIES - 1)


def test_every_primitive_has_a_number_of_instructions():
    assert primitives().keys() == INSTRUCTIONS.keys() | EXITS | PCID


@pytest.mark.parametrize("append", ["", "primitive=0", f"primitive={len(primitives()) + 1}",
                                    "primitive=1 batches=121"])
def test_calibrate_refuses_what_it_does_not_have(append):
    assert run("calibrate", append) == (BAD_ARGUMENT, "")


def test_the_shortest_payload_ends_by_the_exit_port():
    assert run("exit") == (0, "")


def test_checks_traps_and_the_console_work_there_as_with_us():
    status, text = run("report_selftest")
    assert status == 1
    assert "PASS: trap: page fault on what is not present\n" in text
    assert text.endswith("SUMMARY: 6 passed, 1 failed, 1 skipped\n")


def test_echo_receives_and_sends():
    with subprocess.Popen(command("echo"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as qemu:
        assert qemu.stdout.readline() == b"ready\n"
        assert qemu.communicate(b"abc\x04", timeout=PATIENCE_S) == (b"abc", None)
        assert qemu.returncode == 1
