# SPDX-License-Identifier: GPL-2.0-or-later
"""The payloads in the whole machine: "ringside run" with a payload for a kernel, on this KVM.

They run where KVM only interprets ring 0, too, which is what --force is for. What each payload does is
checked by test_payloads.c; this checks what the machine makes of it.
"""
import json
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", TOP / "build"))
PATIENCE_S = 120
EOT = b"\x04"


def kvm_trouble():
    """None, or why there is no KVM here, in doctor's words."""
    end = subprocess.run([BUILD / "ringside", "doctor", "--json"], capture_output=True, check=False,
                         timeout=PATIENCE_S)
    for check in json.loads(end.stdout)["checks"]:
        if check["id"] in ("kvm-device", "kvm-permission", "kvm-api") and check["status"] != "ok":
            return f"{check['id']}: {check['found']}"
    return None


@pytest.fixture(scope="module", autouse=True)
def kvm():
    trouble = kvm_trouble()
    if trouble:
        pytest.skip(trouble)


def run(payload, *options, stdin=b""):
    return subprocess.run(
        [BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M",
         "--kernel", BUILD / "firmware" / f"{payload}.elf", *options],
        input=stdin, capture_output=True, check=False, timeout=PATIENCE_S)


def record(tmp_path, payload, *options):
    file = tmp_path / "record.json"
    end = run(payload, "--json", file, *options)
    assert end.returncode == 0, end.stderr.decode()
    return json.loads(file.read_text())


def test_exit_ends_the_machine_after_one_exit_to_user_space(tmp_path):
    r = record(tmp_path, "exit")
    assert r["outcome"]["kind"] == "exit"
    assert r["outcome"]["guest_status"] == 0
    assert [(e["detail"], e["count"]) for e in r["exits"]["by"]] == [("out 0xf4", 1)]
    assert r["phases_ns"]["exec"] <= r["phases_ns"]["load"] <= r["phases_ns"]["first_run"]
    assert r["phases_ns"]["first_run"] <= r["phases_ns"]["exit"]


def test_the_record_has_the_class_that_doctor_finds(tmp_path):
    end = subprocess.run([BUILD / "ringside", "doctor", "--json"], capture_output=True, check=False,
                         timeout=PATIENCE_S)
    found = json.loads(end.stdout)["class"]
    provenance = record(tmp_path, "exit")["provenance"]
    assert provenance["class"] == found["name"]
    assert provenance["unit"] == found["unit"]
    assert provenance["ticks_per_unit"] == found["ticks_per_unit"]


def test_a_payloads_failed_checks_are_the_exit_status():
    end = run("report_selftest")
    assert end.returncode == 1
    assert end.stdout.decode() == (
        "PASS: string: copies are equal\n"
        "PASS: string: differences are seen\n"
        "PASS: trap: none where there is none\n"
        "PASS: trap: invalid opcode\n"
        "PASS: trap: page fault on what is not present\n"
        "PASS: numbers: -7 42 beef 00012 123456789abcdef0 str %\n"
        "FAIL: this one fails on purpose\n"
        "SKIP: this one is skipped on purpose\n"
        "SUMMARY: 6 passed, 1 failed, 1 skipped\n")


def test_marks_come_with_phases_exits_and_a_window(tmp_path):
    r = record(tmp_path, "mark")
    phases = r["phases_ns"]
    assert phases["first_run"] <= phases["kernel_mark"] <= phases["user_mark"] <= phases["exit"]
    assert r["marks"]["user"]["exits"] == 2  # the kernel's mark and this one
    assert r["marks"]["user"]["guest_ticks"] > 0
    assert len(r["windows"]) == 1
    assert r["windows"][0]["exits"] == 0
    by = {e["detail"]: e["count"] for e in r["exits"]["by"]}
    assert by == {"out 0x80": 6, "write 0xc0000000": 1, "out 0xf4": 1}


def cpuid_of(end):
    """The fingerprint that the guest found, and each register that it is made of."""
    assert end.returncode == 0, end.stderr.decode()
    head, *rows = end.stdout.decode().splitlines()
    high, low = head.split()[1:]
    return high.zfill(8) + low.zfill(8), {
        tuple(int(x, 16) for x in row.split()[:3]): int(row.split()[3], 16) for row in rows}


