# SPDX-License-Identifier: GPL-2.0-or-later
"""
A real bzImage with its kernel packed again as each of the kernel's ways to do it has it (scripts/Makefile.lib): what
inspect finds inside is what it found before.
"""
import gzip
import json
import os
import struct
import subprocess

import pytest

from conftest import ringside

SETUP_SECTS, SYSSIZE, PAYLOAD = 0x1f1, 0x1f4, 0x248  # Documentation/arch/x86/boot.rst
NO_CONFIG = 3  # the status of a kernel whose configuration is not known
# The last four bytes are the unpacked size in all but gzip, which has it itself.
PACKERS = {
    "xz": ["xz", "--check=crc32", "--x86", "--lzma2=preset=1,dict=32MiB", "-T1"],
    "lzma": ["lzma", "-1"],
    "bzip2": ["bzip2", "-9"],
    "zstd": ["zstd", "-9", "-T1", "-q"],
    "lz4": ["lz4", "-l", "-9", "-q"],
}


@pytest.fixture(scope="module")
def kernel():
    """Of our kernel: its bzImage, where the protected-mode part starts in it and the payload in that, what is inside."""
    vmlinux = ringside("kernel", "path", "base").out.decode().strip()
    with open(os.path.join(os.path.dirname(vmlinux), "bzImage"), "rb") as f:
        image = f.read()
    start = (image[SETUP_SECTS] + 1) * 512
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    return image, start, offset, gzip.decompress(image[start + offset:start + offset + length])


def inspect(path, status=0):
    end = ringside("kernel", "inspect", "--json", path)
    assert end.status == status, end.err
    return json.loads(end.out)


@pytest.mark.parametrize("packer", PACKERS)
def test_what_is_packed_in_a_bzimage_is_found_however_it_is_packed(kernel, packer, tmp_path):
    image, start, offset, inside = kernel
    packed = subprocess.run(PACKERS[packer], input=inside, capture_output=True, check=True).stdout
    packed += struct.pack("<I", len(inside))
    made = bytearray(image[:start + offset] + packed)
    made += bytes(-(len(made) - start) % 16)
    struct.pack_into("<II", made, PAYLOAD, offset, len(packed))
    struct.pack_into("<I", made, SYSSIZE, (len(made) - start) // 16)
    (tmp_path / "was").write_bytes(image)
    (tmp_path / "made").write_bytes(made)
    was, found = inspect(tmp_path / "was"), inspect(tmp_path / "made")
    assert (was["packed"], found["packed"]) == ("gzip", packer)
    assert found["unreadable"] is None and found["payload_bytes"] == len(packed)
    for what in ("version", "banner", "build_id", "unpacked_bytes", "memory_bytes", "options"):
        assert was[what] and found[what] == was[what]
    # One byte of it wrong, and that is said. The format of lz4 that kernels have holds no sum.
    if packer != "lz4":
        made[start + offset + len(packed) // 2] ^= 0x10
        (tmp_path / "made").write_bytes(made)
        damaged = inspect(tmp_path / "made", NO_CONFIG)
        assert damaged["unreadable"].startswith(f"{packer}: ") and not damaged["options"]
