# SPDX-License-Identifier: GPL-2.0-or-later
"""A user-mode network under QEMU: the guest reaches this machine's loopback, and is reached from it."""
import hashlib
import json
import os
import shutil
import socket
import threading
import time

import pytest

from conftest import in_guest, ringside


class Server(threading.Thread):
    """Sends its data to the first that comes, and keeps what it gets."""

    def __init__(self, data):
        super().__init__(daemon=True)
        self.data, self.got = data, b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        s, _ = self.socket.accept()
        with s:
            s.sendall(self.data)
            s.shutdown(socket.SHUT_WR)
            while piece := s.recv(65536):
                self.got += piece


def test_bytes_go_both_ways_and_the_agent_has_set_the_network_up():
    server = Server(os.urandom(300_000))
    end = in_guest("sh", "-c",
                   f"nc 10.0.2.2 {server.port} </bin/busybox >/f; sha256sum </f; ip route | head -1; "
                   "cat /etc/resolv.conf; cat /sys/class/net/eth0/address; "
                   "head -c 100000 /bin/busybox | sha256sum",
                   options=("--net", "user,mac=02:00:00:12:34:56"))
    server.join(30)
    assert end.status == 0, end.err
    got, route, dns, mac, of_busybox = end.out.decode().splitlines()
    assert got.split()[0] == hashlib.sha256(server.data).hexdigest()
    assert route == "default via 10.0.2.2 dev eth0 "
    assert (dns, mac) == ("nameserver 10.0.2.3", "02:00:00:12:34:56")
    assert hashlib.sha256(server.got[:100_000]).hexdigest() == of_busybox.split()[0]


def test_a_port_of_this_machine_is_one_of_the_guests_and_the_record_says_so(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    data = os.urandom(200_000)

    def send():
        """QEMU takes the connection before the guest listens, and then closes it."""
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), 20) as s:
                    if s.recv(2) == b"go":
                        s.sendall(data)
                        s.shutdown(socket.SHUT_WR)
                        s.recv(1)
                        return
            except OSError:
                pass
            time.sleep(0.3)

    threading.Thread(target=send, daemon=True).start()
    end = in_guest("sh", "-c",
                   "mkfifo /p; exec 3<>/p; while ! [ -s /g ]; do echo go >&3; nc -l -p 9 >/g <&3; done; "
                   "sha256sum </g",
                   options=("--net", f"user,tcp={port}:9,mac=02:00:00:12:34:56", "--json", tmp_path / "record"))
    assert end.status == 0, end.err
    assert end.out.decode().split()[0] == hashlib.sha256(data).hexdigest()
    assert json.loads((tmp_path / "record").read_text())["provenance"]["nets"] == [
        {"kind": "user", "mac": "02:00:00:12:34:56", "address": "10.0.2.15/24", "gateway": "10.0.2.2",
         "dns": "10.0.2.3", "tcp": [{"host": port, "guest": 9}]}]


@pytest.mark.parametrize("rw", ["", ",rw"])
def test_programs_in_another_root_find_the_name_server_and_the_host_keeps_its_file(rw, tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("own\n")
    shutil.copy("/bin/busybox", tmp_path / "sh")
    end = in_guest("/sh", "-c", 'read line </etc/resolv.conf; echo "$line"',
                   options=("--net", "user", "--root", f"{tmp_path}{rw}"))
    assert (end.status, end.out) == (0, b"nameserver 10.0.2.3\n"), end.err
    assert (tmp_path / "etc/resolv.conf").read_text() == "own\n"


def test_a_root_whose_resolv_conf_is_a_link_to_nowhere_gets_a_file_in_its_layer(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").symlink_to("../run/nowhere")
    shutil.copy("/bin/busybox", tmp_path / "sh")
    end = in_guest("/sh", "-c", 'read line </etc/resolv.conf; echo "$line"',
                   options=("--net", "user", "--root", tmp_path))
    assert (end.status, end.out) == (0, b"nameserver 10.0.2.3\n"), end.err


@pytest.mark.parametrize("value, text", [
    ("fd=0", "--net fd=N needs --backend kvm"),
    ("user,tcp=0", "--net: tcp: expected HOSTPORT[:GUESTPORT], at most 16 of them, got '0'"),
])
def test_a_network_that_qemu_cannot_have_is_249_in_one_line(value, text):
    end = ringside("run", "--backend", "qemu", "--net", value, "--", "true")
    assert (end.status, end.out) == (249, b"")
    assert end.err.splitlines()[-1] == f"ringside: error: {text}"
