# SPDX-License-Identifier: GPL-2.0-or-later
"""
ringside's own VMM on a real KVM, in the lab. The lab is booted once and runs a script with all the
cases; each test then looks at one of them.
"""
import json
import re

import jsonschema
import pytest

from cases import TOP, case, run_cases

RUN = "ringside run --backend kvm --timeout 200"
CASES = {
    "streams": f"{RUN} --json $d/json --stats $d/stats --trace $d/trace -- "
               "sh -c 'echo out; echo err >&2; exit 7'",
    "stdin_closed": f"{RUN} -- sh -c 'cat; echo out; exit 7' <&-",
    "stdin_pipe": f"echo typed | {RUN} -- sh -c 'cat; echo out; exit 7'",
    "bytes": f"{RUN} -- sh -c 'dd if=/dev/urandom of=/x bs=1k count=40 2>/dev/null; "
             "sha256sum /x >&2; cat /x'",
    "status_250": f"{RUN} --status-file $d/status -- sh -c 'exit 250'",
    "panic": f"{RUN} --json $d/json --console $d/console --console-stamps -- "
             "sh -c 'echo c >/proc/sysrq-trigger'",
    "power_off": f"{RUN} -- poweroff -f",
    "reset": f"{RUN} -- reboot -f",
    "no_root": f"{RUN}",
    "loop": "ringside run --backend kvm --timeout 20 -- sh -c 'while :; do :; done'",
    "auto": "ringside --log info run --backend auto --timeout 200 -- echo out",
    "no_kvm": "mount --bind /dev/null /dev/kvm; ringside run --backend kvm -- true; "
              "s=$?; umount /dev/kvm; (exit $s)",
    "bad_kernel": f"{RUN} --kernel /etc/passwd -- true",
    "lost_reader": f"{{ {RUN} -- yes; echo $? >$d/status; }} | head -c 2",
    "full_disk": f"{RUN} -- yes >/dev/full",
}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    return run_cases(tmp_path_factory.mktemp("lab"), CASES)


@case("streams")
def test_stdout_stderr_and_status_pass_through_apart(end):
    assert (end.status, end.out, end.err) == (7, b"out\n", "err\n")


@case("streams")
def test_statistics_and_trace_agree_with_the_record(end):
    stats, trace, r = (json.loads(end.file(name)) for name in ("stats", "trace", "json"))
    jsonschema.validate(stats, json.loads((TOP / "docs/stats.schema.json").read_text()))
    exits = [(p["phase"], x) for v in stats["vcpus"] for p in v["phases"] for x in p["exits"]]
    assert sum(x["count"] for _, x in exits) == r["exits"]["total"]
    assert sum(x["count"] for phase, x in exits if phase == "boot") == r["marks"]["user"]["exits"]
    assert {"com1", "mark port", "exit port", "virtio-console.0"} <= {x.get("device") for _, x in exits}
    tracks = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    assert trace[-1]["args"]["events"] == 0
    told = [e for e in trace if e["ph"] == "X" and tracks[e["tid"]] == "vcpu0" and e["name"] != "run"]
    assert len(told) == r["exits"]["total"]
    requests = [e for e in trace if e["name"] == "request"]
    assert requests and all(tracks[e["tid"]].startswith("virtio-console.0 q") for e in requests)


@case("streams")
def test_the_record_has_phases_marks_exits_and_statistics(end):
    r = json.loads(end.file("json"))
    p = r["provenance"]
    assert (p["backend"], p["kvm"]["api"], p["qemu"]) == ("kvm", 12, None)
    assert p["class"] in ("tcg", "icount") and p["host"]["hypervisor"]
    ph = r["phases_ns"]
    assert (0 == ph["exec"] < ph["load"] < ph["first_run"] < ph["kernel_mark"] < ph["user_mark"]
            < ph["exit"])
    assert r["marks"]["user"]["guest_ticks"] > 0
    assert r["marks"]["user"]["exits"] < r["exits"]["total"]
    assert sum(row["count"] for row in r["exits"]["by"]) == r["exits"]["total"]
    assert {"reason": "io", "detail": "out 0xf4"}.items() <= [
        row for row in r["exits"]["by"] if row["detail"] == "out 0xf4"][0].items()
    assert r["kvm_stats"]["exits"] > r["exits"]["total"]
    assert r["guest"][0]["calltime"]["bytes"] > 0
    assert isinstance(r["calltime"], list)


@case("stdin_closed")
def test_stdin_may_be_closed(end):
    assert (end.status, end.out, end.err) == (7, b"out\n", "")


@case("stdin_pipe")
def test_stdin_may_be_a_pipe(end):
    assert (end.status, end.out, end.err) == (7, b"out\n", "")


@case("bytes")
def test_output_is_byte_exact(end):
    import hashlib
    assert end.status == 0
    assert (len(end.out), hashlib.sha256(end.out).hexdigest()) == (40 * 1024, end.err.split()[0])


@case("status_250")
def test_a_status_from_240_becomes_239_and_the_true_one_is_in_the_status_file(end):
    assert (end.status, end.file("status")) == (239, "250\n")


@case("panic")
def test_a_panic_is_240_with_registers_and_symbols(end):
    assert end.status == 240
    assert "Kernel panic - not syncing: sysrq triggered crash" in end.err.splitlines()[0]
    assert re.search(r"^--- vCPU 0: RIP 0x[0-9a-f]{16} = \w+\+0x[0-9a-f]+$", end.err, re.M)
    assert re.search(r"^rax=[0-9a-f]{16} ", end.err, re.M)
    assert re.search(r"^\[ +\d+\.\d{6}\] .*Kernel panic - not syncing", end.file("console"), re.M)
    r = json.loads(end.file("json"))
    assert r["outcome"]["kind"] == "panic"
    assert isinstance(r["calltime"], list)


@case("power_off")
def test_a_power_off_is_245(end):
    assert end.status == 245
    assert "left no status" in end.err


@case("reset")
def test_a_reset_is_245(end):
    assert end.status == 245
    assert "reset itself" in end.err


@case("no_root")
def test_a_kernel_without_root_is_242(end):
    assert end.status == 242
    assert b"Unable to mount root fs" in end.out


@case("loop")
def test_a_loop_under_timeout_is_244(end):
    assert end.status == 244
    assert "20 s of --timeout" in end.err
    assert "--- vCPU 0: RIP 0x" in end.err


@case("auto")
def test_auto_takes_kvm_here_and_says_why(end):
    assert (end.status, end.out) == (0, b"out\n")
    assert "backend kvm: " in end.err


@case("no_kvm")
def test_a_kvm_that_is_none_is_247_with_the_doctors_check(end):
    assert end.status == 247
    assert re.match(r"ringside: error: kvm-\w+: .*\n$", end.err)


@case("bad_kernel")
def test_a_file_that_is_no_kernel_is_249(end):
    assert end.status == 249
    assert "/etc/passwd: not a kernel" in end.err


@case("lost_reader")
def test_a_reader_that_goes_away_ends_the_run(end):
    assert (end.out, end.file("status")) == (b"y\n", "249\n")
    assert "stdout cannot be written: Broken pipe" in end.err


@case("full_disk")
def test_a_full_disk_ends_the_run(end):
    assert end.status == 249
    assert "stdout cannot be written: No space left on device" in end.err
