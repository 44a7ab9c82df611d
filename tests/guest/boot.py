# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a guest once with all test programs in its initrd, and keeps what it said.

A Plan names programs; Boot.run() puts them and the list for test_run into an initrd of its own and
gives it to `ringside run`, whose agent is the guest's PID 1. Every test of one boot then looks at
the same output.
"""
import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import tempfile

import ktap
from newc import newc

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
RINGSIDE = BUILD / "ringside"
PROGRAMS = BUILD / "tests/guest"
KERNELS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") \
    / "ringside/kernels/by-name"
FOLDER = "tests"  # in the guest, at its root

# Whatever a kernel says when it found something wrong. "--fail-on all" ends the run at the first;
# this is for what it does not know, and for a guest that lived on.
WRONG = re.compile(
    r"Oops|BUG:|WARNING:|Kernel panic|general protection|stack-protector|unable to handle|"
    r"possible recursive locking|possible circular locking|inconsistent lock state|"
    r"suspicious RCU|UBSAN:|rcu_\w+ detected (?:expedited )?stalls|self-detected stall|soft lockup|"
    r"LOCKUP|bad p[gum4t]d|bad pte|Bad (?:page|rss)|scheduling while atomic|sleeping function|"
    r"refcount_t|PANIC:|double fault")


@dataclasses.dataclass(frozen=True)
class Program:
    """One entry of the list: see run.c."""
    kind: str
    seconds: int
    name: str
    words: tuple

    def line(self):
        assert " " not in self.name
        return f"{self.kind} {self.seconds} {self.name} {' '.join(map(str, self.words))}\n"


@dataclasses.dataclass(frozen=True)
class Boot:
    """What is booted: an image, its CPUs, words for its command line, and what it runs."""
    image: str
    cpus: int
    append: str
    programs: tuple
    extra: tuple = ()  # (path in the guest, path here) of more files
    memory: str = "512M"

    def seconds(self):
        return 60 + sum(p.seconds for p in self.programs)


@dataclasses.dataclass
class Outcome:
    status: int
    out: str
    err: str
    console: str
    results: list
    problem: str

    def leaves(self):
        return dict(leaf for r in self.results for leaf in r.leaves())

    def program(self, name):
        """The result of one program of the list."""
        assert not self.problem, self.explain()
        found = [r for r in self.results if r.name == name]
        assert len(found) == 1, f"no result of '{name}'; {self.explain()}"
        return found[0]

    def wrong_lines(self):
        return [line for line in self.console.splitlines() if WRONG.search(line)]

    def explain(self):
        return (f"{self.problem}\nstatus {self.status}\n--- stderr\n{self.err[-3000:]}\n"
                f"--- the end of the output\n{self.out[-3000:]}\n"
                f"--- the console's end\n{self.console[-3000:]}")


def kernel_file(image):
    """A name of the cache, or a file."""
    return KERNELS / image / "vmlinux" if "/" not in image else pathlib.Path(image)


def is_built(image):
    return kernel_file(image).exists()


def initrd(boot):
    files = {FOLDER: (0o755, None)}
    for path in sorted(PROGRAMS.glob("test_*")):
        if path.is_file() and os.access(path, os.X_OK):
            files[f"{FOLDER}/{path.name}"] = (0o755, path.read_bytes())
    for inside, here in boot.extra:
        files[f"{FOLDER}/{inside}"] = (0o755, pathlib.Path(here).read_bytes())
    files[f"{FOLDER}/list"] = (0o644, "".join(p.line() for p in boot.programs).encode())
    return newc(files)


@functools.lru_cache(maxsize=None)
def run(boot):
    """Boot, run the list, and read what came. Once for each different boot."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "initrd").write_bytes(initrd(boot))
        limit = boot.seconds()
        p = subprocess.run(
            [RINGSIDE, "run", "--backend", "qemu", "--kernel", str(boot.image),
             "--cpus", str(boot.cpus), "--memory", boot.memory, "--append", boot.append,
             "--initrd", folder / "initrd", "--timeout", str(limit), "--fail-on", "all",
             "--console", folder / "console", "--", f"/{FOLDER}/test_run", f"/{FOLDER}/list"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=limit + 60, cwd=TOP)
        console = (folder / "console").read_text(errors="replace")
    out, results, problem = p.stdout.decode(errors="replace"), [], ""
    try:
        results = ktap.parse(out)
    except ktap.KtapError as e:
        problem = f"the output is no KTAP: {e}"
    return Outcome(p.returncode, out, p.stderr.decode(errors="replace"), console, results, problem)
