# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of docs/ci's templates, run as the services run them, with a program that only seems to boot."""
import json
import os
import subprocess
import xml.etree.ElementTree

import pytest
import yaml

from conftest import PATIENCE_S, RINGSIDE, TOP
from suites import FAKE


def load(name):
    return yaml.safe_load((TOP / "docs/ci" / name).read_text())


@pytest.fixture
def job(tmp_path):
    """A folder of a job with a suite, and a "ringside" in its PATH. Returns what runs a script in it."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ringside"
    program.write_text(f'#!/bin/sh\nif [ "$1" = test ]; then\n  shift\n  exec {RINGSIDE} test --backend qemu '
                       f'--runner {FAKE} "$@"\nfi\nexec {RINGSIDE} "$@"\n')
    program.chmod(0o755)

    def run(script, shell=("bash", "-eo", "pipefail", "-c"), **env):
        path = f"{tmp_path}/bin:{os.environ['PATH']}"
        return subprocess.run([*shell, script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S,
                              stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path, **env})

    run.folder = tmp_path
    return run


def suite(folder, *acts):
    (folder / "suite.yaml").write_text("tests:\n" + "".join(
        f"- {{name: t{i}, command: [{act}]}}\n" for i, act in enumerate(acts)))


@pytest.mark.parametrize("act, status", [("exit=0", 0), ("exit=1", 1)])
def test_github(job, act, status):
    suite(job.folder, "exit=0", act)
    steps = load("github-actions.yml")["jobs"]["test"]["steps"]
    by_name = {step.get("name"): step.get("run") for step in steps}
    end = job(by_name["test"])
    assert end.returncode == status, end.stderr
    assert end.stdout.startswith("::error file=suite.yaml,line=3,col=3,title=t1::") == bool(status)
    xml.etree.ElementTree.parse(job.folder / "report.xml")
    assert job(by_name["summary"], GITHUB_STEP_SUMMARY=str(job.folder / "summary")).returncode == 0
    assert (job.folder / "summary").read_text().startswith("### suite")
    assert job(by_name["pack"]).returncode == 0 and (job.folder / "results.tar.gz").exists()


@pytest.mark.parametrize("act, lost, status", [("exit=0", None, 0), ("exit=1", None, 1), ("exit=0", 3, 4)])
def test_gitlab(job, act, lost, status):
    suite(job.folder, *6 * ["exit=0"], act)
    jobs = load("gitlab-ci.yml")
    for i in range(1, 5):
        if i != lost:
            end = job("\n".join(jobs["shards"]["script"]), CI_NODE_INDEX=str(i), CI_NODE_TOTAL="4")
            assert end.returncode in (0, status), end.stderr
    end = job("\n".join(jobs["merged"]["script"]))
    assert end.returncode == status, end.stderr
    cases = list(xml.etree.ElementTree.parse(job.folder / "report.xml").getroot().iter("testcase"))
    assert len(cases) == 7
    bad = [c for c in cases if c.find("error") is not None or c.find("failure") is not None]
    assert len(bad) == {0: 0, 1: 1, 4: 2}[status]


def test_kubernetes_tries_a_shard_again(job):
    suite(job.folder, *6 * ["exit=0"])
    container = load("kubernetes-job.yaml")["spec"]["template"]["spec"]["containers"][0]
    script = container["args"][0].replace("/results", f"{job.folder}/results").replace("/suite/", f"{job.folder}/")
    (job.folder / "results").mkdir()
    for index in (0, 1, 1, 2, 3):
        end = job(script, shell=container["command"], JOB_COMPLETION_INDEX=str(index))
        assert end.returncode == 0, end.stderr
    end = job("ringside report --merge --json results/shard-*")
    assert end.returncode == 0 and json.loads(end.stdout)["counts"]["ok"] == 6
