# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares and a root under QEMU, where they come by 9P: the same options, and the guest finds the same."""
import json
import os

import pytest

from images import MAP, MIB, START, disk_image, on_image
from conftest import in_guest, ringside


def test_shares_are_found_where_they_were_asked_for_and_only_rw_is_written(tmp_path):
    read, write = tmp_path / "read", tmp_path / "write"
    for d in (read, write):
        d.mkdir()
    (read / "file").write_text("content")
    end = in_guest("sh", "-c", "cat /mnt/read/file; echo x >/mnt/read/file; echo $?; echo y >/a/b/file",
                   options=("--share", read, "--share", f"{write}:/a/b,rw", "--json", tmp_path / "record"))
    assert (end.status, end.out) == (0, b"content1\n"), end.err
    assert (read / "file").read_text() == "content"
    assert (write / "file").read_text() == "y\n"
    assert json.loads((tmp_path / "record").read_text())["provenance"]["files"] == {
        "shares": [{"dir": str(read), "at": "/mnt/read", "ro": True},
                   {"dir": str(write), "at": "/a/b", "ro": False}], "root": None}


def test_this_machines_root_runs_its_programs_in_the_current_folder_and_is_not_written():
    end = in_guest("bash", "-c", "pwd; echo x >/usr/ringside-test && cat /usr/ringside-test; "
                   "python3 -c 'print(6 * 7)'; ls -d /proc/self /sys/kernel", options=("--root", "/"))
    assert end.status == 0, end.err
    assert end.out.decode().splitlines() == [os.getcwd(), "x", "42", "/proc/self", "/sys/kernel"]
    assert not os.path.exists("/usr/ringside-test")


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_disk_image_as_root_is_written_with_rw_and_only_then(partitioned, tmp_path):
    image = disk_image(tmp_path, partitioned)
    start = START if partitioned else 0
    before = image.read_bytes()
    for rw, left in (("", ""), (",rw", "kept\n")):
        end = in_guest("/sh", "-c", "echo kept >/new; read line </new; echo $line",
                       options=("--root", f"{image}{rw}"))
        assert (end.status, end.out) == (0, b"kept\n"), end.err
        assert on_image(image, start, "cat /new") == left
        assert (image.read_bytes() == before) == (rw == "")


def test_a_file_of_a_share_can_be_mapped_and_written_by_its_mapping(tmp_path):
    for name, rw in (("read", ""), ("write", ",rw")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"head".ljust(MIB, b".") + b"tail")
    end = in_guest("python3", "-c", MAP, "/w/file", "/r/file",
                   options=("--root", "/", "--share", f"{tmp_path}/write:/w,rw", "--share", f"{tmp_path}/read:/r"))
    assert (end.status, end.out.decode()) == (0, f"{MIB + 4} head tail\ntail\n"), end.err
    written = (tmp_path / "write/file").read_bytes()
    assert written == b"head".ljust(4096, b".") + b"new!" + b"." * (MIB - 4100) + b"tail"


def test_a_root_that_is_no_directory_and_no_file_is_249():
    end = ringside("run", "--root", "/nowhere", "--", "true")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root /nowhere: No such file or directory\n"


def test_a_root_without_a_command_is_249():
    end = ringside("run", "--root", "/")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root needs a command behind '--', or --job\n"
