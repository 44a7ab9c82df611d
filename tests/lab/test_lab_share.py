# SPDX-License-Identifier: GPL-2.0-or-later
"""
Directories of the host in a guest by virtio-fs, and a root of its own, on a real KVM in the lab. One
boot of the lab runs all cases; the directories are in its memory.
"""
import sys

from cases import TOP, case, run_cases

import pytest

sys.path.insert(0, str(TOP / "tests/e2e"))

import images  # noqa: E402

RUN = "ringside run --backend kvm --timeout 200"
CASES = {
    # Two shares in one guest: one only for reading, whatever the guest does, and one for writing.
    "share": f"""
        mkdir -p /tmp/a /tmp/b && echo content >/tmp/a/file
        dd if=/dev/urandom of=/tmp/a/big bs=1M count=16 2>/dev/null
        {RUN} --share /tmp/a --share /tmp/b:/w,rw -- sh -c '
            cat /mnt/a/file; sha256sum </mnt/a/big
            mount -o remount,rw /mnt/a; echo x >/mnt/a/file; echo $?; rm /mnt/a/big; echo $?
            dd if=/dev/urandom of=/w/big bs=64k count=256 2>/dev/null; sha256sum </w/big
            mkdir /w/d; i=0; while [ $i -lt 300 ]; do echo $i >/w/d/$i; i=$((i+1)); done
            mv /w/d/0 /w/moved; rm /w/d/1; ln -s moved /w/link; ls /w/d | wc -l'
        echo $?
        sha256sum </tmp/a/big; sha256sum </tmp/b/big
        cat /tmp/a/file /tmp/b/link; ls /tmp/b/d | wc -l; pidof virtiofsd
        rm -r /tmp/a /tmp/b""",
    # The lab's own root: a program of it, mapped, that writes where it may not.
    "root": f"""
        {RUN} --root / -- bash -c 'pwd; echo x >/usr/new; cat /usr/new; python3 -c "print(6 * 7)"'
        ls /usr/new""",
    "root_rw": f"""
        mkdir /tmp/r && cp -r /bin/busybox /tmp/r/sh
        {RUN} --root /tmp/r,rw -- /sh -c 'echo kept >/new'
        cat /tmp/r/new; rm -r /tmp/r""",
    # By our own disk: written, and not; the image is the host's, where its soundness is looked at.
    "image": f"""
        for image in whole disk; do
            {RUN} --root $d/$image -- /sh -c 'echo lost >/new; read line </new; echo $line'
            {RUN} --root $d/$image,rw -- /sh -c 'read line </new || echo none; echo kept >/new'
        done""",
    "map": f"""
        mkdir -p /tmp/read /tmp/write
        for to in read write; do head -c {images.MIB} /dev/zero >/tmp/$to/file; printf tail >>/tmp/$to/file; done
        {RUN} --root / --share /tmp/write:/w,rw --share /tmp/read:/r -- python3 -c '{images.MAP}' /w/file /r/file
        echo $?; dd if=/tmp/write/file bs=4096 skip=1 count=1 2>/dev/null | head -c 8 | tr '\\0' .
        cmp /tmp/read/file /tmp/write/file; rm -r /tmp/read /tmp/write""",
    "lost": f"""
        mkdir /tmp/l
        {RUN} --share /tmp/l,rw -- sh -c 'echo up; sleep 1000' >/tmp/l.out & pid=$!
        while ! grep -q up /tmp/l.out; do sleep 0.1; done
        kill -9 $(pidof virtiofsd); wait $pid; echo $?""",
}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    where = tmp_path_factory.mktemp("share")
    (where / "image").mkdir()
    images.disk_image(where / "image", False)
    images.disk_image(where / "image", True)
    return run_cases(where, CASES)


@case("share")
def test_a_share_is_read_and_written_and_nothing_of_a_read_only_one_changes(end):
    content, big, *refused, written, count, status = end.lines[:7]
    assert (content, refused, count, status) == ("content", ["1", "1"], "298", "0"), end.err
    # The same on the host's side, and no virtiofsd is left.
    assert end.lines[7:] == [big, written, "content", "0", "298"]


@case("root")
def test_the_hosts_root_runs_its_programs_and_is_not_written(end):
    assert end.lines[1:] == ["x", "42"], end.err
    assert "ls: cannot access '/usr/new'" in end.err


@case("root_rw")
def test_a_root_for_writing_is_written(end):
    assert end.lines == ["kept"], end.err


@case("image")
def test_an_image_as_root_whole_or_its_first_partition_is_written_with_rw_only(end):
    assert end.lines == ["lost", "none"] * 2, end.err
    assert images.on_image(end.where / "whole", 0, "cat /new") == "kept\n"
    assert images.on_image(end.where / "disk", images.START, "cat /new") == "kept\n"


@case("map")
def test_a_file_of_a_share_can_be_mapped_and_written_by_its_mapping(end):
    assert end.lines[:3] == [f"{images.MIB + 4} .... tail", "tail", "0"], end.err
    assert end.lines[3].startswith("new!....")
    assert "differ: byte 4097" in end.lines[3]


@case("lost")
def test_a_run_ends_with_248_when_its_virtiofsd_is_gone(end):
    assert end.lines == ["248"], end.err
    assert "share /tmp/l: its virtiofsd is gone" in end.err
