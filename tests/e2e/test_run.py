# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside run under QEMU: a command's streams and status, and each way in which a guest can end."""
import hashlib
import json
import os
import re
import subprocess

from conftest import RINGSIDE, TOP, in_guest, record_of, ringside


def test_stdout_stderr_and_status_pass_through_apart():
    end = in_guest("sh", "-c", "echo out; echo err >&2; exit 7")
    assert (end.status, end.out, end.err) == (7, b"out\n", "err\n")


def test_output_is_byte_exact():
    end = in_guest("sh", "-c", "dd if=/dev/urandom of=/x bs=1k count=700 2>/dev/null; "
                               "sha256sum /x >&2; cat /x")
    assert end.status == 0
    assert len(end.out) == 700 * 1024
    assert hashlib.sha256(end.out).hexdigest() == end.err.split()[0]


def test_a_status_from_240_becomes_239_and_the_true_one_is_in_the_status_file(tmp_path):
    f = tmp_path / "status"
    end = in_guest("sh", "-c", "exit 250", options=("--status-file", f))
    assert end.status == 239
    assert f.read_text() == "250\n"


def test_the_record_says_where_and_what_ran():
    end, r = record_of("true", options=("--append", "ringside.test=1", "--cpus", "2"))
    assert end.status == 0
    p = r["provenance"]
    assert (p["backend"], p["class"], p["unit"], p["ticks_per_unit"]) == ("qemu", "tcg", "ticks", 1)
    assert p["append"].endswith(" ringside.test=1")
    assert p["kernel"]["sha256"] == hashlib.sha256(open(p["kernel"]["path"], "rb").read()).hexdigest()
    assert p["qemu"]["argv"][0] == "qemu-system-x86_64"
    ph = r["phases_ns"]
    assert 0 == ph["exec"] < ph["load"] < ph["first_run"] < ph["user_mark"] < ph["exit"]
    assert [line["type"] for line in r["guest"]] == ["agent", "exit"]
    assert r["guest"][0]["cpus"] == 2
    assert r["outcome"] == {"status": 0, "kind": "exit", "guest_status": 0,
                            "text": "the guest ended with status 0"}


def test_a_feature_that_is_taken_away_is_gone_for_programs_and_in_the_fingerprint():
    look = ("sh", "-c", "grep -m1 -ow fsgsbase /proc/cpuinfo; grep -m1 -ow avx2 /proc/cpuinfo; true")
    end, with_it = record_of(*look, options=("--cpu", "host,+fsgsbase"))
    assert (end.status, end.out) == (0, b"fsgsbase\navx2\n"), end.err
    assert with_it["guest"][0]["facts"]["fsgsbase"] is True
    end, without = record_of(*look, options=("--cpu", "-fsgsbase,-avx"))
    assert (end.status, end.out) == (0, b""), end.err
    assert without["guest"][0]["facts"]["fsgsbase"] is False  # AT_HWCAP2
    cpus = [r["provenance"]["cpu"] for r in (with_it, without)]
    assert [c["asked"] for c in cpus] == ["host,+fsgsbase", "-fsgsbase,-avx"]
    assert [c["pmu"] for c in cpus] == [False, False]
    assert all(re.fullmatch("[0-9a-f]{16}", c["fingerprint"]) for c in cpus)
    assert cpus[0]["fingerprint"] != cpus[1]["fingerprint"]


def test_what_qemus_processor_lacks_is_not_started_without():
    for cpu, said in (("host,+pcid", "pcid"), ("+pmu", "no performance counters"),
                      ("-fsgsbas", "did you mean 'fsgsbase'?")):
        end = in_guest("true", options=("--cpu", cpu))
        assert end.status in (246, 249)
        assert said in end.err, end.err


