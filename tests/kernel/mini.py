# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel of three files that compiles at once, built by the real scripts of guest-kernel-config."""
import difflib
import hashlib
import io
import os
import pathlib
import re
import subprocess
import tarfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "guest-kernel-config/build"

MAKEFILE = """
.DELETE_ON_ERROR:
VPATH := $(CURDIR)
tinyconfig:
	@mkdir -p $(O)/arch/x86/boot && : >$(O)/.config
olddefconfig:
	@sed -n 's/^# \\(.*\\) is not set/\\1=n/;/^CONFIG/p' $(O)/.config | tac | sort -t= -k1,1 -u >$(O)/.new
	@grep -v '=n' $(O)/.new >$(O)/.config; rm $(O)/.new
prepare: ;
a.o b.o elsewhere.o: %.o: $(O)/%.o ;
vmlinux bzImage: $(O)/vmlinux
$(O)/vmlinux: $(O)/a.o $(O)/b.o $(O)/config.o
	@ld -e 0 --build-id=none -o $@ $^ && nm $@ >$(O)/System.map && cp $@ $(O)/arch/x86/boot/bzImage
$(O)/config.o: $(O)/.config
	@sed 's/.*/.ascii "&"/' $< | gcc -xassembler -c -o $@ -
$(O)/%.o: %.c
	@echo "  CC      $*.o"
	@if [ -e "$$HOLD" ]; then echo $$$$ >"$$HOLD.pid"; exec sleep 60; fi
	@gcc $(if $(W),-Wall) -fno-ident -Iinclude/first -Iinclude/second \\
		$$(sed -n 's/^\\(CONFIG_OWN\\w*\\)=y/-D\\1/p' $(O)/.config) -c -MMD -o $@ $<
-include $(wildcard $(O)/*.d)
ifneq ($(W),)
.PHONY: FORCE
$(O)/a.o $(O)/b.o: FORCE
endif
"""
# Complains of what the patch itself asks it to.
CHECKPATCH = r"""
while (<>) { $n++; $bad = print("$ARGV:$n: WARNING:$1: told to\n") if /^\+.*complain (\w+)/; }
exit($bad ? 1 : 0);
"""
BASE = {
    "Makefile": MAKEFILE,
    "a.c": '#include "sub/h.h"\nint a = H;\n',
    "b.c": "int b = 1;\n",
    "c.txt": "no source\n",
    "include/first/empty.h": "",
    "include/second/sub/h.h": "#define H 7\n",
    "include/linux/empty.h": "",
    "elsewhere.c": "#error of another machine\n",
    "Kconfig": "",
    "scripts/checkpatch.pl": CHECKPATCH,
}


def patch_of(changes):
    """A patch that brings BASE to @changes: {name: text, or None for a file that goes}."""
    out = []
    for name, text in changes.items():
        old = BASE.get(name)
        out += difflib.unified_diff(
            (old or "").splitlines(True), (text or "").splitlines(True),
            "/dev/null" if old is None else f"a/{name}", "/dev/null" if text is None else f"b/{name}")
    return "".join(out)


class Kernel:
    """A folder of configuration, a cache, and the calls of the build script on them."""

    def __init__(self, folder):
        self.folder, self.config = folder, folder / "config"
        self.cache = folder / "cache/ringside/kernels"
        self.hold = folder / "hold"
        (self.config / "fragments").mkdir(parents=True)
        (self.config / "patches").mkdir()
        archive = folder / "base.tar.xz"
        with tarfile.open(archive, "w:xz") as tar:
            for name, text in BASE.items():
                info = tarfile.TarInfo(f"mini/{name}")
                info.size, info.mtime = len(text), 1_000_000_000
                tar.addfile(info, io.BytesIO(text.encode()))
        self.write("base.yaml", f"mini: {{package: none, version: '1', file: {archive}, "
                   f"sha256: {hashlib.sha256(archive.read_bytes()).hexdigest()}}}\n")
        self.write("kernels.yaml", "one: {base: mini, fragments: [one], patches: [series]}\n"
                   "two: {base: mini, fragments: [one, two], patches: [series]}\n"
                   "apart: {base: mini, fragments: [one], patches: [series, more.patch], objects: apart}\n")
        self.write("fragments/one.config", "CONFIG_ONE=y\n")
        self.write("fragments/two.config", "CONFIG_TWO=y\n")
        self.write("patches/series", "1.patch\n")
        self.write("patches/more.patch", "")
        self.write("series.accepted", "")
        self.patch({"b.c": "int b = 2;\n", "new.h": "int n;\n"})

    def write(self, name, text):
        (self.config / name).write_text(text)

    def patch(self, changes):
        self.write("patches/1.patch", patch_of(changes))

    def env(self):
        return {**os.environ, "RINGSIDE_KERNEL_CONFIG": str(self.config), "HOLD": str(self.hold),
                "XDG_CACHE_HOME": str(self.folder / "cache"), "CCACHE_DISABLE": "1"}

    def build(self, *words, status=0):
        done = subprocess.run([BUILD, *words], env=self.env(), capture_output=True, text=True,
                              check=False, timeout=60)
        assert done.returncode == status, done.stderr
        return done.stderr

    def check(self, status=0):
        """What check-series says of the series."""
        done = subprocess.run([BUILD.parent / "check-series", "one"], env=self.env(), text=True,
                              capture_output=True, check=False, timeout=60)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def objects(self, image="one", *words):
        """How many objects a build compiled, and whether from nothing."""
        said = self.build(image, *words)
        n, how = re.search(r"built (\d+) objects \((.*?)\)", said).groups()
        return int(n), how == "from nothing"

    def result(self, image="one"):
        return (self.cache / "by-name" / image / "vmlinux").read_bytes()

    @property
    def work(self):
        (work,) = (self.cache / "work").iterdir()
        return work

    def times(self):
        return {p.relative_to(self.work).as_posix(): p.stat().st_mtime_ns
                for p in (self.work / "linux").rglob("*") if p.is_file()}

    def pristine(self):
        (linux,) = self.cache.glob("src/*/linux")
        return {p.relative_to(linux).as_posix(): p.read_text() for p in linux.rglob("*") if p.is_file()}
