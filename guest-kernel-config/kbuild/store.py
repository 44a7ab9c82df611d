# SPDX-License-Identifier: GPL-2.0-or-later
"""The finished images: one folder a key, put into place whole by a rename, and names that point at them."""
import json
import os
import shutil

from .common import CACHE, FORMAT, run, sha256_of, tool_version

OBJECTS_GUESS = 1300  # compiled files, for the first progress line only


def is_built(key):
    return (CACHE / key / "vmlinux").is_file()


def expected_objects(name):
    """How many objects the last build from nothing under this name compiled."""
    try:
        m = json.loads((CACHE / "by-name" / name / "manifest").read_text())
        return m["objects"] if m.get("from_clean", True) else OBJECTS_GUESS
    except (OSError, ValueError, KeyError):
        return OBJECTS_GUESS


def point_name_at(name, key):
    names = CACHE / "by-name"
    names.mkdir(parents=True, exist_ok=True)
    tmp = names / f".{name}.{os.getpid()}"
    tmp.unlink(missing_ok=True)
    tmp.symlink_to(f"../{key}")
    tmp.replace(names / name)


def install(image, key, obj, log_path, facts):
    """Collect the results in a folder of their own, then rename it into place."""
    tmp = CACHE / f".tmp.{key}.{os.getpid()}"
    shutil.rmtree(tmp, ignore_errors=True)
    tmp.mkdir()
    # Symbols stay: register dumps are resolved with them.
    run(["strip", "--strip-debug", "-o", str(tmp / "vmlinux"), str(obj / "vmlinux")])
    shutil.copyfile(obj / "arch/x86/boot/bzImage", tmp / "bzImage")
    shutil.copyfile(obj / "System.map", tmp / "System.map")
    shutil.copyfile(obj / ".config", tmp / "config")
    shutil.copyfile(log_path, tmp / "build.log")
    manifest = {
        "image": image.name, "key": key, "format": FORMAT,
        "base": {k: image.base[k] for k in ("package", "version", "sha256")},
        "fragments": [f.name for f in image.fragments],
        "patches": [p.name for p in image.patches],
        "compiler": tool_version("gcc"), "linker": tool_version("ld"),
        "vmlinux_sha256": sha256_of(tmp / "vmlinux"),
        "bzImage_sha256": sha256_of(tmp / "bzImage"), **facts,
    }
    (tmp / "manifest").write_text(json.dumps(manifest, indent=2) + "\n")
    shutil.rmtree(CACHE / key, ignore_errors=True)
    tmp.rename(CACHE / key)
    point_name_at(image.name, key)
