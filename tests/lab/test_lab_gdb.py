# SPDX-License-Identifier: GPL-2.0-or-later
"""
A Linux guest of two vCPUs that is debugged, one that is paused and one that crashes, in one boot of the lab. QEMU's nested
SVM has no breakpoints for a debugger (docs/lab.md); tests/firmware/test_gdb.py has those.
"""
import json
import re

import pytest
import zoo

from cases import case, run_cases

GDB = """set pagination off
set remotetimeout 300
target remote /tmp/gdb.sock
stepi
info registers rip
info threads
x/s (char *)&linux_banner
shell (while ! grep -q up $d/seen; do sleep 0.5; done; sleep 1; kill -INT $PPID) &
continue
info threads
bt 3
thread 1
info registers cs
x/s (char *)&linux_banner
stepi
stepi
detach
"""
CASES = {
    "gdb": f"""cat >$d/commands <<'END'
{GDB}END
sed -i "s,\\$d,$d," $d/commands
ringside run --backend kvm --cpus 2 --timeout 300 --json $d/json --gdb /tmp/gdb.sock -- \\
    sh -c 'echo up; sleep 20; nproc; dmesg | grep -cE "lockup|detected stall|int3|Oops"; echo done' >$d/seen &
while [ ! -S /tmp/gdb.sock ]; do sleep 0.2; done
gdb -q -nx -batch -x $d/commands $(ringside kernel path base)
wait $!""",
    "core": """ringside run --backend kvm --cpus 2 --timeout 300 --core $d/core -- \\
    sh -c 'echo c >/proc/sysrq-trigger; sleep 100'
echo $?
gdb -q -nx -batch -ex 'info threads' -ex 'thread 2' -ex 'x/gx $rsp' -ex 'x/s (char *)&linux_banner' \\
    $(ringside kernel path base) $d/core""",
    # A hang, and not a timeout, of which the answer has to come within 0.3 s, here too.
    "nmi": f"""ringside run --backend kvm --cpus 2 --timeout 300 --hang-timeout {zoo.HANG_S} --initrd $d/../zoo --nmi -- \\
    /zoo stop_agent
echo $?""",
    "pause": """mkfifo $d/fifo
ringside run --backend kvm --cpus 2 --timeout 40 --name p --json $d/json -- sh -c '
    nproc; i=0; while [ $i -lt 50 ]; do i=$((i+1)); cat /proc/uptime; sleep 0.1; done
    dmesg | grep -cE "lockup|detected stall"; exit 9' >$d/seen &
run=$!
while ! grep -q '\\.' $d/seen; do sleep 0.2; done
ringside ctl p pause --json
wc -l <$d/seen >$d/before
sleep 25
wc -l <$d/seen >$d/after
ringside ctl p status
ringside ctl p resume
wait $run""",
}


@pytest.fixture(scope="session")
def ends(request, tmp_path_factory):
    # By day without what only the night's test looks at.
    markers = [item.get_closest_marker("case") for item in request.session.items if item.path.samefile(__file__)]
    cases = {marker.args[0]: CASES[marker.args[0]] for marker in markers}
    where = tmp_path_factory.mktemp("lab")
    zoo.initrd(where / "zoo")
    return run_cases(where, cases)


@case("gdb")
def test_gdb_stops_looks_at_and_steps_a_linux_of_two_vcpus_which_then_ends_properly(end):
    text = end.out.decode()
    assert (end.status, end.file("seen")) == (0, "up\n2\n0\ndone\n"), text + end.err
    # At the entry, one vCPU has not been started; and the kernel's image is found where it lies.
    assert re.search(r"rip\s+0x1[0-9a-f]{6}\s", text)
    assert re.search(r"\* 1 +Thread 1 \(vCPU 0, runnable\).*\n +2 +Thread 2 \(vCPU 1, not started\)", text)
    assert text.count('<linux_banner>:\t"Linux version') == 2
    # Stopped by Ctrl-C while it sleeps.
    assert "received signal SIGINT" in text
    assert re.search(r"\* \d +Thread \d \(vCPU \d, halted\) +0xf{8}8\w+ in pv_native_safe_halt", text)
    assert re.search(r"#1 +0x\w+ in default_idle", text)
    assert re.search(r"cs +0x10 ", text)
    assert "detached]" in text


@pytest.mark.nightly
@case("pause")
def test_a_linux_of_two_vcpus_stands_longer_than_rcu_waits_and_never_knows(end):
    assert end.status == 9, end.err
    first = json.loads(end.lines[0])
    assert first["state"] == "paused" and first["vcpus"] == 2 and first["exits"] > 0
    assert end.file("before") == end.file("after")
    assert "state    paused" in end.lines
    seen = end.file("seen").splitlines()
    # --timeout 40 did not run out although more passed, and no watchdog took the gap for a lockup.
    assert seen[0] == "2" and seen[-1] == "0" and len(seen) == 52
    up = [float(line.split()[0]) for line in seen[1:-1]]
    assert max(b - a for a, b in zip(up, up[1:])) > 24


@case("core")
def test_the_core_of_a_crash_has_both_vcpus_and_the_kernels_memory(end):
    assert end.lines[0] == "240", end.err
    assert "a core of the guest is in" in end.err
    out = end.out.decode(errors="replace")
    rips = re.findall(r"^--- vCPU \d: RIP 0x([0-9a-f]{16}) = (\w+)", end.err, re.M)
    assert len(rips) == 2
    for number, (address, name) in enumerate(rips, 1):
        assert re.search(rf"LWP {number}\)? +0x{address} in {name} \(\)", out), out
    assert re.search(r"^0xffff[0-9a-f]{12}:\s+0x[0-9a-f]{16}$", out, re.M), out
    assert re.search(r'<linux_banner>:\s+"Linux version \d', out), out


@case("nmi")
def test_a_hang_comes_with_a_backtrace_of_both_cpus_and_the_registers_of_before(end):
    assert end.lines[-1] == "243", end.err
    assert f"its agent was silent for the {zoo.HANG_S} s of --hang-timeout" in end.err
    assert "NMI backtrace for cpu 0" in end.err and "NMI backtrace for cpu 1" in end.err, end.err
    assert "did not answer" not in end.err
    assert not re.search(r"^--- vCPU \d: RIP .*(panic|nmi|restart)", end.err, re.M), end.err