def test_a_panic_is_240_with_registers_and_symbols():
    end, r = record_of("sh", "-c", "echo before; echo c >/proc/sysrq-trigger")
    assert (end.status, end.out) == (240, b"before\n")
    assert "Kernel panic - not syncing: sysrq triggered crash" in end.err.splitlines()[0]
    assert re.search(r"^--- vCPU 0: RIP 0x[0-9a-f]{16} = \w+\+0x[0-9a-f]+$", end.err, re.M)
    assert re.search(r"^RAX=[0-9a-f]{16} ", end.err, re.M)
    assert any("sysrq: Trigger a crash" in line for line in r["console_tail"])
    assert r["outcome"]["kind"] == "panic"


def test_a_panic_in_bytes_that_are_no_text_is_recorded_all_the_same():
    end, r = record_of("sh", "-c", r"printf 'Kernel panic - not syncing: \377\n' >/dev/console; "
                                   "sleep 100")
    assert end.status == 240
    assert r["outcome"]["text"].endswith("Kernel panic - not syncing: ?")
    assert r["console_tail"][-1].endswith("Kernel panic - not syncing: ?")


def test_the_counters_survive_a_panic():
    end, r = record_of("sh", "-c", "echo c >/proc/sysrq-trigger")
    assert end.status == 240
    assert r["guest"][0]["calltime"] is not None
    assert isinstance(r["calltime"], list)


def test_a_power_off_is_245():
    end = in_guest("poweroff", "-f")
    assert end.status == 245
    assert "left no status" in end.err


def test_a_reset_is_245():
    assert in_guest("reboot", "-f").status == 245


def test_a_kernel_without_root_is_242():
    end = ringside("run", "--backend", "qemu", "--timeout", "200")
    assert end.status == 242
    assert b"Unable to mount root fs" in end.out
    assert "the guest did not boot" in end.err


def test_a_boot_that_takes_too_long_is_242():
    end = ringside("run", "--backend", "qemu", "--boot-timeout", "0.3", "--", "true")
    assert end.status == 242
    assert "0.3 s of --boot-timeout" in end.err


def test_fewer_cpus_than_asked_is_242():
    end = in_guest("true", options=("--cpus", "2", "--append", "maxcpus=1"))
    assert end.status == 242
    assert "the guest brought up 1 of 2 vCPUs" in end.err


def test_a_job_file_runs_benchmarks_and_the_counters_are_read(tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({
        "version": 1, "command": None, "env": {}, "cwd": "/", "lab": None,
        "bench": {"names": ["syscall.null", "ctxsw.futex.fsgs"], "batches": 3, "warmup": 1,
                  "calls": 0, "calltime": True, "seed": 1}}))
    f = tmp_path / "json"
    end = ringside("run", "--backend", "qemu", "--icount", "3", "--timeout", "250", "--job", job,
                   "--json", f)
    r = json.loads(f.read_text())
    assert end.status == 0, end.err
    benches = {line["name"]: line for line in r["guest"] if line["type"] == "bench"}
    assert set(benches) == {"syscall.null", "ctxsw.futex.fsgs"}
    null = benches["syscall.null"]
    assert len(null["ticks"]) == 3 and len(set(null["ticks"])) == 1
    assert 100 < (null["ticks"][0] - null["empty"][0]) / null["calls"] / 8 < 1000
    probes = {(row["bank"], row["probe"]): row for row in r["calltime"]}
    assert probes[benches["ctxsw.futex.fsgs"]["calltime_bank"], "switch_to.fsgs"]["count"] > 0


def test_a_loop_under_timeout_is_244():
    end = ringside("run", "--backend", "qemu", "--timeout", "5", "--", "sh", "-c",
                   "while :; do :; done")
    assert end.status == 244
    assert "--- vCPU 0: RIP 0x" in end.err


def test_an_oops_is_241_under_fail_on():
    end = in_guest("sh", "-c", "echo 'WARNING: CPU: 0 PID: 1 at x' >/dev/kmsg; sleep 60",
                   options=("--fail-on", "warn", "--append", "loglevel=8"))
    assert end.status == 241


