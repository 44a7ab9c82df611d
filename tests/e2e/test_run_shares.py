# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares and a root under QEMU, where they come by 9P: the same options, and the guest finds the same."""
import json
import os

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


def test_a_root_that_is_no_directory_and_no_file_is_249():
    end = ringside("run", "--root", "/nowhere", "--", "true")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root /nowhere: No such file or directory\n"


def test_a_root_without_a_command_is_249():
    end = ringside("run", "--root", "/")
    assert (end.status, end.out) == (249, b"")
    assert end.err == "ringside: error: --root needs a command behind '--', or --job\n"
