# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests share: the built program, one way to start it, one to read its end."""
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
RINGSIDE = BUILD / "ringside"

# Far above what a boot takes: a busy machine must not look like a broken one.
PATIENCE_S = 300


@dataclasses.dataclass
class End:
    status: int
    out: bytes
    err: str


def ringside(*words, stdin=subprocess.DEVNULL, env=None, pass_fds=(), cwd=TOP):
    """Run ringside to its end."""
    p = subprocess.run([RINGSIDE, *map(str, words)], stdin=stdin, capture_output=True,
                       timeout=PATIENCE_S, env=env, pass_fds=pass_fds, cwd=cwd)
    return End(p.returncode, p.stdout, p.stderr.decode(errors="replace"))


def in_guest(*command, options=(), **kwargs):
    """Run a command in a guest under QEMU's software processor."""
    return ringside("run", "--backend", "qemu", "--timeout", PATIENCE_S - 30, *options, "--",
                    *command, **kwargs)


def record_of(*command, options=()):
    """The same, with the record of the boot."""
    with tempfile.NamedTemporaryFile() as f:
        end = in_guest(*command, options=("--json", f.name, *options))
        return end, json.load(open(f.name))


@pytest.fixture(scope="session", autouse=True)
def built():
    assert RINGSIDE.exists(), f"{RINGSIDE} is missing: run 'ninja -C build'"
