# SPDX-License-Identifier: GPL-2.0-or-later
"""
Kernels as they come: Debian's kernel for clouds, a bzImage with ACPI and its drivers as modules, and
our own by its PVH note; each under our VMM on a real KVM, in the lab.
"""
import json
import os
import re
import subprocess

import pytest

import debian
from cases import PATIENCE_S, TOP, case, run_cases

RUN = "ringside run --backend kvm --timeout 300"
LOOK = "uname -r; ls /sys/firmware/acpi/tables; cut -d' ' -f1 /proc/modules"
DEVICES = "head -c 5 /dev/vda; cat /sys/class/misc/hw_random/rng_current; " \
          "cat /sys/class/virtio-ports/*/name; exit 7"


COUNT = "nproc; ls /sys/bus/virtio/devices | wc -l; dmesg | grep -c \"request region\"; head -c 5 /dev/vda"


@pytest.fixture(scope="session")
def kernel():
    return debian.cloud_kernel()


@pytest.fixture(scope="session")
def ends(kernel, tmp_path_factory):
    path = kernel[0]
    return run_cases(tmp_path_factory.mktemp("kernels"), {
        "off": f"{RUN} --kernel {path} --json $d/json -- sh -c \"{LOOK}; sleep 1; poweroff -f\"",
        "tables": f"printf hello >/tmp/disk; truncate -s 8M /tmp/disk; {RUN} --kernel full --cpus 4 --rng "
                  f"--disk /tmp/disk --json $d/json -- sh -c '{COUNT}'",
        "words": f"{RUN} --kernel full --cpus 2 --rng --disk /tmp/disk --append acpi=off --json $d/json -- "
                 f"sh -c '{COUNT}'",
        "reset": f"{RUN} --kernel full --append reboot=a -- reboot -f",
        "pvh": f"{RUN} --entry pvh --json $d/json -- sh -c 'uname -r; exit 7'",
        "payload": "ringside run --backend kvm --kernel build/firmware/acpi.elf --rng --append 'cpus=1 acpi=1' "
                   "--json $d/json",
    })


@case("off")
def test_debians_kernel_runs_a_command_with_our_initramfs_alone_and_switches_off_by_acpi(end, kernel):
    assert (end.status, end.lines) == (245, [kernel[1], "APIC", "DSDT", "FACP", "data", "dynamic"])
    assert end.err.startswith("ringside: error: the guest switched itself off while the command ran")
    r = json.loads(end.file("json"))
    assert r["provenance"]["start"] == {"entry": "linux64", "acpi": True}
    assert "virtio_mmio.device" not in r["provenance"]["append"]


@case("tables")
def test_a_kernel_that_reads_both_finds_each_device_once_by_the_tables(end):
    assert (end.status, end.lines) == (0, ["4", "3", "0", "hello"])
    assert json.loads(end.file("json"))["provenance"]["start"]["acpi"] is True


@case("words")
def test_told_to_leave_acpi_it_finds_each_device_once_by_the_words(end):
    assert (end.status, end.lines) == (0, ["2", "3", "0", "hello"])
    assert json.loads(end.file("json"))["provenance"]["start"]["acpi"] is False


@case("reset")
def test_it_resets_by_the_register_of_the_fadt(end):
    assert end.status == 245
    assert end.err.startswith("ringside: error: the guest reset itself while the command ran")


@case("pvh")
def test_our_kernel_starts_by_its_pvh_note(end):
    assert (end.status, end.err) == (7, "")
    assert json.loads(end.file("json"))["provenance"]["start"] == {"entry": "pvh", "acpi": False}


@case("payload")
def test_a_payload_finds_the_tables_sound_and_switches_off_here_too(end):
    assert (end.status, end.err) == (0, "")
    assert len([line for line in end.lines if line.startswith("PASS: ")]) == 59
    assert not [line for line in end.lines if not line.startswith("PASS: ")]
    assert "switched itself off" in json.loads(end.file("json"))["outcome"]["text"]


