# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a page: what stands in it, and what a real browser makes of it."""
import hashlib
import html.parser
import json
import pathlib
import re
import resource
import signal
import subprocess

import pytest
from conftest import BUILD, RINGSIDE
from webdriver import Browser

VOID = {"meta", "br"}

# Rectangles of texts in one chart that lie on each other, and what is wider than its place.
LOOK = """
const bad = [];
const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
                       a.top < b.bottom - 1 && b.top < a.bottom - 1;
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([s, r], i) => {
    if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 1)
      bad.push('cut: ' + s);
    texts.slice(i + 1).forEach(([t, q]) => { if (over(r, q)) bad.push('overlap: ' + s + ' / ' + t); });
  });
}
for (const e of document.querySelectorAll('body *'))
  if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' &&
      !e.closest('svg') && !e.matches('.skip')) bad.push('wider than its place: ' + e.tagName + ' ' + e.className);
if (document.documentElement.scrollWidth > innerWidth) bad.push('the page is wider than the window');
return bad;
"""

# The contrast of every text with its ground (WCAG 2).
CONTRAST = """
const lum = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
  return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
const rgb = s => s.match(/[\\d.]+/g).map(Number);
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
let least = 99;
for (const e of document.querySelectorAll('p,h1,h2,h3,a,th,td,dt,dd,figcaption,summary,.v')) {
  const a = lum(rgb(getComputedStyle(e).color)), b = lum(ground(e));
  least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
}
return least;
"""


