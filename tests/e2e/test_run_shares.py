# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares and a root under QEMU, where they come by 9P: the same options, and the guest finds the same."""
import json
import os

import pytest

from images import MIB, READ_MAP, START, disk_image, on_image
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


def test_a_file_of_a_share_can_be_mapped_and_by_9p_not_written_by_its_mapping(tmp_path):
    for name in "read", "write":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"head".ljust(MIB, b".") + b"tail")
    end = in_guest("python3", "-c", READ_MAP, "/w/file", "/r/file",
                   options=("--root", "/", "--share", f"{tmp_path}/write:/w,rw", "--share", f"{tmp_path}/read:/r"))
    assert (end.status, end.out.decode()) == (0, "tail\nInvalid argument\n"), end.err


def test_what_is_appended_while_others_look_is_not_lost(tmp_path):
    end = in_guest("sh", "-c", "while :; do stat /w/f >/dev/null 2>&1; done & "
                   "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i + 1)); done >>/w/f; kill $!",
                   options=("--share", f"{tmp_path}:/w,rw"))
    assert end.status == 0, end.err
    assert (tmp_path / "f").read_text().splitlines() == [f"line {i}" for i in range(2000)]


def test_a_root_that_is_no_directory_and_no_file_is_249():
    end = ringside("run", "--root", "/nowhere", "--", "true")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root /nowhere: No such file or directory\n"


def test_a_root_without_a_command_is_249():
    end = ringside("run", "--root", "/")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root needs a command behind '--', or --job\n"
