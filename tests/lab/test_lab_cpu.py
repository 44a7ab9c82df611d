# SPDX-License-Identifier: GPL-2.0-or-later
"""--cpu on a real KVM, in the lab: what a payload reads by CPUID is what the record says. One boot."""
import json
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 900
SPECS = ["host", "-fsgsbase", "-xsave,-smep", "x86-64-v2"]


def test_the_fingerprint_that_a_payload_computes_is_the_records():
    script = "\n".join(
        f"ringside run --backend kvm --memory 16M --timeout 100 --kernel build/firmware/cpuid.elf "
        f"--json /tmp/r --cpu {spec} || exit 1; cat /tmp/r" for spec in SPECS)
    script += "\nringside run --backend kvm --memory 16M --kernel build/firmware/exit.elf --cpu +vmx; echo $?"
    end = subprocess.run([TOP / "tools" / "lab", "--", "sh", "-c", script], capture_output=True, text=True,
                         timeout=PATIENCE_S, cwd=TOP, check=False)
    assert end.returncode == 0, end.stderr
    lines = end.stdout.splitlines()
    seen = ["".join(x.zfill(8) for x in line.split()[1:]) for line in lines if line.startswith("print ")]
    records = [json.loads(line)["provenance"]["cpu"] for line in lines if line.startswith("{")]
    assert [r["asked"] for r in records] == SPECS
    assert [r["fingerprint"] for r in records] == seen
    assert len(set(seen)) == len(SPECS)
    assert lines[-1] == "249"
    assert "--cpu: this machine's KVM does not offer vmx" in end.stderr
