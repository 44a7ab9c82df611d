# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run tells of itself: --stats, with payloads in the whole machine on this KVM."""
import json
import re

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


def least_of_fifteen(measure, limit):
    """How far two clocks are apart where nobody had to wait for a processor between them, or first
    no more than the limit: other programs can only add to it."""
    least = measure()
    for _ in range(14):
        if least <= limit:
            break
        least = min(least, measure())
    return least


def test_exits_stand_by_phase_with_their_devices(tmp_path):
    # What lies between the exit's port and the last vCPU's end.
    assert least_of_fifteen(lambda: exits_and_times_of_phases(tmp_path), 0) <= 0


def exits_and_times_of_phases(tmp_path):
    """By how much the phases' times are less or more than the whole, past what they may be."""
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
    return abs(sum(ns.values()) - whole) - (0.01 * whole + 1000)


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


def trace_of(tmp_path, payload, *options, stdin=b""):
    file = tmp_path / "trace.json"
    end = run(payload, "--trace", file, *options, stdin=stdin)
    assert end.returncode == 0, end.stderr.decode()
    events = json.loads(file.read_text())
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert events[-1]["name"] == "trace_dropped"
    for e in events:
        assert e["pid"] == 1 and e["tid"] in tracks
        assert e["ph"] in "MXiC"
        assert e["ph"] == "M" or e["ts"] >= 0
    by_track = {name: [e for e in events if tracks[e["tid"]] == name and e["ph"] != "M"]
                for name in tracks.values()}
    for told in by_track.values():
        check_order([e for e in told if e["ph"] == "X"])
        check_order([e for e in told if e["ph"] == "i"])
    return by_track, events[-1]["args"]["events"]


def check_order(events):
    """A track's events stand in the order in which they ended, and spans lie in each other or apart."""
    ends = [round(e["ts"] * 1000) + round(e.get("dur", 0) * 1000) for e in events]
    assert ends == sorted(ends)
    open_until = []
    for e in sorted(events, key=lambda e: (e["ts"], -e.get("dur", 0))):
        start, end = round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e.get("dur", 0) * 1000)
        while open_until and open_until[-1] <= start:
            open_until.pop()
        assert not open_until or end <= open_until[-1]
        open_until.append(end)


def test_a_trace_has_exits_marks_phases_and_the_batch(tmp_path):
    assert least_of_fifteen(lambda: marks_phases_and_batch(tmp_path), 500) <= 500


def marks_phases_and_batch(tmp_path):
    """How far the batch lies from its marks."""
    tracks, dropped = trace_of(tmp_path, "mark")
    assert dropped == 0
    vcpu = tracks["vcpu0"]
    assert [e["args"]["code"] for e in vcpu if e["name"] == "mark"] == [
        0x40, 0x41, 0x41, 0x80, 0x81, 0x82, 0xff]
    exits = [(e["name"], e["args"]["address"]) for e in vcpu if e["ph"] == "X" and e["name"] != "run"]
    assert exits == [("out", 0x80), ("out", 0x80), ("write", 0xc0000000)] + [("out", 0x80)] * 4 + [("out", 0xf4)]
    life = [e for e in vcpu if e["name"] == "run"]
    # The loop's thread tells its counters, which may be before it runs.
    assert len(life) == 1 and all(e["ts"] >= life[0]["ts"] for e in vcpu if e["ph"] != "C")
    phases = {e["name"]: e for e in tracks["phases"]}
    assert set(phases) == {"boot", "job"}
    end_of_boot = phases["boot"]["ts"] + phases["boot"]["dur"]
    assert abs(end_of_boot - phases["job"]["ts"]) < 0.01
    batch, = tracks["batches"]
    opened = next(e for e in vcpu if e["name"] == "mark" and e["args"]["code"] == 0x80)
    closed = next(e for e in vcpu if e["name"] == "mark" and e["args"]["code"] == 0x81)
    # The marks are told a little after the guest's clock was read for the batch.
    return max(abs(opened["ts"] - batch["ts"]), batch["dur"] - (closed["ts"] - opened["ts"]))


