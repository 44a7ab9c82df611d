# SPDX-License-Identifier: GPL-2.0-or-later
"""'ringside compare --scenario' from its file to its report, over a runner that boots nothing."""

import json
import os
import random
import subprocess
import time

import pytest
from conftest import BUILD, TOP

RINGSIDE = str(BUILD / "ringside")
FAKE = str(BUILD / "tests" / "fake_run")

GROUPS = """title: Two groups
backend: qemu
icount: 3
batches: 5
blocks: 6
seed: 1
groups:
  - name: three
    benches: [syscall.null, ctxsw.pipe.fs]
    arms:
      - {name: plain, arm: "KERNEL,append=plain"}
      - {name: fast, arm: "KERNEL,append=fast"}
      - {name: same, arm: "KERNEL,append=same"}
    claims:
      - text: a switch takes 25 less
        change: -25
        unit: cycles per switch
        hardware: a laptop
        source: a mail
        arm: fast
        bench: switch_to.fsgs@ctxsw.pipe.fs
        floor: fsgsbase.fs
      - text: a switch is dearer than a call
        hardware: a laptop
        source: a mail
        arm: plain
        bench: ctxsw.pipe.fs
        against: syscall.null
        no_floor: they are two things
  - name: two
    benches: [syscall.null]
    blocks: 7
    arms:
      - {name: plain, arm: "KERNEL,append=plain"}
      - {name: fast, arm: "KERNEL,append=fast"}
"""

CALIBRATION = {
    "schema_version": 1, "type": "calibration", "class": "native", "primitives": [],
    "floors": [{"id": "fsgsbase.fs", "unit": "cycles", "value": 20.5, "low": 20, "high": 21,
                "n": 12, "formula": "wrmsr - swapgs", "reason": None}]}


