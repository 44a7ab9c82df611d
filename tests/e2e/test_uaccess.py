# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses to user memory in guests that count instructions: what is counted is what the disassembly says."""
import functools
import json
import subprocess
import sys

import pytest

from conftest import TOP, in_guest, ringside

sys.path.insert(0, str(TOP / "tests/kernel"))
from machine_code import Kernel  # noqa: E402
from uaccess_code import FORMS, WALKERS, WAYS, counted, per_access, spread, timed_read  # noqa: E402

SHIFT = 3
UNIT = 2 ** SHIFT
SHADOW = "kvm_amd.npt=0"
KERNEL_MAP = 0xffffffff80000000  # __START_KERNEL_map; a vmlinux runs where it was linked
USER_PTR_MAX = (0x0123456789abcdef).to_bytes(8, "little")  # asm/runtime-const.h: until the boot fills it in
PASS_TOUCHES = 32768  # bench/guest/kvmwalk.c
TEST = "/sys/kernel/debug/ringside_uaccess"


@functools.cache
def kernel(image):
    end = subprocess.run([TOP / "guest-kernel-config/build", "--path", image], capture_output=True, text=True,
                         check=False)
    assert end.returncode == 0, end.stderr
    return Kernel(end.stdout.strip())


def bench(tmp_path, image, names, *append, batches=5, calls=0, status=0):
    """The record of a boot with benchmarks, counting instructions."""
    job = tmp_path / "job.json"
    record = tmp_path / "record.json"
    job.write_text(json.dumps({
        "version": 1, "command": None, "env": {}, "cwd": "/", "lab": None,
        "bench": {"names": names, "batches": batches, "warmup": 1, "calls": calls, "calltime": True,
                  "nopti": False, "seed": 1}}))
    options = [w for a in append for w in ("--append", a)]
    end = ringside("run", "--backend", "qemu", "--icount", SHIFT, "--kernel", image, "--timeout", 270, "--job", job,
                   "--json", record, *options)
    assert end.status == status, end.err
    r = json.loads(record.read_text())
    return {line["name"]: line for line in r["guest"] if line["type"] == "bench"}, r["calltime"]


def pte_reads(calltime):
    rows = [r for r in calltime if r["probe"] == "kvm.pte_read" and r["count"]]
    assert len(rows) == 1, rows
    return rows[0]["count"], (rows[0]["sum"] / rows[0]["count"] - rows[0]["empty_min"]) / UNIT


@pytest.fixture(scope="module")
def base_boot(tmp_path_factory):
    return bench(tmp_path_factory.mktemp("base"), "base", ["uaccess", "kvmwalk"], SHADOW)


@pytest.fixture(scope="module")
def uaccess_boot(tmp_path_factory):
    return bench(tmp_path_factory.mktemp("uaccess"), "uaccess", ["kvmwalk"], SHADOW)


def test_the_code_that_was_disassembled_is_the_code_that_runs():
    base = kernel("base")
    names = [f"uaccess_{w}_{f}" for w in WAYS for f in FORMS]
    names += sorted({c for n in names for c in base.callees(n)})
    script = "cd /sys/kernel/debug/ringside_uaccess; grep -q 'smap 1' cpu && grep -q 'lfence 1' cpu || exit 1; "
    for f in map(base.function, names):
        at = f.address - KERNEL_MAP
        script += f"dd if=/dev/mem bs={f.size} count=1 iflag=skip_bytes skip={at} 2>/dev/null; "
    end = in_guest("sh", "-c", script)
    assert end.status == 0, end.err
    at = 0
    for name in names:
        expected = base.code(name)
        found = end.out[at:at + len(expected)]
        at += len(expected)
        # The limit of user addresses is filled in by the boot, and is the same everywhere.
        for place in range(len(expected) - 7):
            if expected[place:place + 8] == USER_PTR_MAX:
                expected = expected[:place] + found[place:place + 8] + expected[place + 8:]
        assert found.hex(" ") == expected.hex(" "), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_a_form_takes_the_instructions_that_its_disassembly_has(base_boot, way, form):
    line = base_boot[0][f"uaccess.{way}.{form}"]
    assert abs(counted(line, UNIT) - per_access(kernel("base"), f"{way}.{form}")) < spread(line)


def test_without_smap_each_form_takes_as_many(tmp_path):
    lines, _ = bench(tmp_path, "base", ["uaccess.get8"], "clearcpuid=smap", batches=3)
    for form in FORMS:
        line = lines[f"uaccess.get8.{form}"]
        assert abs(counted(line, UNIT) - per_access(kernel("base"), f"get8.{form}")) < spread(line)


def test_one_kvmwalk_reads_four_guest_entries_a_touch_and_more_than_a_hundred_thousand(base_boot, uaccess_boot):
    for lines, calltime in (base_boot, uaccess_boot):
        assert "error" not in lines["kvmwalk"]
        assert pte_reads(calltime)[0] > max(4 * PASS_TOUCHES, 100_000)


def test_no_batch_of_kvmwalk_waits_for_anything(base_boot, uaccess_boot):
    for lines, _ in (base_boot, uaccess_boot):
        line = lines["kvmwalk"]
        touches = [(t - e) / line["calls"] / UNIT for t, e in zip(line["ticks"], line["empty"])]
        assert max(touches) < 1.1 * min(touches)


def test_a_checked_read_of_a_guest_entry_is_dearer_by_what_the_disassembly_says(base_boot, uaccess_boot):
    base, uaccess = kernel("base"), kernel("uaccess")
    walker, = base.matching(WALKERS.replace("(paging64|paging32|ept)", "paging64"))
    predicted = len(timed_read(uaccess, walker)) - len(timed_read(base, walker))
    measured = pte_reads(uaccess_boot[1])[1] - pte_reads(base_boot[1])[1]
    assert abs(measured - predicted) < 0.01


def test_kvmwalk_is_refused_where_kvm_walks_nothing(tmp_path):
    lines, _ = bench(tmp_path, "base", ["kvmwalk"], batches=1, status=1)
    assert lines["kvmwalk"]["error"] == (
        "KVM lets the processor walk page tables: the arm needs append=kvm_amd.npt=0 or append=kvm_intel.ept=0")


def test_what_the_kernels_test_is_not_to_do_is_refused():
    asked = {
        "get4.nothing 16 0x1000 0": "No such file or directory",
        "get4.open 0 0x1000 0": "Invalid argument",
        "get4.open 15 0x1000 0": "Invalid argument",
        "get4.open 65552 0x1000 0": "Invalid argument",
        "get4.open 16 0x1004 0": "Invalid argument",
        "get4.open 16 0x1000": "Invalid argument",
        "get4.unchecked 16 0x1000 0": "Bad address",
        "put8.unchecked 16 0xffffffff81000000 0": "Bad address",
    }
    script = "".join(f"echo '{words}' >{TEST}/run; " for words in asked) + f"cat {TEST}/forms"
    end = in_guest("sh", "-c", script)
    errors = [line.rpartition(": ")[2] for line in end.err.splitlines() if "write error" in line]
    assert errors == list(asked.values())
    assert end.out.decode().split() == [f"{w}.{f}" for w in WAYS for f in FORMS]
