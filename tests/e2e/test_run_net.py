# SPDX-License-Identifier: GPL-2.0-or-later
"""A user-mode network under QEMU: the guest reaches this machine's loopback, and is reached from it."""
import hashlib
import os
import socket
import threading

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


@pytest.mark.parametrize("value, text", [
    ("fd=0", "--net fd=N needs --backend kvm"),
    ("user,tcp=0", "--net: tcp: expected HOSTPORT[:GUESTPORT], at most 16 of them, got '0'"),
])
def test_a_network_that_qemu_cannot_have_is_249_in_one_line(value, text):
    end = ringside("run", "--backend", "qemu", "--net", value, "--", "true")
    assert (end.status, end.out) == (249, b"")
    assert end.err.splitlines()[-1] == f"ringside: error: {text}"
