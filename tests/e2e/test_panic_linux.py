# SPDX-License-Identifier: GPL-2.0-or-later
"""A panic of a real kernel is told within 100 ms of its last line on the console: 20 of them under QEMU."""
import sys

import pytest

from conftest import PATIENCE_S, RINGSIDE, TOP

sys.path.insert(0, str(TOP / "tests/support"))
import panic_latency  # noqa: E402


@pytest.mark.long
def test_a_panic_is_told_within_100_ms_of_its_last_line():
    panic_latency.hold_linux(RINGSIDE, "qemu", PATIENCE_S)
