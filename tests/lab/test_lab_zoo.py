# SPDX-License-Identifier: GPL-2.0-or-later
"""
The animals of tests/zoo.py under ringside's own VMM, in one boot of the lab. By day those that tell the
two backends apart or that a machine is needed for; by night all but three.
"""
import json
import os
import re
import shlex

import pytest

import zoo
from cases import End, run_cases

BY_DAY = {
    "status 77", "panic", "panic in an interrupt", "oops that is lived through, but not by the run",
    "power off", "reset", "triple fault", "page table lost", "halt with interrupts off",
    "loop with interrupts off", "agent killed", "init crashes",
    "reboot loop", "soft lockup", "hung task", "stack that ends", "data that is executed",
}
# One CPU's lockup that another finds: seen under QEMU alone. In the lab both vCPUs have one processor, the
# second stayed halted, and its detector silent; why is not known.
NOT_HERE = {"hard lockup", "hard lockup is a panic", "workqueue that stands still"}
NIGHT = bool(os.environ.get("RINGSIDE_NIGHTLY"))
HERE = [a for a in zoo.ANIMALS if (NIGHT and a.name not in NOT_HERE) or a.name in BY_DAY]
assert NIGHT or len(HERE) == len(BY_DAY)


def folder(animal):
    return re.sub(r"\W+", "_", animal.name)


def line(animal, initrd):
    more = ("--initrd", str(initrd)) if animal.command else ()
    words = animal.on("kvm").words("--backend", "kvm", *more)
    return f"ringside run --json $d/json {shlex.join(words)}"


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    where = tmp_path_factory.mktemp("zoo")
    initrd = zoo.initrd(where / "initrd")
    return run_cases(where, {folder(a): line(a, initrd) for a in HERE})


@pytest.mark.parametrize("animal", [
    pytest.param(a, id=a.name, marks=[pytest.mark.nightly] if NIGHT else []) for a in HERE])
def test_what_comes_of_it(animal, ends):
    end = End(ends / folder(animal))
    animal.on("kvm").check(end.status, end.out, end.err, json.loads(end.file("json")))
