# SPDX-License-Identifier: GPL-2.0-or-later
"""--core: a guest that failed, opened by the real gdb."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import PATIENCE_S, RINGSIDE, TOP, in_guest, ringside

CRASH = ("sh", "-c", "echo c >/proc/sysrq-trigger; sleep 100")


@pytest.fixture(name="gdb")
def gdb_fixture():
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed")

    vmlinux = ringside("kernel", "path", "base").out.decode().strip()

    def gdb(core, *commands):
        words = [word for command in commands for word in ("-ex", command)]
        p = subprocess.run(["gdb", "-nx", "-batch", *words, vmlinux, core], capture_output=True, text=True,
                           timeout=PATIENCE_S, check=False)
        return p.stdout + p.stderr
    return gdb


def test_gdb_finds_each_vcpu_and_the_kernels_memory(gdb, tmp_path):
    core = tmp_path / "core"
    end = in_guest(*CRASH, options=("--cpus", 2, "--core", core))
    assert end.status == 240
    assert re.search(rf"a core of the guest is in {re.escape(str(core))}; it took \d+\.\d s", end.err), end.err
    out = gdb(core, "info threads", "thread 1", "info registers rip rsp", "x/s (char *)&linux_banner", "x/2i $rip",
              "x/gx $rsp", "thread apply all bt 3")
    rips = re.findall(r"^--- vCPU \d: RIP 0x([0-9a-f]{16}) = (\w+)", end.err, re.M)
    assert len(rips) == 2
    for number, (address, name) in enumerate(rips, 1):
        assert re.search(rf"LWP {number}\)? +0x{address} in {name} \(\)", out), out
    assert f"rip            0x{rips[0][0]}" in out
    assert re.search(r'<linux_banner>:\s+"Linux version \d', out), out
    assert re.search(r"^0x[0-9a-f]+:\s+0x[0-9a-f]{16}$", out, re.M), out  # its stack, which is mapped by 4 KiB
    assert core.stat().st_blocks * 512 < core.stat().st_size / 2  # it is sparse
    assert core.stat().st_mode & 0o777 == 0o600


def test_a_timeout_and_a_machine_that_reset_itself_leave_a_core_too(gdb, tmp_path):
    core = tmp_path / "core"
    end = in_guest("sleep", "100", options=("--timeout", 20, "--core", core))
    assert end.status == 244
    assert '"Linux version ' in gdb(core, "x/s (char *)&linux_banner")
    end = in_guest("reboot", "-f", options=("--core", core))
    assert end.status == 245
    assert '"Linux version ' in gdb(core, "x/s (char *)&linux_banner")


def test_a_run_that_goes_well_has_none_and_leaves_nothing(tmp_path):
    end = in_guest("true", options=("--core", tmp_path / "core"))
    assert (end.status, os.listdir(tmp_path)) == (0, [])
    assert "core" not in end.err


@pytest.mark.parametrize("make, said", (
    (lambda path: path.symlink_to("/etc/passwd"), "is a symbolic link, and none is followed"),
    (lambda path: path.mkdir(), "Is a directory"),
    (os.mkfifo, "File exists"),
), ids=("link", "folder", "pipe"))
def test_what_a_core_cannot_take_the_place_of_is_told_before_the_boot(make, said, tmp_path):
    core = tmp_path / "core"
    make(core)
    end = in_guest("true", options=("--core", core))
    assert (end.status, end.out) == (249, b"")
    assert end.err == f"ringside: error: --core {core}: {said}\n"


def test_a_disk_that_is_full_costs_the_core_and_nothing_else(tmp_path):
    where, record = tmp_path / "small", tmp_path / "record"
    where.mkdir()
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    p = subprocess.run(
        ["unshare", "-rm", "sh", "-c",
         'mount -t tmpfs -o size=1M none "$0" && { "$@"; s=$?; ls -A "$0"; exit $s; }', where, RINGSIDE, "run",
         "--backend", "qemu", "--core", where / "core", "--json", record, "--", *CRASH],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=TOP, stdin=subprocess.DEVNULL)
    assert p.returncode == 240, p.stderr
    assert f"error: no core was written to {where}/core: writing it: No space left on device" in p.stderr
    assert p.stdout == ""  # no file, not half of one either
    assert '"panic"' in pathlib.Path(record).read_text()


def test_a_suites_case_that_failed_has_one_in_its_directory(gdb, tmp_path):
    end = ringside("test", "--backend", "qemu", "--core", "--out", tmp_path / "out", "--", *CRASH)
    assert end.status == 1, end.err
    core, = (tmp_path / "out").glob("*/core")
    assert '"Linux version ' in gdb(core, "x/s (char *)&linux_banner")
