# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives for initrds, in memory."""


def newc(files):
    """A newc archive: {path: (mode, bytes)}; folders have bytes None."""
    out = bytearray()
    for number, (path, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], 1):
        name, body = path.encode() + b"\0", data or b""
        kind = 0 if path == "TRAILER!!!" else 0o040000 if data is None else 0o100000
        fields = (number, kind | mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name), 0)
        out += b"070701" + b"".join(b"%08X" % f for f in fields) + name
        out += b"\0" * (-len(out) % 4) + body
        out += b"\0" * (-len(out) % 4)
    return bytes(out)
