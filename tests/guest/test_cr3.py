# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry and exit of a flagged task execute the test of CR3 and no write to it: counted.

QEMU's gdbstub steps the guest from the instruction that enters the kernel to the one behind it. Each
instruction that is executed is decoded as far as to know a read and a write of CR3 (0f 20 /3 and
0f 22 /3), and the register itself is read at each step: a table that changes without a decoded write
would be a hole in the count. A task without the flag is the counter-proof that it counts.

At the same stops the page tables are walked, in physical memory, from the CR3 that user code has:
kernel text is unmapped for who has no flag, mapped for who has, and unmapped again after clearing;
and the NX bit that the kernel's table has on user entries is there, gone, and there again."""
import collections
import dataclasses
import functools
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
# How often each way in is taken in a phase, as in cr3.c.
WAYS = {"syscall": 2, "int80": 2, "fault": 1}
STEPS_MAX = 20000
USER_TABLE = 1 << 12  # of CR3: the user half of the pair
PHASES = {0: "unflagged", 1: "flagged", 2: "refused", 3: "cleared"}
PRESENT, HUGE, NX = 1, 1 << 7, 1 << 63
FRAME = 0x000ffffffffff000
# Not in the part of the text that user tables map for the entries, nor beside it.
HIDDEN = ("commit_creds", "do_exit", "vfs_read", "init_task")
SLOTS = {"unflagged": 100, "flagged": 101, "refused": 101, "cleared": 102}  # as in cr3.c

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
    for _ in range(STEPS_MAX):
        before, regs = regs, None
        rip = before["rip"]
        if rip not in code:
            code[rip] = cr3_access(stub.memory(rip, 4))
        stub.step()
        regs = stub.registers()
        if regs["all"] == before["all"]:
            continue  # QEMU stopped before the instruction was executed
        count[code[rip]] += 1
        if regs["cr3"] != before["cr3"]:
            assert code[rip] == "write", f"CR3 became {regs['cr3']:x} at {rip:x} without a write"
            tables.append(bool(regs["cr3"] & USER_TABLE))
        if regs["rip"] == end:
            return Trip(count.total(), count["read"], count["write"], tuple(tables))
    raise AssertionError(f"not back after {STEPS_MAX} instructions")


@dataclasses.dataclass(frozen=True)
class Tables:
    """What the tables of one phase look like, from the CR3 of user code."""
    cr3: int
    mapped: dict  # symbol of the kernel to whether user code's table maps it
    user: dict  # number to entry, of the lower half of the table that user code runs on
    kernel: dict  # the same of the kernel's table


def is_mapped(stub, table, address):
    for shift in (39, 30, 21, 12):
        at = (table & FRAME) + (address >> shift & 511) * 8
        table = int.from_bytes(stub.physical(at, 8), "little")
        if not table & PRESENT:
            return False
        if table & HUGE and shift in (30, 21):
            return True
    return True


def lower_half(stub, table):
    data = stub.physical(table & FRAME, 256 * 8)
    rows = (int.from_bytes(data[i * 8:i * 8 + 8], "little") for i in range(256))
    return {i: entry for i, entry in enumerate(rows) if entry & PRESENT}


def look(stub, cr3, kernel):
    mapped = {name: is_mapped(stub, cr3, kernel[name]) for name in (*HIDDEN, "entry_SYSCALL_64")}
    return Tables(cr3, mapped, lower_half(stub, cr3), lower_half(stub, cr3 & ~USER_TABLE))


