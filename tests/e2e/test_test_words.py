# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside test: what its words, its suite or this machine have wrong, and which status tells it."""
import ctypes
import json
import os
import subprocess

import pytest

from conftest import PATIENCE_S, RINGSIDE, ringside
from suites import FAKE, real, results, run, suite


@pytest.mark.parametrize("command, status", [("exit=0", 0), ("exit=1", 1), ("exit=239", 1), ("exit=246", 1), ("exit=247", 4),
                                             ("exit=248", 4), ("exit=249", 4), ("crash", 4)])
def test_the_status_is_0_or_1_and_4_for_what_is_no_guests(tmp_path, command, status):
    assert run(tmp_path, "--", command).status == status


def test_what_a_guest_did_outweighs_the_environment_which_is_told_of(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=249]"), ("b", "command: [crash]"), ("c", "command: [exit=3]"))
    end = run(tmp_path, path, "--github", tmp_path / "github")
    assert end.status == 1
    assert "error: 2 of 3 cases say nothing of what was to be tested: this machine or a file did not allow them" in end.err
    assert b": 3 cases: 3 not ok (2 by the environment)\n" in end.out
    assert "::vmm-fault, by the environment: " in (tmp_path / "github").read_text()
    assert ringside("report", tmp_path / "out").status == 1
    os.rename(tmp_path / "out", tmp_path / "old")
    end = run(tmp_path, path, "--filter", "!c")
    assert end.status == 4 and b": 2 cases: 2 not ok by the environment\n" in end.out
    assert ringside("report", tmp_path / "out").status == 4


@pytest.mark.parametrize("words, text", [
    (("--cpu", "bogus"), "--cpu: "),
    (("--cpu", "help"), "--cpu help is for 'ringside run'"),
    (("--cpu", "host,+nonesuch"), "--cpu: "),
    (("--append", 3000 * "x"), "--append: 3000 bytes, and a kernel takes 2047"),
    (("--memory", "0"), "--memory"), (("--cpus", "0"), "--cpus")])
def test_words_for_the_machine_that_are_wrong_are_2_before_a_boot(tmp_path, words, text):
    for more, status in ((), 2), (("--bisect",), 128):
        end = run(tmp_path, *more, *words, "--", "exit=0")
        assert (end.status, end.out) == (status, b""), end.err
        assert text in end.err and end.err.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_words_of_a_suite_that_are_wrong_are_named_with_its_test(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), ("b", "command: [exit=0], matrix: {cpu: [-avx, bogus]}"))
    end = run(tmp_path, path)
    assert end.status == 2 and end.err.startswith(f"ringside: error: {path}:4:3: b[cpu=bogus]: --cpu: "), end.err
    shares = ", ".join(f"/tmp:/mnt/{i}" for i in range(40))
    path = suite(tmp_path, ("a", f"command: [exit=0], shares: [{shares}]"))
    end = run(tmp_path, path)
    assert end.status == 2 and f"{path}:3:3: a: --share /tmp: more than" in end.err, end.err
    assert not (tmp_path / "out").exists()


def test_more_memory_than_this_machine_has_is_4_unless_the_test_needs_it(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"), head="matrix: {memory: [8T]}")
    end = run(tmp_path, path)
    assert end.status == 4 and f"{path}:3:3: a: 8 TiB of guest memory, and this machine has " in end.err, end.err
    assert run(tmp_path, "--bisect", path).status == 125
    path = suite(tmp_path, ("a", "command: [exit=0], needs: [memory=8T]"), head="matrix: {memory: [8T]}")
    assert run(tmp_path, path).status == 0


def test_without_qemu_it_is_4_in_one_line(tmp_path):
    for more, status in ((), 4), (("--bisect",), 125):
        end = real(tmp_path, *more, "--", "true", env={**os.environ, "PATH": f"{tmp_path}:/nowhere"})
        assert (end.status, end.out) == (status, b"")
        assert "qemu: there is no qemu-system-x86_64 in PATH" in end.err and "install the package" in end.err
        assert end.err.count("\n") == 1 and not (tmp_path / "out").exists()


def without_override():
    """As root without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, to whom a file's mode means something."""
    for capability in 1, 2:
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.write_bytes(bytes(4096))], ids=["folder", "image"])
def test_a_root_that_cannot_be_read_is_4(tmp_path, make):
    make(tmp_path / "root")
    os.chmod(tmp_path / "root", 0)
    path = suite(tmp_path, ("a", "command: ['true'], root: root"))
    p = subprocess.run([RINGSIDE, "test", "--backend", "qemu", "--out", tmp_path / "out", path], capture_output=True,
                       text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=without_override)
    assert p.returncode == 4, (p.stdout, p.stderr)
    assert "1 of 1 cases say nothing of what was to be tested" in p.stderr
    assert "Permission denied" in p.stderr and "1 not ok by the environment" in p.stdout