def test_the_guest_reads_the_fingerprint_and_the_features_that_the_record_has(tmp_path):
    file = tmp_path / "record.json"
    seen, plain = cpuid_of(run("cpuid", "--json", file))
    if seen != json.loads(file.read_text())["provenance"]["cpu"]["fingerprint"]:
        pytest.skip("this KVM hands the host's own CPUID through: it does not apply any")
    masked, less = cpuid_of(run("cpuid", "--json", file, "--cpu", "-xsave,-smep"))
    cpu = json.loads(file.read_text())["provenance"]["cpu"]
    assert cpu == {"asked": "-xsave,-smep", "pmu": False, "fingerprint": masked}
    assert masked != seen
    assert less[1, 0, 2] == plain[1, 0, 2] & ~(1 << 26 | 1 << 28 | 1 << 12 | 1 << 29)
    assert less[7, 0, 1] & 1 << 7 == 0 and less[7, 0, 1] & 1 << 5 == 0  # SMEP; AVX2 with XSAVE
    assert less[0xd, 0, 0] == 0


def test_features_that_kvm_lacks_are_all_named_and_no_machine_is_made():
    end = run("cpuid", "--cpu", "host,+vmx,+svm")
    assert end.returncode == 249
    assert b"--cpu: this machine's KVM does not offer " in end.stderr


@pytest.mark.parametrize("words, touches", [
    ("pagewalk=0", 0), ("pagewalk=1", 512), ("pagewalk=1024", 1024), ("pagewalk=7 pagewalk=513x", 1024),
    ("xpagewalk=0 pagewalk=512", 512),
])
def test_a_payload_takes_a_number_from_the_command_line_and_finds_every_page_it_touches(words, touches):
    end = run("pagewalk", "--append", words)
    assert end.returncode == 0, end.stderr.decode()
    assert end.stdout.decode() == f"{touches} touches\n"


def test_the_page_walk_leaves_for_user_space_now_and_then(tmp_path):
    reads = [next((e["count"] for e in record(tmp_path, "pagewalk", "--append", f"pagewalk={n}")["exits"]["by"]
                   if e["detail"] == "in 0x3fd"), 0) for n in (0, 7680, 16384)]
    assert reads[1] - reads[0] == len("7680") - len("0")  # a digit that is printed is one, too
    assert reads[2] - reads[0] == 2 + len("16384") - len("0")


def test_nothing_answers_where_no_device_is():
    end = run("unclaimed")
    assert end.returncode == 0, end.stdout.decode()
    assert end.stdout.decode().endswith("SUMMARY: 18 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize("data", [
    b"", b"one line\r\n", bytes(b for b in range(256) if b != EOT[0]), b"ab" * 10000,
], ids=["nothing", "a line", "every byte", "20000 bytes"])
def test_the_console_hands_every_byte_through_both_ways(data):
    end = run("echo", stdin=data + EOT)
    assert end.returncode == 0, end.stderr.decode()
    assert end.stdout == b"ready\n" + data


def test_a_guest_that_waits_for_input_that_never_comes_meets_its_timeout():
    end = run("echo", "--timeout", "3")
    assert end.returncode == 244
    assert end.stdout == b"ready\n"


def test_without_force_a_kvm_that_interprets_ring_0_is_refused_by_name():
    doctor = subprocess.run([BUILD / "ringside", "doctor", "--json"], capture_output=True,
                            check=False, timeout=PATIENCE_S)
    if json.loads(doctor.stdout)["class"]["name"] != "emulated":
        pytest.skip("ring 0 is not interpreted here")
    end = subprocess.run([BUILD / "ringside", "run", "--backend", "kvm", "--kernel",
                          BUILD / "firmware/exit.elf"], stdin=subprocess.DEVNULL,
                         capture_output=True, check=False, timeout=PATIENCE_S)
    assert end.returncode == 247
    assert end.stderr.startswith(b"ringside: error: ring0: ")
