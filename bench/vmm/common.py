# SPDX-License-Identifier: GPL-2.0-or-later
"""What the measurements of the VMM share: finding things, archives, and what the machine is."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
QEMU = "qemu-system-x86_64"


class Unable(Exception):
    """This machine cannot do it; the text says why."""


class NoKvm(Unable):
    """There is no KVM to measure with."""


def build_folder(*needed):
    build = pathlib.Path(os.environ.get("RINGSIDE_BUILD", ROOT / "build"))
    for name in needed:
        if not (build / name).exists():
            raise Unable(f"{build / name} is missing: meson setup build && ninja -C build")
    return build


def find_kernel(given):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    kernel = pathlib.Path(given or f"{cache}/ringside/kernels/by-name/base/vmlinux")
    if not kernel.exists():
        raise Unable(f"{kernel} is missing: guest-kernel-config/build base")
    return kernel.resolve()


def newc_entry(name, mode, data=b"", inode=0, device=(0, 0)):
    """One file of a newc archive (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    encoded = name.encode() + b"\0"
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0]
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + encoded
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def newc_archive(entries):
    archive = entries + newc_entry("TRAILER!!!", 0)
    return archive + b"\0" * (-len(archive) % 512)


def machine(build):
    """The execution class of this machine, from ringside doctor."""
    out = subprocess.run([build / "ringside", "doctor", "--json"], capture_output=True, text=True,
                         check=False)
    try:
        doctor = json.loads(out.stdout)
    except ValueError:
        raise Unable(f"ringside doctor: {out.stderr.strip()}") from None
    for check in doctor["checks"]:
        if check["id"] in ("kvm-device", "kvm-permission", "kvm-api") and check["status"] != "ok":
            raise NoKvm(f"{check['id']}: {check['found']}")
    return doctor["class"]


def qemu_version():
    try:
        out = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise Unable(f"{QEMU} does not run: install the package qemu-system-x86") from None
    return out.stdout.splitlines()[0]
