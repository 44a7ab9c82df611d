# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a page: what stands in it, and what a real browser makes of it."""
import hashlib
import html.parser
import json
import pathlib
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


@pytest.fixture(scope="module")
def browser():
    with Browser() as b:
        yield b


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser_nothing_overlaps_is_cut_or_pale(page, browser, width, scheme):
    browser.open(pathlib.Path(page[0]), width, scheme)
    assert browser.run(LOOK) == []
    assert browser.run(CONTRAST) >= 4.5
    dark = browser.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")
    assert browser.complaints() == []
