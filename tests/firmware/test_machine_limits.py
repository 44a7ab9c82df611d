# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine's sizes and files at their limits and past them, and a KVM that cannot be used.

The payload is the one that ends at once, so each case takes as long as a launch.
"""
import json
import os
import shutil
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, run  # noqa: F401 (kvm skips where there is none)

MIB = 1 << 20


def refused(*options, status=249):
    """The one line that says why."""
    end = run("exit", *map(str, options))
    text = end.stderr.decode()
    assert (end.returncode, end.stdout, text.count("\n")) == (status, b"", 1), text
    assert text.startswith("ringside: error: ")
    return text


@pytest.mark.parametrize("size", [
    "2M", "1073M", "3071M", "3072M", "3073M", f"{4096 * MIB - 4096}B", "4G", f"{4096 * MIB + 4096}B"])
def test_every_size_around_the_hole_below_4_gib_boots(size):
    assert run("exit", "--memory", size).returncode == 0


@pytest.mark.parametrize("size, text", [
    ("0", "--memory 0: expected 1 B or more"),
    ("4097B", "guest memory of 4097 bytes: expected a multiple of 4096"),
    ("1M", "memory: 0x100000 bytes are too few; kernel and initrd need at least 2 MiB"),
    ("4194304G", "expected a multiple of 4096 from 4096 up to"),
    ("17179869184G", "the number is too large"),
    ("18446744073709551616B", "the number is too large"),
    ("1.5G", "expected a size such as 512M or 2G, got '1.5G'"),
])
def test_a_size_that_cannot_be_is_refused_with_its_limit(size, text):
    assert text in refused("--memory", size)


def test_more_memory_than_the_host_has_is_refused_with_what_it_has():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert "than this host has (" in refused("--memory", f"{4 * pages // MIB + (1 << 20)}M")


@pytest.mark.parametrize("n, text", [
    ("0", "--cpus 0: expected 1 to"),
    ("-1", "--cpus: expected a whole number, 1 to 1024, got '-1'"),
    ("1025", "--cpus 1025: expected 1 to 1024"),
])
def test_a_number_of_cpus_that_cannot_be_is_refused(n, text):
    assert text in refused("--cpus", n)


def test_more_cpus_than_the_machine_can_name_are_refused_with_where_the_limit_comes_from():
    end = run("exit", "--cpus", "255")
    assert end.returncode == 249
    assert b"255 vCPUs: expected 1 to 254, the processors that APIC ids of 8 bits" in end.stderr


def test_more_cpus_than_the_host_has_are_a_warning():
    host = os.cpu_count()
    if host >= 254:
        pytest.skip(f"no machine of ours has more than this host's {host} processors")
    end = run("exit", "--cpus", str(host + 1))
    assert end.returncode == 0
    assert end.stderr.decode() == (f"ringside: warning: {host + 1} vCPUs on {host} "
                                   f"processor{'s' * (host > 1)}: "
                                   "they take turns, and times mean little\n")
    assert run("exit", "--cpus", str(host)).stderr == b""


@pytest.mark.parametrize("option", ["kernel", "initrd"])
def test_a_file_that_cannot_be_mapped_is_named_with_what_it_is(tmp_path, option):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for path, text in (
        (tmp_path, "this is a folder, expected a regular file"),
        (tmp_path / "pipe", "this is a pipe, expected a regular file"),
        (tmp_path / "empty", "the file is empty"),
        (tmp_path / "nonesuch", "No such file or directory"),
        ("/dev/zero", "this is a device, expected a regular file"),
    ):
        assert refused(f"--{option}", path) == f"ringside: error: --{option} {path}: {text}\n"


def test_an_initrd_larger_than_memory_is_refused_with_both_ranges(tmp_path):
    with open(tmp_path / "big", "wb") as f:
        f.truncate(20 * MIB)
    text = refused("--initrd", tmp_path / "big")
    assert "0x1400000 bytes below 0x1000000" in text and "overlap the kernel at 0x100000-" in text


def test_a_command_line_is_counted_with_our_own_words_and_never_cut():
    text = refused("--append", "a" * 2000)
    assert "bytes, the kernel takes at most 2047; nothing is cut" in text
    assert run("exit", "--append", "a" * 1900).returncode == 0


def test_a_command_line_of_any_bytes_is_recorded(tmp_path):
    file = tmp_path / "record.json"
    assert run("exit", "--append", b"x=\xff\xfe", "--json", file).returncode == 0
    assert json.loads(file.read_text())["provenance"]["append"].endswith(" x=??")


def test_a_record_or_a_status_that_cannot_be_written_is_told():
    assert "--json /dev/full: No space left on device" in refused("--json", "/dev/full")
    assert "--status-file /dev/full: No space" in refused("--status-file", "/dev/full")


# Another /dev/kvm, in a mount namespace of its own.


def run_after(setup):
    unshare = ["unshare", "-m", "sh", "-ec"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "mount -t tmpfs none /mnt"],
                                                     capture_output=True, check=False).returncode:
        pytest.skip("no right to a mount namespace of its own")
    return subprocess.run(
        [*unshare, f'{setup}; exec "$@"', "sh", BUILD / "ringside", "run", "--backend", "kvm",
         "--force", "--kernel", BUILD / "firmware/exit.elf"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.parametrize("setup, text", [
    ("mount -t tmpfs none /dev", "kvm-device: /dev/kvm does not exist"),
    ("mount --bind /dev/null /dev/kvm", "kvm-api: /dev/kvm does not answer like KVM"),
    ("mount --bind /etc/passwd /dev/kvm", "kvm-api: /dev/kvm does not answer like KVM"),
])
def test_a_kvm_that_cannot_be_used_is_247_with_the_check_of_doctor(setup, text):
    end = run_after(setup)
    assert (end.returncode, end.stdout) == (247, "")
    assert end.stderr.startswith(f"ringside: error: {text}") and end.stderr.count("\n") == 1


def test_no_permission_for_kvm_is_247_with_the_check_of_doctor(tmp_path):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become somebody without the permission")
    if os.stat("/dev/kvm").st_mode & 0o006 == 0o006:
        pytest.skip("everybody has the permission for /dev/kvm")
    payload = shutil.copy(BUILD / "firmware/exit.elf", "/tmp")
    try:
        end = subprocess.run(
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
             BUILD / "ringside", "run", "--backend", "kvm", "--force", "--kernel", payload],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=PATIENCE_S)
    finally:
        os.unlink(payload)
    if end.returncode == 127:
        pytest.skip("the build is in a folder of somebody's own")
    assert (end.returncode, end.stdout) == (247, "")
    assert end.stderr.startswith("ringside: error: kvm-permission: no permission for /dev/kvm")
