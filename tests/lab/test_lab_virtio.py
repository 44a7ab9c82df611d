# SPDX-License-Identifier: GPL-2.0-or-later
"""
Linux's own drivers on ringside's virtio devices, on a real KVM in the lab. One boot of the lab runs
all cases; images are in its memory.
"""
import hashlib

import pytest

from cases import case, run_cases

RUN = "ringside run --backend kvm --timeout 200"
CASES = {
    # Written, unmounted, checked by the host's fsck, and read back by a second guest.
    "ext4": f"""
        truncate -s 32M /tmp/a.img && mkfs.ext4 -q -F /tmp/a.img || exit 1
        {RUN} --disk /tmp/a.img -- sh -c 'mkdir /m && mount -t ext4 /dev/vda /m &&
            dd if=/dev/urandom of=/m/x bs=64k count=100 2>/dev/null && sha256sum /m/x && umount /m'
        e2fsck -fn /tmp/a.img >&2 && echo clean
        {RUN} --disk /tmp/a.img,ro -- sh -c 'mkdir /m && mount -o ro -t ext4 /dev/vda /m &&
            sha256sum /m/x'
        rm /tmp/a.img""",
    # The VMM dies in the middle of writes: what was flushed is there.
    "killed": f"""
        truncate -s 32M /tmp/k.img && mkfs.ext4 -q -F /tmp/k.img || exit 1
        {RUN} --disk /tmp/k.img -- sh -c 'mkdir /m && mount -t ext4 /dev/vda /m &&
            echo kept >/m/kept && sync && echo flushed && i=0; while :; do i=$((i+1));
            dd if=/dev/urandom of=/m/$((i%50)) bs=16k count=8 conv=fsync 2>/dev/null; done' \\
            >/tmp/k.out & pid=$!
        while ! grep -q flushed /tmp/k.out; do sleep 0.1; done
        sleep 3
        kill -9 $pid; wait $pid
        e2fsck -fy /tmp/k.img >/tmp/k.fsck 2>&1; echo first $?
        e2fsck -fn /tmp/k.img >/tmp/k.fsck 2>&1; echo second $?
        debugfs -R 'cat kept' /tmp/k.img 2>/dev/null
        rm /tmp/k.img""",
    # As many devices as there may be: interrupts above 15 too.
    "many": f"""
        for i in 0 1 2 3 4 5 6 7; do printf 'disk %d' $i >/tmp/$i; truncate -s 8192 /tmp/$i; done
        {RUN} --rng $(printf -- '--disk /tmp/%d ' 0 1 2 3 4 5 6 7) -- sh -c '
            for d in a b c d e f g h; do head -c 6 /dev/vd$d; cat /sys/block/vd$d/serial; echo; done
            cat /sys/bus/virtio/devices/virtio*/device | sort | uniq -c
            grep -c virtio /proc/interrupts'
        rm /tmp/[0-7]""",
    "read_only": f"""
        head -c 8192 /dev/zero >/tmp/r.img
        {RUN} --disk /tmp/r.img,ro -- sh -c 'cat /sys/block/vda/ro;
            dd if=/dev/urandom of=/dev/vda bs=512 count=1 conv=fsync 2>/dev/null; echo $?'
        cmp /tmp/r.img /dev/zero 2>&1 | grep -q EOF && echo unchanged
        rm /tmp/r.img""",
    "locked": f"""
        head -c 8192 /dev/zero >/tmp/l.img
        {RUN} --disk /tmp/l.img -- sh -c 'echo up; sleep 1000' >/tmp/l.out & pid=$!
        while ! grep -q up /tmp/l.out; do sleep 0.1; done
        {RUN} --disk /tmp/l.img -- true; echo $?
        {RUN} --disk /tmp/l.img,ro -- true; echo $?
        kill $pid; wait $pid
        {RUN} --disk /tmp/l.img -- true; echo $?
        rm /tmp/l.img""",
    "tail": f"""
        head -c 5000 /dev/zero >/tmp/t.img
        {RUN} --disk /tmp/t.img -- cat /sys/block/vda/size
        rm /tmp/t.img""",
    "ports": f"{RUN} -- sh -c 'cat /sys/class/virtio-ports/*/name; echo err >&2; exit 9'",
    "no_driver": f"{RUN} --append initcall_blacklist=virtio_console_init -- "
                 "sh -c 'ls /sys/class | grep -c virtio-ports; echo err >&2; exit 9'",
    "hvc": f"{RUN} --append console=hvc0 --console $d/console -- sh -c 'echo to hvc >/dev/hvc0'",
    "bytes": f"{RUN} -- sh -c 'dd if=/dev/urandom of=/x bs=64k count=64 2>/dev/null; "
             "sha256sum /x >&2; cat /x'",
    "slow_reader": f"{RUN} -- sh -c 'dd if=/dev/zero bs=64k count=64 2>/dev/null; echo end >&2' | "
                   "(sleep 2; wc -c)",
}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    return run_cases(tmp_path_factory.mktemp("virtio"), CASES)


@case("ext4")
def test_ext4_is_written_flushed_and_clean(end):
    assert end.status == 0, end.err
    written, clean, read = end.lines
    assert clean == "clean"
    assert written.split()[1] == "/m/x" and written == read


@case("killed")
def test_a_disk_is_sound_after_the_vmm_was_killed_while_it_was_written(end):
    # 0: clean; 1: the journal was replayed, or a count corrected. More is damage.
    assert end.lines[0] in ("first 0", "first 1"), end.lines
    assert end.lines[1:] == ["second 0", "kept"]


@case("many")
def test_eight_disks_come_in_their_order_beside_rng_and_console(end):
    assert end.status == 0, end.err
    assert end.lines[:8] == [f"disk {i}ringside-disk{i}" for i in range(8)]
    counts = {line.split()[1]: int(line.split()[0]) for line in end.lines[8:11]}
    assert counts == {"0x0002": 8, "0x0003": 1, "0x0004": 1}
    assert end.lines[11] == "10"


@case("read_only")
def test_a_read_only_disk_is_not_written(end):
    assert end.lines == ["1", "1", "unchanged"]


@case("locked")
def test_an_image_in_use_is_refused_with_249(end):
    assert end.lines == ["249", "249", "0"]
    assert end.err.count("ringside: error: disk /tmp/l.img: in use by another machine\n") == 2


@case("tail")
def test_a_tail_is_not_served_and_said(end):
    assert end.lines == ["9"]
    assert "disk /tmp/t.img: its last 392 bytes are no whole sector" in end.err


@case("ports")
def test_the_agent_has_a_port_for_each_stream(end):
    assert (end.status, end.err) == (9, "err\n")
    assert end.lines == ["ringside.results", "ringside.stdout", "ringside.stderr",
                         "ringside.control"]


@case("no_driver")
def test_without_the_driver_the_streams_come_over_the_serial_line(end):
    assert (end.status, end.out) == (9, b"0\n")
    assert end.err == "err\n"


@case("hvc")
def test_hvc0_is_the_console_when_asked_for(end):
    assert end.status == 0
    assert "to hvc" in (end.where / "console").read_text()


@case("bytes")
def test_four_mebibytes_come_out_byte_exact(end):
    assert end.status == 0
    assert len(end.out) == 64 * 65536
    assert hashlib.sha256(end.out).hexdigest() == end.err.split()[0]


@case("slow_reader")
def test_a_slow_reader_loses_nothing(end):
    assert end.lines == [str(64 * 65536)]
    assert end.err == "end\n"
