# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster of one node for a test: munged, slurmctld and slurmd on loopback, in a temporary folder."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
PATIENCE_S = 240

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=0
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def missing():
    """Why there can be no cluster here, or None."""
    lacks = [p for p in PROGRAMS if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")]
    return f"not installed: {', '.join(lacks)} (packages slurm-wlm, munge)" if lacks else None


def free_ports(n):
    """Below those that a program gets that asks for any: nobody else takes one by the time it is used."""
    found = []
    while len(found) < n:
        port = random.randrange(20000, 30000)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


class SlurmNode:
    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.host = socket.gethostname().split(".")[0]
        self.daemons = []
        self.env = dict(os.environ, SLURM_CONF=str(self.dir / "slurm.conf"),
                        PATH=os.environ["PATH"] + ":/usr/sbin")
        for name in [k for k in self.env if k.startswith("SLURM_") and k != "SLURM_CONF"]:
            del self.env[name]

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *unused):
        self.stop()

    def daemon(self, *words):
        log = open(self.dir / f"{words[0]}.log", "ab")
        self.daemons.append(subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, start_new_session=True))
        log.close()

    def start(self):
        os.chmod(self.dir, 0o755)
        for name in ("state", "spool"):
            (self.dir / name).mkdir()
        (self.dir / "munge.key").write_bytes(os.urandom(128))
        os.chmod(self.dir / "munge.key", 0o600)
        ctld_port, slurmd_port = free_ports(2)
        (self.dir / "slurm.conf").write_text(CONF.format(dir=self.dir, host=self.host, ctld_port=ctld_port,
                                                         slurmd_port=slurmd_port))
        # The key is this folder's, not the system's: munged is told that it is meant so.
        self.daemon("munged", "--foreground", "--force", *(
            f"--{o}={self.dir}/munge.{e}" for o, e in (("socket", "sock"), ("key-file", "key"),
                                                       ("pid-file", "pid"), ("log-file", "log"),
                                                       ("seed-file", "seed"))))
        self.wait(lambda: (self.dir / "munge.sock").exists(), "munged")
        self.daemon("slurmctld", "-D", "-i")
        self.daemon("slurmd", "-D", "-N", self.host)
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle", "the node")

    def wait(self, what, name):
        end = time.monotonic() + PATIENCE_S
        while not what():
            dead = [d.args[0] for d in self.daemons if d.poll() is not None]
            if dead or time.monotonic() > end:
                logs = "".join(f"--- {p.name}\n{p.read_text(errors='replace')[-2000:]}" for p in self.dir.glob("*.log"))
                raise AssertionError(f"{name} is not there ({', '.join(dead)} ended)\n{logs}")
            time.sleep(0.1)

    def run(self, *words, **kw):
        return subprocess.run([str(w) for w in words], env=dict(self.env, **kw.pop("env", {})),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **kw)

    def active(self):
        """What is pending or running, as array index and state."""
        out = self.run("squeue", "-h", "-r", "-o", "%K %T").stdout
        return [tuple(line.split()) for line in out.splitlines()]

    def stepd(self, index):
        """The slurmstepd that keeps a shard of the array that runs: the parent of its batch script."""
        for proc in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if int(proc.name) and str(self.dir / "spool").encode() in (proc / "cmdline").read_bytes() \
                        and b"SLURM_ARRAY_TASK_ID=%d\0" % index in (proc / "environ").read_bytes():
                    return int((proc / "stat").read_text().rsplit(")", 1)[1].split()[1])
        return None

    def stop(self):
        """Ends what was started, by its process, and what that started for jobs."""
        if len(self.daemons) > 2:
            self.run("scancel", "--full", "--user=root")
            end = time.monotonic() + 10
            while self.active() and time.monotonic() < end:
                time.sleep(0.1)
        for d in reversed(self.daemons):
            d.send_signal(signal.SIGTERM)
        for d in reversed(self.daemons):
            try:
                d.wait(10)
            except subprocess.TimeoutExpired:
                d.kill()
                d.wait()
        self.daemons = []
