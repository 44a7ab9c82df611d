# SPDX-License-Identifier: GPL-2.0-or-later
"""--core of a payload on this KVM, behind the filter of system calls, opened by the real gdb."""
import json
import re
import shutil
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, run  # noqa: F401 (kvm is a fixture)


def test_gdb_shows_where_a_payload_hung_line_by_line(tmp_path):
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    core = tmp_path / "core"
    end = run("echo", "--timeout", "3", "--core", core)
    assert end.returncode == 244, end.stderr.decode()
    out = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "bt", "-ex", "info registers rip", "-ex", "x/s $rip", BUILD / "firmware/echo.elf",
         core], capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout
    assert "payload_main" in out and "firmware_start" in out and "_start" in out, out


def test_memory_on_both_sides_of_the_hole_is_in_it(tmp_path):
    core = tmp_path / "core"
    end = run("echo", "--timeout", "3", "--core", core, "--memory", "4G")
    assert end.returncode == 244, end.stderr.decode()
    assert core.stat().st_size > 4 << 30
    assert core.stat().st_blocks * 512 < 8 << 20  # untouched memory takes no room


def test_a_payload_that_ends_well_leaves_none(tmp_path):
    end = run("exit", "--core", tmp_path / "core")
    assert end.returncode == 0, end.stderr.decode()
    assert not list(tmp_path.iterdir())


def test_a_kernel_with_debug_information_fails_with_lines_of_its_source(tmp_path):
    record = tmp_path / "record"
    end = run("echo", "--timeout", "3", "--json", record)
    assert end.returncode == 244
    said = r"vCPU 0: RIP 0x\w{16} = \w+\+0x\w+ \(firmware/(?:lib|payloads)/\w+\.[ch]:\d+\)"
    assert re.search(rf"^--- with lines of the source\n{said}\n( \? .*\n)+---$", end.stderr.decode(), re.M), \
        end.stderr.decode()
    r = json.loads(record.read_text())
    assert len(r["registers"]) == 1 and "\nrip=0000000000" in r["registers"][0]
    lines = r["backtrace"]
    assert re.fullmatch(said, lines[0])
    # How it got there, from its stack.
    calls = [re.fullmatch(r" \? 0x\w{16} = (\w+)\+0x\w+ \(firmware/\w+/\w+\.[chS]:\d+\)", line)[1] for line in lines[1:]]
    assert calls[-2:] == ["firmware_start", "_start"] and "payload_main" in f"{lines[0]} {calls}"


def test_a_guest_gets_its_nmi_by_kvm_and_its_end_stays_what_it_was():
    end = run("echo", "--timeout", "3", "--nmi")
    assert end.returncode == 244, end.stderr.decode()
    assert re.search(r"^TRAPPED: vector 2,", end.stdout.decode(), re.M), end.stdout  # which no kernel does
    assert "the guest did not answer a non-maskable interrupt" in end.stderr.decode()
    # The registers are of before: they are where it waited.
    assert re.search(r"^--- vCPU 0: RIP 0x\w{16} = (fw_getc|payload_main)\+", end.stderr.decode(), re.M), end.stderr.decode()
