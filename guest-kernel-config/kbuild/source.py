# SPDX-License-Identifier: GPL-2.0-or-later
"""
The sources: the pinned archive, its unpacked pristine tree, and one patched tree that is kept.

The patched tree (class Tree) lasts from build to build, and make trusts the times of its files. So a
file is only written when its content changes; then it is a new file with the time of now, also when it
goes back to what it was; and no file is ever written through a hard link to the pristine tree.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from .common import ABI_HEADER, ABI_HEADER_IN_TREE, CACHE, Failure, files_below, run, say, sha256_of


def verify_source(base):
    """The archive's path, once its hash is known to be the pinned one."""
    path = Path(os.environ.get("RINGSIDE_LINUX_SOURCE") or base["file"])
    pinned = f"{base['package']} {base['version']}"
    if not path.is_file():
        raise Failure(4, f"kernel source {path} is missing\n"
                      f"  expected: {pinned}, SHA-256 {base['sha256']}\n"
                      f"  to do:    apt-get install {base['package']}={base['version']}, or set "
                      "RINGSIDE_LINUX_SOURCE to a copy")
    found_sha256 = sha256_of(path)
    if found_sha256 != base["sha256"]:
        r = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", base["package"]],
                           capture_output=True, text=True, check=False)
        found = f"{base['package']} {r.stdout or 'not installed'}"
        raise Failure(4, f"kernel source {path} is not the pinned one\n"
                      f"  found:    {found}, SHA-256 {found_sha256}\n"
                      f"  expected: {pinned}, SHA-256 {base['sha256']}\n"
                      f"  to do:    apt-get install {base['package']}={base['version']} (older versions: "
                      "https://snapshot.debian.org), or\n"
                      "            pin the version found in base.yaml, see that the patches still "
                      "apply, and measure anew")
    return path


def unpack(base):
    """The pristine tree of a base, unpacked on first use."""
    home = CACHE / "src" / base["sha256"][:20]
    if (home / "linux/Makefile").is_file():
        return home / "linux"
    archive = verify_source(base)
    say(f"unpacking {archive}")
    tmp = CACHE / "src" / f".tmp.{os.getpid()}"
    shutil.rmtree(tmp, ignore_errors=True)
    tmp.mkdir(parents=True)
    try:
        run(["tar", "-xf", str(archive), "--strip-components=1", "--one-top-level=linux"], cwd=tmp)
        shutil.rmtree(home, ignore_errors=True)
        tmp.rename(home)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    return home / "linux"


def patched_files(patch):
    """The paths that a patch reads or writes."""
    names = re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", patch.read_text(), re.MULTILINE)
    return sorted(set(names))


def stage_patches(image, pristine, stage, log):
    """
    The files that the patches touch, alone and patched, in a folder of their own: so a patch that fails
    changes nothing else. Returns the names of the files; one that is not in @stage then is deleted by them.
    """
    names = set()
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for p in image.patches:
        for name in patched_files(p):
            names.add(name)
            if (pristine / name).is_file() and not (stage / name).exists():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(pristine / name, stage / name)
        with p.open() as f:
            try:
                run(["patch", "-p1", "--fuzz=0", "--batch", "--forward", "--no-backup-if-mismatch"],
                    log=log, cwd=stage, stdin=f)
            except Failure as e:
                raise Failure(1, f"patch {p.name} does not apply without fuzz to "
                              f"{image.base['version']}:\n{e}") from None
    if image.patches:
        (stage / ABI_HEADER_IN_TREE).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ABI_HEADER, stage / ABI_HEADER_IN_TREE)
        names.add(ABI_HEADER_IN_TREE)
    return names


def listing(top):
    """{path: inode} of all files and links below a folder."""
    return {name: entry.inode() for name, entry in files_below(top)}


class Tree:
    """
    The patched tree of a workshop. Its note lists the files that are not the pristine ones, and has a
    generation: objects made of another generation must not be trusted.
    """

    def __init__(self, home, pristine):
        self.path = home / "linux"
        self.pristine = pristine
        self.note = home / "tree.json"
        self.generation = ""

    def _note_read(self):
        try:
            note = json.loads(self.note.read_text())
            self.generation = note["generation"]
            return set(note["files"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _whole(self, ours):
        """Every file is the pristine one itself, or one that we wrote."""
        try:
            have, want = listing(self.path), listing(self.pristine)
        except OSError:
            return False
        if any(want.get(name) != inode for name, inode in have.items() if name not in ours):
            return False
        return all(name in have or name in ours for name in want)

    def _start_clean(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        run(["cp", "-al", str(self.pristine), str(self.path)])
        self._new_generation()

    def _new_generation(self):
        self.generation = os.urandom(10).hex()

    def _write(self, name, source):
        """A new file beside, then a rename: never through the link to the pristine one."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        tmp = target.with_name(f".{target.name}.ringside")
        shutil.copyfile(source, tmp)
        shutil.copymode(source, tmp)
        tmp.replace(target)

    def _mind_shadows(self, names):
        """Headers that come or go may change what an #include of others finds; make cannot know."""
        headers = {os.path.basename(name) for name in names if name.endswith(".h")}
        if headers and any(os.path.basename(n) in headers for n in listing(self.path) if n not in names):
            self._new_generation()

    def sync(self, stage, names):
        """
        Make the tree the pristine one with @names as they are in @stage. Returns how many files that
        changed; -1 when what was there could not be trusted, and the tree was made anew.
        """
        ours = self._note_read()
        kept = ours is not None and self._whole(ours)
        self.note.unlink(missing_ok=True)
        if not kept:
            ours = set()
            self._start_clean()
        came_or_went, changed = set(), 0
        for name in sorted(ours | names):
            source = stage / name if name in names else self.pristine / name
            target = self.path / name
            there = target.is_file()
            if not source.is_file():
                if there:
                    target.unlink()
                    came_or_went.add(name)
            elif not there or source.read_bytes() != target.read_bytes():
                self._write(name, source)
                changed += there
                if not there:
                    came_or_went.add(name)
        if kept:
            self._mind_shadows(came_or_went)
        # A file that went back to what it was is a copy, and still one of ours.
        note = {"generation": self.generation, "files": sorted(ours | names)}
        tmp = self.note.with_suffix(".tmp")
        tmp.write_text(json.dumps(note) + "\n")
        tmp.replace(self.note)
        return changed + len(came_or_went) if kept else -1
