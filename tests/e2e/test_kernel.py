# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside kernel: what it makes of its words, and that the build script's answer is its own."""
import os
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
    ("", "what to do is missing; there is: list, build, path"),
    ("inspect", "'inspect' is nothing it does; there is: list, build, path"),
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