def test_a_kernel_that_is_none_is_4(tmp_path):
    (tmp_path / "kernel").write_text("a text\n")
    for words in ("test", "--out", tmp_path / "out"), ("run",):
        end = ringside(*words, "--backend", "qemu", "--kernel", tmp_path / "kernel", "--", "true")
        assert end.status == (4 if words[0] == "test" else 249) and end.out == b""
        assert f"{tmp_path}/kernel: " in end.err and "not a kernel" in end.err and end.err.count("\n") == 1, end.err
    assert not (tmp_path / "out").exists()


def test_what_the_words_have_wrong_is_2_in_one_line(tmp_path):
    path = suite(tmp_path, ("a", "command: [exit=0]"))
    long = tmp_path / "long.yaml"
    long.write_text("#" * (1 << 20) + "\n" + path.read_text())
    for more, text in [
            ((), "what is to be tested? Name a suite file, or a command behind '--'"),
            ((path, "--", "x"), "a suite file and a command behind '--' exclude each other"),
            ((path, "--cpus", 2), "--cpus goes with a command behind '--'"),
            (("--shard", "3/2", path), "--shard: expected I/N"),
            (("--jobs", "0", path), "--jobs: expected auto or a number, 1 to 256, got '0'"),
            (("--filter", "nonesuch", path), "nonesuch"),
            (("/nowhere.yaml",), "/nowhere.yaml: No such file or directory"),
            ((tmp_path,), f"{tmp_path}: Is a directory"),
            ((long,), f"{long}: longer than the 1048576 bytes accepted here"),
            (("--baseline", "x", "--baseline", "y", path), "--baseline: given twice, 'x' and 'y'"),
            (("--junit", "x", path, "--junit=y"), "--junit: given twice, 'x' and 'y'"),
            (("--junit", "", path), "--junit: the path is empty"),
            (("--out", "", path), "--out: given twice, "),
            (("--junit", "x", "--json", "x", path), "--json and --junit are both 'x'"),
            (("--kernel", "", "--", "exit=0"), "--kernel: the name is empty"),
            (("--append", "a\nb", "--", "exit=0"), "--append: a control character in it"),
            (("--append", "quiet -- x", "--", "exit=0"), "a '--' hands what is behind it to the first process"),
            (("--until-failure", "--repeat", 2, path), "--until-failure and --repeat exclude each other"),
            (("--require-kvm", path), "--require-kvm and --backend qemu exclude each other")]:
        end = run(tmp_path, *more)
        assert (end.status, end.out) == (2, b""), end.err
        assert text in end.err and end.err.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_what_this_machine_lacks_is_4_in_one_line(tmp_path):
    end = run(tmp_path, "--kernel", "/nowhere/vmlinux", "--", "exit=0")
    assert (end.status, end.out) == (4, b"")
    assert end.err == "ringside: error: --kernel /nowhere/vmlinux: No such file or directory\n"
    assert run(tmp_path, "--", "exit=0").status == 0
    end = run(tmp_path, "--", "exit=0")
    assert end.status == 4 and "results of another run are in it" in end.err


def test_without_a_home_it_says_what_to_name_instead(tmp_path):
    env = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    end = ringside("test", "--backend", "qemu", "--runner", FAKE, "--", "exit=0", env=env)
    assert (end.status, end.out) == (4, b"") and "(--kernel FILE, --out DIR)" in end.err, end.err
    kernel = ringside("kernel", "path", "base").out.decode().strip()
    end = ringside("test", "--backend", "qemu", "--runner", FAKE, "--out", tmp_path / "out", "--kernel", kernel, "--",
                   "exit=0", env=env)
    assert end.status == 0, end.err


