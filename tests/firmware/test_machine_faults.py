# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of a few bytes that do what no kernel should, and how a run of each of them ends."""
import struct
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm  # noqa: F401 (kvm skips where there is no KVM)

START = 0x100000
FILE_OFFSET = 0x1000


def elf(code):
    """A kernel with this code in one segment; a page of zeros stands behind it."""
    header = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, START, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 7, FILE_OFFSET, START, START, len(code),
                          len(code) + 0x1000, 0x1000)
    return (header + segment).ljust(FILE_OFFSET, b"\0") + code


def run(tmp_path, code, *options, **kwargs):
    kernel = tmp_path / "kernel"
    kernel.write_bytes(elf(bytes.fromhex(code)))
    return subprocess.run(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--timeout",
         str(PATIENCE_S - 20), "--kernel", kernel, *map(str, options)],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
           "check": False, "timeout": PATIENCE_S, **kwargs})


@pytest.mark.parametrize("code, status, text", [
    ("0f0b", 246, "the guest triple-faulted"),                    # ud2, and no table of handlers
    ("31c0 0f22d8 f4", 246, "the guest triple-faulted"),          # cr3 = 0
    ("b80000f03f ffe0", 246, "KVM internal error on vCPU 0"),     # a jump to where nothing is
    ("fa f4 ebfd", 243, "every vCPU halted and nothing can wake one"),
    ("ebfe", 244, "the guest did not end within the 2 s of --timeout"),
    ("b80000e0fe c700ffffffff 83c004 ebf5", 244, "within the 2 s of --timeout"),  # stores upwards
], ids=["invalid opcode", "no page table", "jump to nothing", "halt", "spin", "wild stores"])
def test_a_failure_is_told_with_the_registers(tmp_path, code, status, text):
    # Only what does not end by itself has to meet its timeout.
    end = run(tmp_path, code, *(("--timeout", 2) if status == 244 else ()))
    lines = end.stderr.decode().splitlines()
    assert end.returncode == status, lines
    assert lines[0].startswith("ringside: error: ") and text in lines[0]
    assert any(line.startswith("--- vCPU 0: RIP 0x") for line in lines)
    assert any(line.startswith("rax=") for line in lines)


@pytest.mark.parametrize("code", ["ebfe", "fa ebfe"], ids=["as started", "after cli"])
def test_a_guest_that_spins_with_interrupts_off_is_a_hang_long_before_the_timeout(tmp_path, code):
    # It takes 15 s on a processor of its own, and longer where others want that one too.
    end = run(tmp_path, code, "--timeout", 600, timeout=660)
    lines = end.stderr.decode().splitlines()
    assert end.returncode == 243, lines
    assert "the guest spins without progress" in lines[0]
    assert any(line.startswith("--- vCPU 0: RIP 0x") for line in lines)


@pytest.mark.parametrize("code, true", [
    ("66baf400 b0ff ee ebfe", "255"),             # a byte
    ("66baf400 66b8f0f0 66ef ebfe", "61680"),     # two
    ("66baf400 b8f0000000 ef ebfe", "240"),       # four
])
def test_a_status_from_240_becomes_239_and_the_true_one_is_in_the_status_file(tmp_path, code, true):
    end = run(tmp_path, code, "--status-file", tmp_path / "status")
    assert end.returncode == 239
    assert (tmp_path / "status").read_text() == true + "\n"
    assert end.stderr.decode() == (f"ringside: warning: the guest's status {true} is given as 239: "
                                   "those above are ours\n")


def test_each_status_of_a_byte_comes_through_or_is_told(tmp_path):
    wrong = {}
    for n in range(256):
        end = run(tmp_path, f"b0{n:02x} e6f4 ebfe", "--status-file", tmp_path / "status")
        told = f"ringside: warning: the guest's status {n} is given as 239: those above are ours\n" if n > 239 else ""
        found = (end.returncode, (tmp_path / "status").read_text(), end.stderr.decode())
        if found != (min(n, 239), f"{n}\n", told):
            wrong[n] = found
    assert wrong == {}


def test_a_flood_of_output_into_a_full_disk_ends_the_run(tmp_path):
    with open("/dev/full", "wb") as full:
        end = run(tmp_path, "66baf803 b041 ee ebfd", stdout=full)
    assert end.returncode == 249
    assert b"stdout cannot be written: No space left on device" in end.stderr


def test_a_flood_of_output_ends_with_the_timeout_and_none_of_it_is_lost_or_changed(tmp_path):
    end = run(tmp_path, "66baf803 b041 ee ebfd", "--timeout", 2)
    assert end.returncode == 244
    assert len(end.stdout) > 1000 and set(end.stdout) == {ord("A")}
