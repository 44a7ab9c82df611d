# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run tells of itself: --stats, with payloads in the whole machine on this KVM."""
import json

import jsonschema

from test_machine import EOT, TOP, kvm, run  # noqa: F401 (kvm skips where there is none)

SCHEMA = json.loads((TOP / "docs/stats.schema.json").read_text())


def stats_of(tmp_path, payload, *options, stdin=b""):
    file, record = tmp_path / "stats.json", tmp_path / "record.json"
    end = run(payload, "--stats", file, "--json", record, *options, stdin=stdin)
    assert end.returncode == 0, end.stderr.decode()
    stats = json.loads(file.read_text())
    jsonschema.validate(stats, SCHEMA)
    return stats, json.loads(record.read_text())


def places(stats, phase):
    """{"out 0x80": (count, device), ...} of a phase, all vCPUs together."""
    found = {}
    for vcpu in stats["vcpus"]:
        for exits in [x for p in vcpu["phases"] if p["phase"] == phase for x in p["exits"]]:
            place = f"{exits['access']} {exits['address']}" if "access" in exits else exits["reason"]
            found[place] = (found.get(place, (0,))[0] + exits["count"], exits.get("device"))
    return found


def test_exits_stand_by_phase_with_their_devices(tmp_path):
    stats, record = stats_of(tmp_path, "mark")
    assert places(stats, "boot") == {"out 0x80": (2, "mark port")}
    assert places(stats, "job") == {"out 0x80": (4, "mark port"), "out 0xf4": (1, "exit port"),
                                    "write 0xc0000000": (1, "boot timer")}
    assert places(stats, "batch") == {}
    assert record["exits"]["total"] == 8
    ns = {p["phase"]: p["ns"] for p in stats["phases"]}
    assert ns["boot"] > 0 and ns["job"] > 0 and ns["batch"] > 0
    # The rounding of three spans, and what lies between the exit's port and the last vCPU's end.
    whole = record["phases_ns"]["exit"] - record["phases_ns"]["first_run"]
    assert abs(sum(ns.values()) - whole) <= 0.01 * whole + 1000


def test_histograms_hold_every_exit_and_agree_with_least_median_and_most(tmp_path):
    text = b"x" * 2000 + EOT
    stats, record = stats_of(tmp_path, "echo", stdin=text)
    exits = [x for v in stats["vcpus"] for p in v["phases"] for x in p["exits"]]
    assert sum(x["count"] for x in exits) == record["exits"]["total"]
    assert {x["device"] for x in exits if x.get("address") == "0x3f8"} == {"com1"}
    for x in exits:
        counts = [n for _, n in x["histogram_ticks"]]
        assert sum(counts) == x["count"]
        assert x["min_ns"] <= x["median_ns"] <= x["p99_ns"] <= x["max_ns"]
        # The bucket of the median, from the histogram itself; a bucket is 1/32 of its lowest value wide.
        seen, rank = 0, (x["count"] + 1) // 2
        for low, n in x["histogram_ticks"]:
            seen += n
            if seen >= rank:
                break
        low_ns = low * 1e6 / stats["tsc_khz"]
        assert low_ns * 0.98 - 2 <= x["median_ns"] <= low_ns * (1 + 1 / 32) * 1.02 + 2
        assert x["min_ns"] * x["count"] <= x["total_ns"] * 1.01 + 2


def test_kvm_s_own_statistics_are_all_there_with_their_histograms(tmp_path):
    stats, record = stats_of(tmp_path, "mark")
    if stats["vcpus"][0]["kvm"] is None:
        return  # a KVM older than Linux 5.14
    kvm = {**stats["vm"]["kvm"], **stats["vcpus"][0]["kvm"]}
    assert set(kvm) == set(record["kvm_stats"])
    assert len(kvm["halt_wait_hist"]["buckets"]) > 8
    assert kvm["exits"]["type"] == "cumulative"
    assert kvm["exits"]["value"] >= record["exits"]["total"]


def test_the_table_is_for_people_and_sorted_by_time(tmp_path):
    end = run("echo", "--stats", "-", stdin=b"y" * 300 + EOT)
    assert end.returncode == 0
    lines = end.stderr.decode().splitlines()
    start = next(i for i, l in enumerate(lines) if l.startswith("exits to user space: "))
    rows = [l for l in lines[start + 2:] if not l.startswith("vCPU")]
    shares = [float(l.split("%")[0].split()[-1]) for l in rows]
    assert len(rows) >= 3 and shares == sorted(shares, reverse=True)
    assert abs(sum(shares) - 100) < 0.1
    assert any(l.startswith("out 0x3f8") and "com1" in l for l in rows)
    assert lines[-1].startswith("vCPU 0: boot waited ")


def test_a_place_that_cannot_be_written_ends_the_run_before_it_starts():
    end = run("exit", "--stats", "/nowhere/stats.json")
    assert end.returncode == 249
    assert end.stderr.decode() == (
        "ringside: error: --stats /nowhere/stats.json: No such file or directory\n")


def test_a_full_disk_is_told_after_the_run():
    end = run("exit", "--stats", "/dev/full")
    assert end.returncode != 0
    assert "--stats /dev/full: No space left on device" in end.stderr.decode()


def test_qemu_has_no_such_statistics():
    end = run("exit", "--backend", "qemu", "--stats", "-")
    assert end.returncode == 249
    assert "--stats needs --backend kvm" in end.stderr.decode()
