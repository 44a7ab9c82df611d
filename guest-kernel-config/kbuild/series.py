# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the patches promise beside applying: no complaint of checkpatch, no new warning, and no changed code
where their options are off. The files that they touch are compiled out of the pristine and the patched tree
with the same configuration, and warnings and objects compared.
"""
import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from .common import CACHE, HERE, Failure, hash_of, holders, run, say
from .objects import Objects
from .source import patched_files

# With line numbers in it no code stays the same below an added line.
WITHOUT_LINES = "# CONFIG_DEBUG_BUGVERBOSE is not set\n"
WARNING = re.compile(r"^([\w./-]+):(?:\d+:)* ?warning: (.*)$", re.MULTILINE)


class Pristine:
    """The unpacked base, as Objects wants a tree: it never changes."""

    def __init__(self, path):
        self.path = path
        self.generation = path.parent.name


class Accepted:
    """series.accepted: what is known and why, a line each: KIND, what it is about, reason."""

    def __init__(self):
        self.rows, self.used = {}, Counter()
        path = HERE / "series.accepted"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            what, _, reason = (part.strip() for part in line.partition(" -- "))
            if not reason or len(what.split()) < 3:
                raise Failure(4, f"{path}:{number}: expected 'KIND FILE WHAT -- REASON': {line}")
            self.rows[what] = (number, reason)

    def take(self, what):
        """Whether a finding is a known one."""
        self.used[what] += 1
        return what in self.rows

    def unused(self):
        return [f"line {number}: {what}" for what, (number, _) in self.rows.items() if not self.used[what]]


def run_checkpatch(pristine, patches):
    """{'checkpatch FILE TYPE COUNT': lines}"""
    all_found = {}
    for p in patches:
        out = subprocess.run(["perl", "scripts/checkpatch.pl", "--strict", "--terse", "--show-types",
                              "--no-summary", "--color=never", str(p)], cwd=pristine,
                             capture_output=True, text=True, check=False)
        lines = [line for line in out.stdout.splitlines() if line.strip()]
        found = {}
        for line in lines:
            m = re.match(r"\S+?:\d+: (?:ERROR|WARNING|CHECK):(\w+): ", line)
            found.setdefault(m[1] if m else "?", []).append(line.removeprefix(f"{p.parent}/"))
        for kind, each in found.items():
            all_found[f"checkpatch {p.name} {kind} {len(each)}"] = each
        if out.returncode not in (0, 1) or (out.returncode and not lines):
            raise Failure(4, f"checkpatch.pl failed on {p.name}: {out.stderr.strip()}")
    return all_found


def own_symbols(patches):
    """The options that the patches bring."""
    text = "".join(p.read_text() for p in patches)
    return sorted(set(re.findall(r"^\+(?:menu)?config (\w+)$", text, re.MULTILINE)))


def touched_sources(patches, tree):
    """
    The .c and .S files that the patches touch, and those beside a touched header that include it by its
    bare name.
    """
    found = set()
    for name in {n for p in patches for n in patched_files(p)}:
        path = tree / name
        if not path.is_file():
            continue
        if path.suffix in (".c", ".S"):
            found.add(name)
        elif path.suffix == ".h":
            for other in path.parent.iterdir():
                if other.suffix in (".c", ".S") and f'#include "{path.name}"' in other.read_text():
                    found.add(other.relative_to(tree).as_posix())
    return sorted(found)


def target_of(name):
    """What make builds of a source, and what of it can be compared."""
    if name.endswith("/asm-offsets.c"):
        return "prepare", "include/generated/asm-offsets.h"
    return name[:name.rindex(".")] + ".o", name[:name.rindex(".")] + ".o"


def configure(image, objects, make, settings):
    run(make + ["tinyconfig"])
    with (objects.path / ".config").open("a") as out:
        for f in image.fragments:
            out.write(f.read_text())
        out.write(WITHOUT_LINES)
        for symbol, on in settings.items():
            out.write(f"CONFIG_{symbol}=y\n" if on else f"# CONFIG_{symbol} is not set\n")
    run(make + ["olddefconfig"])


def warnings_of(text):
    """Warnings without the numbers that an added line changes."""
    found = Counter()
    for name, what in WARNING.findall(text):
        found[f"{name} {re.sub(r'[+]0x[0-9a-f]+', '', what)}"] += 1
    return found


def digest(path):
    """
    Code and data of an object. Names of local symbols hold a running number that every macro that makes
    one moves on.
    """
    if path.suffix != ".o":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    out = subprocess.run(["objdump", "-s", "-r", str(path)], capture_output=True, text=True, check=True,
                         env={**os.environ, "LC_ALL": "C"}).stdout
    out = out.split("\n", 2)[2]  # the file's name
    out = re.sub(r"(__UNIQUE_ID_\w*?)\d+", r"\1", out)
    out = re.sub(r"Contents of section \.comment:\n(?: .*\n)*", "", out)
    return hashlib.sha256(out.encode()).hexdigest()


def compile_files(image, objects, jobs, names, settings):
    """Warnings of the files compiled now, a digest of every one that is there, and the errors."""
    make = objects.make(jobs)
    configure(image, objects, make, settings)
    # Apart: kbuild makes targets of two kinds one by one, and ends at the first that fails.
    prepared = run(make + ["W=1", "prepare"])
    targets = sorted({target_of(name)[0] for name in names} - {"prepare"})
    r = subprocess.run([*make, "-k", "W=1", *(targets or ["prepare"])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, stdin=subprocess.DEVNULL, check=False, **holders())
    errors = [line for line in r.stdout.splitlines() if re.search(r"error:|Error \d|\*\*\*", line)]
    results = {name: objects.path / target_of(name)[1] for name in names}
    said = (prepared + r.stdout).replace(f"{objects.tree.path}/", "").replace(f"{objects.path}/", "")
    code = {name: digest(path) for name, path in results.items() if path.is_file()}
    return warnings_of(said), code, (errors or ["make failed"]) if r.returncode else []


def forget_objects(objects, names):
    """So that each is compiled, and says its warnings."""
    for name in names:
        (objects.path / target_of(name)[1]).unlink(missing_ok=True)
        (objects.path / "arch/x86/kernel/asm-offsets.s").unlink(missing_ok=True)


def compare(image, tree, home, jobs):
    """
    {"warnings": {setting: [new ones]}, "differ": [files whose code is not the base's with all options
    off], "same": [...], "new": [files that only the series has], "left_out": [files of the base that are not
    of this configuration: they do not compile in the base]}
    """
    symbols = own_symbols(image.patches)
    names = touched_sources(image.patches, tree.path)
    old = [name for name in names if (tree.pristine / name).is_file()]
    before = Objects(home, "check-base", Pristine(tree.pristine))
    before.begin()
    forget_objects(before, old)
    say(f"compiling {len(old)} files of the base that the series touches, with W=1")
    base_warnings, base_code, errors = compile_files(image, before, jobs, old, {})
    before.finish()
    if old and not base_code:
        raise Failure(1, "nothing of the base compiles:\n" + "\n".join(errors[:20]))
    left_out = [name for name in old if name not in base_code]
    names = [name for name in names if name not in left_out]
    old = [name for name in names if name in base_code]

    after = Objects(home, "check-series", tree)
    after.begin()
    forget_objects(after, names)
    everything = {symbol: True for symbol in symbols}
    variants = [("every option on", everything)]
    variants += [(f"{symbol} off", {**everything, symbol: False}) for symbol in symbols]
    variants.append(("every option off", {symbol: False for symbol in symbols}))
    warnings, code = {}, {}
    for text, settings in variants:
        say(f"compiling {len(names)} files of the series, {text}")
        wanted = names if text == variants[0][0] else old
        found, code, errors = compile_files(image, after, jobs, wanted, settings)
        if errors:
            after.finish()
            raise Failure(1, f"the files that the series touches do not compile, {text}:\n"
                          + "\n".join(errors[:20]))
        warnings[text] = sorted((found - base_warnings).elements())
    after.finish()
    return {"warnings": warnings, "left_out": left_out, "new": sorted(set(names) - set(old)),
            "differ": sorted(name for name in old if code.get(name) != base_code.get(name)),
            "same": sorted(name for name in old if name in code and code[name] == base_code.get(name))}


def compare_cached(image, tree, home, jobs):
    """The same, computed once for these sources, this compiler, configuration and script."""
    scripts = sorted(Path(__file__).parent.glob("*.py"))
    how = hash_of((f.name, f.read_bytes()) for f in [*scripts, *image.fragments])
    cached = CACHE / "checks" / f"{image.series_key()}-{how}.json"
    try:
        return json.loads(cached.read_text())
    except (OSError, ValueError):
        pass
    result = compare(image, tree, home, jobs)
    cached.parent.mkdir(exist_ok=True)
    for other in cached.parent.iterdir():
        other.unlink()
    tmp = cached.with_suffix(".tmp")
    tmp.write_text(json.dumps(result, indent=1) + "\n")
    tmp.replace(cached)
    return result
