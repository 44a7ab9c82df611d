# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver that breaks the rules, against every virtio device, in the whole machine on this KVM."""
import os
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, run  # noqa: F401 (kvm skips where there is none)

CHECKS_PER_DEVICE = 2 + 2 * 21 * 2 + 4 * 3 + 4


def summary(end):
    return end.stdout.decode(errors="replace").splitlines()[-1]


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(os.urandom(65536))
    return path


def test_broken_chains_rings_and_accesses_hurt_no_device(image):
    before = image.read_bytes()
    end = run("virtio", "--rng", "--disk", f"{image},ro")
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {2 * CHECKS_PER_DEVICE} passed, 0 failed, 0 skipped"
    assert image.read_bytes() == before


def test_nor_does_a_disk_that_may_be_written_change(image):
    before = image.read_bytes()
    end = run("virtio", "--disk", image)
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {CHECKS_PER_DEVICE} passed, 0 failed, 0 skipped"
    assert image.read_bytes() == before


def test_without_devices_there_is_nothing_to_check():
    end = run("virtio")
    assert end.returncode == 77
    assert summary(end) == "SUMMARY: 0 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize("value, text", [
    ("/nonesuch", "disk /nonesuch: No such file or directory"),
    ("/dev/null", "disk /dev/null: neither a file nor a block device"),
    (",ro", "--disk: expected FILE[,ro][,direct], got ',ro'"),
])
def test_a_disk_that_is_none_is_249_in_one_line(value, text):
    end = run("exit", "--disk", value)
    assert (end.returncode, end.stdout) == (249, b"")
    assert end.stderr.decode() == f"ringside: error: {text}\n"


def test_an_image_is_locked_while_a_machine_has_it(image):
    holder = subprocess.Popen(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--kernel",
         BUILD / "firmware/echo.elf", "--disk", image],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"ready\n"
        for how, text in ((f"{image}", b"in use by another machine"),
                          (f"{image},ro", b"in use by another machine")):
            end = run("exit", "--disk", how)
            assert end.returncode == 249 and text in end.stderr
    finally:
        holder.communicate(b"\x04", timeout=PATIENCE_S)
    assert holder.returncode == 0
    assert run("exit", "--disk", image).returncode == 0
