# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of GDB's remote protocol as it takes to step a guest of QEMU through its kernel."""
import socket
import time

# QEMU's x86-64 description: sixteen registers of 8 bytes, RIP, EFLAGS and six selectors of 4 bytes,
# three bases of 8, CR0, CR2, CR3, ... So much of the answer to "g" is looked at here.
OFFSETS = {"r15": 15 * 8, "rip": 16 * 8, "cr3": 17 * 8 + 7 * 4 + 3 * 8 + 2 * 8}


class StubError(Exception):
    pass


class Stub:
    """A connection to QEMU's gdbstub. QEMU stops the guest when it is made."""

    def __init__(self, path, patience_s):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(patience_s)
        end = time.monotonic() + patience_s
        while True:
            try:
                self.sock.connect(str(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        self.rest = b""
        # Which registers there are is only settled once their description was asked for.
        self.ask("qSupported:xmlRegisters=i386")
        self.ask("qXfer:features:read:target.xml:0,ffb")

    def send(self, text):
        body = text.encode()
        self.sock.sendall(b"$" + body + b"#%02x" % (sum(body) % 256))

    def byte(self):
        if not self.rest:
            self.rest = self.sock.recv(65536)
            if not self.rest:
                raise StubError("the stub closed the connection")
        first, self.rest = self.rest[:1], self.rest[1:]
        return first

    def receive(self):
        while self.byte() != b"$":
            pass  # an acknowledgement
        body = b""
        while (b := self.byte()) != b"#":
            body += b
        checksum = int(self.byte() + self.byte(), 16)
        if checksum != sum(body) % 256:
            raise StubError(f"bad checksum of {body!r}")
        self.sock.sendall(b"+")
        return body.decode()

    def ask(self, text):
        self.send(text)
        return self.receive()

    def expect_ok(self, text):
        answer = self.ask(text)
        if answer != "OK":
            raise StubError(f"{text}: '{answer}'")

    def registers(self):
        """{name: value} of those of OFFSETS; "all" is the text of all registers."""
        answer = self.ask("g")
        if answer.startswith("E"):
            raise StubError(f"registers: '{answer}'")
        data = bytes.fromhex(answer)
        found = {name: int.from_bytes(data[at:at + 8], "little") for name, at in OFFSETS.items()}
        return {**found, "all": answer}

    def memory(self, address, length):
        answer = self.ask(f"m{address:x},{length:x}")
        if answer.startswith("E"):
            raise StubError(f"memory at 0x{address:x}: {answer}")
        return bytes.fromhex(answer)

    def physical(self, address, length):
        """Memory by its physical address: whatever page tables say."""
        self.expect_ok("Qqemu.PhyMemMode:1")
        data = self.memory(address, length)
        self.expect_ok("Qqemu.PhyMemMode:0")
        return data

    def break_at(self, address):
        self.expect_ok(f"Z1,{address:x},1")

    def stop_reply(self, text):
        answer = self.ask(text)
        if not answer.startswith("T05"):
            raise StubError(f"{text}: the guest stopped with '{answer}'")

    def go(self):
        """Let the guest run to the next breakpoint."""
        self.stop_reply("c")

    def step(self):
        self.stop_reply("s")

    def close(self):
        self.sock.close()
