# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside doctor as a program: its two outputs, its exit status, and a machine that lacks things."""
import json
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
PATIENCE_S = 120


def doctor(*options, env=None):
    return subprocess.run([BUILD / "ringside", "doctor", *options], capture_output=True, text=True,
                          check=False, timeout=PATIENCE_S, env=env)


def test_text_and_json_say_the_same():
    checks = json.loads(doctor("--json").stdout)["checks"]
    lines = [line.split() for line in doctor().stdout.split("\n\n")[0].splitlines()
             if not line.startswith(" ")]
    assert [line[:2] for line in lines] == [[c["status"], c["id"]] for c in checks]


def test_the_exit_status_follows_from_the_routes():
    end = doctor("--json")
    result = json.loads(end.stdout)
    assert end.returncode == (0 if any(result["routes"].values()) else 4)
    assert result["exit_status"] == end.returncode


def test_whatever_is_not_well_comes_with_advice():
    for check in json.loads(doctor("--json").stdout)["checks"]:
        if check["status"] in ("warn", "fail"):
            assert check["advice"], check["id"]


def test_without_a_kernel_nothing_can_be_compared_and_it_says_what_to_build(tmp_path):
    end = doctor("--json", env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert end.returncode == 4
    kernel = next(c for c in json.loads(end.stdout)["checks"] if c["id"] == "kernel")
    assert kernel["status"] == "fail"
    assert "ringside kernel build base" in kernel["advice"]


def test_without_qemu_the_lab_is_closed(tmp_path):
    for name in ("sh",):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    result = json.loads(doctor("--json", env={**os.environ, "PATH": str(tmp_path)}).stdout)
    assert not result["routes"]["lab"]
    assert not result["routes"]["qemu"]
    qemu = next(c for c in result["checks"] if c["id"] == "qemu")
    assert qemu["status"] in ("warn", "fail")
    assert "qemu-system-x86" in qemu["advice"]


def test_a_word_too_many_is_a_usage_error():
    end = doctor("now")
    assert end.returncode == 2
    assert end.stderr == "ringside: error: unexpected 'now'\n"
