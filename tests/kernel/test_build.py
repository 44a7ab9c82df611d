# SPDX-License-Identifier: GPL-2.0-or-later
"""What guest-kernel-config/build keeps from build to build."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from mini import BASE, BUILD, Kernel, patch_of


@pytest.fixture
def kernel(tmp_path):
    k = Kernel(tmp_path)
    assert k.objects() == (2, True)
    return k


def test_a_second_image_compiles_only_what_its_configuration_changes(kernel):
    assert kernel.objects("two") == (0, False)
    assert b"CONFIG_TWO" in kernel.result("two") and b"CONFIG_TWO" not in kernel.result("one")


def test_a_changed_patch_touches_and_compiles_only_what_differs(kernel):
    before = kernel.times()
    kernel.patch({"b.c": "int b = 3;\n", "new.h": "int n;\n"})
    assert kernel.objects() == (1, False)
    after = kernel.times()
    assert {name for name in after if after[name] != before.get(name)} == {"linux/b.c"}
    assert kernel.pristine() == BASE


def test_a_build_on_old_objects_gives_the_bytes_of_a_clean_one(kernel):
    kernel.objects("two")
    kernel.patch({"a.c": "int a = 9;\n"})
    assert kernel.objects()[1] is False
    kept = kernel.result()
    assert kernel.objects("one", "--clean") == (2, True)
    assert kernel.result() == kept
    manifest = json.loads((kernel.cache / "by-name/one/manifest").read_text())
    assert (manifest["objects"], manifest["from_clean"]) == (2, True)


def test_what_a_patch_no_longer_makes_or_changes_goes_back(kernel):
    kernel.patch({"a.c": "int a = 9;\n", "c.txt": None})
    assert kernel.objects() == (2, False)
    tree = kernel.work / "linux"
    assert (tree / "b.c").read_text() == BASE["b.c"]
    assert not (tree / "new.h").exists() and not (tree / "c.txt").exists()
    kernel.patch({"b.c": "int b = 22;\n", "new.h": "int n;\n"})
    assert kernel.objects() == (2, False)
    assert (tree / "c.txt").read_text() == BASE["c.txt"]
    assert kernel.pristine() == BASE


def test_a_header_that_may_hide_another_is_a_reason_to_start_from_nothing(kernel):
    kernel.patch({"include/first/sub/h.h": "#define H 8\n"})
    assert kernel.objects() == (2, True)
    kernel.patch({"b.c": "int b = 2;\n", "lone.h": "\n"})
    assert kernel.objects() == (2, True)  # the one that hid another is gone
    kernel.patch({"b.c": "int b = 2;\n", "lonelier.h": "\n"})
    assert kernel.objects() == (0, False)


def interrupt(kernel, number):
    """Ends a build by a signal while a compiler runs; the compiler's number."""
    kernel.patch({"b.c": "int b = 4;\n"})
    kernel.hold.touch()
    p = subprocess.Popen([BUILD, "one"], env=kernel.env(), stderr=subprocess.DEVNULL)
    pid = pathlib.Path(f"{kernel.hold}.pid")
    deadline = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().strip()):
        assert time.monotonic() < deadline and p.poll() is None
        time.sleep(0.02)
    p.send_signal(number)
    assert p.wait(timeout=30) == (-number if number == signal.SIGKILL else 128 + number)
    kernel.hold.unlink()
    return int(pid.read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_after_an_interrupted_build_the_next_starts_from_nothing(kernel, number):
    compiler = interrupt(kernel, number)
    with pytest.raises(ProcessLookupError):
        os.kill(compiler, 0)
    assert kernel.objects() == (2, True)


def test_what_a_killed_build_leaves_running_is_waited_for(kernel):
    compiler = interrupt(kernel, signal.SIGKILL)
    os.kill(compiler, 0)
    p = subprocess.Popen([BUILD, "one"], env=kernel.env(), stderr=subprocess.PIPE, text=True)
    assert "another build is running; waiting for it" in p.stderr.readline()
    os.kill(compiler, signal.SIGKILL)
    said = p.stderr.read()
    assert p.wait(timeout=30) == 0 and "built 2 objects (from nothing)" in said


def test_a_compile_error_costs_no_objects(kernel):
    kernel.patch({"b.c": "int b = x;\n"})
    assert "failed with status 2" in kernel.build("one", status=1)
    kernel.patch({"b.c": "int b = 5;\n"})
    assert kernel.objects() == (1, False)


def test_a_patch_that_does_not_apply_changes_nothing(kernel):
    before = kernel.times()
    kernel.write("patches/1.patch", patch_of({"b.c": "int b = 2;\n"}).replace("-int b = 1", "-int b = 8"))
    assert "1.patch does not apply" in kernel.build("one", status=1)
    assert kernel.times() == before
    kernel.patch({"b.c": "int b = 6;\n"})
    assert kernel.objects() == (1, False)


def damage_object(work):
    (work / "obj-shared/a.o").write_bytes(b"")


def lose_object(work):
    (work / "obj-shared/a.o").unlink()


def edit_source(work):
    (work / "linux/a.c").unlink()
    (work / "linux/a.c").write_text("int a = 5;\n")


def lose_source(work):
    (work / "linux/c.txt").unlink()


def leave_a_file(work):
    (work / "linux/stray.h").write_text("")


def lose_the_note(work):
    (work / "tree.json").write_text("{}")


@pytest.mark.parametrize("harm", [damage_object, lose_object, edit_source, lose_source, leave_a_file,
                                  lose_the_note])
def test_what_is_broken_between_two_builds_is_found_and_made_anew(kernel, harm):
    kept = kernel.result()
    harm(kernel.work)
    kernel.write("fragments/one.config", "CONFIG_ONE=y\n# a comment\n")
    assert kernel.objects() == (2, True)
    assert kernel.result() == kept
    assert kernel.pristine() == BASE


def test_objects_of_its_own_leave_those_of_the_others_alone(kernel):
    assert kernel.objects("apart") == (2, True)
    assert kernel.objects("two") == (0, False)
    kernel.write("fragments/one.config", "CONFIG_ONE=y\n# a comment\n")
    assert kernel.objects("apart") == (0, False)


def test_only_the_configuration_leaves_the_objects_as_they_are(kernel):
    assert "holds all 2 requests" in kernel.build("--config-only", "two")
    kernel.write("patches/more.patch", "\n")
    assert kernel.objects("two") == (0, False)