def test_a_trace_has_every_byte_of_the_serial_line(tmp_path):
    record = tmp_path / "record.json"
    tracks, dropped = trace_of(tmp_path, "echo", "--json", record, stdin=b"z" * 5000 + EOT)
    # The loop's thread writes the trace; where it has to wait for a processor a ring gets full.
    told = [e for e in tracks["vcpu0"] if e["ph"] == "X" and e["name"] != "run"]
    total = json.loads(record.read_text())["exits"]["total"]
    assert total - dropped <= len(told) <= total
    assert dropped or len(told) == total
    bursts = [e for e in tracks["loop"] if e["name"] == "com1"]
    assert sum(e["args"]["bytes"] for e in bursts) == 5000 + len("ready\n")
    writes = [e for e in tracks["vcpu0"] if e["name"] == "out" and e["args"]["address"] == 0x3f8]
    assert len(writes) + dropped >= 5000


def test_a_trace_that_cannot_be_written_is_told():
    end = run("exit", "--trace", "/dev/full")
    assert end.returncode != 0
    assert "--trace /dev/full: No space left on device" in end.stderr.decode()
    end = run("exit", "--backend", "qemu", "--trace", "/dev/null")
    assert end.returncode == 249
    assert "--trace needs --backend kvm" in end.stderr.decode()


def test_lines_of_the_console_have_the_time_at_which_they_began(tmp_path):
    file = tmp_path / "console"
    assert run("report_selftest", "--console", file).returncode == 1
    plain = file.read_bytes()
    assert run("report_selftest", "--console", file, "--console-stamps").returncode == 1
    stamped = file.read_bytes().splitlines(keepends=True)
    times = [float(line[1:13]) for line in stamped]
    assert all(line[:1] == b"[" and line[13:15] == b"] " for line in stamped)
    assert b"".join(line[15:] for line in stamped) == plain
    assert times == sorted(times) and 0 < times[0] <= times[-1] < 60


def test_stamps_need_a_file_of_their_own():
    end = run("exit", "--console-stamps")
    assert end.returncode == 249
    assert "--console-stamps needs --console FILE" in end.stderr.decode()


def test_debug_areas_say_what_goes_on_there_and_nothing_else():
    end = run("unclaimed", "--debug", "bus,kvm")
    lines = [l for l in end.stderr.decode().splitlines() if l.startswith("ringside: [")]
    areas = {l.split("] ")[1].split(":")[0] for l in lines}
    assert areas == {"bus", "kvm"}
    assert run("exit", "--debug", "nonsense").stderr.decode() == (
        "ringside: error: --debug: there is no area 'nonsense'; --debug help lists them\n")
    assert b"virtio" in run("exit", "--debug", "help").stdout
    assert b"\nringside: [" not in b"\n" + run("unclaimed").stderr


def test_the_environment_is_the_default_of_debug(monkeypatch):
    monkeypatch.setenv("RINGSIDE_DEBUG", "load")
    assert b"] load: " in run("exit").stderr
    other = run("exit", "--debug", "run").stderr
    assert b"] run: " in other and b"] load: " not in other
    monkeypatch.setenv("RINGSIDE_DEBUG", "what")
    end = run("exit")
    assert end.returncode == 249 and b"RINGSIDE_DEBUG: there is no area 'what'" in end.stderr


def test_every_area_that_is_listed_is_used_and_the_other_way_round():
    listed = {l.split()[0] for l in run("exit", "--debug", "help").stdout.decode().splitlines()}
    used = {name for file in (TOP / "src").rglob("*.c")
            for name in re.findall(r'log_debug(?:_few)?\((?:[^"]*,)?\s*"(\w+)"', file.read_text())}
    assert listed == used
