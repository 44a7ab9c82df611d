# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside kernel: what it makes of its words, and that the build script's answer is its own."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import RINGSIDE, TOP, ringside

SCRIPT = """#!/bin/sh
echo "$@"
echo progress >&2
[ -z "$SELF" ] || kill -TERM $$
exit ${STATUS:-0}
"""


@pytest.fixture
def config(tmp_path):
    """A build script that tells what it was called with."""
    script = tmp_path / "build"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    return {**os.environ, "RINGSIDE_KERNEL_CONFIG": str(tmp_path)}


@pytest.mark.parametrize("words, handed_on", [
    ("list", "--list"),
    ("build", ""),
    ("build a b", "a b"),
    ("build -j 3 --clean a", "--clean --jobs 3 a"),
    ("path a b", "--path a b"),
])
def test_its_words_become_those_of_the_build_script(config, words, handed_on):
    end = ringside("kernel", *words.split(), env=config)
    assert (end.status, end.out.decode(), end.err) == (0, handed_on + "\n", "progress\n")


@pytest.mark.parametrize("status", [1, 4])
def test_the_scripts_status_is_its_own(config, status):
    assert ringside("kernel", "build", env={**config, "STATUS": str(status)}).status == status


def test_a_signal_ends_it_as_the_script(config):
    assert ringside("kernel", "list", env={**config, "SELF": "1"}).status == -signal.SIGTERM


@pytest.mark.parametrize("words, text", [
    ("", "what to do is missing; there is: list, build, path, inspect"),
    ("show", "'show' is nothing it does; there is: list, build, path, inspect"),
    ("inspect", "kernel inspect: a file is missing"),
    ("inspect a b", "kernel inspect: unexpected 'b'"),
    ("path --json base", "kernel path takes neither --config nor --json"),
    ("list base", "kernel list: unexpected 'base'"),
    ("path", "kernel path: the name of an image is missing"),
    ("path --clean base", "kernel path takes no options"),
    ("build --jobs 0 base", "--jobs"),
])
def test_wrong_words_are_2_in_one_line(config, words, text):
    end = ringside("kernel", *words.split(), env=config)
    assert (end.status, end.out) == (2, b"")
    assert text in end.err and end.err.count("\n") == 1


def test_without_being_told_it_finds_the_script_of_its_source_tree():
    env = {k: v for k, v in os.environ.items() if k != "RINGSIDE_KERNEL_CONFIG"}
    said = subprocess.run([TOP / "guest-kernel-config/build", "--list"], capture_output=True, env=env,
                          check=True).stdout
    end = ringside("kernel", "list", env=env)
    assert (end.status, end.out) == (0, said)
    assert said.startswith(b"base\t")


def test_a_program_alone_says_where_it_looked(tmp_path):
    alone = tmp_path / "bin/ringside"
    alone.parent.mkdir()
    alone.write_bytes(RINGSIDE.read_bytes())
    alone.chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k != "RINGSIDE_KERNEL_CONFIG"}
    p = subprocess.run([alone, "kernel", "list"], capture_output=True, text=True, env=env, check=False)
    assert p.returncode == 4
    assert f"neither in {alone.parent}/.. nor in {alone.parent}/../share/ringside" in p.stderr


def inspected(*words):
    end = ringside("kernel", "inspect", "--json", *words)
    return end.status, json.loads(end.out)


def test_inspect_finds_the_same_in_a_vmlinux_and_in_its_bzimage():
    status, elf = inspected("base")
    assert status == 0
    assert elf["packed"] == "none" and elf["no_config"] is None and elf["unreadable"] is None
    assert elf["banner"].startswith(f"Linux version {elf['version']} ")
    assert int(elf["pvh_entry"], 16) >= 1 << 20
    assert not [o for o in elf["options"] if o["needed"] and o["value"] != "y"]
    status, packed = inspected(pathlib.Path(elf["path"]).with_name("bzImage"))
    assert status == 0
    assert packed["packed"] == "gzip"
    for key in ("version", "banner", "pvh_entry", "options"):
        assert packed[key] == elf[key], key


def test_inspect_says_what_a_missing_option_does_to_a_guest(tmp_path):
    config = tmp_path / "config"
    config.write_text("CONFIG_VIRTIO_BLK=m\n# CONFIG_SERIAL_8250_CONSOLE is not set\n")
    end = ringside("kernel", "inspect", "--config", config, "base")
    assert end.status == 1
    out = end.out.decode()
    assert "missing   console: CONFIG_SERIAL_8250_CONSOLE is not set: console=ttyS0 shows nothing" in out
    assert "missing   disk: CONFIG_VIRTIO_BLK is a module: --disk is not seen: no vda, unless" in out


def test_inspect_of_what_is_no_kernel_is_4_in_one_line(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"hello")
    for path in (file, tmp_path / "none", tmp_path):
        end = ringside("kernel", "inspect", path)
        assert (end.status, end.out, end.err.count("\n")) == (4, b"", 1)


def test_a_file_called_like_an_image_does_not_stand_before_it(tmp_path):
    image = tmp_path / "cache/ringside/kernels/by-name/base/vmlinux"
    image.parent.mkdir(parents=True)
    image.write_bytes(b"the image")
    (tmp_path / "base").write_bytes(b"the file")
    (tmp_path / "mine").write_bytes(b"the file")

    def looked_at(name):
        return ringside("kernel", "inspect", name, cwd=tmp_path,
                        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}).err

    assert str(image) in looked_at("base")
    assert str(image) not in looked_at("./base")
    assert "mine: " in looked_at("mine")
