# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of the kernel build share: errors with a status, places, tools, commands."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Part of every key: raise it when a change of these scripts changes what comes out.
FORMAT = "1"
PROGRAM = Path(__file__).resolve().parent.parent
HERE = Path(os.environ.get("RINGSIDE_KERNEL_CONFIG") or PROGRAM)
ABI_HEADER = PROGRAM.parent / "firmware/abi/calltime.h"
ABI_HEADER_IN_TREE = "include/linux/calltime_abi.h"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringside/kernels"

TOOLS = [  # command, Debian package
    ("gcc", "gcc"), ("ld", "binutils"), ("make", "make"), ("flex", "flex"), ("bison", "bison"),
    ("bc", "bc"), ("xz", "xz-utils"), ("tar", "tar"), ("patch", "patch"), ("gzip", "gzip"),
    ("find", "findutils"), ("awk", "mawk"),
]
HEADERS = [("libelf.h", "libelf-dev"), ("stdio.h", "libc6-dev")]


class Failure(Exception):
    """An error with the exit status it deserves."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def say(text):
    print(f"guest-kernel-config: {text}", file=sys.stderr, flush=True)


def files_below(top):
    """(path below it, its os.DirEntry) of all files and links below a folder."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(top / folder) as entries:
            for entry in entries:
                name = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name + "/")
                else:
                    yield name, entry


def tool_version(tool):
    try:
        out = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Failure(4, f"{tool} is missing: install the package {dict(TOOLS)[tool]}") from None
    return out.splitlines()[0]


def check_tools():
    """Report everything that is missing at once."""
    missing = [(t, p) for t, p in TOOLS if not shutil.which(t)]
    if shutil.which("gcc"):
        for header, package in HEADERS:
            r = subprocess.run(["gcc", "-E", "-xc", "-", "-o", "/dev/null"], text=True,
                               input=f"#include <{header}>\n", capture_output=True, check=False)
            if r.returncode:
                missing.append((f"<{header}>", package))
    if missing:
        lines = [f"  {tool}: package {package}" for tool, package in missing]
        packages = " ".join(sorted({package for _, package in missing}))
        raise Failure(4, "needed to build a kernel, and missing:\n" + "\n".join(lines)
                      + f"\nTo install: apt-get install {packages}")


_held = []  # descriptors of the lock


@contextlib.contextmanager
def cache_lock():
    """One at a time changes trees and objects. What we start holds the lock, too: a make that outlives us."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build is running; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        _held.append(lock.fileno())
        try:
            yield
        finally:
            _held.clear()


def holders():
    """For subprocess: what keeps the lock held by a process."""
    return {"pass_fds": tuple(_held)}


def fix_environment():
    """Nothing of the caller's, of the time or of the machine may get into an image."""
    os.environ.update({"KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
                       "KBUILD_BUILD_USER": "ringside", "KBUILD_BUILD_HOST": "ringside",
                       "KBUILD_BUILD_VERSION": "1", "LC_ALL": "C"})
    for unwanted in ("MAKEFLAGS", "MAKELEVEL", "ARCH", "CROSS_COMPILE", "KCONFIG_CONFIG", "KCFLAGS",
                     "KAFLAGS", "KCPPFLAGS", "KBUILD_EXTRA_SYMBOLS", "W", "LOCALVERSION", "O"):
        os.environ.pop(unwanted, None)


def run(argv, log=None, **kw):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       stdin=kw.pop("stdin", subprocess.DEVNULL), check=False, **holders(), **kw)
    if log:
        log.write(r.stdout)
        log.flush()
    if r.returncode:
        tail = "\n".join(r.stdout.splitlines()[-20:])
        raise Failure(1, f"{' '.join(argv)} failed with status {r.returncode}:\n{tail}")
    return r.stdout


def hash_of(parts):
    """20 hex digits over (label, bytes) pairs that cannot run into one another."""
    h = hashlib.sha256()
    for label, data in parts:
        h.update(f"{label} {len(data)}\n".encode() + data)
    return h.hexdigest()[:20]


def sha256_of(path):
    h = hashlib.sha256()
    with path.open("rb") as f:
        for piece in iter(lambda: f.read(1 << 20), b""):
            h.update(piece)
    return h.hexdigest()
