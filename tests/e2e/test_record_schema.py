# SPDX-License-Identifier: GPL-2.0-or-later
"""What compare and run write is what docs/compare-results.schema.json says.

Records of whole boots are held against it where they are made: tests/e2e/test_compare_boots.py,
tests/lab/test_lab_compare.py and tests/firmware/test_calibrate.py.
"""
import copy
import json

import pytest
import record_schema
from conftest import record_of
from test_compare import FAKE, RINGSIDE, Bench
from test_scenario import CALIBRATION, GROUPS


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def plan_of(path):
    """A plan, and what stands behind it but for boots: the fake runner's are none of ringside's."""
    with open(path) as f:
        plan, *rest = map(json.loads, f)
    for line in (plan, *(x for x in rest if x["type"] != "boot")):
        assert record_schema.complaints(line) == []
    return plan, rest


def test_plans_of_words_shards_and_pilots(bench):
    bench.compare()
    assert "shard" not in plan_of(bench.results)[0]
    bench.results += ".shard"
    bench.compare("--shard", "2/3")
    assert plan_of(bench.results)[0]["shards"] == 3
    bench.results += ".sized"
    p = bench.run(RINGSIDE, "compare", "--a", bench.kernel, "--b", f"{bench.kernel},append=fast,cpu=-pcid", "--bench",
                  "syscall.null", "--backend", "qemu", "--icount", "3", "--runner", FAKE, "--jobs", "1", "--seed", "1",
                  "--batches", "5", "--resolve", "2instructions", "--results", bench.results)
    assert p.returncode in (0, 3), p.stderr
    assert plan_of(bench.results)[0]["sizing"]["by"].startswith("--resolve")
    assert plan_of(bench.results + ".pilot")[0]["pilot"] is True


def test_the_noise_floors_of_a_host(bench):
    bench.behave("noise=2")
    for name, how in ("aa", ["--aa", "20"]), ("ab", ["--aa", "1"]):
        bench.results = str(bench.path / name)
        p = bench.run(RINGSIDE, "compare", "--a", bench.kernel, "--bench", "syscall.null", "--blocks", "6", "--backend",
                      "qemu", "--icount", "3", "--runner", FAKE, "--seed", "1", "--batches", "5", "--results", bench.results,
                      *how)
        assert p.returncode in (0, 3), p.stderr
    assert plan_of(str(bench.path / "aa"))[0]["aa"] is True
    floors = [line for line in plan_of(bench.results)[1] if line["type"] == "noise-floor"]
    assert [f["benchmark"] for f in floors[0]["floors"]] == ["syscall.null"]


@pytest.mark.parametrize("calibration", ["none", "file"])
def test_a_plan_with_claims_and_where_their_floors_come_from(bench, calibration):
    file = bench.path / "calibration"
    file.write_text(json.dumps(CALIBRATION))
    scenario = bench.path / "s.yaml"
    scenario.write_text(GROUPS.replace("KERNEL", bench.kernel))
    p = bench.run(RINGSIDE, "compare", "--scenario", str(scenario), "--runner", FAKE, "--no-build", "--matrix", "--calibration",
                  str(file) if calibration == "file" else "none", "--results", bench.results)
    plan, rest = plan_of(bench.results)
    assert [len(g["claims"]) for g in plan["groups"]] == [2, 0], p.stderr
    assert rest[0]["type"] == ("calibration" if calibration == "file" else "no-calibration")


@pytest.mark.parametrize("how", ["crash", "none", "garbage", "partial"])
def test_a_boot_without_a_record(bench, how):
    bench.behave(how)
    bench.compare()
    _, (boot,) = plan_of(bench.results)
    assert record_schema.complaints(boot) == []
    assert boot["outcome"]["kind"] == "internal"


@pytest.mark.parametrize("command, options, kind", [
    (["true"], [], "exit"),
    (["sh", "-c", "echo c >/proc/sysrq-trigger"], [], "panic"),
    (["sleep", "100"], ["--timeout", "15"], "timeout"),
    (["true"], ["--append", "rdinit=/none init=/none"], None),
])
def test_records_of_boots_that_end_in_all_ways(command, options, kind):
    _, record = record_of(*command, options=options)
    assert record_schema.complaints(record) == []
    assert kind in (None, record["outcome"]["kind"])
    record.update(slot=0, group=0, block=0, arm="a")
    assert record_schema.complaints(record) == []


@pytest.fixture(scope="module")
def whole():
    return record_of("true")[1]


@pytest.mark.parametrize("change", [
    lambda r: r.update(schema_version=2),
    lambda r: r.update(slot=0),
    lambda r: r.update(news=1),
    lambda r: r.pop("outcome"),
    lambda r: r["outcome"].update(kind="well"),
    lambda r: r["outcome"].update(status="0"),
    lambda r: r["provenance"].pop("class"),
    lambda r: r["provenance"].update({"class": "fast"}),
    lambda r: r["provenance"]["kernel"].update(sha256="abc"),
    lambda r: r["provenance"]["host"].update(colour="red"),
    lambda r: r["phases_ns"].update(exit=-1),
    lambda r: r["guest"].append({"name": "no type"}),
    lambda r: r["guest"].append({"type": "bench", "name": "x"}),
    lambda r: r["windows"].append({"exits": 0}),
])
def test_the_schema_refuses_what_is_no_record(whole, change):
    record = copy.deepcopy(whole)
    assert record_schema.complaints(record) == []
    change(record)
    assert record_schema.complaints(record, "boot" if "slot" in record else None)


def test_every_field_of_ours_is_described():
    """The objects that list their keys, which are all but what a guest or a kernel names."""
    def objects(node, path):
        if isinstance(node, dict):
            if "properties" in node and "additionalProperties" not in node:
                yield path
            for key, value in node.items():
                yield from objects(value, f"{path}/{key}")
        elif isinstance(node, list):
            for i, value in enumerate(node):
                yield from objects(value, f"{path}/{i}")

    open_ones = {p.split("/")[2] for p in objects(record_schema.SCHEMA["definitions"], "#/d")}
    assert open_ones == {"boot", "guest_line", "agent", "bench", "guest_exit"}
