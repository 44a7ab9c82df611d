# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks under QEMU: the same options give the guest the same devices as ringside's own VMM."""
from conftest import in_guest, ringside


def test_disks_come_in_their_order_with_their_names_beside_an_entropy_device(tmp_path):
    for name, size in (("one", 8192), ("two", 4096)):
        (tmp_path / name).write_bytes(name.encode().ljust(size, b"\0"))
    end = in_guest(
        "sh", "-c", "for d in a b; do head -c 3 /dev/vd$d; cat /sys/block/vd$d/serial; echo; "
        "cat /sys/block/vd$d/size /sys/block/vd$d/ro; done; cat /sys/bus/virtio/devices/*/device; "
        "printf new | dd of=/dev/vda conv=notrunc,fsync 2>/dev/null",
        options=("--rng", "--disk", tmp_path / "one", "--disk", f"{tmp_path}/two,ro"))
    assert (end.status, end.err) == (0, "")
    lines = end.out.decode().splitlines()
    assert lines[:6] == ["oneringside-disk0", "16", "0", "tworingside-disk1", "8", "1"]
    assert sorted(lines[6:]) == ["0x0002", "0x0002", "0x0003", "0x0004"]
    assert (tmp_path / "one").read_bytes()[:5] == b"new\0\0"
    assert (tmp_path / "two").read_bytes()[:5] == b"two\0\0"


def test_more_disks_than_there_is_room_for_are_249():
    end = ringside("run", *["--disk", "x"] * 9)
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --disk: 9 disks, at most 8 can be given\n"


def test_what_the_agent_could_not_do_is_the_reason(tmp_path):
    (tmp_path / "empty").write_bytes(bytes(1 << 20))
    end = in_guest("true", options=("--root", tmp_path / "empty"))
    assert end.status == 245
    assert end.err.splitlines()[0] == ("ringside: error: the guest's agent gave up, so there is no status: root: /dev/vda "
                                       "holds no file system that this kernel knows")