def test_two_boots_under_icount_are_instruction_for_instruction_the_same():
    a, b = (record_of("cat", "/proc/uptime", options=("--icount", "3")) for _ in range(2))
    assert a[1]["provenance"]["class"] == "icount"
    assert a[1]["provenance"]["unit"] == "instructions"
    assert a[1]["provenance"]["ticks_per_unit"] == 8
    assert a[0].out == b[0].out != b""


def test_what_cannot_be_used_is_249_in_one_line(tmp_path):
    bad = tmp_path / "bad"
    bad.write_text("this is no kernel")
    for words, text in (
        (("--kernel", "/nonesuch", "--", "true"), "--kernel /nonesuch: No such file"),
        (("--kernel", "nonesuch", "--", "true"), "ringside kernel build nonesuch"),
        (("--cpus", "0", "--", "true"), "--cpus 0: expected 1 to"),
        (("--initrd", "/nonesuch", "--", "true"), "/nonesuch: No such file"),
        (("--job", bad), "bad"),
        (("--job", "/nonesuch"), "/nonesuch: No such file"),
        (("--json", "99", "--", "true"), "--json 99: no open descriptor"),
        (("--console", "/nonesuch/x", "--", "true"), "--console /nonesuch/x: No such file"),
        (("--kernel", bad, "--", "true"), "bad: not a kernel: it begins with the bytes"),
        (("--fail-on", "x", "--", "true"), "--fail-on: expected oops"),
        (("--rw", "/tmp", "--", "true"), "--rw is only for --lab"),
        (("--",), "a command is missing behind '--'"),
    ):
        end = ringside("run", "--backend", "qemu", "--timeout", "100", *words)
        assert end.status == 249, (words, end)
        assert text in end.err and len(end.err.splitlines()) == 1, (words, end)


def test_a_kernel_or_initrd_that_nobody_writes_to_is_no_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for option in ("--kernel", "--initrd"):
        for more in ((), ("--", "true")):
            end = ringside("run", "--backend", "qemu", option, tmp_path / "pipe", *more)
            assert (end.status, end.err) == (
                249, f"ringside: error: {option} {tmp_path}/pipe: this is a pipe, expected a "
                     "regular file\n")


def test_a_command_line_that_the_kernel_would_cut_is_refused():
    end = ringside("run", "--backend", "qemu", "--append", "a" * 2000, "--", "true")
    assert end.status == 249
    assert re.search(r"command line: \d+ bytes with those of 1 devices, the kernel takes at most "
                     "2047; nothing is cut", end.err)


def test_a_qemu_that_is_missing_is_told(tmp_path):
    env = dict(os.environ, PATH=str(tmp_path))
    end = ringside("run", "--backend", "qemu", "--", "true", env=env)
    assert end.status == 249
    assert "qemu-system-x86_64: No such file or directory" in end.err


def test_the_console_goes_to_its_file(tmp_path):
    f = tmp_path / "console"
    end = in_guest("sh", "-c", "echo to the console >/dev/console",
                   options=("--console", f, "--console-stamps", "--debug", "run,qemu"))
    assert (end.status, end.out) == (0, b"")
    assert "] qemu: event " in end.err and "] run: " in end.err
    assert all(line.startswith("ringside: [") for line in end.err.splitlines())
    line = next(l for l in f.read_bytes().split(b"\n") if l.endswith(b"to the console\r"))
    assert re.match(rb"\[ +\d+\.\d{6}\] ", line)


def test_a_console_that_cannot_be_written_ends_the_run():
    end = in_guest("sh", "-c", "while :; do echo flood; done >/dev/console",
                   options=("--console", "/dev/full"))
    assert end.status == 249
    assert "/dev/full cannot be written: No space left on device" in end.err


def test_a_failure_before_the_guest_is_a_record_too(tmp_path):
    f = tmp_path / "json"
    end = ringside("run", "--backend", "qemu", "--kernel", "/nonesuch", "--json", f, "--", "true")
    assert end.status == 249
    assert json.loads(f.read_text())["outcome"]["kind"] == "usage"