class Page(html.parser.HTMLParser):
    """Checks that tags close in order, and keeps what the page refers to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.refs, self.ids, self.tags = [], [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "style", "onclick"):
                self.refs.append(value)
            if name == "id":
                self.ids.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Of a comparison whose arms have words that must not become markup."""
    folder = tmp_path_factory.mktemp("html")
    kernel, results, out = folder / "vmlinux", folder / "r.ndjson", folder / "r.html"
    kernel.write_text("faster=25 noise=0.5")
    end = subprocess.run(
        [RINGSIDE, "compare", "--a", f"{kernel},append=x<script>alert(1)</script>&\"'",
         "--b", f"{kernel},append=fast", "--bench", "syscall.null,ctxsw.futex.fs,ctxsw.pipe.fs",
         "--blocks", "6", "--batches", "20", "--seed", "1", "--backend", "qemu", "--icount", "3",
         "--runner", BUILD / "tests/fake_run", "--jobs", "1", "--results", results, "--html", out],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert end.returncode == 0, end.stderr
    return out, results


# Of a claim each way that it can be put, and floors of the host in its unit, in another, and none.
CLAIMS = """    claims:
      - {text: saves a lot, source: s, hardware: h, change: -30, change_to: -20, unit: instructions per call,
         arm: SECOND, bench: syscall.null, floor: fsgsbase.fs}
      - {text: between two numbers, source: s, hardware: h, from: 75.1, to: 67.6, unit: cycles per read,
         of: what it was, arm: SECOND, bench: ctxsw.futex.fs, floor: uaccess.get}
      - {text: as a percentage, source: s, hardware: h, percent: -10, percent_to: -5, of: a switch,
         arm: SECOND, bench: ctxsw.pipe.fs, floor: uaccess.put}
      - {text: a rate, source: s, hardware: h, from: 12400, to: 21000, unit: connections/s, of: what it was,
         arm: SECOND, bench: conn.http, no_floor: none is made for it}
      - {text: nothing in numbers, source: s, hardware: h, arm: SECOND, bench: syscall.fault,
         no_floor: none is made for it}
""".replace("SECOND", "n" * 90)


def floor(name, unit, value, reason=None):
    ends = {"low": value, "high": value} if value is None else {"low": value - 1, "high": value + 1}
    return {"id": name, "unit": unit, "value": value, "n": 12, "formula": "a - b", "reason": reason, **ends}


CALIBRATION = {"schema_version": 1, "type": "calibration", "class": "icount", "unit": "instructions",
               "ticks_per_unit": 8, "ringside": "0.1.0", "host": {"cpu": "c", "kernel": "k"},
               "replicates": 12, "ticks_per_core_cycle": None, "primitives": [],
               "floors": [floor("fsgsbase.fs", "instructions", 28.0), floor("uaccess.get", "cycles", 6.2),
                          floor("uaccess.put", "cycles", None, "ring 0 is interpreted here")]}


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A page with all that makes pages break: names without end, hundreds of rows, a group that failed."""
    folder = tmp_path_factory.mktemp("hard")
    (folder / "k").write_text("faster=25 noise=9")
    (folder / "bad").write_text("panic")
    arms = "".join(f"      - {{name: {c * 90}, arm: '{folder}/k,append={'fast' if c == 'n' else c}'}}\n"
                   for c in "anxyz")
    (folder / "s.yaml").write_text(
        f"title: {'a title of many words ' * 9}\nblocks: 6\nbatches: 12\nseed: 1\ngroups:\n"
        f"  - name: {'g' * 120}\n    benches: [syscall, ctxsw, uaccess, conn]\n    arms:\n{arms}{CLAIMS}"
        f"  - name: all of it fails\n    benches: [syscall]\n    blocks: 1\n    arms:\n"
        f"      - {{name: x, arm: {folder}/bad}}\n      - {{name: y, arm: '{folder}/bad,append=y'}}\n")
    results, out = folder / "r.ndjson", folder / "r.html"
    subprocess.run([RINGSIDE, "compare", "--scenario", folder / "s.yaml", "--backend", "qemu",
                    "--icount", "3", "--runner", BUILD / "tests/fake_run", "--results", results],
                   capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    lines = results.read_text().splitlines()
    plan = lines[0]
    kept = [line for line in lines[1:] if '"calibration"' not in line[:60]]
    results.write_text("\n".join([plan, json.dumps(CALIBRATION, separators=(",", ":")), *kept]) + "\n")
    subprocess.run([RINGSIDE, "report", "--html", out, results], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    return out


def test_a_page_of_many_rows_says_what_failed_and_sets_claims_beside_measurements(hard):
    text = hard.read_text()
    found = Page(text)
    assert all(ref.startswith("#") and ref[1:] in found.ids for ref in found.refs), found.refs
    assert text.count('<th scope="row">') > 100
    assert text.count("no boot has given numbers") == 1
    titles = re.findall(r"<title>(Saving in .*?)</title>", text)
    assert [re.sub(r" -?[\d.]+", " N", title) for title in titles] == [
        "Saving in instructions, claimed N, measured N, floor N",
        "Saving in %, claimed N, measured N",
        "Saving in %, claimed N, measured N",
        "Saving in %, claimed N, measured N"]
    claimed = [float(re.search(r"claimed ([\d.]+)", title).group(1)) for title in titles]
    # 25 of 20 to 30; 75.1 to 67.6; 5 to 10 %; and 21000 a second take 41 % less each than 12400.
    assert claimed == pytest.approx([25, 9.99, 7.5, 40.95], abs=.06)


def test_the_page_is_whole_and_needs_nothing_else(page):
    text = page[0].read_text()
    found = Page(text)
    assert "script" not in found.tags and "link" not in found.tags and "img" not in found.tags
    assert all(ref.startswith("#") and ref[1:] in found.ids for ref in found.refs), found.refs
    assert len(set(found.ids)) == len(found.ids)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;" in text
    assert text.count("<figure>") == text.count('role="img"><title>') >= 3 * 4
    assert hashlib.sha256(page[1].read_bytes()).hexdigest() in text


def test_how_the_samples_of_a_counter_are_spread_is_in_every_form(page):
    text = page[0].read_text()
    assert text.count("<figcaption>Samples of the kernel's counter") == 2
    # Of each boot's 1500 are of 400 to 407 ticks, 498 of 432 to 439, and 2 of up to 9000; an empty
    # pair takes 40, and 8 make a unit.
    assert "24000, their median 45.438, 99 % are below 49.438, the largest 1120.000" in text
    shown = subprocess.run([RINGSIDE, "report", page[1]], capture_output=True, text=True, check=True)
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["their", "median", "71.938", "45.438"] in rows
    assert ["the", "largest", "1120.000", "1120.000"] in rows
    data = json.loads(subprocess.run([RINGSIDE, "report", "--json", page[1]], capture_output=True,
                                     check=True).stdout)
    probe = next(b for b in data["benchmarks"] if b["probe"])
    assert probe["arms"]["b"]["sample_quantiles"] == {"median": 45.4375, "p99": 49.4375, "max": 1120}


def test_a_report_of_the_results_makes_the_same_page(page, tmp_path):
    again = tmp_path / "again.html"
    subprocess.run([RINGSIDE, "report", "--html", again, page[1]], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    assert again.read_bytes() == page[0].read_bytes()


def test_a_page_may_go_to_stdout_in_place_of_the_text(page):
    end = subprocess.run([RINGSIDE, "report", "--html", "-", page[1]], check=True, timeout=60,
                         capture_output=True)
    assert end.stdout == page[0].read_bytes()


def test_a_page_that_cannot_be_written_is_an_error(page):
    end = subprocess.run([RINGSIDE, "report", "--html", "/dev/full", page[1]], check=False,
                         capture_output=True, text=True, timeout=60)
    assert end.returncode == 4
    assert "/dev/full: the page cannot be written: No space left on device" in end.stderr
    end = subprocess.run([RINGSIDE, "report", "--html", "/nowhere/r.html", page[1]], check=False,
                         capture_output=True, text=True, timeout=60)
    assert end.returncode == 4
    assert "/nowhere/r.html: the page cannot be written: No such file or directory" in end.stderr


def test_without_a_boot_there_is_no_page(page, tmp_path):
    plan, out = tmp_path / "plan.ndjson", tmp_path / "r.html"
    plan.write_text(page[1].read_text().splitlines()[0] + "\n")
    end = subprocess.run([RINGSIDE, "report", "--html", out, plan], check=False, capture_output=True,
                         text=True, timeout=60)
    assert end.returncode == 3
    assert "no boot has given numbers: there is nothing to report" in end.stderr
    assert not out.exists()


@pytest.fixture(scope="module")
def browser():
    with Browser() as b:
        yield b


@pytest.mark.parametrize("which", ["page", "hard"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser_nothing_overlaps_is_cut_or_pale(request, browser, which, width, scheme):
    made = request.getfixturevalue(which)
    browser.open(made[0] if which == "page" else made, width, scheme)
    assert browser.run(LOOK) == []
    assert browser.run(CONTRAST) >= 4.5
    dark = browser.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")
    assert browser.complaints() == []


def test_on_paper_it_is_dark_on_light_with_every_value(page, browser):
    browser.open(page[0], 800, "dark")
    browser.devtools("Emulation.setEmulatedMedia", media="print",
                     features=[{"name": "prefers-color-scheme", "value": "dark"}])
    ground, text, seen = browser.run("""const body = getComputedStyle(document.body);
        return [body.backgroundColor, body.color,
                [...document.querySelectorAll('details table')].every(t => t.checkVisibility({contentVisibilityAuto: true}))];""")
    browser.devtools("Emulation.setEmulatedMedia", media="")
    assert (ground, text, seen) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)", True)


def test_by_keyboard_the_skip_link_comes_first_and_each_stop_is_seen(page, browser):
    browser.open(page[0], 1280, "light")
    stops = []
    for _ in range(12):
        browser.devtools("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab",
                         windowsVirtualKeyCode=9)
        browser.devtools("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab",
                         windowsVirtualKeyCode=9)
        stops.append(browser.run("""const e = document.activeElement, r = e.getBoundingClientRect();
            return [e.className, r.width > 0 && r.left >= 0, getComputedStyle(e).outlineStyle];"""))
    assert stops[0][0] == "skip"
    assert all(seen and outline != "none" for _, seen, outline in stops), stops


def test_read_aloud_every_chart_has_a_name_and_every_table_its_heads(page, browser):
    browser.open(page[0], 1280, "light")
    browser.devtools("Accessibility.enable")
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    names = {}
    for node in nodes:
        if not node.get("ignored"):
            names.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    charts = names.get("image", []) + names.get("img", [])
    assert len(charts) >= 12 and all(charts)
    assert len(names["main"]) == 1 and all(names["region"])
    assert len(names["columnheader"]) >= 7 and all(names["columnheader"])
    levels = browser.run("return [...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))


def report(*words, **kw):
    return subprocess.run([RINGSIDE, "report", *words], check=False, capture_output=True, text=True, timeout=60, **kw)


def test_a_page_never_takes_the_place_of_results(page, tmp_path):
    """Neither of those that it is of, nor of others, by whatever name."""
    one, other, link = tmp_path / "one", tmp_path / "other", tmp_path / "link"
    for path in one, other:
        path.write_bytes(page[1].read_bytes())
    link.symlink_to(one)
    for to in one, f"{tmp_path}/./one", link, other:
        end = report("--html", to, one)
        assert (end.returncode, end.stdout) == (2, ""), end.stderr
        assert f"--html {to}: " in end.stderr and "give another name" in end.stderr
    end = report("--merge", "--results", tmp_path / "new", "--html", tmp_path / "new", one)
    assert end.returncode == 2 and not (tmp_path / "new").exists()
    assert one.read_bytes() == other.read_bytes() == page[1].read_bytes()
    link.unlink()
    link.symlink_to(tmp_path / "page")
    (tmp_path / "page").write_text("an older one")
    assert report("--html", link, one).returncode == 0
    assert link.is_symlink() and (tmp_path / "page").read_bytes().startswith(b"<!DOCTYPE")


def test_a_comparison_refuses_such_a_page_before_it_boots(tmp_path):
    kernel, results = tmp_path / "vmlinux", tmp_path / "r.ndjson"
    kernel.write_text("faster=25")
    words = [RINGSIDE, "compare", "--a", kernel, "--b", f"{kernel},append=fast", "--bench", "syscall.null", "--runner",
             BUILD / "tests/fake_run", "--backend", "qemu", "--icount", "3", "--results", results, "--html"]
    end = subprocess.run([*words, results], check=False, capture_output=True, text=True, timeout=60)
    assert end.returncode == 2 and "give another name" in end.stderr
    assert not results.exists()


@pytest.mark.parametrize("more", [[], ["--resolve", "1%"]])
@pytest.mark.parametrize("name", ["vmlinux", "other", "runner", "calibration"])
def test_a_page_never_takes_the_place_of_what_is_booted(tmp_path, name, more):
    for kernel in "vmlinux", "other":
        (tmp_path / kernel).write_text("faster=25")
    (tmp_path / "runner").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "runner").chmod(0o755)
    (tmp_path / "calibration").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    end = subprocess.run(
        [RINGSIDE, "compare", "--a", "vmlinux", "--b", f"{tmp_path}/other", "--bench", "syscall.null", "--runner",
         tmp_path / "runner", "--calibration", "calibration", "--backend", "qemu", "--icount", "3", "--results", "r.ndjson",
         *more, "--html", "link"], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60)
    assert end.returncode == 2 and "--html link: that file is read here" in end.stderr, end.stderr
    assert (tmp_path / name).read_bytes() == before and not (tmp_path / "r.ndjson").exists()


def test_a_page_never_takes_the_place_of_an_included_file(tmp_path):
    (tmp_path / "k").write_text("faster=25")
    (tmp_path / "in.yaml").write_text("groups:\n  - name: g\n    benches: [syscall.null]\n    arms: "
                                      "[{name: a, arm: k}, {name: b, arm: 'k,append=fast'}]\n")
    (tmp_path / "s.yaml").write_text("title: t\nblocks: 6\ninclude: [in.yaml]\n")
    before = (tmp_path / "in.yaml").read_text()
    end = subprocess.run(
        [RINGSIDE, "compare", "--scenario", "s.yaml", "--backend", "qemu", "--icount", "3", "--runner",
         BUILD / "tests/fake_run", "--results", "r", "--html", "in.yaml"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60)
    assert end.returncode == 2 and "--html in.yaml: that file is read here" in end.stderr, end.stderr
    assert (tmp_path / "in.yaml").read_text() == before and not (tmp_path / "r").exists()


def test_a_page_that_does_not_fit_leaves_the_old_one(page, tmp_path):
    old = tmp_path / "old.html"
    old.write_text("the old page")
    old.chmod(0o640)

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    end = report("--html", old, page[1], preexec_fn=small)
    assert end.returncode == 4 and "the page cannot be written: File too large" in end.stderr
    assert old.read_text() == "the old page" and list(tmp_path.iterdir()) == [old]
    assert report("--html", old, page[1]).returncode == 0
    assert old.read_bytes().startswith(b"<!DOCTYPE") and old.stat().st_mode & 0o777 == 0o640
