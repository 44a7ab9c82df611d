# SPDX-License-Identifier: GPL-2.0-or-later
"""
Guests that misbehave, and what "ringside run" makes of each: exit status, message and kind.

One table for both backends: tests/e2e/test_zoo.py boots them under QEMU, tests/lab/test_lab_zoo.py under
our own VMM. What has to be done by a program is done by tests/guest/zoo.c, which is /zoo in the guest.
"""
import dataclasses
import os
import pathlib
import re

from newc import newc

BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD",
                                    pathlib.Path(__file__).resolve().parents[1] / "build"))

# No boot takes so long, on no machine; the animals that end by a timeout have one of their own.
PATIENCE_S = 200
# What a busy machine needs for a boot, and the longest that the agent may be silent in it.
SLOW_S = 30
HANG_S = 6

ERROR = "ringside: error: "
PANIC = "the guest kernel panicked: Kernel panic - not syncing: "


@dataclasses.dataclass(frozen=True)
class Animal:
    """What is run, and what comes of it."""
    name: str
    command: tuple  # empty: the guest boots on its own
    status: int
    says: str = ""  # of the first line on stderr, a regular expression; empty: nothing is said
    kind: str = "exit"  # of the record
    options: tuple = ()
    out: bytes = b""  # None: it does not matter
    kvm: dict = dataclasses.field(default_factory=dict)  # what is different under our own VMM
    slow: bool = False  # ends by a timeout: by night

    def words(self, *backend):
        """Behind "ringside run"."""
        return (*backend, "--timeout", str(PATIENCE_S), *self.options,
                *(("--", *self.command) if self.command else ()))

    def on(self, backend):
        return dataclasses.replace(self, **self.kvm) if backend == "kvm" else self

    def check(self, status, out, err, record):
        # The lab has one processor, and is told that two vCPUs share it.
        first = next((line for line in err.splitlines() if "they take turns" not in line), "")
        assert (status, bool(re.fullmatch(self.says, first))) == (self.status, True), (first, err)
        if self.out is not None:
            assert out == self.out, (out[:200], err)
        outcome = record["outcome"]
        assert (outcome["status"], outcome["kind"]) == (self.status, self.kind)
        if first.startswith(ERROR):
            assert outcome["text"] == first[len(ERROR):]
        # Whatever it was, the vCPUs are shown, and the console is kept.
        if self.status in range(240, 247):
            assert "--- vCPU 0: RIP 0x" in err or "registers are gone" in err, err
            assert isinstance(record["console_tail"], list)


def zoo(name, animal, *rest, **more):
    return Animal(name, ("/zoo", animal), *rest, **more)


def sh(name, script, *rest, **more):
    return Animal(name, ("sh", "-c", script), *rest, **more)


def panic(text):
    return {"status": 240, "says": ERROR + re.escape(PANIC) + text, "kind": "panic"}


def hang(text):
    return {"status": 243, "says": ERROR + text, "kind": "hang"}


def timeout(seconds, alive=False):
    more = "; it is slow, and does not hang: its agent was heard [0-9.]+ s before" if alive else ""
    return {"status": 244, "kind": "timeout", "slow": True, "says":
            ERROR + rf"the guest did not end within the {seconds} s of --timeout{more}"}


def no_status(how, when="while the command ran and"):
    return {"status": 245, "kind": "nostatus", "says": ERROR + f"the guest {how} {when} left no status.*"}


def oops(text):
    return {"status": 241, "says": ERROR + "the guest kernel said: " + text, "kind": "oops"}


def boot(text):
    return {"status": 242, "says": ERROR + text, "kind": "boot"}


def lkdtm(name, fault, append="", options=(), before="", **more):
    """A fault of the kernel's LKDTM, on the image that has it and the detectors."""
    return sh(name, f"{before}echo {fault} >/sys/kernel/debug/provoke-crash/DIRECT; sleep 99",
              options=("--kernel", "kunit", "--append", f"kunit.enable=0 {append}".strip(), *options), **more)


def lkdtm_oops(name, fault, text):
    """One that the kernel oopses for and lives on; the run does not."""
    return lkdtm(name, fault, before=NO_PANIC, options=("--fail-on", "oops"), **oops(text))


def triple():
    return {"status": 246, "says": ERROR + "the guest triple-faulted.*", "kind": "kvmerror"}


