# SPDX-License-Identifier: GPL-2.0-or-later
"""The templates of docs/ci are what the services read: YAML without a key that stands twice, and every program in a
step is ringside or one that runners have. tests/e2e/test_templates.py runs their steps."""
import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "docs/ci").iterdir())


class Strict(yaml.SafeLoader):
    """A key that stands twice is an error, and "on" is a word."""


def mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f"{node.start_mark}: a key stands twice: {keys}"
    return {key: loader.construct_object(value, deep=True) for key, (_, value) in zip(keys, node.value)}


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
Strict.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:bool" or first not in "oO"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def load(path):
    return yaml.load(path.read_text(), Strict)


def test_each_is_there_and_named_in_the_page():
    assert {"github-actions.yml", "gitlab-ci.yml", "kubernetes-job.yaml"} <= {p.name for p in TEMPLATES}
    page = (ROOT / "docs/ci.md").read_text()
    assert all(f"docs/ci/{p.name}" in page for p in TEMPLATES)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: p.name)
def test_it_is_yaml_without_a_doubt(path):
    text = path.read_text()
    assert isinstance(load(path), dict)
    assert "\t" not in text and text.endswith("\n") and not re.search(r" +$", text, re.M)
    # What was not tried on a service says so.
    assert re.search(r"not run there by this project|untested", text, re.I)


def test_the_check_can_fail(tmp_path):
    (tmp_path / "x.yaml").write_text("a: 1\nb: {c: 1, c: 2}\n")
    with pytest.raises(AssertionError, match="stands twice"):
        load(tmp_path / "x.yaml")


def test_github_has_the_rule_for_kvm_before_the_test():
    job = load(ROOT / "docs/ci/github-actions.yml")["jobs"]["test"]
    runs = [step.get("run", "") for step in job["steps"]]
    rule = next(i for i, run in enumerate(runs) if "99-kvm.rules" in run)
    assert 'KERNEL=="kvm", GROUP="kvm", MODE="0666", OPTIONS+="static_node=kvm"' in runs[rule]
    assert rule < next(i for i, run in enumerate(runs) if run.startswith("ringside test"))
    assert all("run" in step or "uses" in step for step in job["steps"])


def test_gitlab_merges_what_its_shards_keep():
    jobs = load(ROOT / "docs/ci/gitlab-ci.yml")
    assert [jobs[name]["stage"] for name in ("shards", "merged")] == jobs["stages"]
    assert jobs["shards"]["artifacts"] == {"when": "always", "paths": ["shard-*"]}
    assert jobs["merged"]["when"] == "always" and jobs["shards"]["allow_failure"] is True


def test_kubernetes_has_as_many_pods_as_shards():
    spec = load(ROOT / "docs/ci/kubernetes-job.yaml")["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == 4
    assert '--shard "$i/4"' in container["args"][0]
    rule = spec["podFailurePolicy"]["rules"][0]["onExitCodes"]
    assert rule["containerName"] == container["name"] and rule["values"] == [1, 2]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"  # which per-index limits ask for
