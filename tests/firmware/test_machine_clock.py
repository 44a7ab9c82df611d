# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest may keep time by: what CPUID says of it, on this KVM."""
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, record, run  # noqa: F401 (kvm skips where there is none)


def test_the_record_says_which_clock_was_asked_for_and_the_guest_finds_it(tmp_path):
    prints = {}
    for clock in ("auto", "kvmclock", "tsc"):
        if run("exit", "--clock", clock).returncode != 0:
            end = run("exit", "--clock", clock)
            assert (end.returncode, end.stderr.count(b"\n")) == (249, 1)
            assert end.stderr.startswith(b"ringside: error: --clock " + clock.encode())
            continue
        r = record(tmp_path, "cpuid", "--clock", clock)["provenance"]
        assert r["clock"] == clock
        prints[clock] = r["cpu"]["fingerprint"]
    # kvmclock and tsc differ in what CPUID offers, each by at least a bit.
    assert "kvmclock" not in prints or "tsc" not in prints or prints["kvmclock"] != prints["tsc"]
    assert "auto" in prints


def test_records_have_the_clock_source_of_the_host(tmp_path):
    with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as f:
        assert record(tmp_path, "exit")["provenance"]["host"]["clocksource"] == f.read().strip()


@pytest.mark.parametrize("options, text", [
    (["--backend", "kvm", "--clock", "hpet"], "--clock: expected one of auto|kvmclock|tsc, got 'hpet'"),
    (["--backend", "qemu", "--clock", "tsc"], "--clock needs --backend kvm"),
])
def test_a_clock_that_cannot_be_is_249(options, text):
    end = subprocess.run([BUILD / "ringside", "run", *options, "--kernel", BUILD / "firmware/exit.elf"],
                         capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert end.returncode == 249 and text in end.stderr
