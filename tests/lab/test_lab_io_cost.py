# SPDX-License-Identifier: GPL-2.0-or-later
"""What virtio requests take in instructions, ringside against QEMU's microvm, both on the lab's KVM."""
import json
import os
import pathlib
import statistics
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 900
REPEATS = 5
# No request is done for less: the guest's own system call, an exit and an interrupt are in each.
LEAST = 5_000


def test_no_request_takes_more_instructions_than_with_qemus_microvm(tmp_path):
    end = subprocess.run(
        [TOP / "tools/lab", "--icount", "3", "--rw", tmp_path, "--", TOP / "bench/vmm/io", "--assert",
         "--boots", "1", "--repeats", str(REPEATS), "--json", tmp_path / "io.json"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        cwd=TOP, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert end.returncode == 0, end.stdout + end.stderr
    r = json.loads((tmp_path / "io.json").read_text())
    assert r["class"]["name"] == "icount"
    assert sorted(r["rows"]) == ["console", "lines", "packet", "packet1400", "read4k", "write64k"]
    for row, seen in r["rows"].items():
        for numbers in seen.values():
            assert len(numbers) == REPEATS
            assert min(numbers) > LEAST, (row, numbers)
        ours, theirs = (statistics.median(seen[name]) for name in ("ringside", "qemu"))
        assert ours <= theirs, (row, seen)