# By night: what takes an initrd of Debian's own tools, which takes their packages.

@pytest.fixture(scope="session")
def cloud():
    return debian.cloud_initrds()


def with_initrd(cloud, which, disk):
    return f"--kernel {cloud[0]} --initrd {cloud[which]} --memory 512M --rng --disk {disk}"


@pytest.fixture(scope="session")
def nights(cloud, tmp_path_factory):
    disk = "printf hello >/tmp/disk; truncate -s 8M /tmp/disk"
    base = subprocess.run([TOP / "build/ringside", "kernel", "path", "base"], capture_output=True, text=True,
                          check=True).stdout.strip()
    bzimage = os.path.join(os.path.dirname(base), "bzImage")
    return run_cases(tmp_path_factory.mktemp("nights"), {
        "own": f"{disk}; {RUN} {with_initrd(cloud, 2, '/tmp/disk')} -- sh -c \"{LOOK}; {DEVICES}\"",
        "more": f"{disk}; {RUN} {with_initrd(cloud, 3, '/tmp/disk')} -- sh -c \"{LOOK}; {DEVICES}\"",
        "off": f"{disk}; {RUN} {with_initrd(cloud, 2, '/tmp/disk')} -- poweroff -f",
        "reset": f"{RUN} --kernel {cloud[0]} --append reboot=a --console $d/console -- reboot -f",
        "no_root": f"{RUN} --kernel {cloud[0]}",
        "symbols": f"{RUN} --kernel {bzimage} --kernel-debug {base} -- sh -c 'echo c >/proc/sysrq-trigger'",
    })


@pytest.fixture
def night(request, nights):
    from cases import End
    return End(nights / request.node.get_closest_marker("case").args[0])


@pytest.mark.nightly
@case("own")
def test_with_debians_own_initrd_the_agent_loads_the_drivers_that_it_has(night, cloud):
    assert night.status == 7
    assert night.lines[0] == cloud[1]
    assert {"virtio_mmio", "virtio_blk", "virtio", "virtio_ring"} <= set(night.lines)
    assert "hello" in night.out.decode()


@pytest.mark.nightly
@case("more")
def test_with_all_drivers_in_it_disk_entropy_and_ports_are_there(night, cloud):
    assert night.status == 7
    assert {"virtio_mmio", "virtio_blk", "virtio_console", "virtio_rng"} <= set(night.lines)
    text = night.out.decode()
    assert "hellovirtio_rng.0" in text and "ringside.results" in text and "ringside.stdout" in text


@pytest.mark.nightly
@case("off")
def test_with_its_own_initrd_it_switches_off(night):
    assert night.status == 245
    assert "switched itself off" in night.err


@pytest.mark.nightly
@case("reset")
def test_it_resets_by_acpi(night):
    assert night.status == 245
    assert "reset itself" in night.err


@pytest.mark.nightly
@case("no_root")
def test_what_it_lacks_cannot_be_known_and_that_is_said(night):
    assert night.status == 242
    assert "whether it lacks an option cannot be known" in night.err


@pytest.mark.nightly
@case("symbols")
def test_a_bzimages_addresses_have_names_by_its_vmlinux(night):
    assert night.status == 240
    assert re.search(r"^--- vCPU 0: RIP 0x[0-9a-f]{16} = \w+\+0x[0-9a-f]+$", night.err, re.M)


@pytest.mark.nightly
def test_under_qemu_it_finds_its_devices_too(cloud, tmp_path):
    disk = tmp_path / "disk"
    disk.write_bytes(b"hello".ljust(1 << 20, b"\0"))
    p = subprocess.run([TOP / "build/ringside", "run", "--backend", "qemu", "--timeout", "300",
                        *with_initrd(cloud, 3, disk).split(), "--", "sh", "-c", f"{LOOK}; {DEVICES}"],
                       capture_output=True, text=True, timeout=PATIENCE_S)
    assert p.returncode == 7, p.stderr
    assert p.stdout.startswith(cloud[1])
    assert "hellovirtio_rng.0" in p.stdout
