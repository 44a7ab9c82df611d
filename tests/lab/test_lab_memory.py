# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of sizes around the hole below 4 GiB, each of which writes and reads all that its kernel leaves it."""
import subprocess
import sys

import pytest

from cases import TOP

sys.path.insert(0, str(TOP / "tests/guest"))

import boot  # noqa: E402

PATIENCE_S = 900
MIB = 1 << 20
SIZES = [96 * MIB, 3071 * MIB, 3072 * MIB, 3073 * MIB, 4096 * MIB - 4096, 4096 * MIB + 4096, 5120 * MIB]


def touch(size, tmp_path):
    """MiB that the guest touched."""
    program = (boot.PROGRAMS / "test_memory").read_bytes()
    (tmp_path / "initrd").write_bytes(boot.newc({"tests": (0o755, None),
                                                 "tests/test_memory": (0o755, program)}))
    host = size // MIB + 512
    p = subprocess.run(
        [TOP / "tools/lab", "--memory", f"{host}M", "--timeout", str(PATIENCE_S), "--",
         "ringside", "run", "--backend", "kvm", "--memory", f"{size}B", "--initrd", tmp_path / "initrd",
         "--timeout", str(PATIENCE_S - 60), "--", "/tests/test_memory"],
        capture_output=True, text=True, timeout=PATIENCE_S + 60, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    return int(p.stdout)


def test_a_guest_that_does_not_fill_a_power_of_two_has_all_of_it(tmp_path):
    assert touch(1073 * MIB, tmp_path) > 0.9 * 1073 - 64


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES)
def test_a_guest_around_the_hole_has_all_of_its_memory(size, tmp_path):
    assert touch(size, tmp_path) > 0.9 * size / MIB - 64


# What the host's kernel says of the pages of a guest that is up: KiB of memory files in huge pages.
PAGES = """
for pages in thp normal; do
    ringside run --backend kvm --timeout 200 --memory 256M --pages $pages -- \
        sh -c 'echo up; exec sleep 1000' >/tmp/up & guest=$!
    until grep -q up /tmp/up; do sleep 0.2; done
    awk '/memfd:ringside-ram-low/ { ours = 1 } /^VmFlags/ { ours = 0 }
         ours && /^ShmemPmdMapped/ { sum += $2 } END { print sum + 0 }' /proc/$guest/smaps
    kill $guest; wait $guest
done
exit 0"""


def test_transparent_huge_pages_are_what_a_guest_that_asks_for_them_is_made_of():
    p = subprocess.run([TOP / "tools/lab", "--timeout", "600", "--", "bash", "-c", PAGES],
                       capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert p.returncode == 0, p.stderr
    thp, normal = map(int, p.stdout.split())
    # The kernel and what it has touched; a guest that has just come up has touched some tens of MiB.
    assert thp >= 16 << 10 and thp % 2048 == 0
    assert normal == 0
