# SPDX-License-Identifier: GPL-2.0-or-later
"""The execution class inside the lab, with and without -icount, and the payloads on its KVM."""
import json
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
PATIENCE_S = 600


def lab(*options, command):
    return subprocess.run([TOP / "tools/lab", *options, "--", *command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=TOP)


def doctor(*options):
    end = lab(*options, command=["ringside", "doctor", "--json"])
    assert end.stdout, end.stderr
    return json.loads(end.stdout)


@pytest.mark.parametrize("shift", [3, 10])
def test_under_icount_the_class_is_icount_with_its_shift(shift):
    found = doctor("--icount", str(shift))["class"]
    assert found["name"] == "icount", found["evidence"]
    assert found["unit"] == "instructions"
    assert found["ticks_per_unit"] == 1 << shift


def test_without_icount_the_class_is_tcg_and_the_native_route_is_open():
    result = doctor()
    assert result["class"]["name"] == "tcg", result["class"]["evidence"]
    assert result["class"]["unit"] == "ticks"
    assert result["routes"]["native"]
    assert {c["id"]: c["status"] for c in result["checks"]}["ring0"] == "ok"


def test_the_payloads_do_on_the_labs_kvm_what_they_do_on_any():
    end = lab(command=[BUILD / "tests/firmware/test_firmware_payloads", BUILD / "firmware"])
    assert end.returncode == 0, end.stdout + end.stderr
    assert "[  PASSED  ] 25 test(s)." in end.stdout + end.stderr


def test_the_host_leaves_a_guest_after_each_interrupt_that_it_injects():
    end = lab(command=["cat", "/sys/module/kvm_amd/parameters/exit_after_irq"])
    assert end.stdout == "Y\n", end.stderr
