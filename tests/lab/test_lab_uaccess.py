# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses to user memory in a guest of our own VMM, in the lab: the kernel's test counts there what it counts under
QEMU, which is what its disassembly says; and a guest that would have to be nested is refused."""
import json
import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/kernel"))
from machine_code import Kernel  # noqa: E402
from uaccess_code import FORMS, WAYS, counted, per_access, spread  # noqa: E402

PATIENCE_S = 600
SHIFT = 3
JOB = {"version": 1, "command": None, "env": {}, "cwd": "/", "lab": None,
       "bench": {"names": ["uaccess"], "batches": 5, "warmup": 1, "calls": 0, "calltime": False, "nopti": False,
                 "seed": 1}}
SCRIPT = """
ringside compare --no-build --a base --b base --bench kvmwalk 2>{dir}/refused; echo $? >{dir}/status
ringside run --backend kvm --kernel base --timeout 300 --job {dir}/job.json --json {dir}/record.json
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    d = tmp_path_factory.mktemp("lab")
    (d / "job.json").write_text(json.dumps(JOB))
    end = subprocess.run([TOP / "tools/lab", "--icount", str(SHIFT), "--rw", d, "--timeout", str(PATIENCE_S), "--",
                          "sh", "-c", SCRIPT.format(dir=d)], capture_output=True, text=True, check=False,
                         timeout=2 * PATIENCE_S)
    assert end.returncode == 0, end.stderr
    return d


def test_each_form_takes_the_instructions_that_its_disassembly_has(lab):
    image = subprocess.run([TOP / "guest-kernel-config/build", "--path", "base"], capture_output=True, text=True,
                           check=True).stdout.strip()
    kernel = Kernel(image)
    record = json.loads((lab / "record.json").read_text())
    assert record["provenance"]["backend"] == "kvm"
    lines = {line["name"]: line for line in record["guest"] if line["type"] == "bench"}
    for form in (f"{w}.{f}" for w in WAYS for f in FORMS):
        line = lines[f"uaccess.{form}"]
        assert abs(counted(line, 2 ** SHIFT) - per_access(kernel, form)) < spread(line), form


def test_a_guest_that_is_a_kvm_host_is_refused_with_the_reason(lab):
    assert int((lab / "status").read_text()) == 4
    assert (lab / "refused").read_text().splitlines()[-1] == (
        "ringside: error: --bench: kvmwalk needs --backend qemu: its guest is a KVM host itself, and the guest of another "
        "KVM would have to be nested")