def kernel_symbols(image):
    out = subprocess.run(["nm", boot.kernel_file(image)], capture_output=True, text=True,
                         check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


@functools.lru_cache(maxsize=None)
def trips(image, append):
    """({(phase, way): [Trip, ...]}, {phase: Tables}) of one boot."""
    program = boot.PROGRAMS / "cr3_init"
    at = symbols(program)
    found, code, tables = collections.defaultdict(list), {}, {}
    kernel = kernel_symbols(image)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "initrd").write_bytes(boot.newc({"init": (0o755, program.read_bytes())}))
        with open(folder / "qemu.log", "wb") as log:
            qemu = subprocess.Popen(
                ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-S",
                 "-machine", "microvm,acpi=off,isa-serial=on,pit=on,pic=on,rtc=on",
                 "-accel", "tcg", "-cpu", "max,-la57", "-m", "256M", "-serial", "file:console",
                 "-kernel", str(boot.kernel_file(image).resolve()), "-initrd", "initrd",
                 "-append", f"console=ttyS0 reboot=t panic=-1 loglevel=5 nokaslr {append}",
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
                phase = PHASES[regs["r15"]]
                if phase not in tables:
                    tables[phase] = look(stub, regs["cr3"], kernel)
                found[phase, way].append(trip(stub, regs, end, code))
            stub.close()
        finally:
            qemu.kill()
            qemu.wait()
        console = (folder / "console").read_text(errors="replace")
    assert not [line for line in console.splitlines() if boot.WRONG.search(line)], console
    assert all(len(rows) == WAYS[way] for (_, way), rows in found.items())
    return found, tables


def with_nopti():
    """The first image that has it: the others have the same entry code."""
    return [i for i in subjects.images() if subjects.NOPTI_CONFIG in subjects.config_of(i)
            and i not in subjects.NIGHTLY][:1]


def show(image, append, found):
    for (phase, way), rows in found.items():
        print(f"{image} {append} {phase} {way}: instructions "
              f"{[r.instructions for r in rows]}, CR3 reads {[r.reads for r in rows]}, "
              f"CR3 writes {[r.writes for r in rows]}")


def each(found, phase):
    """All trips of a phase, of every way in."""
    rows = [row for way in WAYS for row in found[phase, way]]
    assert len(rows) == sum(WAYS.values())
    return rows


@pytest.fixture(scope="module", autouse=True)
def tools():
    for name in ("nm", "qemu-system-x86_64"):
        assert shutil.which(name), f"{name} is missing"
    assert os.path.exists(boot.PROGRAMS / "cr3_init"), "run 'ninja -C build'"


def expect_isolated(found, tables, phase):
    """Two writes each way in and out; the kernel is unmapped; and a missed switch would be seen."""
    for row in each(found, phase):
        assert (row.writes, row.tables) == (2, (True, False, True))
    t = tables[phase]
    assert t.cr3 & USER_TABLE
    assert t.mapped == {**dict.fromkeys(HIDDEN, False), "entry_SYSCALL_64": True}
    assert set(t.user) == set(t.kernel) >= {0, SLOTS["unflagged"], SLOTS[phase]}
    for number, entry in t.kernel.items():
        assert entry == t.user[number] | NX and not t.user[number] & NX, (phase, number)


def expect_one_table(t):
    assert not t.cr3 & USER_TABLE
    assert t.mapped == dict.fromkeys((*HIDDEN, "entry_SYSCALL_64"), True)
    assert t.user == t.kernel and not any(entry & NX for entry in t.user.values())


def test_on_the_base_image_everybody_is_isolated():
    found, tables = trips("base", "pti=on")
    show("base", "pti=on", found)
    for phase in ("unflagged", "refused", "cleared"):
        expect_isolated(found, tables, phase)


@pytest.mark.parametrize("image", with_nopti())
def test_a_flagged_task_reads_cr3_once_and_never_writes_it(image):
    found, _ = trips(image, "pti=on")
    show(image, "pti=on", found)
    for row in each(found, "flagged"):
        # The test at the entry. The way out looks at the flag, and leaves CR3 alone.
        assert (row.writes, row.reads, row.tables) == (0, 1, (False,))


@pytest.mark.parametrize("image", with_nopti())
def test_a_flagged_task_runs_on_the_kernels_table_without_nx(image):
    tables = trips(image, "pti=on")[1]["flagged"]
    expect_one_table(tables)
    # The entry from before, and the one that was made with the flag.
    assert set(tables.user) >= {0, SLOTS["unflagged"], SLOTS["flagged"]}


@pytest.mark.parametrize("image", with_nopti())
def test_without_the_flag_and_after_clearing_a_task_is_isolated(image):
    found, tables = trips(image, "pti=on")
    for phase in ("unflagged", "cleared"):
        expect_isolated(found, tables, phase)
    assert set(tables["cleared"].kernel) >= set(SLOTS.values())


@pytest.mark.parametrize("image", with_nopti())
def test_without_isolation_nobody_touches_cr3(image):
    found, tables = trips(image, "pti=off")
    show(image, "pti=off", found)
    for phase in ("unflagged", "refused", "cleared"):
        for row in each(found, phase):
            assert (row.writes, row.reads, row.tables) == (0, 0, (False,))
        expect_one_table(tables[phase])


@pytest.mark.parametrize("image", with_nopti())
def test_without_isolation_the_option_costs_no_instruction(image):
    with_it, without = trips(image, "pti=off")[0], trips("base", "pti=off")[0]
    for way in ("syscall", "int80"):
        assert with_it["unflagged", way] == without["unflagged", way]
