#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Between a corpus as it is kept (an input a line, hexadecimal) and libFuzzer's folder of files.

usage: corpus.py expand CORPUS.hex FOLDER    one file for each line
       corpus.py collect FOLDER CORPUS.hex   one line for each file, shortest first; remarks stay
"""
import hashlib
import pathlib
import sys


def inputs(text):
    for line in text.splitlines():
        data = line.split("#")[0].strip()
        if data:
            yield bytes.fromhex(data)


def expand(corpus, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs(corpus.read_text()):
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def collect(folder, corpus):
    remarks = [line for line in corpus.read_text().splitlines() if line.startswith("#")]
    found = {path.read_bytes() for path in folder.iterdir()}
    lines = [data.hex() for data in sorted(found, key=lambda data: (len(data), data)) if data]
    corpus.write_text("\n".join(remarks + lines) + "\n")


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("expand", "collect"):
        sys.exit(__doc__)
    {"expand": expand, "collect": collect}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))


main()
