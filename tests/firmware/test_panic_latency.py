# SPDX-License-Identifier: GPL-2.0-or-later
"""
A panic is told within 100 ms of its last line on the console: of a guest of a few bytes, which writes what a kernel writes
and then loops, as a kernel does that stays where it is. tests/e2e/test_panic_linux.py has a real kernel's.
"""
import functools
import statistics
import sys

import pytest

from test_machine import BUILD, PATIENCE_S, TOP, kvm  # noqa: F401 (kvm skips where there is no KVM)
from test_machine_faults import elf

sys.path.insert(0, str(TOP / "tests/support"))
import panic_latency  # noqa: E402

LINES = ("[    1.0] Kernel panic - not syncing: zoo\r\n[    1.1] CPU: 0 PID: 1 Comm: zoo\r\n"
         "[    1.2] Call Trace:\r\n")
END = "[    1.3] ---[ end Kernel panic - not syncing: zoo ]---\r\n"


def guest(text):
    # lea text(%rip), %rsi; mov $length, %ecx; mov $0x3f8, %dx; cld; rep outsb; jmp to itself
    code = (bytes.fromhex("488d350e000000 b9") + len(text).to_bytes(4, "little") +
            bytes.fromhex("66baf803 fc f36e ebfe"))
    return elf(code + text.encode())


def check(seen, status, out, err):
    seen.append(out.count(b"\n"))
    assert status == 240 and seen[-1] > 0, err
    assert err.startswith(b"ringside: error: the guest kernel panicked: Kernel panic - not syncing: zoo\n")


@pytest.mark.parametrize("text", [LINES, LINES + END], ids=["without its last line", "whole"])
def test_a_panic_is_told_within_100_ms_of_its_last_line(tmp_path, text):
    kernel = tmp_path / "kernel"
    kernel.write_bytes(guest(text))
    seen = []
    panic_latency.hold([BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--timeout", "30",
                        "--kernel", kernel], functools.partial(check, seen), PATIENCE_S, 40 * panic_latency.RUNS)
    # A vCPU that waits for a processor between two lines may seem to have said its last one.
    assert statistics.median(seen) == text.count("\n")
