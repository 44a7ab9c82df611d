# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry and exit of a flagged task execute the test of CR3 and no write to it: counted.

QEMU's gdbstub steps the guest from the instruction that enters the kernel to the one behind it. Each
instruction that is executed is decoded as far as to know a read and a write of CR3 (0f 20 /3 and
0f 22 /3), and the register itself is read at each step: a table that changes without a decoded write
would be a hole in the count. A task without the flag is the counter-proof that it counts."""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import boot
import gdbstub
import subjects

PATIENCE_S = 120
ROUNDS = 3
WAYS = ("syscall", "int80", "fault")
STEPS_MAX = 20000
USER_TABLE = 1 << 12  # of CR3: the user half of the pair
PHASES = {0: "unflagged", 1: "flagged", 2: "refused"}

Trip = collections.namedtuple("Trip", "instructions reads writes tables")


def symbols(path):
    out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return {m[2]: int(m[1], 16) for m in re.finditer(r"^([0-9a-f]+) \w (cr3_\w+)$", out, re.MULTILINE)}


def cr3_access(code):
    """'read', 'write' or None: what the instruction at the start of code does to CR3."""
    if 0x40 <= code[0] <= 0x4f:  # REX
        code = code[1:]
    if code[0] != 0x0f or code[1] not in (0x20, 0x22) or code[2] >> 3 & 7 != 3:
        return None
    return "read" if code[1] == 0x20 else "write"


@pytest.mark.parametrize("code, is_what", [
    ("0f20d8", "read"), ("0f20df", "read"), ("0f22d8", "write"), ("0f22df", "write"),
    ("410f22de", "write"), ("440f20d8", "read"), ("0f20e0", None),
    ("0f22c0", None), ("0f05", None), ("4889e5", None),
])
def test_an_access_to_cr3_is_known_by_its_bytes(code, is_what):
    assert cr3_access(bytes.fromhex(code).ljust(4, b"\x90")) == is_what


def trip(stub, regs, end, code):
    """Step from here to end, and count. @code keeps what was read of the kernel's instructions."""
    count = collections.Counter()
    tables = [bool(regs["cr3"] & USER_TABLE)]
    for steps in range(1, STEPS_MAX):
        rip, cr3 = regs["rip"], regs["cr3"]
        if rip not in code:
            code[rip] = cr3_access(stub.memory(rip, 4))
        count[code[rip]] += 1
        stub.step()
        regs = stub.registers()
        if regs["cr3"] != cr3:
            assert code[rip] == "write", f"CR3 changed from {cr3:x} to {regs['cr3']:x} at {rip:x}"
            tables.append(bool(regs["cr3"] & USER_TABLE))
        if regs["rip"] == end:
            return Trip(steps, count["read"], count["write"], tuple(tables))
    raise AssertionError(f"not back after {STEPS_MAX} instructions")


def trips(image, append):
    """{(phase, way): [Trip, ...]} of one boot."""
    program = boot.PROGRAMS / "cr3_init"
    at = symbols(program)
    found, code = collections.defaultdict(list), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "initrd").write_bytes(boot.newc({"init": (0o755, program.read_bytes())}))
        with open(folder / "qemu.log", "wb") as log:
            qemu = subprocess.Popen(
                ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-S",
                 "-machine", "microvm,acpi=off,isa-serial=on,pit=on,pic=on,rtc=on",
                 "-accel", "tcg", "-cpu", "max,-la57", "-m", "256M", "-serial", "file:console",
                 "-kernel", str(boot.kernel_file(image).resolve()), "-initrd", "initrd",
                 "-append", f"console=ttyS0 reboot=t panic=-1 loglevel=5 {append}",
                 "-gdb", "unix:gdb,server=on,wait=off", "-no-reboot"],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            stub = gdbstub.Stub(folder / "gdb", PATIENCE_S)
            for name in (*WAYS, "end"):
                stub.break_at(at[f"cr3_{name}"])
            back = {at[f"cr3_{way}"]: (way, at[f"cr3_{way}_end"]) for way in WAYS}
            while True:
                stub.go()
                regs = stub.registers()
                if regs["rip"] == at["cr3_end"]:
                    break
                way, end = back[regs["rip"]]
                found[PHASES[regs["r15"]], way].append(trip(stub, regs, end, code))
            stub.close()
        finally:
            qemu.kill()
            qemu.wait()
        console = (folder / "console").read_text(errors="replace")
    assert not [line for line in console.splitlines() if boot.WRONG.search(line)], console
    assert all(len(rows) == ROUNDS for rows in found.values())
    return found


def with_nopti():
    """The first image that has it: the others have the same entry code."""
    return [i for i in subjects.images() if subjects.NOPTI_CONFIG in subjects.config_of(i)][:1]


def show(image, append, found):
    for (phase, way), rows in found.items():
        print(f"{image} {append} {phase} {way}: instructions "
              f"{[r.instructions for r in rows]}, CR3 reads {[r.reads for r in rows]}, "
              f"CR3 writes {[r.writes for r in rows]}")


def each(found, phase):
    """All trips of a phase, of every way in."""
    rows = [row for way in WAYS for row in found[phase, way]]
    assert len(rows) == len(WAYS) * ROUNDS
    return rows


@pytest.fixture(scope="module", autouse=True)
def tools():
    for name in ("nm", "qemu-system-x86_64"):
        assert shutil.which(name), f"{name} is missing"
    assert os.path.exists(boot.PROGRAMS / "cr3_init"), "run 'ninja -C build'"


def test_the_base_image_writes_cr3_on_every_way_in_and_out():
    found = trips("base", "pti=on")
    show("base", "pti=on", found)
    for phase in ("unflagged", "refused"):
        for row in each(found, phase):
            assert (row.writes, row.tables) == (2, (True, False, True))


@pytest.mark.parametrize("image", with_nopti())
def test_a_flagged_task_reads_cr3_and_never_writes_it(image):
    found = trips(image, "pti=on")
    show(image, "pti=on", found)
    for row in each(found, "unflagged"):
        assert (row.writes, row.tables) == (2, (True, False, True))
    for row in each(found, "flagged"):
        # One read: the test at the entry. The way out looks at the flag, and leaves CR3 alone.
        assert (row.writes, row.reads, row.tables) == (0, 1, (False,))


@pytest.mark.parametrize("image", with_nopti())
def test_without_isolation_nobody_touches_cr3(image):
    found = trips(image, "pti=off")
    show(image, "pti=off", found)
    for phase in ("unflagged", "refused"):
        for row in each(found, phase):
            assert (row.writes, row.reads, row.tables) == (0, 0, (False,))
