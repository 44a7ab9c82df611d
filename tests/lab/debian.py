# SPDX-License-Identifier: GPL-2.0-or-later
"""
Debian's kernel for clouds, as it comes, and initrds that its own tools make for it. Both are fetched by
apt's client as this machine is set up for it, kept in the cache, and never installed here.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

META = "linux-image-cloud-amd64"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ringside/debian"
# Debian's initramfs-tools leave these two out; an administrator names them in this file.
MORE_MODULES = "virtio_console\nvirtio_rng\n"


def run(*words, **how):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, **how).stdout


def once(name, make):
    """A folder of the cache, made by make(folder) if it is not there; whole or not at all."""
    there = CACHE / name
    if not there.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            new = pathlib.Path(work) / "new"
            new.mkdir()
            make(new)
            try:
                new.rename(there)
            except OSError:  # another test was faster
                assert there.exists()
    return there


def image_package():
    """The name of the package that has the kernel: the cached one, or the newest there is."""
    cached = sorted(p.name for p in CACHE.glob("linux-image-*-cloud-amd64"))
    if cached:
        return cached[-1]
    depends = run("apt-cache", "depends", META)
    return next(line.split()[-1] for line in depends.splitlines() if "Depends: linux-image-" in line)


def cloud_kernel():
    """The path of its bzImage, and its version."""
    package = image_package()

    def make(new):
        run("apt-get", "download", package, cwd=new)
        deb = next(new.glob("*.deb"))
        run("dpkg-deb", "-x", deb, new / "all")
        shutil.copy(next(new.glob("all/boot/vmlinuz-*")), new / "vmlinuz")
        shutil.rmtree(new / "all")
        deb.unlink()

    return once(package, make) / "vmlinuz", package.removeprefix("linux-image-")


def cloud_initrds():
    """Kernel, version, the initrd that Debian makes for it, and one with all of our drivers in it."""
    package = image_package()
    version = package.removeprefix("linux-image-")

    def make(new):
        root = new / "root"
        sources = [p for p in pathlib.Path("/etc/apt").glob("sources.list*/*.sources")]
        sources += [p for p in [pathlib.Path("/etc/apt/sources.list")] if p.exists()]
        suite = next(line.split("=")[1].strip('"') for line in open("/etc/os-release")
                     if line.startswith("VERSION_CODENAME="))
        run("mmdebstrap", "--variant=apt", "--aptopt=Apt::Install-Recommends \"false\"",
            f"--include={package},initramfs-tools,zstd", suite, root, *sources)
        shutil.copy(root / f"boot/vmlinuz-{version}", new / "vmlinuz")
        shutil.copy(root / f"boot/initrd.img-{version}", new / "initrd")
        with open(root / "etc/initramfs-tools/modules", "a") as f:
            f.write(MORE_MODULES)
        run("chroot", root, "mkinitramfs", "-o", "/boot/more", version)
        shutil.copy(root / "boot/more", new / "initrd-more")
        shutil.rmtree(root)

    there = once(f"initrds-{version}", make)
    return there / "vmlinuz", version, there / "initrd", there / "initrd-more"
