# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of a comparison's report, each read by what reads such a form: Go's benchstat, CSV, Markdown, XML."""
import csv
import fcntl
import io
import json
import os
import pty
import re
import statistics
import struct
import subprocess
import termios
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import BUILD, RINGSIDE

# A label that has something in it for each of them.
LABEL = "fast|new `x`, \"y\"; <b>é</b> *z*"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    (folder / "k").write_text("faster=25 noise=0.5")
    (folder / "s.yaml").write_text(
        "title: forms\nblocks: 6\nbatches: 5\nseed: 1\ngroups:\n"
        "  - name: first\n    benches: [syscall.null, ctxsw.futex.fs]\n    arms:\n"
        f"      - {{name: old, arm: {folder}/k}}\n"
        f"      - {{name: {json.dumps(LABEL, ensure_ascii=False)}, arm: '{folder}/k,append=fast'}}\n"
        f"      - {{name: same, arm: '{folder}/k,append=x'}}\n")
    path = folder / "r.ndjson"
    end = subprocess.run(
        [RINGSIDE, "compare", "--scenario", folder / "s.yaml", "--backend", "qemu", "--icount", "3",
         "--runner", BUILD / "tests/fake_run", "--results", path],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert end.returncode in (0, 3), end.stderr
    return path


def report(results, *words, **env):
    return subprocess.run([RINGSIDE, "report", *words, results], capture_output=True, timeout=60,
                          check=False, env={**os.environ, **env}).stdout


def rows_of(results):
    """(letter of the arm, benchmark): the row, from JSON."""
    data = json.loads(report(results, "--json"))
    return {(r["arms"]["b"]["label"], b["name"]): b for r in data["comparisons"] for b in r["benchmarks"]}


def read_go(text):
    """Go's benchmark format (golang.org/design/14313-benchmark-format), anything else is refused."""
    config, found = {}, []
    for line in text.splitlines():
        if line.startswith("Benchmark"):
            name, iterations, *pairs = line.split()
            assert len(name) > 9 and not name[9].islower(), line
            assert int(iterations) >= 1 and len(pairs) >= 2 and len(pairs) % 2 == 0, line
            values = {unit: float(value) for value, unit in zip(pairs[::2], pairs[1::2])}
            assert len(values) == len(pairs) // 2, line
            found.append((dict(config), name, values))
        elif line.strip():
            key, colon, value = line.partition(":")
            assert colon and key and key[0].islower() and not re.search(r"\s", key), line
            assert not any(c.isupper() for c in key), line
            config[key] = value.strip()
    return found


def test_go_benchmarks_have_every_boot_once_under_its_arm(results):
    boots = {}
    for config, name, values in read_go(report(results, "--gobench").decode()):
        assert config["group"] == "first" and config["class"] == "icount"
        assert list(values) == ["instructions/op"]
        boots.setdefault((config["arm"], name.removeprefix("Benchmark").lower()), []).append(values["instructions/op"])
    rows = rows_of(results)
    assert len(boots) == 9 and all(len(values) == 12 for values in boots.values())
    for (label, name), row in rows.items():
        assert statistics.median(boots[label, name]) == pytest.approx(row["arms"]["b"]["median"], abs=1e-3)
        assert statistics.median(boots["old", name]) == pytest.approx(row["arms"]["a"]["median"], abs=1e-3)


def test_csv_has_the_rows_of_json(results):
    text = report(results, "--csv").decode()
    table = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    rows = rows_of(results)
    assert len(table) == len(rows) == 6
    for row in table:
        same = rows[row["b"], row["benchmark"]]
        assert None not in row and None not in row.values()
        assert row["verdict"] == same["verdict"]
        assert float(row["effect"]) == pytest.approx(same["effect"]["value"], abs=1e-9)


CONTROLS = "\u202e\u2066\u200f\u061c\u2028\ufeff\x9b\x1b\x7f\x07"


def test_what_a_terminal_obeys_or_turns_text_round_is_in_no_form(tmp_path):
    """Whichever text of a scenario it stands in: nobody sees another claim than there is."""
    (tmp_path / "k\u202e\x9b").write_text("faster=25 noise=0.5")

    def text(word):
        return f"{word}{CONTROLS}é"

    claim = {key: text(key) for key in ("text", "source", "hardware", "unit", "of", "no_floor", "note")}
    claim |= {"arm": text("b"), "bench": "syscall.null", "from": 1, "to": 2}
    arms = [{"name": text(letter), "arm": f"k\u202e\x9b,append=x{letter}\u202e"} for letter in "abc"]
    scenario = {"title": text("title"), "blocks": 6, "batches": 5, "seed": 1, "matrix": "yes", "groups": [
        {"name": text("group"), "benches": ["syscall.null"], "arms": arms, "claims": [claim]}]}
    (tmp_path / "s.yaml").write_text(json.dumps(scenario))
    ran = subprocess.run(
        [RINGSIDE, "compare", "--scenario", "s.yaml", "--backend", "qemu", "--icount", "3", "--runner",
         BUILD / "tests/fake_run", "--results", "r", "--gate"],
        cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert ran.returncode in (0, 3), ran.stderr
    said = [ran.stdout, ran.stderr]
    for form in ([], ["--details"], ["--csv"], ["--json"], ["--gobench"], ["--markdown"], ["--junit"], ["--github"],
                 ["--html", "-"]):
        end = subprocess.run([RINGSIDE, "report", *form, "--gate", "r"], cwd=tmp_path, capture_output=True, timeout=60,
                             check=False)
        assert end.stdout and end.returncode == ran.returncode, end.stderr
        # JSON has no escape for DEL in what this is written with, and terminals pass over it.
        said += [end.stdout.replace(b"\x7f", b"") if form == ["--json"] else end.stdout, end.stderr]
    for output in said:
        assert not set(CONTROLS) & set(output.decode()), output.decode()
    data = json.loads(report(tmp_path / "r", "--json"))
    assert data["claims"][0]["claim"]["text"] == text("text")


def cells(line):
    assert line.startswith("|") and line.endswith("|")
    return re.split(r"(?<!\\)\|", line)[1:-1]


def test_tables_of_markdown_are_rectangular_and_hold_no_markup_of_the_labels(results):
    text = report(results, "--markdown").decode()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert len(tables) == 2
    for table in tables:
        head, rule, *rows = [cells(line) for line in table.splitlines()]
        assert all(re.fullmatch(r" ?:?-+:? ?", cell) for cell in rule)
        assert len(rows) == 3 and all(len(row) == len(head) == len(rule) for row in rows)
    assert "<b>" not in text and "fast|" not in text and "*z*" not in text


def test_junit_is_xml_with_a_case_for_each_row(results):
    root = ElementTree.fromstring(report(results, "--junit"))
    assert len(list(root.iter("testcase"))) == 6


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "C.UTF-8", "nonsense"])
def test_no_locale_changes_a_byte(results, locale):
    for form in ([], ["--csv"], ["--json"], ["--gobench"], ["--markdown"], ["--html", "-"]):
        assert report(results, *form, LC_ALL=locale, LANG=locale) == report(results, *form, LC_ALL="C.UTF-8")


def on_terminal(results, columns, *words, **env):
    """What comes out on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    text = b""
    with subprocess.Popen([RINGSIDE, "report", *words, results], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **env}):
        os.close(theirs)
        while True:
            try:
                text += os.read(ours, 65536)
            except OSError:
                break  # its other end is closed
    os.close(ours)
    return text.decode()


def letters_of(text):
    """Its letters in their order: a word that no line holds is cut."""
    return "".join(re.sub(r"\x1b\[\d+m", "", text).split())


@pytest.mark.parametrize("details", [[], ["--details"]])
@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_a_terminal_of_any_width_gets_every_letter_and_no_line_too_long(results, columns, details):
    text = on_terminal(results, columns, *details)
    plain = re.sub(r"\x1b\[\d+m", "", text)
    assert max(len(line) for line in plain.splitlines()) <= min(columns, 80)
    assert letters_of(text) == letters_of(report(results, *details).decode())
    assert "\x1b[32mbetter\x1b[0m" in text


def test_no_color_is_heeded_and_a_pipe_is_never_coloured(results):
    assert "\x1b" not in on_terminal(results, 80, NO_COLOR="1")
    assert "\x1b" not in on_terminal(results, 80, TERM="dumb")
    assert b"\x1b" not in report(results)