class Scenario:
    def __init__(self, path):
        self.path = path
        self.file = str(path / "s.yaml")
        self.kernel = str(path / "vmlinux")
        self.results = str(path / "r.ndjson")
        self.floors = str(path / "floors.json")
        self.env = dict(os.environ, XDG_CACHE_HOME=str(path / "cache"))
        self.write(GROUPS)
        self.behave("faster=25 noise=0.05")
        with open(self.floors, "w") as f:
            json.dump(CALIBRATION, f)

    def write(self, text):
        with open(self.file, "w") as f:
            f.write(text.replace("KERNEL", self.kernel))

    def behave(self, how):
        with open(self.kernel, "w") as f:
            f.write(how)

    def words(self, *more):
        return [RINGSIDE, "compare", "--scenario", self.file, "--runner", FAKE, "--results",
                self.results, "--calibration", self.floors, *more]

    def run(self, *words):
        return subprocess.run(list(words), env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    def compare(self, *more):
        return self.run(*self.words(*more))

    def lines(self):
        with open(self.results) as f:
            return [json.loads(line) for line in f]


@pytest.fixture
def scenario(tmp_path):
    return Scenario(tmp_path)


def test_every_arm_boots_twice_a_block_and_is_compared_with_the_first(scenario):
    p = scenario.compare("--json", "--jobs", "1")
    assert p.returncode == 0, p.stderr
    plan, floors, *boots = scenario.lines()
    assert floors["type"] == "calibration"
    assert len(boots) == 6 * 6 + 7 * 4
    for planned, boot in zip(plan["boots"], boots):
        append = boot["argv"][boot["argv"].index("--append") + 1]
        group = plan["groups"][planned["group"]]
        assert append == group["arms"]["abc".index(planned["arm"])]["append"]
        assert (boot["group"], boot["block"], boot["arm"]) == (
            planned["group"], planned["block"], planned["arm"])
    for k in range(6):
        order = [b["arm"] for b in plan["boots"][6 * k:6 * k + 6]]
        assert sorted(order[:3]) == ["a", "b", "c"]
        assert order[3:] == order[2::-1]
    report = json.loads(p.stdout)
    shown = {(c["group"], c["arms"]["b"]["label"]): c for c in report["comparisons"]}
    assert list(shown) == [("three", "fast"), ("three", "same"), ("two", "fast")]
    rows = {row["name"]: row for row in shown["three", "fast"]["benchmarks"]}
    assert rows["ctxsw.pipe.fs"]["effect"]["value"] == pytest.approx(-25, abs=0.2)
    rows = {row["name"]: row for row in shown["three", "same"]["benchmarks"]}
    assert rows["switch_to.fsgs@ctxsw.pipe.fs"]["verdict"] == "equivalent"
    assert list({row["name"]: 0 for row in shown["two", "fast"]["benchmarks"]}) == ["syscall.null"]


def test_claims_stand_beside_measurements_and_floors(scenario):
    p = scenario.compare("--json")
    one, two = json.loads(p.stdout)["claims"]
    assert one["claim"]["hardware"] == "a laptop"
    assert one["measured"]["effect"] == pytest.approx(-25)
    assert one["measured"]["percent"] == pytest.approx(100 * -25 / 70)
    assert one["measured"]["percent_of"] == "plain"
    assert one["measured"]["boots_of_each_side"] == 12
    assert (one["floor"]["value"], one["floor"]["unit"]) == (20.5, "cycles")
    assert two["measured"]["effect"] == pytest.approx(900 - 223, abs=0.2)
    assert two["measured"]["percent_of"] == "syscall.null"
    assert two["floor"]["reason"] == "they are two things"
    text = scenario.run(RINGSIDE, "report", scenario.results).stdout
    assert "saves at most 20.50" in text
    assert "a fence, a WRMSR, a SWAPGS and a write to CR3 count as one each" in " ".join(
        text.split())
    assert max(len(line) for line in text.splitlines() if " | " in line) <= 80
    detailed = scenario.run(RINGSIDE, "report", "--details", scenario.results).stdout
    assert "syscall.null: instructions per call, lower is better" in detailed
    assert "B (fast) saves" in " ".join(detailed.split())


def test_killed_by_sigkill_again_and_again_the_report_is_that_of_an_undisturbed_run(scenario):
    scenario.behave("faster=25 noise=0.05 slow=0.1")
    whole = scenario.compare("--jobs", "4")
    assert whole.returncode == 0, whole.stderr
    scenario.results = str(scenario.path / "killed.ndjson")
    rng = random.Random(3)
    for _ in range(6):
        p = subprocess.Popen(scenario.words("--resume", "--jobs", "2"), env=scenario.env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.1, 0.5))
        assert p.poll() is None, "it was done before the kill: make the boots slower"
        p.kill()
        p.wait()
    assert 2 < len(scenario.lines()) < 66
    # By the file alone: the scenario is not needed any more.
    os.unlink(scenario.file)
    end = scenario.run(RINGSIDE, "compare", "--resume", "--results", scenario.results)
    assert (end.returncode, end.stdout) == (whole.returncode, whole.stdout), end.stderr
    boots = [line["slot"] for line in scenario.lines() if line["type"] == "boot"]
    assert sorted(boots) == list(range(64))


def test_without_a_results_file_the_plan_finds_its_own_again(scenario):
    words = [RINGSIDE, "compare", "--scenario", scenario.file, "--runner", FAKE, "--calibration",
             "none", "--blocks", "2"]
    one = scenario.run(*words)
    again = scenario.run(*words, "--resume")
    assert (again.returncode, again.stdout) == (one.returncode, one.stdout)
    assert "going on after 20 of 20 boots" in again.stderr
    scenario.write(GROUPS.replace("seed: 1\n", ""))
    drawn = scenario.run(*words, "--resume")
    assert drawn.returncode == 2
    assert "--resume: which comparison? Give its --results file or its --seed" in drawn.stderr


def test_what_is_given_on_the_command_line_counts_instead_of_the_file(scenario):
    p = scenario.compare("--blocks", "2", "--seed", "9", "--batches", "4", "--icount", "5")
    assert p.returncode == 3, p.stderr
    plan = scenario.lines()[0]
    assert [g["blocks"] for g in plan["groups"]] == [2, 2]
    assert (plan["seed"], plan["batches"], plan["icount"]) == (9, 4, 5)


def test_a_group_whose_guests_fail_is_given_up_and_the_others_go_on(scenario):
    first, second = GROUPS.split("  - name: two")
    scenario.write(first + "  - name: two" + second.replace("append=fast", "append=fine"))
    scenario.behave("panic@fast")
    p = scenario.compare("--json", "--jobs", "1")
    assert p.returncode == 3
    assert "three: 3 boots failed, so the comparison ends here, undecided" in p.stderr
    two = json.loads(p.stdout)["comparisons"][2]
    assert two["blocks"]["complete"] == 7
    assert len([line for line in scenario.lines() if line.get("group") == 1]) == 28


