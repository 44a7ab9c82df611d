# SPDX-License-Identifier: GPL-2.0-or-later
"""
A Debian 12 made by mmdebstrap, with its systemd, from a disk image to "running", on a real KVM in the
lab. The image is built once, outside of the checkout, and kept in the cache by what it is made of.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from cases import case, run_cases

RECIPE = ["mmdebstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,udev", "bookworm"]
SIZE = "600M"
RUN = "ringside run --backend kvm --kernel full --memory 768M --timeout 400"

pytestmark = pytest.mark.nightly  # minutes, and a mirror of Debian


def build(image):
    """Make the image: a tar archive by mmdebstrap, unpacked, and put into an ext4 by mke2fs."""
    work = image.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    (work / "root").mkdir(parents=True)
    subprocess.run([*RECIPE, work / "debian.tar"], check=True)
    subprocess.run(["tar", "xf", work / "debian.tar", "-C", work / "root"], check=True)
    subprocess.run(["truncate", "-s", SIZE, work / "image"], check=True)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-F", "-d", work / "root", work / "image"],
                   check=True)
    (work / "image").rename(image)
    shutil.rmtree(work)


@pytest.fixture(scope="session")
def image():
    key = hashlib.sha256(" ".join([*RECIPE, SIZE]).encode()).hexdigest()[:20]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    path = cache / "ringside/images" / f"debian-{key}.ext4"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        build(path)
    return path


@pytest.fixture(scope="session")
def ends(tmp_path_factory, image):
    return run_cases(tmp_path_factory.mktemp("debian"), {
        "systemd": f"""
            {RUN} --root {image} --init -- sh -c 'systemctl is-system-running
                systemctl --failed --no-legend | wc -l; cat /proc/1/comm; findmnt -no FSTYPE /
                echo written >/etc/written; systemctl is-active dbus systemd-udevd systemd-journald'
            e2fsck -fn {image} >&2; echo $?
            debugfs -R 'stat /etc/written' {image} 2>&1 | grep -c 'not found'""",
    })


@case("systemd")
def test_systemd_is_running_and_the_image_as_it_was(end):
    assert end.lines[:4] == ["running", "0", "systemd", "overlay"], end.err
    assert end.lines[4:7] == ["active"] * 3
    assert end.lines[7:] == ["0", "1"], end.err
