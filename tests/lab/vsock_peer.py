#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's programs of tests/guest/vsock.c, at the Unix socket PATH of a guest's socket device.

usage: vsock_peer.py PATH     Serves until it is ended; says "echo ok" when the guest sent back what it got.
"""
import hashlib
import os
import socket
import sys
import threading
import time

ECHO, SINK, GREETED = 1000, 1001, 52
BYTES = 1 << 20


def serve(path, port, answer):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{path}_{port}")
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()


def sink(connection):
    time.sleep(1)
    total = 0
    while data := connection.recv(65536):
        total += len(data)
    connection.sendall(str(total).encode())
    connection.close()


def greet(path):
    """Connect to the guest until it accepts; True when it gave back what it got."""
    sent = os.urandom(BYTES)
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        connection.sendall(b"CONNECT %d\n" % GREETED)
        line = b""
        while not line.endswith(b"\n") and (byte := connection.recv(1)):
            line += byte
        if line:
            break
        connection.close()
        time.sleep(0.2)
    assert line.startswith(b"OK "), line
    connection.sendall(sent)
    connection.shutdown(socket.SHUT_WR)
    came = hashlib.sha256()
    while data := connection.recv(65536):
        came.update(data)
    return came.digest() == hashlib.sha256(sent).digest()


def main():
    path = sys.argv[1]
    for port, answer in ((ECHO, echo), (SINK, sink)):
        threading.Thread(target=serve, args=(path, port, answer), daemon=True).start()
    while not os.path.exists(path):
        time.sleep(0.1)
    print("echo ok" if greet(path) else "echo differs", flush=True)
    threading.Event().wait()


main()
