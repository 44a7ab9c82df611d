# SPDX-License-Identifier: GPL-2.0-or-later
"""The NOPTI suite and the stress on ringside's own VMM: the images under KVM, in the lab, where
interrupts, NMIs and page faults take the ways of a real virtual machine. The programs are those of
tests/guest, see docs/guest-tests.md."""
import os
import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/guest"))

import boot  # noqa: E402
import ktap  # noqa: E402
import subjects  # noqa: E402

PATIENCE_S = 600
STRESS_S = int(os.environ.get("RINGSIDE_GUEST_STRESS_S") or 5)
IMAGES = [i for i in subjects.images() if subjects.NOPTI_CONFIG in subjects.config_of(i)][:1]


@pytest.mark.parametrize("image", IMAGES)
def test_the_nopti_suite_and_the_stress_pass_under_our_own_vmm(image, tmp_path):
    programs = (boot.Program("ktap", 300, "nopti", ("/tests/test_nopti", "on")),
                boot.Program("ktap", STRESS_S + 90, "stress", ("/tests/test_stress", "on", STRESS_S, 1)))
    # In x2APIC mode there would be no page by which to send an NMI.
    (tmp_path / "initrd").write_bytes(boot.initrd(boot.Boot(image, 1, "", programs)))
    p = subprocess.run(
        [TOP / "tools/lab", "--rw", tmp_path, "--timeout", str(PATIENCE_S), "--",
         "ringside", "run", "--backend", "kvm", "--kernel", boot.kernel_file(image).resolve(),
         "--append", "pti=on loglevel=5 nox2apic", "--initrd", tmp_path / "initrd",
         "--timeout", str(PATIENCE_S - 60), "--fail-on", "all", "--console", tmp_path / "console",
         "--", f"/{boot.FOLDER}/test_run", f"/{boot.FOLDER}/list"],
        capture_output=True, text=True, timeout=PATIENCE_S + 60, check=False)
    assert p.returncode == 0, p.stdout[-4000:] + p.stderr[-4000:]
    results = ktap.parse(p.stdout)
    assert [r.name for r in results] == ["nopti", "stress"]
    console = (tmp_path / "console").read_text(errors="replace")
    assert [line for line in console.splitlines() if boot.WRONG.search(line)] == []
    reasons = {leaf.reason for r in results for _, leaf in r.leaves() if leaf.skipped}
    assert reasons <= {"this needs two CPUs", "page table isolation is on",
                       "no file system here keeps file capabilities: Operation not supported"}
    # The NMIs were sent and taken, and not skipped for want of a way to send them.
    assert any(path == "nopti/a storm of NMIs in user code" and not leaf.skipped
               for r in results for path, leaf in r.leaves())
