# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver that breaks virtio's rules on every device, on the lab's KVM: all that the firmware suite does natively."""
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 900


@pytest.mark.long
def test_a_driver_that_breaks_the_rules_does_no_harm_on_the_labs_kvm_either():
    end = subprocess.run(
        [TOP / "tools/lab", "--memory", "4G", "--", "/usr/bin/python3", "-B", "-m", "pytest", "-q", "-rs", "-p",
         "no:cacheprovider", TOP / "tests/firmware/test_virtio.py"],
        cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert end.returncode == 0, end.stdout[-5000:] + end.stderr
    passed = re.search(r"^(\d+) passed, (\d+) skipped", end.stdout, re.MULTILINE)
    # The lab's kernel has neither loop devices nor packet sockets: a disk and a tap are left out, and nothing else.
    assert passed and int(passed[1]) >= 20 and int(passed[2]) == 2, end.stdout[-2000:]
    assert "no loop device" in end.stdout and "no packet sockets" in end.stdout
