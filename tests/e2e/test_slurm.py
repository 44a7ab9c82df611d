# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/slurm on a cluster of one node, which is made for it: Debian's slurm-wlm and munge, on loopback."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest
import record_schema
import slurm_node
from conftest import BUILD, TOP

RINGSIDE = str(BUILD / "ringside")
FAKE_RUN = str(BUILD / "tests" / "fake_run")
FAKE_BOOT = str(BUILD / "tests" / "fake_boot")
TOOLS = TOP / "tools" / "slurm"
PAIR = ["--a", "k", "--b", "k,append=x", "--bench", "syscall", "--backend", "qemu"]
ENV = {"RINGSIDE": RINGSIDE, "RINGSIDE_SLURM_BEAT_S": "1"}


@pytest.fixture(scope="module")
def node():
    reason = slurm_node.missing() or (None if os.geteuid() == 0 else "slurmd needs root")
    if reason:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm_node.SlurmNode(folder) as n:
        yield n


def test_a_shard_outside_of_a_job_says_how_it_is_called():
    def shard(*words):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        return subprocess.run([TOOLS / "shard", *words], capture_output=True, text=True, env=env,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    p = shard("--help")
    assert (p.returncode, p.stderr) == (0, "")
    assert p.stdout.startswith("usage: sbatch --array=... tools/slurm/shard DIR")
    for words in (), ("x",), ("x", "y"):
        assert (shard(*words).returncode, shard(*words).stderr) == (2, p.stdout)


class Job:
    """A comparison over the fake runner, and its folder."""

    def __init__(self, node, path):
        self.node, self.path = node, path
        self.dir = path / "job"
        self.kernel = path / "vmlinux"
        self.compare_words = ["--a", self.kernel, "--b", f"{self.kernel},append=fast", "--bench",
                              "syscall.null,ctxsw.futex.fs", "--blocks", "8", "--batches", "5", "--seed", "1",
                              "--backend", "qemu", "--icount", "3", "--jobs", "1", "--runner", FAKE_RUN]
        self.behave("faster=25 noise=2")

    def behave(self, how):
        self.kernel.write_text(how)

    def tool(self, name, *words, **env):
        return self.node.run(TOOLS / name, *words, env=dict(ENV, **env),
                             cwd=self.path)

    def ringside(self, *words):
        return self.node.run(RINGSIDE, *words, cwd=self.path)

    def submit(self, shards, *words, sbatch=()):
        p = self.tool("submit", *(f"--sbatch={o}" for o in sbatch), self.dir, shards, "--", *words)
        assert p.returncode == 0, p.stderr
        return int(p.stdout)

    def wait(self):
        end = time.monotonic() + 600
        while self.node.active():
            assert time.monotonic() < end, self.node.active()
            time.sleep(0.1)

    def until(self, what, name):
        end = time.monotonic() + 300
        while not what():
            assert time.monotonic() < end, name
            time.sleep(0.05)

    def logs(self):
        return "".join(p.read_text() for p in sorted((self.dir / "log").iterdir()))

    def kill_stepd(self, index):
        """As soon as a shard has recorded a boot. Its ringside and guests must be gone soon, too."""
        results = self.dir / f"shard-{index}.ndjson"
        self.until(lambda: results.exists() and results.read_text().count("\n") > 1, "the first boot")
        pids = processes_of(str(results))
        assert len(pids) > 1, "ringside, and the runner that it started"
        os.kill(self.node.stepd(index), signal.SIGKILL)
        self.until(lambda: not processes_of(str(results)), "the end of ringside")


def processes_of(word):
    """Those that have it on their command line, and their children."""
    children, ours = {}, []
    for proc in pathlib.Path("/proc").iterdir():
        if proc.name.isdigit():
            try:
                stat = (proc / "stat").read_text().rsplit(")", 1)[1].split()
                children.setdefault(int(stat[1]), []).append(int(proc.name))
                if word.encode() in (proc / "cmdline").read_bytes().split(b"\0") and stat[0] != "Z":
                    ours.append(int(proc.name))
            except OSError:
                pass
    for pid in ours:
        ours += [c for c in children.get(pid, []) if c not in ours]
    return ours


@pytest.fixture
def job(node, tmp_path):
    j = Job(node, tmp_path)
    yield j
    node.run("scancel", "--full", "--user=root")
    j.wait()


def test_a_comparison_in_shards_reports_what_one_run_does(job):
    whole = job.ringside("compare", *job.compare_words, "--results", job.path / "whole.ndjson")
    assert whole.returncode == 0, whole.stderr
    job.submit(4, "compare", *job.compare_words)
    job.wait()
    assert sorted(p.name for p in job.dir.glob("shard-*")) == [f"shard-{i}.ndjson" for i in range(1, 5)]
    p = job.tool("merge", job.dir)
    assert (p.returncode, p.stdout, p.stderr) == (0, whole.stdout, ""), job.logs()
    end = job.tool("requeue", job.dir)
    assert (end.returncode, end.stdout, end.stderr) == (0, "", "")
    p = job.tool("merge", job.dir, "--json", "--results", job.path / "all.ndjson")
    assert json.loads(p.stdout)["blocks"] == {"planned": 8, "complete": 8}
    assert job.ringside("report", job.path / "all.ndjson").stdout == whole.stdout


def test_a_test_run_in_shards_reports_what_one_run_does(job):
    suite = job.path / "suite.yaml"
    suite.write_text("tests:\n" + "".join(
        f"  - {{name: t{i}, command: [exit={i % 3 // 2}]}}\n" for i in range(8)))
    words = ["--runner", FAKE_BOOT, "--backend", "qemu", suite]
    whole = job.ringside("test", "--out", job.path / "whole", *words)
    assert whole.returncode == 1, whole.stderr
    expected = by_case(job.ringside("report", "--json", job.path / "whole").stdout)
    job.submit(3, "test", *words)
    job.wait()
    p = job.tool("merge", job.dir, "--json")
    assert (p.returncode, p.stderr) == (1, ""), job.logs()
    assert by_case(p.stdout) == expected and len(expected) == 8
    assert job.tool("requeue", job.dir).returncode == 0


def by_case(text):
    return {r["id"]: (r["outcome"], r["verdict"], r["status"], r["message"]) for r in json.loads(text)["results"]}


def test_the_shard_of_a_killed_slurmstepd_is_found_and_submitted_again(job):
    job.behave("faster=25 noise=2 slow=0.4")
    whole = job.ringside("compare", *job.compare_words, "--results", job.path / "whole.ndjson")
    job.submit(2, "compare", *job.compare_words)
    job.kill_stepd(2)
    assert ("2", "RUNNING") in job.node.active(), "Slurm has not seen it"
    p = job.tool("requeue", "--patience", 60, job.dir)
    assert p.returncode == 3 and "of 2 shards run or wait" in p.stdout, p.stderr

    p = job.tool("merge", job.dir, "--json")
    assert p.returncode == 3
    assert re.search(r"shard 2 of 2 is not whole: \d+ of its 16 boots are recorded", p.stderr)
    assert "tools/slurm/merge: shard 2 of 2 is not done: Slurm: RUNNING (tools/slurm/requeue)" in p.stderr

    def requeue():
        p = job.tool("requeue", "--patience", 3, job.dir)
        assert p.returncode in (1, 3), p.stderr + p.stdout
        return p.stdout if p.returncode == 1 else None

    # The other one is whole: it could not be taken for lost on a machine that stands still for a while.
    job.until(lambda: "1" not in [index for index, _ in job.node.active()], "the end of the other shard")
    out = []
    job.until(lambda: out.append(requeue()) or out[-1], "the lost shard")
    assert re.match(r"shard 2 of 2 is lost: no sign of life for \d+ s, though it runs, says Slurm; it is submitted "
                    r"again\nsubmitted again as job \d+: 2\n$", out[-1])
    job.wait()
    assert job.tool("requeue", job.dir).returncode == 0
    p = job.tool("merge", job.dir)
    assert (p.returncode, p.stdout, p.stderr) == (whole.returncode, whole.stdout, ""), job.logs()
    log = (job.dir / "log" / f"2-{out[-1].split()[-2][:-1]}.txt").read_text()
    assert re.search(r"going on after \d+ of 16 boots", log), "what was whole is not booted twice"


def test_a_cancelled_test_shard_is_lost_and_runs_again(job):
    suite = job.path / "suite.yaml"
    suite.write_text("tests:\n" + "".join(
        f"  - {{name: t{i}, command: [sleep={seconds}]}}\n" for i, seconds in enumerate((1, 1, 1, 6))))
    array = job.submit(2, "test", "--jobs", "1", "--runner", FAKE_BOOT, "--backend", "qemu", suite)
    results = job.dir / "shard-2" / "results.ndjson"
    job.until(lambda: results.exists() and results.read_text().count("\n") == 2, "a case")
    assert job.node.run("scancel", "--full", f"{array}_2").returncode == 0
    job.wait()
    p = job.tool("merge", job.dir)
    assert p.returncode == 4
    assert "shard 2 of 2 is not done: " in p.stderr and "1 of 4 cases have no result" in p.stderr, p.stderr
    p = job.tool("requeue", "--dry-run", job.dir)
    assert p.returncode == 0 and p.stdout.startswith("shard 2 of 2 is lost: ")
    p = job.tool("requeue", job.dir)
    assert p.returncode == 1, p.stdout
    job.wait()
    p = job.tool("merge", job.dir, "--json")
    assert (p.returncode, p.stderr) == (0, ""), job.logs()
    assert len(by_case(p.stdout)) == 4
    assert len(list((job.dir / "job").glob("2-before-*"))) == 1


def test_a_shard_that_its_machine_fails_is_given_up_after_so_many_tries(job):
    job.behave("nokvm")
    job.submit(2, "compare", *job.compare_words)
    job.wait()
    p = job.tool("requeue", "--tries", 2, job.dir)
    assert p.returncode == 1
    assert "shard 1 of 2 is lost: ringside ended with status 4; it is submitted again" in p.stdout
    job.wait()
    p = job.tool("requeue", "--tries", 2, job.dir)
    assert p.returncode == 4
    assert "shard 2 of 2 is lost: ringside ended with status 4; it was submitted 2 times, and is given up" in p.stdout
    assert job.tool("merge", job.dir).returncode == 3
    assert "/dev/kvm: no permission" in job.logs()


def test_what_sbatch_is_to_know_is_handed_on(job):
    array = job.submit(2, "compare", *job.compare_words, sbatch=["--hold", "--comment=a b"])
    out = job.node.run("squeue", "-h", "-r", "-j", array, "-o", "%k|%r").stdout.splitlines()
    assert out == ["a b|JobHeldUser"] * 2
    p = job.tool("requeue", job.dir)
    assert (p.returncode, p.stdout) == (3, "2 of 2 shards run or wait\n")
    none = job.tool("merge", job.dir)
    assert none.returncode == 4 and "no shard has results yet" in none.stderr


@pytest.mark.long
def test_guests_that_really_boot_count_the_same_in_shards(job):
    words = ["--a", "base,append=nofsgsbase", "--b", "base", "--bench", "syscall.null", "--blocks", "2", "--batches", "3",
             "--seed", "1", "--backend", "qemu", "--icount", "3", "--jobs", "1", "--no-build"]
    whole = job.ringside("compare", *words, "--results", job.path / "whole.ndjson", "--json")
    job.submit(2, "compare", *words)
    job.wait()
    p = job.tool("merge", job.dir, "--json", "--results", job.path / "merged.ndjson")
    assert p.stderr == "", job.logs()
    for name in ("whole", "merged"):
        lines = record_schema.check_file(job.path / f"{name}.ndjson")
        assert [line["slot"] for line in lines if line["type"] == "boot"] == list(range(8))
    ours, theirs = (json.loads(text)["benchmarks"][0] for text in (p.stdout, whole.stdout))
    assert ours["blocks"] == theirs["blocks"] == 2
    for arm in "ab":
        assert ours["arms"][arm]["boot_values"] == pytest.approx(theirs["arms"][arm]["boot_values"], abs=0.05)


@pytest.mark.parametrize("words, status, text", [
    (["d", "4", "--", "test"], 2, "expected DIR SHARDS -- test|compare WORD..."),
    (["d", "4", "--", "run", "x"], 2, "'run': expected test or compare"),
    (["d", "0", "--", "test", "x"], 2, "'0' shards: expected 1 to 10000"),
    (["d", "10001", "--", "test", "x"], 2, "'10001' shards: expected 1 to 10000"),
    (["d", "--", "test", "x"], 2, "expected DIR SHARDS -- test|compare WORD..."),
    (["--sbatch"], 2, "--sbatch needs a value"),
    (["--fast", "d"], 2, "'--fast' is no option"),
    (["d", "4", "--", "compare", "--a", "k"], 2, "ringside: error: --b is missing"),
    (["d", "4", "--", "compare", *PAIR], 2, "the shards of a comparison are of one plan: give --seed"),
    (["d", "13", "--", "compare", *PAIR, "--seed", "1"], 2, "13 shards of 12 blocks: there are at most as many"),
    (["d", "4", "--", "compare", *PAIR, "--seed", "1", "--pilot"], 2, "'--pilot' is for the whole"),
    (["d", "4", "--", "compare", "--seed", "1", "--resume"], 2, "'--resume' is for the whole, not for a shard"),
    (["d", "4", "--", "test", "--out", "x", "y"], 2, "'--out' is for the whole, not for a shard"),
    (["d", "4", "--", "test", "none.yaml"], 2, "none.yaml: No such file or directory"),
    (["old", "4", "--", "compare", *PAIR, "--seed", "1"], 4, "old cannot be made, or exists"),
])
def test_wrong_words_are_refused_before_anything_is_submitted(tmp_path, words, status, text):
    (tmp_path / "old").mkdir()
    p = subprocess.run([TOOLS / "submit", *words], cwd=tmp_path, env=dict(os.environ, **ENV), capture_output=True,
                       text=True, stdin=subprocess.DEVNULL)
    assert p.returncode == status, p.stderr
    assert text in p.stderr and p.stdout == ""
    assert [f.name for f in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("tool", ["requeue", "merge"])
def test_a_folder_that_is_none_of_a_job_is_refused(tmp_path, tool):
    for folder, text in ((tmp_path, "is not the folder of a job"), (tmp_path / "x", "no such folder")):
        p = subprocess.run([TOOLS / tool, folder], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert p.returncode == 4 and text in p.stderr
