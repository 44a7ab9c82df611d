# SPDX-License-Identifier: GPL-2.0-or-later
"""
Configuring and compiling in a folder of objects that is kept, so that kbuild compiles what changed only.

A folder is trusted when its note is there and true: the note is removed before make starts, and written
when make has ended in good order, with the size and time of every file. A build that was interrupted
leaves none, and the next one starts from an empty folder.
"""
import json
import os
import shutil
import subprocess
import threading
import time

from .common import CACHE, Failure, files_below, holders, run, say
from .image import parse_config

PROGRESS_S = 10


def facts_of(top):
    """{path: [size, time]} of all files below a folder."""
    found = {}
    for name, entry in files_below(top):
        s = entry.stat(follow_symlinks=False)
        found[name] = [s.st_size, s.st_mtime_ns]
    return found


class Objects:
    """A folder of objects, made of one generation of the patched tree."""

    def __init__(self, home, name, tree):
        self.path = home / f"obj-{name}"
        self.note = home / f"obj-{name}.json"
        self.tree = tree

    def begin(self):
        """Ready the folder for make. Returns whether it has objects that can be trusted."""
        try:
            note = json.loads(self.note.read_text())
            kept = note["generation"] == self.tree.generation and note["files"] == facts_of(self.path)
        except (OSError, ValueError, TypeError, KeyError):
            kept = False
        self.note.unlink(missing_ok=True)
        if not kept:
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True)
        return kept

    def finish(self):
        """What make left can be gone on with."""
        tmp = self.note.with_suffix(".tmp")
        tmp.write_text(json.dumps({"generation": self.tree.generation,
                                   "files": facts_of(self.path)}) + "\n")
        tmp.replace(self.note)

    def make(self, jobs):
        """The make command. A compiler cache makes an object cheap that was compiled once before."""
        argv = ["make", "-C", str(self.tree.path), f"O={self.path}", f"-j{jobs}"]
        if shutil.which("ccache"):
            os.environ.setdefault("CCACHE_DIR", str(CACHE / "ccache"))
            os.environ.setdefault("CCACHE_MAXSIZE", "1G")
            os.environ.setdefault("CCACHE_DEPEND", "1")  # no separate preprocessor run
            argv.append("CC=ccache gcc")
        return argv


def make_config(image, obj, make, log):
    """tinyconfig + fragments, then see that Kconfig kept every request. Returns how many there were."""
    wanted = image.requests()
    run(make + ["tinyconfig"], log=log)
    with (obj / ".config").open("a") as out:
        for f in image.fragments:
            out.write(f.read_text())
    run(make + ["olddefconfig"], log=log)
    have = parse_config(obj / ".config", strict=False)
    wrong = []
    for symbol, (value, where) in wanted.items():
        got = have.get(symbol, ("n", ""))[0]
        if got != value:
            wrong.append(f"  {where}: {symbol}: asked for {value}, got {got}")
    if wrong:
        raise Failure(1, f"{image.name}: Kconfig did not keep {len(wrong)} of {len(wanted)} requests "
                      "(unknown symbol, unmet dependency, or selected by another):\n" + "\n".join(wrong))
    return len(wanted)


class Progress:
    """Counts compiled objects in make's output and prints a line now and then."""

    def __init__(self, name, expected):
        self.name, self.expected = name, expected  # 0: nobody knows
        self.start = time.monotonic()
        self.done = 0
        self.last_step = ""

    def line(self):
        spent = time.monotonic() - self.start
        of = f"/{self.expected}" if self.expected >= self.done else ""
        text = f"{self.name}: {self.done}{of} objects, {spent:.0f} s"
        if 20 < self.done < self.expected:
            text += f", about {spent / self.done * (self.expected - self.done):.0f} s left"
        elif self.last_step:
            text += f", {self.last_step}"
        say(text)

    def feed(self, line):
        step = line.split(None, 1)
        if step and step[0] in ("CC", "AS"):
            self.done += 1
        if step:
            self.last_step = " ".join(line.split()[:2])


def compile_image(argv, progress, log):
    """Run make to its end. Raises Failure only when make itself ended, and so left nothing half done."""
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL, errors="replace", **holders())
    stop = threading.Event()

    def ticker():
        while not stop.wait(PROGRESS_S):
            progress.line()

    thread = threading.Thread(target=ticker, daemon=True)
    thread.start()
    tail = []
    try:
        for line in p.stdout:
            log.write(line)
            progress.feed(line)
            tail = (tail + [line])[-30:]
        status = p.wait()
    finally:
        stop.set()
        if p.poll() is None:
            p.terminate()
            p.wait()
    if status < 0:
        raise OSError(0, f"make was killed by signal {-status}", "the kernel build")
    if status:
        raise Failure(1, f"{progress.name}: the kernel build failed with status {status}; it ended with:\n"
                      + "".join(tail))
