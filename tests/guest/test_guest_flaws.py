# SPDX-License-Identifier: GPL-2.0-or-later
"""What is listed as a flaw of the emulator fails on the base image as it is built, without options
and without the flag: so it is no fault of a patch or of an arm."""
import pytest

import boot
import subjects


def alone(name):
    """The base image, and one selftest. Without options: only what warnings need to be seen."""
    return boot.Boot("base", 1, "loglevel=5", (boot.Program("plain", 30, name, (f"/tests/{name}",)),),
                     ((name, str(subjects.selftests()[name])),))


@pytest.mark.parametrize("name", sorted(subjects.KNOWN))
def test_a_known_failure_is_one_on_the_base_image(name, boots):
    outcome = boots.outcome(alone(name))
    assert not outcome.program(name).ok, f"{name} passes: take it from the list"
    assert outcome.wrong_lines() == []


@pytest.mark.parametrize("name", sorted(subjects.NEEDS_NO_SMAP))
def test_a_far_return_under_smap_ends_the_base_image(name, boots):
    outcome = boots.outcome(alone(name))
    assert outcome.status in (240, 241), outcome.explain()
    # An Oops of a kernel that was not running: user code segment, at a far return (48 cb).
    assert "RIP: 0033:" in outcome.console and "<48> cb" in outcome.console, outcome.explain()


def test_a_kernel_that_lacks_what_it_should_have_fails_the_suite(boots):
    outcome = boots.outcome(boot.Boot("base", 1, "pti=on loglevel=5", (
        boot.Program("ktap", 200, "nopti", ("/tests/test_nopti", "on")),)))
    cases = {leaf.name: leaf for leaf in outcome.program("nopti").children}
    reasons = {leaf.reason for leaf in cases.values() if leaf.skipped}
    assert reasons == {"this needs two CPUs", "page table isolation is on"}
    good = {name for name, leaf in cases.items() if leaf.ok and not leaf.skipped}
    assert good == set(), good
