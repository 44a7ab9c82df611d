# SPDX-License-Identifier: GPL-2.0-or-later
"""Several vCPUs under QEMU: tests/guest/smp.c looks at them from inside. Our own VMM: tests/lab/test_lab_smp.py."""
import sys

import pytest

from conftest import TOP, in_guest

sys.path.insert(0, str(TOP / "tests/guest"))

import boot  # noqa: E402
import ktap  # noqa: E402


@pytest.mark.parametrize("cpus", [1, 2, 4, 8, 16])
def test_vcpus_are_cores_of_one_socket_and_all_work(tmp_path, cpus):
    initrd = tmp_path / "initrd"
    initrd.write_bytes(boot.newc({"tests": (0o755, None), "tests/test_smp": (
        0o755, (boot.PROGRAMS / "test_smp").read_bytes())}))
    end = in_guest("/tests/test_smp", str(cpus),
                   options=("--cpus", cpus, "--initrd", initrd, "--fail-on", "all"))
    assert end.status == 0, end.out.decode() + end.err
    results = ktap.parse(end.out.decode())
    assert len(results) == 7 and all(r.ok for r in results)
    # QEMU's software processor has no x2APIC.
    skipped = {"each CPU's APIC is in x2APIC mode"}
    skipped |= {"a page taken away is gone on every CPU"} if cpus == 1 else set()
    assert {r.name for r in results if r.skipped} == skipped
