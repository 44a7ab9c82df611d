# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that go into a guest (--file), and that come back (a job's artifacts)."""
import base64
import json
import os

import pytest

from conftest import PATIENCE_S, in_guest, ringside


def test_files_and_folders_are_there_and_programs_bring_their_libraries(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "script").write_text("#!/bin/sh\necho ran $0\n")
    (tree / "script").chmod(0o755)
    (tree / "link").symlink_to("script")
    (tmp_path / "one").write_text("content")
    end = in_guest("sh", "-c", "cat /tmp/one && /opt/t/link && /opt/sort --version | head -n 1",
                   options=("--file", tmp_path / "one", "--file", f"{tree}:/opt/t",
                            "--file", "/usr/bin/sort:/opt/sort"))
    assert (end.status, end.out.splitlines()[0]) == (0, b"contentran /opt/t/link"), end.err
    assert b"sort (GNU coreutils)" in end.out


def test_a_root_gets_them_in_memory_only(tmp_path):
    (tmp_path / "one").write_text("content")
    end = in_guest("sh", "-c", "cat /srv/ringside-test/one",
                   options=("--root", "/", "--file", f"{tmp_path}/one:/srv/ringside-test/one"))
    assert (end.status, end.out) == (0, b"content"), end.err
    assert not os.path.exists("/srv/ringside-test")


def test_what_cannot_be_copied_is_249(tmp_path):
    end = ringside("run", "--file", "/nowhere", "--", "true")
    assert (end.status, end.err) == (249, "ringside: error: --file /nowhere: No such file or directory\n")
    end = ringside("run", "--file", "/etc/passwd")
    assert (end.status, end.err) == (249, "ringside: error: --file needs a command behind '--', or --job\n")
    end = ringside("run", "--file", "/etc/passwd", "--root", f"{tmp_path},rw", "--", "true")
    assert (end.status, end.err) == (
        249, "ringside: error: --file writes nothing into a --root that is rw\n")


def test_artifacts_come_back_in_the_record_whatever_the_status(tmp_path):
    job = {"version": 1, "env": {}, "cwd": "/", "bench": None, "lab": None,
           "command": ["sh", "-c", "mkdir -p /out/in && head -c 100000 /dev/zero | tr '\\0' x >/out/big && "
                                   "printf 'a\\377b' >/out/in/bytes && : >/out/empty; exit 3"],
           "artifacts": ["/out", "/proc/version", "/nowhere"]}
    (tmp_path / "job").write_text(json.dumps(job))
    end = ringside("run", "--backend", "qemu", "--timeout", PATIENCE_S - 30, "--job", tmp_path / "job",
                   "--json", tmp_path / "record")
    assert end.status == 3, end.err
    files, errors = {}, {}
    for line in json.loads((tmp_path / "record").read_text())["guest"]:
        if line["type"] == "artifact" and "data" in line:
            files[line["path"]] = files.get(line["path"], b"") + base64.b64decode(line["data"])
        elif line["type"] == "artifact":
            errors[line["path"]] = line["error"]
    assert files.pop("/proc/version").startswith(b"Linux version ")
    assert files == {"/out/big": 100000 * b"x", "/out/in/bytes": b"a\xffb", "/out/empty": b""}
    assert errors == {"/nowhere": "No such file or directory"}


@pytest.mark.parametrize("option", ["--json", "--console", "--status-file", "--stats", "--trace", "--core"])
def test_no_output_overwrites_the_kernel(tmp_path, option):
    kernel = tmp_path / "vmlinux"
    kernel.write_text("precious")
    for more in [], ["--cpus", "none"]:
        end = ringside("run", "--kernel", kernel, option, f"{tmp_path}/./vmlinux", *more)
        assert end.status == 249 and kernel.read_text() == "precious"
        assert more or "give another name" in end.err, end.err


@pytest.mark.parametrize("option", ["--json", "--console", "--status-file", "--stats", "--trace", "--core"])
@pytest.mark.parametrize("read, behind", [
    ("--initrd", ""), ("--disk", ""), ("--disk", ",ro"), ("--disk", ",direct,ro"), ("--root", ""), ("--root", ",rw"),
    ("--file", ""), ("--file", ":/etc/x"), ("--job", ""), ("--kernel-debug", "")])
def test_no_output_overwrites_what_the_guest_is_made_of(tmp_path, option, read, behind):
    (tmp_path / "vmlinux").write_text("no kernel")
    (tmp_path / "input").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "input")
    for more in [], ["--cpus", "none"]:
        end = ringside("run", "--kernel", tmp_path / "vmlinux", read, f"{tmp_path}/input{behind}",
                       option, tmp_path / "link", *more, *([] if read == "--job" else ["--", "true"]))
        assert end.status == 249 and (tmp_path / "input").read_text() == "precious"
        assert more or "give another name" in end.err, end.err


@pytest.mark.parametrize("option", ["--json", "--core"])
def test_no_output_overwrites_an_image_of_the_cache(tmp_path, monkeypatch, option):
    image = tmp_path / "ringside/kernels/by-name/base/vmlinux"
    image.parent.mkdir(parents=True)
    image.write_text("precious")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    end = ringside("run", "--kernel", "base", option, image)
    assert end.status == 249 and "give another name" in end.err, end.err
    assert image.read_text() == "precious"
