# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside calibrate in the lab, where ring 0 is as emulated as everything: all primitives are there,
and each is the number of instructions that it is written with."""
import json
import pathlib
import subprocess

from calibrate_table import EXITS, INSTRUCTIONS, PCID

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 400

FLOORS = {
    "fsgsbase.fs": 1 - 4 - 4, "fsgsbase.fsgs": 2 - 4 - 4, "uaccess.get": 2 - 4, "uaccess.put": 2 - 5,
    "nopti.syscall": 2 * 1 - 2 - 3,
}


def test_under_icount_each_primitive_is_its_instructions_to_the_digit():
    end = subprocess.run(
        [TOP / "tools/lab", "--icount", "3", "--timeout", f"{PATIENCE_S}s", "--", "ringside",
         "calibrate", "--json", "--replicates", "2", "--batches", "8"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=PATIENCE_S + 60, cwd=TOP)
    assert end.returncode == 0, end.stderr
    run = json.loads(end.stdout)
    found = {p["name"]: p for p in run["primitives"]}
    assert run["class"] == "icount" and run["ticks_per_unit"] == 8
    assert found.keys() == INSTRUCTIONS.keys() | EXITS | PCID
    assert {n: found[n]["median"] for n in INSTRUCTIONS} == INSTRUCTIONS
    for name, p in found.items():
        assert p["unit"] == "instructions" and not p["native"] and p["core_cycles"] is None, name
        assert p["n"] == (0 if name in PCID else 2), p
    for name in PCID:
        assert found[name]["reason"] == "guests' processors do not have it here"
    # Through KVM and the VMM and back: thousands.
    assert all(found[n]["median"] > 1000 for n in EXITS)
    assert {f["id"]: f["value"] for f in run["floors"]} == FLOORS
    assert next(f for f in run["floors"] if f["id"] == "nopti.syscall")["formula"] == \
        "2 × cr3.write - test.cr3 - test.flag"
