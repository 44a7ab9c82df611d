# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside run's words about the kernel: names by a vmlinux apart, its entry, what it lacks."""
import os
import re

import pytest

from conftest import in_guest, ringside


@pytest.fixture(scope="module")
def image():
    """Of our kernel: the vmlinux, and the bzImage made from it."""
    vmlinux = ringside("kernel", "path", "base").out.decode().strip()
    return vmlinux, os.path.join(os.path.dirname(vmlinux), "bzImage")


def test_a_bzimages_addresses_have_names_by_its_vmlinux(image):
    vmlinux, bzimage = image
    end = in_guest("sh", "-c", "echo c >/proc/sysrq-trigger",
                   options=("--kernel", bzimage, "--kernel-debug", vmlinux))
    assert end.status == 240
    assert re.search(r"^--- vCPU 0: RIP 0x[0-9a-f]{16} = \w+\+0x[0-9a-f]+$", end.err, re.M)


def test_a_vmlinux_of_another_build_is_refused_with_both_ids(image):
    other = ringside("kernel", "path", "nopti").out.decode().strip()
    end = in_guest("true", options=("--kernel", image[1], "--kernel-debug", other))
    assert end.status == 249
    assert re.fullmatch(rf"ringside: error: --kernel-debug {re.escape(other)}: its build id is [0-9a-f]{{40}}, the "
                        r"kernel's [0-9a-f]{40}\n", end.err)


def test_a_bzimage_has_no_names_to_give(image):
    end = in_guest("true", options=("--kernel-debug", image[1]))
    assert end.status == 249
    assert "this is a bzImage" in end.err and "expected a vmlinux" in end.err


@pytest.mark.parametrize("which, entry, how", [(0, "linux64", "by"), (1, "pvh", "not by")])
def test_qemu_has_an_entry_of_its_own(image, which, entry, how):
    end = in_guest("true", options=("--kernel", image[which], "--entry", entry))
    assert end.status == 249
    assert f"--entry {entry} needs --backend kvm for this kernel" in end.err
    assert f" {how} its PVH note" in end.err


def test_after_a_boot_without_a_root_the_kernels_own_configuration_is_looked_at():
    end = ringside("run", "--backend", "qemu", "--timeout", 200)
    assert end.status == 242
    assert "ringside: warning: kernel: its configuration has all that was asked for\n" in end.err
