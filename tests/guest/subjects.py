# SPDX-License-Identifier: GPL-2.0-or-later
"""What is booted and what it runs: images, what they have, known flaws of the emulator.

From the environment, for tools/nightly and for a look by hand:
  RINGSIDE_GUEST_IMAGES     names of images, or kernel files, instead of those of kernels.yaml
  RINGSIDE_GUEST_STRESS_S   seconds of stress for each boot [60 for one of them, 5 for the others]
  RINGSIDE_GUEST_SLOW       also the programs that take long
  RINGSIDE_GUEST_JOBS       boots at a time [2, or one a processor]
"""
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import subprocess

import boot

NOPTI_CONFIG = "CONFIG_RINGSIDE_NOPTI=y"
DUMP_CONFIG = "CONFIG_RINGSIDE_PTI_DUMP=y"
NIGHTLY = {"debug"}  # its boots take minutes
# base, for what it boots: the lab's suites; base and a NOP: the judge's; all and its own tests: those of suites
ELSEWHERE = {"full", "planted", "kunit"}
PATIENCE = 10  # times as long as on the others a program may take there
STRESSED = ("all", 4)  # who has the whole minute
SLOW = {"syscall_numbering_64"}  # 30 s under QEMU's software processor

# Programs that fail on any kernel under QEMU 7.2's software processor. Each is shown to fail on the
# base image, without options, by test_guest_flaws.py; and one that passes is an error as well.
KNOWN = {
    "mov_ss_trap_64": "a watchpoint hit by MOV SS traps at once instead of after the next instruction, "
                      "so that the signal finds the stack that the test made unusable for SYSCALL",
}
# And two end the whole guest, so they are run where SMAP is off.
FAR_RETURN = ("a far return in user code reads the stack with the kernel's rights, which SMAP forbids: "
              "a page fault of the kernel that is none")
NEEDS_NO_SMAP = {"sysret_ss_attrs_64": FAR_RETURN, "test_syscall_vdso_32": FAR_RETURN}


def kernels_yaml():
    import yaml
    path = boot.TOP / "guest-kernel-config/kernels.yaml"
    return [name for name in yaml.safe_load(path.read_text()) if name not in NIGHTLY | ELSEWHERE]


def images():
    given = os.environ.get("RINGSIDE_GUEST_IMAGES")
    return given.split() if given else kernels_yaml()


@functools.lru_cache(maxsize=None)
def config_of(image):
    path = boot.kernel_file(image).resolve().parent / "config"
    return set(path.read_text().splitlines()) if path.exists() else set()


@functools.lru_cache(maxsize=None)
def selftests():
    """{name: file} of the kernel's own x86 selftests, compiled first if need be."""
    p = subprocess.run([pathlib.Path(__file__).parent / "selftests"], capture_output=True, text=True,
                       check=False)
    assert p.returncode == 0, p.stderr
    folder = pathlib.Path(p.stdout.strip())
    return {f.name: f for f in sorted(folder.iterdir())}


@dataclasses.dataclass(frozen=True)
class Subject:
    """One boot: which image, how many CPUs, whether page table isolation is on."""
    image: str
    cpus: int
    pti: bool = True

    def __str__(self):
        return f"{pathlib.Path(self.image).name}-{self.cpus}cpu" + ("" if self.pti else "-ptioff")

    def expected(self):
        """What the programs are told to expect."""
        if NOPTI_CONFIG not in config_of(self.image):
            return "none"
        return "on" if self.pti else "off"

    def has_dump(self):
        return DUMP_CONFIG in config_of(self.image)

    def smap(self):
        return self.cpus == 1

    def stress_s(self):
        given = os.environ.get("RINGSIDE_GUEST_STRESS_S")
        if given:
            return int(given)
        minute = (self.image, self.cpus) == STRESSED or (self.image in NIGHTLY and self.cpus == 4)
        return 60 if minute else 5

    def selftests(self):
        without = set() if os.environ.get("RINGSIDE_GUEST_SLOW") else set(SLOW)
        return [name for name in selftests() if name not in without
                and not (self.smap() and name in NEEDS_NO_SMAP)]

    def programs(self):
        word, patience = self.expected(), PATIENCE if self.image in NIGHTLY else 1
        env = ("/bin/env", f"KTAP_PATIENCE={patience}") if patience > 1 else ()
        own = [boot.Program("ktap", 300 * patience, "nopti", (*env, "/tests/test_nopti", word))]
        if not self.pti:
            return tuple(own)
        own += [
            boot.Program("ktap", 60 * patience, "isolation", (*env, "/tests/test_isolation", word)),
            boot.Program("ktap", self.stress_s() + 90 * patience, "stress",
                         (*env, "/tests/test_stress", word, self.stress_s(), 1))]
        # On a kernel that has the flag, all of them again with it.
        ways = [("selftest", ())]
        if word == "on":
            ways.append(("flagged", ("/tests/test_nopti_exec",)))
        return (*own, *(boot.Program("plain", 60 * patience, f"{prefix}.{name}",
                                     (*words, f"/tests/{name}"))
                        for prefix, words in ways for name in self.selftests()))

    def boot(self):
        # Warnings of the kernel are of level 4, which "quiet" would keep back.
        words = ["pti=on" if self.pti else "pti=off", "loglevel=5"]
        if not self.smap():
            words.append("clearcpuid=smap")
        extra = tuple((n, str(selftests()[n])) for n in (self.selftests() if self.pti else ()))
        return boot.Boot(self.image, self.cpus, " ".join(words), self.programs(), extra,
                         "1G" if self.image in NIGHTLY else "512M")


def all_subjects():
    found = []
    for image in images():
        found += [Subject(image, 1), Subject(image, 4)]
        if NOPTI_CONFIG in config_of(image):
            found.append(Subject(image, 1, pti=False))
    return found


class Boots:
    """Boots ahead of the tests, a few at a time; a test waits for its own."""

    def __init__(self):
        jobs = int(os.environ.get("RINGSIDE_GUEST_JOBS") or min(2, os.cpu_count() or 1))
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.futures = {}

    def start(self, which):
        if which not in self.futures:
            self.futures[which] = self.pool.submit(boot.run, which)

    def outcome(self, which):
        self.start(which)
        return self.futures[which].result()

    def end(self):
        self.pool.shutdown(cancel_futures=True)
