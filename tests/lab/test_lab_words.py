# SPDX-License-Identifier: GPL-2.0-or-later
"""What tools/lab says, without booting, when it is called wrongly or lacks something."""
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]


def refused(*words, **env):
    """The one line that says why."""
    kept = {k: v for k, v in os.environ.items() if k not in env}
    end = subprocess.run([TOP / "tools/lab", *words], stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, check=False, timeout=60,
                         env=kept | {k: v for k, v in env.items() if v is not None})
    assert (end.returncode, end.stdout, end.stderr.count("\n")) == (249, "", 1), end.stderr
    return end.stderr


@pytest.mark.parametrize("words, text", [
    (("true",), "'true' is no option; the command stands behind '--'; see --help"),
    (("--nonesuch", "--", "true"), "'--nonesuch' is no option"),
    (("--icount",), "--icount needs a value"),
    (("--icount", "11", "--", "true"), "--icount 11: expected 0 to 10"),
    (("--cpus", "0", "--", "true"), "--cpus 0: expected 1 to"),
    (("--rw", "/nonesuch", "--", "true"), "--rw /nonesuch: no such folder"),
    (("--kernel", "nonesuch", "--", "true"), "ringside kernel build nonesuch"),
])
def test_wrong_words_are_249_in_one_line(words, text):
    assert text in refused(*words)


def test_without_a_build_it_says_how_to_build(tmp_path):
    assert "ninja -C build" in refused("--", "true", RINGSIDE_BUILD=str(tmp_path))


def test_without_a_place_for_the_cache_it_says_so():
    assert "neither XDG_CACHE_HOME nor HOME is set" in refused("--", "true", HOME=None,
                                                               XDG_CACHE_HOME=None)
    assert "/dev/null" in refused("--", "true", XDG_CACHE_HOME="/dev/null")


def test_without_a_command_it_shows_how_it_is_used():
    end = subprocess.run([TOP / "tools/lab", "--"], capture_output=True, text=True, check=False,
                         timeout=60)
    assert (end.returncode, end.stdout) == (249, "")
    assert end.stderr.startswith("usage: tools/lab [OPTION]... -- COMMAND [ARG]...\n")