def test_a_group_that_the_backend_cannot_run_is_left_out_by_name(scenario):
    scenario.write(GROUPS.replace("    benches: [syscall.null]\n    blocks: 7",
                                  "    benches: [kvmwalk]\n    blocks: 7"))
    words = scenario.words("--backend", "kvm")
    p = scenario.run(*words)
    assert p.returncode == 0, p.stderr
    assert "warning: two is left out: --bench: kvmwalk needs --backend qemu" in p.stderr
    assert [g["name"] for g in scenario.lines()[0]["groups"]] == ["three"]


def test_floors_are_asked_of_this_host_once_and_kept_in_the_results(scenario):
    words = scenario.words()
    at = words.index("--calibration")
    p = scenario.run(*words[:at], "--blocks", "1")
    kinds = [line["type"] for line in scenario.lines()]
    assert kinds[1] in ("calibration", "no-calibration"), p.stderr
    assert "timing the primitives of this host" in p.stderr
    again = scenario.run(RINGSIDE, "compare", "--resume", "--results", scenario.results)
    assert again.stdout == p.stdout
    assert "timing the primitives" not in again.stderr
    assert [line["type"] for line in scenario.lines()] == kinds


def test_without_floors_the_report_says_why(scenario):
    words = scenario.words()
    words[words.index("--calibration") + 1] = "none"
    p = scenario.run(*words, "--json")
    assert json.loads(p.stdout)["claims"][0]["floor"]["reason"] == (
        "not asked for (--calibration none)")


@pytest.mark.parametrize("words, text", [
    (["--a", "k"], "--scenario names the arms and benchmarks in its file: leave out --a"),
    (["--b", "k"], "leave out --b"),
    (["--aa"], "leave out --aa"),
    (["--bench", "syscall"], "leave out --bench"),
    (["--backend", "kvm", "--icount", "3"], "--icount is QEMU's"),
])
def test_words_that_do_not_go_with_a_scenario_are_refused(scenario, words, text):
    p = scenario.compare(*words)
    assert p.returncode == 2
    assert text in p.stderr
    assert not os.path.exists(scenario.results)


def test_a_wrong_file_is_refused_with_its_place_and_what_is_allowed(scenario):
    scenario.write(GROUPS.replace("    blocks: 7", "    block: 7"))
    p = scenario.compare()
    assert p.returncode == 2
    assert p.stderr == ("ringside: error: %s:32:5: group: 'block' is no key of it; its keys are: "
                        "name, blocks, benches, arms, claims, margin, margins\n" % scenario.file)
    os.unlink(scenario.file)
    p = scenario.compare()
    assert (p.returncode, p.stderr) == (
        4, "ringside: error: %s: No such file or directory\n" % scenario.file)


def test_a_kernel_that_is_not_there_is_named_by_group_and_arm(scenario):
    scenario.write(GROUPS.replace("KERNEL,append=same", "/no/such"))
    p = scenario.compare()
    assert p.returncode == 4
    assert "group three, arm same: --kernel /no/such: No such file or directory" in p.stderr


def test_an_image_that_is_not_built_is_built_first_unless_told_not_to(scenario):
    config = scenario.path / "config"
    config.mkdir()
    build = config / "build"
    # Stands in for the build script: notes its words, and puts an image into the cache.
    build.write_text("#!/bin/sh\n"
                     "[ $1 = --path ] && exit $(cat %s/stale)\n"
                     "echo \"$@\" >>%s/built\n"
                     "for i; do name=$i; done\n"
                     "mkdir -p $XDG_CACHE_HOME/ringside/kernels/by-name/$name\n"
                     "echo noise=1 >$XDG_CACHE_HOME/ringside/kernels/by-name/$name/vmlinux\n"
                     "echo building $name\n" % (scenario.path, scenario.path))
    (scenario.path / "stale").write_text("0")
    build.chmod(0o755)
    scenario.env["RINGSIDE_KERNEL_CONFIG"] = str(config)
    scenario.write(GROUPS.replace("KERNEL,append=same", "nosuch"))
    p = scenario.compare("--no-build")
    assert p.returncode == 4
    assert "group three, arm same: --kernel nosuch: neither a file nor an image" in p.stderr
    assert not (scenario.path / "built").exists()
    p = scenario.compare()
    assert p.returncode in (0, 1, 3), p.stderr
    assert "image nosuch is not built as it is now: it is built first" in p.stderr
    assert "building nosuch" in p.stderr
    assert "building" not in p.stdout
    assert (scenario.path / "built").read_text().split() == ["nosuch"]
    # It is there: built again only where it is of other patches by now.
    os.unlink(scenario.results)
    scenario.compare("--blocks", "1")
    assert (scenario.path / "built").read_text().split() == ["nosuch"]
    os.unlink(scenario.results)
    (scenario.path / "stale").write_text("1")
    scenario.compare("--blocks", "1")
    assert (scenario.path / "built").read_text().split() == ["nosuch", "nosuch"]
    build.write_text("#!/bin/sh\nexit 3\n")
    scenario.write(GROUPS.replace("KERNEL,append=same", "other"))
    p = scenario.compare("--resume")
    assert p.returncode == 4
    assert "'ringside kernel build' failed (status 3); --no-build does without" in p.stderr