# With an agent that is to be heard; and what is said when it is not.
BEATS = ("--hang-timeout", str(HANG_S))
SILENT = rf"the guest hangs: its agent was silent for the {HANG_S} s of --hang-timeout(; .*)?"
LIMIT = ("--timeout", str(SLOW_S))
# The detectors' times, of 10 to 120 s.
SOON = "watchdog_thresh=1"
HUNG = "sysctl.kernel.hung_task_timeout_secs=1"
NO_PANIC = "echo 0 >/proc/sys/kernel/panic_on_oops; "
KTAP = r"printf 'KTAP version 1\n1..2\nok 1 a\n{}'; {}"

ANIMALS = (
    # Statuses of a command.
    *(sh(f"status {n}", f"exit {n}", n) for n in (0, 1, 77, 127, 238, 239)),
    *(sh(f"status {n}", f"exit {n}", 239,
         f"ringside: warning: the guest's status {n} is given as 239: those above are ours")
      for n in (240, 255)),
    sh("killed command", "kill -9 $$", 137),
    zoo("segmentation fault", "segfault", 139),
    zoo("abort", "abort", 134),
    Animal("no such command", ("/nonesuch",), 127,
           "ringside-agent: /nonesuch: No such file or directory"),
    Animal("command that is no program", ("/etc",), 126, "ringside-agent: /etc: .*"),
    sh("stdout closed", "exec >&-; echo x", 1, "sh: .*Bad file descriptor"),
    sh("stdout and stderr closed", "exec >&- 2>&-; echo x; exit 5", 5),
    sh("disk full", "mkdir /d && mount -t tmpfs -o size=64k x /d && "
                    "dd if=/dev/zero of=/d/x bs=1k count=100 2>/dev/null || echo full; exit 9", 9,
       out=b"full\n"),
    sh("clock back and forth", "date -s '2000-01-01 00:00' >/dev/null; sleep 1; "
                               "date -s '2037-01-01 00:00' >/dev/null; exit 5", 5,
       options=BEATS),
    sh("much output", "yes zoo | head -c 3000000; exit 6", 6, out=b"zoo\n" * 750000),
    sh("console flood", "i=0; while [ $i -lt 3000 ]; do echo \"<1>flood $i\"; i=$((i+1)); done "
                        ">/dev/console; exit 6", 6),
    sh("output of children that live on", "(sleep 100; echo late) & echo now", 0, out=b"now\n"),
    zoo("fork bomb in its limits", "fork_bomb", 3, out=b"19 children, then: Resource "
                                                       b"temporarily unavailable\n"),
    # Reports of tests pass as they are: what they come to is for "ringside test" to say.
    sh("report cut short", KTAP.format("", "exit 0"), 0, out=b"KTAP version 1\n1..2\nok 1 a\n"),
    sh("report cut short by power off", KTAP.format("", "sync; sleep 1; poweroff -f; sleep 99"),
       out=b"KTAP version 1\n1..2\nok 1 a\n", **no_status("(switched itself off|halted)")),
    sh("report that gives up", KTAP.format("Bail out! x\\n", "exit 1"), 1,
       out=b"KTAP version 1\n1..2\nok 1 a\nBail out! x\n"),
    # Memory.
    zoo("out of memory", "out_of_memory", 137, options=("--memory", "128M")),
    sh("out of memory is a panic", "echo 1 >/proc/sys/vm/panic_on_oom; exec /zoo out_of_memory",
       options=("--memory", "128M"), **panic("Out of memory: .*panic_on_oom is enabled")),
    # Panics and oopses.
    sh("panic by sysrq", "echo c >/proc/sysrq-trigger", **panic("sysrq triggered crash")),
    zoo("panic", "panic", **panic("zoo")),
    zoo("panic in an interrupt", "panic_in_interrupt", **panic("zoo in interrupt")),
    zoo("oops in an interrupt", "oops_in_interrupt", **panic("Fatal exception in interrupt")),
    zoo("null pointer", "null_pointer", **panic("Fatal exception")),
    zoo("wild pointer", "wild_pointer", **panic("Fatal exception")),
    zoo("divide error", "divide", **panic("Fatal exception")),
    zoo("invalid opcode", "invalid_opcode", **panic("Fatal exception")),
    zoo("kernel without stack", "no_stack", **panic("Fatal exception.*")),
    sh("oops that is lived through", NO_PANIC + "/zoo null_pointer 2>/dev/null; exit 3", 3,
       "Killed|"),
    sh("oops that is lived through, but not by the run", NO_PANIC +
       "exec 2>/dev/null; /zoo null_pointer; sleep 99",
       options=("--fail-on", "oops"), out=None,
       **oops("BUG: kernel NULL pointer dereference, address: 0000000000000000")),
    zoo("warning", "warn", 0),
    sh("warning that fails", "/zoo warn; sleep 99", options=("--fail-on", "warn"),
       **oops(r"WARNING: CPU: 0 PID: \d+ at zoo.c:7 do_syslog.*")),
    sh("warning with the console turned down", "dmesg -n 1; /zoo warn; exit 5", options=("--fail-on", "warn"),
       **oops(r"WARNING: CPU: 0 PID: \d+ at zoo.c:7 do_syslog.*")),
    sh("warning with the console turned down, and the log run over",
       "dmesg -n 1; echo on >/proc/sys/kernel/printk_devkmsg; /zoo warn; i=0; while [ $i -lt 9999 ]; do "
       "echo flood flood flood flood flood flood $i; i=$((i+1)); done >/dev/kmsg",
       options=("--fail-on", "warn"), slow=True,
       **oops("it is tainted W by a warning, which neither its console nor its log has")),
    zoo("warning that is allowed", "warn", 0,
        options=("--fail-on", "warn", "--allow", r"^WARNING: .* at zoo\.c:")),
    sh("warning that is a panic", "echo 1 >/proc/sys/kernel/panic_on_warn; /zoo warn",
       **panic("kernel: panic_on_warn set ...")),
    # Faults of LKDTM.
    lkdtm("panic with interrupts off", "PANIC_STOP_IRQOFF", options=("--cpus", "2"), **panic("panic stop irqoff test")),
    lkdtm("stack that ends", "EXHAUST_STACK", **panic("Fatal exception in interrupt")),
    lkdtm("stack that is overwritten", "CORRUPT_STACK_STRONG",
          **panic(r"stack-protector: Kernel stack is corrupted in: lkdtm_CORRUPT_STACK_STRONG\+.*")),
    lkdtm_oops("a BUG", "BUG", r"kernel BUG at drivers/misc/lkdtm/bugs\.c:\d+!"),
    lkdtm_oops("guard page", "STACK_GUARD_PAGE_LEADING", r"BUG: TASK stack guard page was hit at .*"),
    lkdtm_oops("write to what is read only", "WRITE_RO", r"BUG: unable to handle page fault for address: f{8}\w{8}"),
    lkdtm_oops("data that is executed", "EXEC_DATA", r"BUG: unable to handle page fault for address: f{8}\w{8}"),
    lkdtm_oops("user memory that the kernel executes", "EXEC_USERSPACE",
               r"BUG: unable to handle page fault for address: 0000\w{12}"),
    lkdtm_oops("user memory that the kernel reads", "ACCESS_USERSPACE",
               r"BUG: unable to handle page fault for address: 0000\w{12}"),
    lkdtm_oops("kernel memory that a program gets", "USERCOPY_KERNEL", r"kernel BUG at mm/usercopy\.c:\d+!"),
    lkdtm("index out of bounds", "ARRAY_BOUNDS", options=("--fail-on", "ubsan"),
          **oops(r"UBSAN: array-index-out-of-bounds in .*drivers/misc/lkdtm/bugs\.c:\d+:\d+")),
    lkdtm("list that is broken", "CORRUPT_LIST_ADD", options=("--fail-on", "warn"),
          **oops(r"WARNING: CPU: 0 PID: \d+ at lib/list_debug\.c:\d+ __list_add_valid_or_report\+.*")),
    lkdtm("count that overflows", "REFCOUNT_INC_OVERFLOW", options=("--fail-on", "warn"),
          **oops(r"WARNING: CPU: 0 PID: \d+ at lib/refcount\.c:\d+ refcount_warn_saturate\+.*")),
    # The end of the machine.
    sh("power off", "poweroff -f; sleep 99", **no_status("(switched itself off|halted)")),
    sh("halt", "halt -f; sleep 99", **no_status("halted")),
    sh("reset", "reboot -f; sleep 99", **no_status("reset itself")),
    sh("reset by sysrq", "echo b >/proc/sysrq-trigger; sleep 99", **no_status("reset itself")),
    sh("power off by sysrq", "echo o >/proc/sysrq-trigger; sleep 99",
       **no_status("(switched itself off|halted)")),
    # QEMU says no more of a triple fault than that there was a reset.
    zoo("triple fault", "triple_fault", **no_status("reset itself"), kvm=triple()),
    zoo("page table lost", "no_page_table", **no_status("reset itself"), kvm=triple()),
    # The first process.
    Animal("no init and no root", (), options=("--console", "/dev/null"),
           **boot("the guest did not boot: Kernel panic - not syncing: VFS: Unable to mount root "
                  "fs.*")),
    Animal("init missing", ("true",), options=("--append", "rdinit=/nonesuch"),
           **boot("the guest did not boot: Kernel panic - not syncing: VFS: Unable to mount root "
                  "fs.*")),
    Animal("init exits", ("true",), options=("--append", "rdinit=/bin/true"),
           **panic(r"Attempted to kill init! exitcode=0x00000000")),
    Animal("init crashes", ("true",), options=("--append", "rdinit=/zoo"),
           **panic(r"Attempted to kill init! exitcode=0x0000000b")),
    # It would for ever; the first time ends the run.
    Animal("reboot loop", ("true",), options=("--append", "rdinit=/zoo ZOO_REBOOTS=1"),
           **no_status("reset itself", "before its user space started and")),
    Animal("init that is not the agent", ("true",),
           options=("--append", "rdinit=/bin/cat", "--boot-timeout", str(SLOW_S)), slow=True,
           **boot(f"the guest's user space did not start within the {SLOW_S} s of "
                  "--boot-timeout")),
    zoo("agent killed", "kill_agent", **panic("Attempted to kill init! exitcode=0x0000000b")),
    zoo("agent stopped", "stop_agent", options=BEATS, **hang(SILENT)),
    # No progress.
    zoo("halt with interrupts off", "halt_irqs_off", options=BEATS,
        **hang(f"({SILENT}|every vCPU halted and nothing can wake one.*)")),
    zoo("loop with interrupts off", "spin_irqs_off", options=BEATS,
        **hang(f"({SILENT}|the guest spins without progress.*)")),
    zoo("loop in the kernel", "spin_irqs_on", options=BEATS, **hang(SILENT)),
    # There has to be something that RCU waits with, on another CPU.
    sh("stall that RCU sees", "while :; do /bin/true; done & exec /zoo spin_irqs_on",
       options=("--fail-on", "rcu", "--cpus", "2", "--append", "rcupdate.rcu_cpu_stall_timeout=3"),
       **oops(r"rcu: INFO: rcu_\w+ (self-)?detected stall.*")),
    # What the kernel's own detectors see.
    lkdtm("soft lockup", "SOFTLOCKUP", append=SOON, options=("--fail-on", "lockup"),
          **oops(r"watchdog: BUG: soft lockup - CPU#0 stuck for \ds! \[sh:\d+\]")),
    lkdtm("soft lockup is a panic", "SOFTLOCKUP", append=f"{SOON} softlockup_panic=1",
          **panic("softlockup: hung tasks")),
    lkdtm("hard lockup", "HARDLOCKUP", append=SOON, options=("--cpus", "2", "--fail-on", "lockup"),
          **oops(r"watchdog: Watchdog detected hard LOCKUP on cpu [01]")),
    lkdtm("hard lockup is a panic", "HARDLOCKUP", append=f"{SOON} nmi_watchdog=panic", options=("--cpus", "2"),
          **panic("Hard LOCKUP")),
    lkdtm("hung task", "HUNG_TASK", append=HUNG, options=("--fail-on", "hung"),
          **oops(r"INFO: task \S+:\d+ blocked for more than 1 seconds\.")),
    lkdtm("hung task is a panic", "HUNG_TASK", append=f"{HUNG} sysctl.kernel.hung_task_panic=1",
          **panic("hung_task: blocked tasks")),
    lkdtm("workqueue that stands still", "SOFTLOCKUP", append="nosoftlockup nmi_watchdog=0 "
          "workqueue.watchdog_thresh=1", options=("--cpus", "2", "--fail-on", "lockup"),
          **oops(r"BUG: workqueue lockup - pool cpus=[01] .* stuck for \d+s!")),
    # The scheduler leaves the others a twentieth, so that is slow and does not hang.
    zoo("real time loop", "starve_agent", options=(*BEATS, *LIMIT),
        **timeout(SLOW_S, alive=True)),
    sh("loop in user space", "while :; do :; done", options=(*BEATS, *LIMIT),
       **timeout(SLOW_S, alive=True)),
    sh("stopped command", "kill -STOP $$", options=(*BEATS, *LIMIT), **timeout(SLOW_S, alive=True)),
    zoo("uninterruptible command", "uninterruptible", options=(*BEATS, *LIMIT),
        **timeout(SLOW_S, alive=True)),
    sh("no output at all", "sleep 999", options=LIMIT, **timeout(SLOW_S)),
    sh("endless output", "yes", options=LIMIT, out=None, **timeout(SLOW_S)),
    sh("endless console flood", "while :; do echo flood; done >/dev/console", options=LIMIT,
       **timeout(SLOW_S)),
)

assert len({a.name for a in ANIMALS}) == len(ANIMALS) >= 40


def initrd(path):
    """Where /zoo is from. Only for guests with an agent: others have no other files either."""
    path.write_bytes(newc({"zoo": (0o755, (BUILD / "tests/guest/zoo").read_bytes())}))
    return path
