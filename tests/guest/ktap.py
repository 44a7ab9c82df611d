# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict reader of KTAP version 1, nested documents included.

What a lenient reader forgives is how a test gets lost: a plan that is not kept, a number that is
missing or comes twice, a document that ends early, a parent that passes over a failed child. Each
is a KtapError that names the line.
"""
import dataclasses
import re

VERSION = "KTAP version 1"
PLAN = re.compile(r"1\.\.(\d+)(?: # SKIP (.*))?")
RESULT = re.compile(r"(ok|not ok) (\d+)(?: (?:- )?([^#]*?))?(?: # ([A-Z]+)(?: (.*))?)?")
DIRECTIVES = {"SKIP", "TODO", "XFAIL", "TIMEOUT", "ERROR"}
INDENT = "  "


class KtapError(Exception):
    pass


@dataclasses.dataclass
class Result:
    """One test: its name, whether it is ok, a directive with its text, and the tests inside it."""
    number: int
    name: str
    ok: bool
    directive: str = ""
    reason: str = ""
    notes: list = dataclasses.field(default_factory=list)
    children: list = dataclasses.field(default_factory=list)

    @property
    def skipped(self):
        return self.directive == "SKIP"

    def leaves(self, path=""):
        """(path, result) of all tests that have none inside."""
        path = f"{path}/{self.name}" if path else self.name
        if not self.children:
            yield path, self
        for child in self.children:
            yield from child.leaves(path)


class _Lines:
    def __init__(self, text):
        if text and not text.endswith("\n"):
            raise KtapError(f"line {len(text.splitlines())}: cut off in the middle of a line")
        self.lines = text.splitlines()
        self.at = 0

    def here(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def error(self, text):
        line = self.here()
        shown = "the output's end" if line is None else f"line {self.at + 1} '{line}'"
        return KtapError(f"{shown}: {text}")


def _document(src, depth):
    """The results of a document whose lines begin with depth indents; stops at its parent's line."""
    indent = INDENT * depth
    line = src.here()
    if line is None or line != indent + VERSION:
        raise src.error(f"expected '{indent}{VERSION}'")
    src.at += 1
    notes, children, results, plan = [], [], [], None
    while True:
        line = src.here()
        if line is None or not line.startswith(indent):
            break
        text = line[len(indent):]
        if text == INDENT + VERSION:
            if plan is None:
                raise src.error("a nested document before the plan")
            if children:
                raise src.error("a second nested document before the result of the first one")
            children = _document(src, depth + 1)
            if not children:
                children = [None]  # it was there, and it was empty
            continue
        if text.startswith(INDENT):
            if text.lstrip().startswith("#"):
                src.at += 1  # said by a test before its document began
                continue
            raise src.error("indented, but in no nested document")
        if text.startswith("#"):
            notes.append(text[1:].strip())
        elif (m := PLAN.fullmatch(text)):
            if plan is not None:
                raise src.error("a second plan")
            if results:
                raise src.error("a plan behind the first result")
            plan = int(m[1])
        elif (m := RESULT.fullmatch(text)):
            if plan is None:
                raise src.error("a result before the plan")
            results.append(_result(src, m, len(results) + 1, plan, notes, children))
            notes, children = [], []
        else:
            raise src.error("neither plan, result, comment nor nested document")
        src.at += 1
    if plan is None:
        raise src.error("a document without a plan")
    if children:
        raise src.error("a nested document without a result behind it")
    if len(results) != plan:
        raise src.error(f"{len(results)} results, {plan} planned")
    return results


def _result(src, m, expected, plan, notes, children):
    ok, number, name, directive, reason = m[1] == "ok", int(m[2]), m[3] or "", m[4] or "", m[5] or ""
    if number != expected:
        raise src.error(f"result {number} where {expected} is due")
    if number > plan:
        raise src.error(f"result {number} of {plan} planned")
    if directive and directive not in DIRECTIVES:
        raise src.error(f"directive {directive} is none of {', '.join(sorted(DIRECTIVES))}")
    if directive == "SKIP" and not (ok and reason):
        raise src.error("a skip has to be 'ok' and to give a reason")
    if directive in ("TIMEOUT", "ERROR") and ok:
        raise src.error(f"ok and {directive}")
    if not name:
        raise src.error("a result without a name")
    if children == [None]:
        raise src.error("its document has no results")
    failed = [c for c in children if not c.ok]
    if ok and failed:
        raise src.error(f"ok, though '{failed[0].name}' inside is not")
    return Result(number, name.strip(), ok, directive, reason, notes, children)


def parse(text):
    """The results of a whole KTAP output. Raises KtapError."""
    src = _Lines(text)
    results = _document(src, 0)
    if src.here() is not None:
        raise src.error("behind the end of the document")
    names = [path for r in results for path, _ in r.leaves()]
    for name in names:
        if names.count(name) > 1:
            raise KtapError(f"two tests are called '{name}'")
    return results