@pytest.mark.parametrize("name", sorted(p.name for p in (TOP / "bench/scenarios").glob("*.yaml")))
def test_the_scenarios_of_this_project_are_whole(scenario, name):
    """Each is read and planned; its images are not needed to find that out."""
    p = scenario.run(RINGSIDE, "compare", "--scenario", str(TOP / "bench/scenarios" / name),
                     "--no-build", "--backend", "qemu", "--runner", FAKE, "--results",
                     scenario.results, "--calibration", "none")
    assert p.returncode == 4, p.stderr
    assert "neither a file nor an image in the cache" in p.stderr


def plan_of(path):
    with open(path) as f:
        return json.loads(f.readline())


def test_the_scenario_that_is_printed_makes_the_same_plan(scenario, tmp_path):
    """Of a file; and what is printed of what was printed is the same text."""
    assert scenario.compare("--calibration", "none", "--blocks", "6").returncode == 0
    printed = scenario.compare("--print-scenario", "--blocks", "6")
    assert printed.returncode == 0, printed.stderr
    assert "\n  blocks: 6\n  margin: 0.1,0.1%\n" in printed.stdout
    again = tmp_path / "again.yaml"
    again.write_text(printed.stdout)
    scenario.file, first = str(again), plan_of(scenario.results)
    scenario.results = str(tmp_path / "again.ndjson")
    assert scenario.compare("--print-scenario").stdout == printed.stdout
    assert scenario.compare("--calibration", "none").returncode == 0
    assert plan_of(scenario.results) == first


@pytest.mark.parametrize("more", [["--aa"], ["--b", "KERNEL,append=fast x\\,y"], ["--aa", "3"]])
def test_the_scenario_of_words_makes_the_plan_of_the_words(scenario, tmp_path, more):
    words = ["--a", "KERNEL", *more, "--bench", "syscall,ctxsw.pipe.fs", "--margin", "2,0.35%",
             "--timeout", "1500ms", "--backend", "qemu", "--icount", "3", "--batches", "4",
             "--blocks", "6"]
    words = [RINGSIDE, "compare", *[w.replace("KERNEL", scenario.kernel) for w in words]]
    p = subprocess.run([*words, "--print-scenario", "--runner", FAKE], capture_output=True,
                       text=True, env=scenario.env, check=True)
    seed = next(line.split()[1] for line in p.stdout.splitlines() if line.startswith("seed: "))
    file = tmp_path / "words.yaml"
    file.write_text(p.stdout)
    plans = []
    for i, of in enumerate([[*words, "--runner", FAKE, "--seed", seed],
                            [RINGSIDE, "compare", "--scenario", str(file)]]):
        results = tmp_path / ("%d.ndjson" % i)
        subprocess.run([*of, "--results", str(results)], capture_output=True, env=scenario.env)
        plans.append(plan_of(results))
    assert plans[0] == plans[1]


@pytest.mark.parametrize("words", [["--pilot"], ["--resolve", "1%"], ["--shard", "1/2"]])
def test_what_is_no_whole_comparison_is_not_printed_as_a_scenario(scenario, words):
    p = scenario.compare("--print-scenario", *words)
    assert p.returncode == 2 and p.stdout == ""
    assert "--print-scenario is of a whole comparison" in p.stderr
