# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver that breaks the rules, against every virtio device, in the whole machine on this KVM."""
import concurrent.futures
import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, run  # noqa: F401 (kvm skips where there is none)

CHECKS_OF_REGISTERS = 2 + 14 + 1 + 4  # good requests, what is no queue, resets, widths of accesses
CHECKS_PER_DEVICE = CHECKS_OF_REGISTERS + 2 * 21 * 2 + 4 * 3
CHECKS_OF_DISK = CHECKS_PER_DEVICE + 4  # of one that may be written, what a good driver does
CHECKS_OF_NET = 2 * CHECKS_PER_DEVICE + 2 * 10  # both queues, and headers of frames
CHECKS_OF_VSOCK = CHECKS_PER_DEVICE + 2 * 17  # one queue, and headers of packets
CHECKS_OF_STREAM = 3
CHECKS_OF_FS = 2 + 2 * CHECKS_OF_REGISTERS
FS_FAULTS = 2 * 21
FRAME = struct.pack(">I", 64) + bytes(64)


def summary(end):
    return end.stdout.decode(errors="replace").splitlines()[-1]


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(os.urandom(61440) + bytes(4096))
    return path


def needs_root(why):
    if os.geteuid() != 0:
        pytest.skip(f"not root: {why}")


def test_broken_chains_rings_and_accesses_hurt_no_device(image):
    before = image.read_bytes()
    end = run("virtio", "--rng", "--disk", f"{image},ro")
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {2 * CHECKS_PER_DEVICE} passed, 0 failed, 0 skipped"
    assert image.read_bytes() == before


def test_nor_does_a_disk_that_may_be_written_change(image):
    before = image.read_bytes()
    end = run("virtio", "--disk", image)
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {CHECKS_OF_DISK} passed, 0 failed, 0 skipped"
    assert image.read_bytes() == before


@contextlib.contextmanager
def loop_device(image):
    end = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, check=False)
    if end.returncode:
        pytest.skip(f"no loop device: {end.stderr.decode().strip()}")
    device = end.stdout.decode().strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


def test_nor_a_block_device(image):
    needs_root("a loop device cannot be set up")
    before = image.read_bytes()
    with loop_device(image) as device:
        end = run("virtio", "--disk", device)
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {CHECKS_OF_DISK} passed, 0 failed, 0 skipped"
    assert image.read_bytes() == before


def answer_once(listener, heard):
    """A program of the host's: four bytes come, and go back."""
    conn, _ = listener.accept()
    with conn:
        heard.append(conn.recv(4, socket.MSG_WAITALL))
        conn.sendall(heard[0])
        heard.append(conn.recv(1))


def test_nor_a_socket_device_and_a_stream_goes_there_and_back(tmp_path):
    heard = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "vsock_9"))
        listener.listen()
        thread = threading.Thread(target=answer_once, args=(listener, heard))
        thread.start()
        end = run("virtio", "--vsock", tmp_path / "vsock", "--append", "vsock_port=9")
        thread.join()
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == \
        f"SUMMARY: {CHECKS_OF_VSOCK + CHECKS_OF_STREAM} passed, 0 failed, 0 skipped"
    assert len(heard[0]) == 4 and heard[1] == b""
    assert [x.name for x in tmp_path.iterdir()] == ["vsock_9"]


def test_nor_a_file_system_device_which_its_virtiofsd_outlives(tmp_path):
    (tmp_path / "file").write_text("content")
    end = run("virtio", "--share", tmp_path)
    assert end.returncode == 0, end.stdout.decode(errors="replace") + end.stderr.decode()
    assert summary(end) == f"SUMMARY: {CHECKS_OF_FS} passed, 0 failed, 0 skipped"
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [("file", "content")]


def test_a_virtiofsd_that_ends_of_a_broken_request_ends_the_run_and_nothing_else(tmp_path):
    """A broken chain is for virtiofsd to judge: Debian's ends of each. The run then says so."""
    def break_it(fault):
        return run("virtio", "--share", tmp_path, "--append", f"fs_fault={fault}")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(break_it, range(FS_FAULTS)))
    gone = f"ringside: error: the virtual machine is gone: share {tmp_path}: its virtiofsd is gone"
    for fault, end in enumerate(ends):
        err = end.stderr.decode()
        assert (end.returncode == 248 and err.startswith(gone) and err.count("\n") == 1) or \
            (end.returncode == 0 and summary(end) == "SUMMARY: 3 passed, 0 failed, 0 skipped"), \
            f"{fault}: {end.returncode} {err} {end.stdout.decode(errors='replace')}"


def test_nor_a_console_by_its_output_or_its_messages():
    end = run("virtio", "--append", "console=hvc0")
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {2 * CHECKS_PER_DEVICE} passed, 0 failed, 0 skipped"


def test_nor_one_with_the_ports_of_an_agent_that_says_nonsense():
    end = subprocess.run(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "64M", "--kernel",
         BUILD / "firmware/virtio.elf", "--", "true"],
        capture_output=True, check=False, timeout=PATIENCE_S)
    err = end.stderr.decode(errors="replace")
    assert end.returncode == 245, err
    assert f"SUMMARY: {2 * CHECKS_PER_DEVICE + 1} passed, 0 failed, 0 skipped\n" in err
    assert "warning: 1 lines of the guest's results could not be understood\n" in err


def feed(sock):
    """Frames without end, as fast as they are taken."""
    try:
        while True:
            sock.sendall(FRAME * 16)
    except OSError:
        pass


def drain(sock, got):
    try:
        while data := sock.recv(65536):
            got.append(data)
    except OSError:
        pass


