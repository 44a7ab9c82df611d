# SPDX-License-Identifier: GPL-2.0-or-later
"""--nmi: a guest that does not end says where each of its CPUs is, and the outcome stays."""
import re
import time

import zoo
from conftest import in_guest, ringside

TIMEOUT_S = 30  # a boot has to be over by then, on a busy machine too


def test_a_timeout_comes_with_a_backtrace_of_each_cpu_and_in_time():
    start = time.monotonic()
    end = in_guest("sh", "-c", "while :; do :; done", options=("--cpus", 2, "--timeout", TIMEOUT_S, "--nmi"))
    assert time.monotonic() - start < TIMEOUT_S + 10  # 0.3 s, and what a busy machine adds
    assert end.status == 244, end.err
    assert end.err.startswith(f"ringside: error: the guest did not end within the {TIMEOUT_S} s of --timeout\n"), end.err
    for cpu in range(2):
        assert f"NMI backtrace for cpu {cpu}" in end.err, end.err
    assert "Comm: sh " in end.err
    # The registers are of before: no vCPU is in the panic.
    assert not re.search(r"^--- vCPU \d: RIP 0x\w+ = .*panic", end.err, re.M), end.err
    assert "did not answer" not in end.err


def test_a_kernel_that_was_told_otherwise_does_not_answer_and_that_is_said():
    end = in_guest("sh", "-c", "cd /proc/sys/kernel; echo 0 >panic_on_unrecovered_nmi; echo 0 >unknown_nmi_panic; "
                   "dmesg -n 1; sleep 100", options=("--timeout", TIMEOUT_S, "--nmi"))
    assert end.status == 244, end.err
    assert "warning: the guest did not answer a non-maskable interrupt" in end.err, end.err
    # So its stack is looked at from outside.
    stack = re.search(r"^--- what is on the stacks\nvCPU 0: RIP .* = (\w+)\+0x\w+\n((?: \? .*\n)+)---$", end.err, re.M)
    calls = re.findall(r" = (\w+)\+", stack[2])
    assert calls[:2] == ["default_idle", "default_idle_call"] and calls[-1] == "common_startup_64", end.err


def test_a_suites_reports_have_the_backtrace_and_what_the_kernel_said_last(tmp_path):
    junit, github = tmp_path / "junit.xml", tmp_path / "github"
    end = ringside("test", "--backend", "qemu", "--cpus", 2, "--timeout", TIMEOUT_S, "--out", tmp_path / "out", "--junit", junit,
                   "--github", github, "--", "sh", "-c", "while :; do :; done")
    assert end.status == 1, end.err
    text = end.out.decode()
    assert "not ok" in text and "timeout" in text and "panicked" not in text, text
    assert re.search(r"^ +backtrace: vCPU 0: RIP 0x[0-9a-f]{16}", text, re.M), text
    assert re.search(r"^ +console: ", text, re.M), text
    xml = junit.read_text()
    failure = re.search("<error .*?</error>", xml, re.S).group()
    assert "NMI backtrace for cpu 1" in failure and "+0x" in failure
    assert "NMI backtrace for cpu 1" in re.search("<system-out>.*?</system-out>", xml, re.S).group()
    assert "%0AvCPU 0: RIP 0x" in github.read_text()


def test_a_cpu_that_spins_with_interrupts_off_answers(tmp_path):
    archive = zoo.initrd(tmp_path / "initrd")
    end = in_guest("/zoo", "spin_irqs_off", options=("--hang-timeout", 6, "--nmi", "--initrd", archive))
    assert end.status == 243, end.err
    assert "did not answer" not in end.err, end.err
    trace = re.search("NMI backtrace for cpu 0\n.*?</TASK>", end.err, re.S)
    assert trace and "Comm: zoo " in trace.group(), end.err
