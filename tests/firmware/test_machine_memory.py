# SPDX-License-Identifier: GPL-2.0-or-later
"""What guest memory is made of, seen from the host: its files, its pages, and hosts that lack them."""
import pathlib
import re
import subprocess

import pytest

from test_machine import BUILD, PATIENCE_S, kvm, record, run  # noqa: F401 (kvm skips where there is none)
from test_machine_limits import refused

THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
HUGE = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def facts_of(memory, *options):
    """(/proc/PID/smaps, /proc/PID/status) of a machine that waits for its input."""
    with subprocess.Popen(
            [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", memory, "--kernel",
             BUILD / "firmware/echo.elf", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        assert p.stdout.readline() == b"ready\n"
        proc = pathlib.Path(f"/proc/{p.pid}")
        found = (proc / "smaps").read_text(), (proc / "status").read_text()
        p.communicate(b"\x04", timeout=PATIENCE_S)
        assert p.returncode == 0
    return found


def kib(name, status):
    return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1])


def sizes(smaps):
    """{name of the file: KiB} of guest memory's mappings; those over a kernel's own pages are cut off."""
    out = {}
    for start, end, name in re.findall(r"^(\w+)-(\w+) rw-s .*/memfd:(ringside-ram-\w+)", smaps, re.M):
        out[name] = out.get(name, 0) + (int(end, 16) - int(start, 16)) // 1024
    return out


def test_memory_is_a_named_file_below_the_hole_and_one_above():
    # The pages of the payload's file that lie over it are a few KiB.
    below = sizes(facts_of("16M")[0])
    assert list(below) == ["ringside-ram-low"] and 16384 - 64 <= below["ringside-ram-low"] < 16384
    above = sizes(facts_of("3073M")[0])
    assert above["ringside-ram-high"] == 1024
    assert (3 << 20) - 64 <= above["ringside-ram-low"] < 3 << 20


def test_prefault_has_all_of_it_there_and_without_it_little_is():
    assert kib("VmRSS", facts_of("64M")[1]) < 32 << 10
    assert kib("VmRSS", facts_of("64M", "--prefault")[1]) > 64 << 10


@pytest.mark.parametrize("options", [["--lock-memory"], ["--lock-memory", "--prefault"]])
def test_locked_memory_is_locked(options):
    assert kib("VmLck", facts_of("16M")[1]) == 0
    assert kib("VmLck", facts_of("16M", *options)[1]) >= 16 << 10


def test_more_than_may_be_locked_is_refused_with_the_limit():
    end = subprocess.run(
        ["setpriv", "--bounding-set", "-ipc_lock", "prlimit", "--memlock=65536", BUILD / "ringside", "run",
         "--backend", "kvm", "--force", "--memory", "16M", "--kernel", BUILD / "firmware/exit.elf",
         "--lock-memory"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (end.returncode, end.stderr) == (
        249, "ringside: error: --lock-memory: 16 MiB of guest memory; this process may lock 0 MiB "
             "(ulimit -l): Cannot allocate memory\n")


def test_transparent_huge_pages_that_the_host_does_not_give_are_an_error():
    if not THP.exists() or not re.search(r"\[(never|deny)\]", THP.read_text()):
        assert run("exit", "--pages", "thp").returncode == 0
        return
    assert "--pages thp: this host gives shared memory no huge pages; 'echo advise >" \
        in refused("--pages", "thp")


@pytest.fixture(name="huge_pages")
def some_huge_pages():
    before = HUGE.read_text() if HUGE.exists() else None
    try:
        HUGE.write_text("12")
    except OSError as trouble:
        pytest.skip(f"no huge pages can be reserved here: {trouble}")
    if int(HUGE.read_text()) < 12:
        HUGE.write_text(before)
        pytest.skip("this machine has no room for 12 huge pages")
    yield
    HUGE.write_text(before)


def test_reserved_huge_pages_are_used_and_too_few_are_an_error(huge_pages, tmp_path):
    smaps, _ = facts_of("16M", "--pages", "hugetlb", "--prefault")
    huge = re.findall(r"^(?:Shared|Private)_Hugetlb:\s+(\d+) kB", smaps, re.M)
    assert sum(map(int, huge)) == 16384
    assert record(tmp_path, "exit", "--pages", "hugetlb")["provenance"]["memory"] == {
        "bytes": 16 << 20, "pages": "hugetlb", "huge_page_bytes": 2 << 20, "prefault": False, "lock": False}
    assert "guest memory takes 16 pages of 2 MiB, and 12 are free" \
        in refused("--pages", "hugetlb", "--memory", "32M")
    assert "17825792 bytes is no multiple of 2 MiB" in refused("--pages", "hugetlb", "--memory", "17M")


def test_huge_pages_that_are_not_there_are_an_error_that_says_how_many():
    assert re.search(r"--pages hugetlb: guest memory takes 16384 pages of 1 GiB, and \d+ are free; "
                     r"|this host has no pages of 1 GiB|more than this host has",
                     refused("--pages", "hugetlb=1G", "--memory", "16384G"))


@pytest.mark.parametrize("option", [["--pages", "normal"], ["--prefault"], ["--lock-memory"]])
def test_another_backend_than_our_own_refuses_it(option):
    end = subprocess.run([BUILD / "ringside", "run", "--backend", "qemu", "--kernel",
                          BUILD / "firmware/exit.elf", *option],
                         capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (end.returncode, end.stderr) == (249, f"ringside: error: {option[0]} needs --backend kvm\n")
