# SPDX-License-Identifier: GPL-2.0-or-later
"""The ACPI tables and their registers, and the PVH entry, as a guest meets them on this KVM."""
import json

import pytest

from test_machine import BUILD, kvm, run  # noqa: F401 (kvm skips where there is none)

SLOTS = 32
# RSDP; four of each of XSDT, FADT, MADT, DSDT; FADT and MADT there; three of the MADT; the registers.
CHECKS = 1 + 4 * 4 + 1 + 3 + SLOTS + 3 + 3
ENTRIES = ("linux64", "pvh")


def lines(end):
    return end.stdout.decode(errors="replace").splitlines()


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("cpus", (1, 4, 254))
def test_a_guest_finds_all_tables_sound_and_each_device_named(entry, cpus, tmp_path):
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(4096))
    end = run("acpi", "--acpi", "on", "--entry", entry, "--cpus", str(cpus), "--rng", "--disk", disk,
              "--append", f"cpus={cpus}")
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert lines(end)[-1] == f"SUMMARY: {CHECKS} passed, 0 failed, 0 skipped"
    named = [line for line in lines(end) if "a device, and named" in line]
    assert named == [f"PASS: acpi: slot {i}: a device, and named" for i in range(2)]


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_switches_itself_off_by_the_sleep_register(entry, tmp_path):
    file = tmp_path / "record"
    end = run("acpi", "--acpi", "on", "--entry", entry, "--append", "acpi=1", "--json", file)
    assert end.returncode == 0, end.stderr.decode()
    assert not any("SUMMARY" in line or "FAIL" in line for line in lines(end))
    r = json.loads(file.read_text())
    assert "switched itself off" in r["outcome"]["text"]
    assert r["provenance"]["start"] == {"entry": entry, "acpi": True}


def test_it_resets_itself_by_the_reset_register(tmp_path):
    file = tmp_path / "record"
    end = run("acpi", "--acpi", "on", "--append", "acpi=2", "--json", file)
    assert end.returncode == 0, end.stderr.decode()
    assert not any("SUMMARY" in line or "FAIL" in line for line in lines(end))
    assert "reset itself" in json.loads(file.read_text())["outcome"]["text"]


def test_with_acpi_off_there_are_no_tables(tmp_path):
    file = tmp_path / "record"
    end = run("acpi", "--acpi", "off", "--json", file)
    assert (end.returncode, lines(end)[-1]) == (77, "SUMMARY: 0 passed, 0 failed, 1 skipped")
    assert json.loads(file.read_text())["provenance"]["start"] == {"entry": "linux64", "acpi": False}


def test_auto_takes_tables_for_a_kernel_that_looks_for_them_and_words_for_another(tmp_path):
    file = tmp_path / "record"
    assert run("acpi", "--json", file, "--append", "cpus=1").returncode == 0
    assert json.loads(file.read_text())["provenance"]["start"]["acpi"] is True
    assert run("exit", "--json", file).returncode == 0
    assert json.loads(file.read_text())["provenance"]["start"]["acpi"] is False


@pytest.mark.parametrize("payload, status", (("exit", 0), ("report_selftest", 1), ("pagewalk", 0)))
def test_payloads_run_by_their_pvh_note_as_by_the_other_entry(payload, status):
    ends = [run(payload, "--entry", entry) for entry in ENTRIES]
    assert [e.returncode for e in ends] == [status, status]
    assert ends[0].stdout == ends[1].stdout


