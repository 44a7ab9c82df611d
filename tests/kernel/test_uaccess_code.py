# SPDX-License-Identifier: GPL-2.0-or-later
"""Fences, checks and calls of accesses to user memory, by the disassembly of the built images."""
import functools
import pathlib
import subprocess

import pytest

from machine_code import EVERYTHING, Kernel
from uaccess_code import (FORMS, UNROLLED, WALKERS, WAYS, is_access, loop, per_access, steps, timed_read)

TOP = pathlib.Path(__file__).resolve().parents[2]
UNCHECKED_IMAGES, CHECKED_IMAGES = ("base", "nopti"), ("uaccess", "all")

# What an access is made of in 6.12, in order. __put_user() has neither check nor fence; user_access_begin() has both for
# reads and writes alike.
STEPS = {
    ("get", "unchecked"): ["stac", "lfence", "load", "clac"],
    ("get", "checked"): ["mask", "stac", "load", "clac"],
    ("get", "open"): ["check", "stac", "lfence", "load", "clac"],
    ("get", "open_nofence"): ["check", "stac", "load", "clac"],
    ("put", "unchecked"): ["stac", "store", "clac"],
    ("put", "checked"): ["mask", "stac", "store", "clac"],
    ("put", "open"): ["check", "stac", "lfence", "store", "clac"],
    ("put", "open_nofence"): ["check", "stac", "store", "clac"],
}


@functools.cache
def image(name, features=EVERYTHING):
    end = subprocess.run([TOP / "guest-kernel-config/build", "--path", name], capture_output=True, text=True,
                         check=False)
    if end.returncode != 0:
        pytest.skip(f"image {name}: {end.stderr.strip()}")
    return Kernel(end.stdout.strip(), features)


@pytest.fixture(scope="module")
def base():
    return image("base")


@pytest.fixture(scope="module")
def uaccess():
    return image("uaccess")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_each_form_has_its_check_its_fence_and_its_access_in_order_and_nothing_else(base, way, form):
    turn = loop(base, f"{way}.{form}")
    expected = STEPS[way[:3], form]
    assert steps(turn, way.startswith("put")) == expected * UNROLLED
    # The fence stands right before what it guards: only register moves come between.
    for i, at in zip(turn, range(len(turn))):
        if i.mnemonic == "lfence":
            following = [str(j) for j in turn[at + 1:at + 3]]
            assert any(is_access(j, way.startswith("put")) for j in turn[at + 1:at + 3]), following


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_no_path_of_a_form_has_a_fence_that_its_loop_has_not(base, way, form):
    name = f"uaccess_{way}_{form}"
    fences = sum(i.mnemonic == "lfence" for i in base.instructions(name))
    in_callees = {c: sum(i.mnemonic == "lfence" for i in base.instructions(c)) for c in base.callees(name)}
    expected = STEPS[way[:3], form].count("lfence")
    if in_callees:
        assert form in ("unchecked", "checked")
        assert (fences, list(in_callees.values())) == (0, [expected])
    else:
        assert form in ("open", "open_nofence")
        assert fences == expected * UNROLLED


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_without_smap_or_the_fence_a_form_has_a_nop_for_each_and_as_many_instructions(base, way, form):
    for missing in ({"smap"}, {"lfence"}):
        other = image("base", EVERYTHING - missing)
        turn = loop(other, f"{way}.{form}")
        gone = {"stac", "clac"} if "smap" in missing else {"lfence"}
        assert not gone & {i.mnemonic for i in turn}
        assert len(turn) == len(loop(base, f"{way}.{form}"))


def test_the_empty_loop_accesses_nothing(base):
    assert [i.mnemonic for i in loop(base, "empty")] == ["sub", "jne"]


def test_the_forms_cost_what_their_steps_say(base):
    cost = {w: {f: per_access(base, f"{w}.{f}") for f in FORMS} for w in WAYS}
    for way in WAYS:
        fence = 1 if STEPS[way[:3], "open"].count("lfence") else 0
        assert cost[way]["open"] - cost[way]["open_nofence"] == fence
        unchecked, checked = (set(base.callees(f"uaccess_{way}_{f}")) for f in ("unchecked", "checked"))
        lengths = [len(base.path(c, base.function(c).address, lambda i: i.mnemonic == "ret"))
                   for c in (*unchecked, *checked)]
        assert cost[way]["checked"] - cost[way]["unchecked"] == lengths[1] - lengths[0]


def walkers(kernel):
    """All three of them, or there is nothing to say."""
    found = kernel.matching(WALKERS)
    assert len(found) == 3, found
    return found


def user_calls(kernel, name):
    return {c for c in kernel.callees(name) if c and "_user_" in c}


def test_walkers_of_unchecked_images_read_unchecked_and_of_checked_ones_checked():
    for names, word in ((UNCHECKED_IMAGES, "nocheck_"), (CHECKED_IMAGES, "")):
        for name in names:
            try:
                kernel = image(name)
            except pytest.skip.Exception:
                if name in ("base", "uaccess"):
                    raise
                continue
            for walker in walkers(kernel):
                size = 4 if walker.startswith("paging32") else 8
                assert user_calls(kernel, walker) == {f"__get_user_{word}{size}"}, (name, walker)


def test_the_assist_page_is_written_unchecked_in_base_and_checked_in_uaccess(base, uaccess):
    for kernel, expected in ((base, "__put_user_nocheck_4"), (uaccess, "__put_user_4")):
        writers = {n: user_calls(kernel, n) for n in kernel.functions
                   if n.startswith("kvm_hv_") and len(kernel.functions[n]) == 1}
        assert [c for c in writers.values() if c] == [{expected}]


def test_a_probe_that_is_off_is_one_nop_before_the_read(base):
    for walker in walkers(base):
        key = base.objects["calltime_pte_read"]
        f = base.function(walker)
        sites = [s for s, _, k in base.branches if k == key and f.address <= s < f.address + f.size]
        off = base.listing(walker)
        assert all(off[s][0].is_nop() for s in sites)
        # One to ask, one at each end of the timed copy, which is out of line.
        assert len(sites) == 3
        reads = [i.address for i in base.instructions(walker)
                 if i.mnemonic == "call" and "get_user" in (base.names.get(i.target()) or "")]
        assert min(sites) < min(reads)


def test_the_images_differ_in_a_timed_read_by_the_functions_that_read(base, uaccess):
    for walker in walkers(base):
        a, b = timed_read(base, walker), timed_read(uaccess, walker)
        size = 4 if walker.startswith("paging32") else 8

        def body(kernel, name):
            return kernel.path(name, kernel.function(name).address, lambda i: i.mnemonic == "ret")

        unchecked = body(base, f"__get_user_nocheck_{size}")
        checked = body(uaccess, f"__get_user_{size}")
        assert len(b) - len(a) == len(checked) - len(unchecked)
        assert (steps(a, False), steps(b, False)) == (
            STEPS["get", "unchecked"], STEPS["get", "checked"])
        own = [[i.mnemonic for i in path if i.address not in {j.address for j in callee}]
               for path, callee in ((a, unchecked), (b, checked))]
        assert own[0] == own[1]