def test_a_home_that_has_no_place_is_4_and_says_what_to_name_instead(tmp_path):
    kernel = ringside("kernel", "path", "base").out.decode().strip()
    env = {**{k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}, "HOME": "/dev/null/home"}
    for words in (("test", "--backend", "qemu", "--runner", FAKE, "--kernel", kernel, "--", "exit=0"),
                  ("compare", "--backend", "qemu", "--a", kernel, "--b", f"{kernel},append=x", "--bench", "syscall")):
        end = ringside(*words, env=env)
        assert (end.status, end.out) == (4, b""), end.err
        assert end.err == ("ringside: error: /dev/null/home: Not a directory: there is no place for ringside's cache of "
                           "results; set XDG_CACHE_HOME or HOME, or name another place (test --out DIR, compare "
                           "--results FILE)\n")


def test_kvm_that_is_required_and_not_there_is_4_with_doctors_check(tmp_path):
    checks = {c["id"]: c["status"] for c in json.loads(ringside("doctor", "--json").out)["checks"]}
    end = ringside("test", "--require-kvm", "--runner", FAKE, "--out", tmp_path / "out", "--", "exit=0")
    if end.status == 0:
        assert checks["ring0"] == "ok"
        return
    assert (end.status, end.out) == (4, b"")
    assert end.err.count("\n") == 1 and not (tmp_path / "out").exists()
    check = end.err.removeprefix("ringside: error: --require-kvm: ").split(":")[0]
    assert checks[check] != "ok", end.err
    # Without it, it is said once, however many there are.
    path = suite(tmp_path, *((f"t{i}", "command: [exit=0]") for i in range(3)))
    end = ringside("test", "--runner", FAKE, "--out", tmp_path / "out", path)
    assert end.status == 0
    assert end.err.count(f": {check}: ") == 1 and "software processor" in end.err
    assert {r["backend"] for r in results(tmp_path)} == {"qemu"}


def test_bisect_skips_what_was_not_built_and_gives_up_on_wrong_words(tmp_path):
    assert run(tmp_path, "--bisect", "--kernel", "/nowhere/vmlinux", "--", "exit=0").status == 125
    assert run(tmp_path, "--bisect", "/nowhere.yaml").status == 128


def test_a_bisection_skips_when_the_program_that_boots_is_missing(tmp_path):
    end = run(tmp_path, "--bisect", "--runner", "/nowhere/ringside", "--", "exit=0")
    assert end.status == 125 and "--runner /nowhere/ringside: No such file" in end.err


@pytest.mark.parametrize("words, text", [
    (["--junit", "/nowhere/x"], "--junit /nowhere/x: No such file or directory"),
    (["--baseline", "/nowhere"], "--baseline: /nowhere: No such file or directory"),
    (["--junit", "/tmp"], "--junit /tmp: Is a directory"),
    (["--runner", "/tmp"], "--runner /tmp: this is a folder, expected a regular file"),
])
def test_a_place_that_there_is_not_is_refused_before_a_boot(tmp_path, words, text):
    end = run(tmp_path, *words, "--", "exit=1")
    assert end.status == 4 and text in end.err
    assert not (tmp_path / "out").exists()


def test_a_place_for_results_that_is_a_file_is_4(tmp_path):
    (tmp_path / "out").touch()
    end = run(tmp_path, "--", "exit=0")
    assert (end.status, end.err) == (4, f"ringside: error: --out {tmp_path}/out: Not a directory\n")


def test_a_runner_that_is_not_ringside_is_4_and_never_ok(tmp_path):
    end = ringside("test", "--backend", "qemu", "--runner", "/bin/true", "--out", tmp_path / "out", "--", "exit=0")
    assert end.status == 4 and "the run ended with status 0, but it left no record" in end.err, end.err


@pytest.mark.parametrize("words, text", [
    (["--json", "-", "--tap", "-", "--", "exit=0"], "only one report can go to stdout"),
    (["--", ""], "the command behind '--' is empty"),
])
def test_words_that_exclude_each_other_or_are_empty_are_2(tmp_path, words, text):
    end = run(tmp_path, *words)
    assert end.status == 2 and text in end.err
