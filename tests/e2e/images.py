# SPDX-License-Identifier: GPL-2.0-or-later
"""Disk images that a guest boots into, and a program that maps files: for tests under QEMU and in the lab."""
import shutil
import struct
import subprocess

SECTOR = 512
FIRST = 2048  # sectors before the partition
START = FIRST * SECTOR
MIB = 1 << 20


def disk_image(where, partitioned):
    """A file system with a shell: "disk", whose first partition it is, or "whole"."""
    tree, whole = where / "tree", where / "whole"
    tree.mkdir(exist_ok=True)
    shutil.copy("/bin/busybox", tree / "sh")
    subprocess.run(["mkfs.ext4", "-q", "-d", tree, whole, "16M"], check=True)
    if not partitioned:
        return whole
    size = whole.stat().st_size // SECTOR
    table = bytearray(SECTOR)
    # Bootable no, no cylinders, Linux, and the whole of it; then what a table ends with.
    struct.pack_into("<B3sB3sII", table, 446, 0, b"", 0x83, b"", FIRST, size)
    table[510:] = b"\x55\xaa"
    disk = where / "disk"
    disk.write_bytes(bytes(table).ljust(START, b"\0") + whole.read_bytes())
    return disk


def on_image(image, start, what):
    """What debugfs says of a file system that is sound."""
    rest = image.parent / "rest"
    rest.write_bytes(image.read_bytes()[start:])
    subprocess.run(["e2fsck", "-fn", rest], check=True, capture_output=True)
    return subprocess.run(["debugfs", "-R", what, rest], check=True, capture_output=True, text=True).stdout


# Programs for the guest. The first file is read and written by a mapping, the second only read ...
MAP = """
import mmap, sys
with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED) as m:
    print(len(m), m[:4].decode().replace(chr(0), "."), m[-4:].decode())
    m[4096:4100] = b"new!"
    m.flush()
with open(sys.argv[2], "rb") as f, mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as m:
    print(m[-4:].decode())
"""
# ... and the first can only be tried.
READ_MAP = """
import mmap, os, sys
with open(sys.argv[2], "rb") as f, mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as m:
    print(m[-4:].decode())
try:
    with open(sys.argv[1], "r+b") as f:
        mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED)
except OSError as e:
    print(os.strerror(e.errno))
"""
