# SPDX-License-Identifier: GPL-2.0-or-later
"""What the disassembly says of the accesses to user memory: the forms of the kernel's test (patch 0006) and the
reads of guest page tables in KVM (patches 0004 and 0005). Nothing here is typed in: tests compare the two with each
other, and with what guests count."""
import re
import statistics

WAYS = ("get4", "get8", "put4", "put8")
FORMS = ("unchecked", "checked", "open", "open_nofence")
UNROLLED = 16  # lib/ringside_uaccess.c
WALKERS = r"(paging64|paging32|ept)_walk_addr_generic(\..*)?"
PTE_PROBE = "calltime_pte_read"


def loop(kernel, form):
    """The instructions of one turn of a form's loop, or of the empty one."""
    name = f"uaccess_{form.replace('.', '_')}"
    back = [i for i in kernel.instructions(name)
            if i.mnemonic.startswith("j") and i.mnemonic != "jmp" and i.target() and
            kernel.function(name).address <= i.target() < i.address]
    assert len(back) == 1, f"{name}: {len(back)} loops"
    return kernel.path(name, back[0].target(), lambda i: i == back[0])


def per_access(kernel, form):
    """Instructions of one access, the empty loop taken off."""
    return (len(loop(kernel, form)) - len(loop(kernel, "empty"))) / UNROLLED


def is_access(i, put):
    """Does it read or write a word by a register? The stack is nobody's user memory."""
    memory = r"\((%r(?!sp)\w+)\)"
    return i.mnemonic == "mov" and re.fullmatch(rf"%\w+,{memory}" if put else rf"{memory},%\w+", i.operands)


def steps(path, put):
    """What of a path makes an access safe, and the access itself, as words."""
    out = []
    for before, i in zip([None] + path, path):
        if i.mnemonic in ("stac", "clac", "lfence"):
            out.append(i.mnemonic)
        elif i.mnemonic.startswith("cmova") or (i.mnemonic in ("ja", "jb") and before.mnemonic == "cmp"):
            out.append({"c": "mask", "j": "check"}[i.mnemonic[0]])
        elif i.mnemonic == "or" and before.mnemonic == "sar" and before.operands.startswith("$0x3f"):
            out.append("mask")
        elif is_access(i, put):
            out.append("store" if put else "load")
    return out


def timed_read(kernel, walker):
    """What runs between the two time stamps of the probe in a walker, the probe being on."""
    key = kernel.objects[PTE_PROBE]
    function = kernel.function(walker)
    # The first of the probe's branches is the one that asks; being on, it is a jump.
    first = min(site for site, _, k in kernel.branches
                if k == key and function.address <= site < function.address + function.size)
    start = kernel.listing(walker, (key,))[first][0].target()

    def is_stamp(i):
        return i.mnemonic in ("rdtsc", "rdtscp")

    begin = kernel.path(walker, start, is_stamp, (key,))[-1]
    return kernel.path(walker, begin.address, is_stamp, (key,))[1:-1]


def counted(line, ticks_per_instruction):
    """Instructions of one access by a benchmark's result line: the median of its clean batches."""
    clean = [(t - e) / line["calls"] / ticks_per_instruction
             for t, e, i in zip(line["ticks"], line["empty"], line["irqs"]) if not i]
    assert clean, line
    return statistics.median(clean)


def spread(line):
    """How far that may be off: what stands around the two loops differs by a few instructions a batch."""
    return 8 / line["calls"]