def test_nor_a_network_device_that_frames_come_to_all_the_time():
    ours, theirs = socket.socketpair()
    got = []
    threads = [threading.Thread(target=feed, args=(ours,)),
               threading.Thread(target=drain, args=(ours, got))]
    for t in threads:
        t.start()
    end = subprocess.run(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--kernel",
         BUILD / "firmware/virtio.elf", "--net", f"fd={theirs.fileno()}"],
        capture_output=True, check=False, timeout=PATIENCE_S, pass_fds=[theirs.fileno()])
    theirs.close()
    ours.shutdown(socket.SHUT_RDWR)
    for t in threads:
        t.join()
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {CHECKS_OF_NET} passed, 0 failed, 0 skipped"
    # Only good frames went out, each whole and of the length that stands before it.
    data = b"".join(got)
    frames = 0
    while data:
        length, = struct.unpack(">I", data[:4])
        assert length == 64 and len(data) >= 68
        data = data[4 + length:]
        frames += 1
    assert frames > CHECKS_PER_DEVICE / 2


@contextlib.contextmanager
def tap_device():
    """A tap on which nothing happens but what we send; yields its name and a packet socket."""
    name = f"rstap{os.getpid()}"
    end = subprocess.run(["ip", "tuntap", "add", "dev", name, "mode", "tap"], capture_output=True,
                         check=False)
    if end.returncode:
        pytest.skip(f"no tap: {end.stderr.decode().strip()}")
    try:
        disable = pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
        if disable.exists():
            disable.write_text("1")
        subprocess.run(["ip", "link", "set", name, "arp", "off", "up"], check=True)
        try:
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        except OSError as error:
            pytest.skip(f"no packet sockets: {error}")
        with sock:
            sock.bind((name, 0))
            yield name, sock
    finally:
        subprocess.run(["ip", "link", "del", name], check=True)


def test_nor_one_on_a_tap():
    needs_root("a tap cannot be made")
    done = threading.Event()

    def send(sock):
        while not done.is_set():
            try:
                sock.send(FRAME[4:])
            except OSError:  # its queue is full, or nobody is there yet
                time.sleep(0.001)

    with tap_device() as (name, sock):
        thread = threading.Thread(target=send, args=(sock,))
        thread.start()
        try:
            end = run("virtio", "--net", f"tap={name}")
        finally:
            done.set()
            thread.join()
    assert end.returncode == 0, end.stdout.decode(errors="replace")
    assert summary(end) == f"SUMMARY: {CHECKS_OF_NET} passed, 0 failed, 0 skipped"


@pytest.mark.parametrize("value, text", [
    ("tap=nonesuch", "network interface nonesuch: there is none; 'ip tuntap add dev nonesuch mode "
                     "tap' makes one"),
    ("tap=lo", "network interface lo: expected a TAP interface with one queue"),
    ("fd=0", "network: descriptor 0: expected a TAP interface or a stream socket"),
    ("fd=99", "network: descriptor 99: Bad file descriptor"),
    ("bridge", "--net: expected none, user, tap=NAME or fd=N, got 'bridge'"),
])
def test_a_network_that_is_none_is_249_in_one_line(value, text):
    end = run("exit", "--net", value)
    assert (end.returncode, end.stdout) == (249, b"")
    assert end.stderr.decode() == f"ringside: error: {text}\n"


def test_passt_that_is_not_there_is_named_with_its_package():
    end = subprocess.run(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--kernel",
         BUILD / "firmware/exit.elf", "--net", "user"],
        capture_output=True, check=False, timeout=PATIENCE_S, env={"PATH": "/nonesuch"})
    assert (end.returncode, end.stdout) == (249, b"")
    assert end.stderr.decode() == \
        "ringside: error: --net user needs passt: install the package passt\n"


def test_a_peer_that_lies_about_a_length_is_told_of_and_the_run_goes_on():
    ours, theirs = socket.socketpair()
    ours.sendall(struct.pack(">I", 1 << 31) + FRAME)
    with subprocess.Popen(
            [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--kernel",
             BUILD / "firmware/virtio.elf", "--net", f"fd={theirs.fileno()}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[theirs.fileno()]) as p:
        assert p.stderr.readline().decode() == \
            "ringside: warning: network 0: the other end was closed, or said what is no frame: " \
            "the guest's link is down\n"
        # The payload waits for its frame in vain, and says so after a while.
        assert p.stdout.readline() == b"FAIL: net-rx: a good request is served\n"
        p.kill()


def test_without_devices_there_is_nothing_to_check():
    end = run("virtio")
    assert end.returncode == 77
    assert summary(end) == "SUMMARY: 0 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize("value, text", [
    ("/nonesuch", "disk /nonesuch: No such file or directory"),
    ("/dev/null", "disk /dev/null: neither a file nor a block device"),
    (",ro", "--disk: expected FILE[,ro][,direct], got ',ro'"),
])
def test_a_disk_that_is_none_is_249_in_one_line(value, text):
    end = run("exit", "--disk", value)
    assert (end.returncode, end.stdout) == (249, b"")
    assert end.stderr.decode() == f"ringside: error: {text}\n"


def test_an_image_is_locked_while_a_machine_has_it(image):
    holder = subprocess.Popen(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M", "--kernel",
         BUILD / "firmware/echo.elf", "--disk", image],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"ready\n"
        for how, text in ((f"{image}", b"in use by another machine"),
                          (f"{image},ro", b"in use by another machine")):
            end = run("exit", "--disk", how)
            assert end.returncode == 249 and text in end.stderr
    finally:
        holder.communicate(b"\x04", timeout=PATIENCE_S)
    assert holder.returncode == 0
    assert run("exit", "--disk", image).returncode == 0
