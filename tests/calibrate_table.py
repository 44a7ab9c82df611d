# SPDX-License-Identifier: GPL-2.0-or-later
"""The primitives of 'ringside calibrate', and how many instructions each is written with."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[1]

# Counted in firmware/payloads/calibrate_loops.c.
INSTRUCTIONS = {
    "rdtsc.pair": 4, "lfence": 1, "rdfsbase": 1, "wrfsbase": 1, "rdgsbase": 1, "wrgsbase": 1,
    "load.plain": 1, "load.masked": 4, "load.fenced": 2, "load.masked.independent": 5,
    "load.fenced.independent": 3, "store.plain": 2, "store.checked": 5, "test.cr3": 2, "test.flag": 3,
    "wrmsr.fs_base": 1, "wrmsr.kernel_gs_base": 1, "swapgs": 1, "stac_clac": 2, "cr3.read": 1,
    "cr3.write": 1, "syscall": 2,
}
EXITS = {"exit.port", "exit.mmio"}
PCID = {"cr3.write.pcid", "cr3.write.noflush"}  # QEMU's software processor has none


def primitives():
    """What abi/calibrate.h says: name to (number, ring, operations of a batch)."""
    text = (TOP / "firmware/abi/calibrate.h").read_text().replace("\\\n", " ")
    rows = re.findall(r'X\([A-Z0-9_]+, "([^"]+)", (\d), (\d+), (\d+),', text)
    return {name: (i, int(ring), int(copies) * int(loops))
            for i, (name, ring, copies, loops) in enumerate(rows)}
