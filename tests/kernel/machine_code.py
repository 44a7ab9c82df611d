# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of a built kernel as it runs: what the kernel patches into itself at boot is patched here too.

A vmlinux holds NOPs and jumps where the boot puts the instructions that the CPU has (.altinstructions),
returns (.return_sites) and, later, switched-on branches (__jump_table). `Kernel` does the same to the bytes
of a function, and objdump then says what they are. `Kernel.path()` follows the instructions that run when
nothing goes wrong, so that they can be counted. Formats: arch/x86/include/asm/alternative.h and
include/linux/jump_label.h of 6.12.
"""
import re
import struct
import subprocess
import tempfile
from typing import NamedTuple

# arch/x86/include/asm/cpufeatures.h of 6.12
FEATURES = {"rdtscp": 1 * 32 + 27, "smap": 9 * 32 + 20, "lfence": 20 * 32 + 2}
EVERYTHING = frozenset(FEATURES)

ALT_FLAG_NOT = 1
NOPS = {  # arch/x86/include/asm/nops.h: one instruction for each length
    1: "90", 2: "6690", 3: "0f1f00", 4: "0f1f4000", 5: "0f1f440000", 6: "660f1f440000",
    7: "0f1f8000000000", 8: "0f1f840000000000",
}


class Instruction(NamedTuple):
    address: int
    mnemonic: str
    operands: str

    def target(self):
        """Where a direct branch goes, or None."""
        m = re.match(r"(?:0x)?([0-9a-f]+)\b", self.operands)
        return int(m[1], 16) if m and self.mnemonic[0] in "jc" else None

    def is_nop(self):
        return self.mnemonic.startswith("nop") or self.operands == "%ax,%ax"

    def __str__(self):
        return f"{self.mnemonic} {self.operands}".rstrip()


class Function(NamedTuple):
    name: str
    address: int
    size: int


class Kernel:
    """One vmlinux. @features are those of FEATURES that the CPU is to have."""

    def __init__(self, path, features=EVERYTHING):
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.path_name = path
        self.features = {FEATURES[f] for f in features}
        self._read_sections()
        self._read_symbols()
        self._read_patch_sites()
        self._listings = {}

    # What is in the file

    def _read_sections(self):
        shoff, = struct.unpack_from("<Q", self.bytes, 0x28)
        entsize, count, names = struct.unpack_from("<HHH", self.bytes, 0x3a)
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, shoff + i * entsize) for i in range(count)]
        at = rows[names][4]
        self.sections = {}
        for row in rows:
            start = at + row[0]
            name = self.bytes[start:self.bytes.index(b"\0", start)].decode()
            self.sections[name] = {"address": row[3], "offset": row[4], "size": row[5], "link": row[6]}
        self._by_link = [(r[4], r[5]) for r in rows]

    def _read_symbols(self):
        table = self.sections[".symtab"]
        strings = self._by_link[table["link"]][0]
        self.functions, self.objects, self.names = {}, {}, {}
        for at in range(table["offset"], table["offset"] + table["size"], 24):
            name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", self.bytes, at)
            start = strings + name
            text = self.bytes[start:self.bytes.index(b"\0", start)].decode()
            if info & 15 == 2 and size:
                self.functions.setdefault(text, []).append(Function(text, value, size))
                self.names.setdefault(value, text)
            elif info & 15 == 1:
                self.objects[text] = value

    def read(self, address, size):
        for s in self.sections.values():
            if s["address"] and s["address"] <= address and address + size <= s["address"] + s["size"]:
                at = s["offset"] + address - s["address"]
                return self.bytes[at:at + size]
        raise KeyError(f"{self.path_name}: nothing at {address:#x}")

    def _table(self, name, size):
        s = self.sections[name]
        for at in range(0, s["size"], size):
            yield s["address"] + at, self.bytes[s["offset"] + at:s["offset"] + at + size]

    def _read_patch_sites(self):
        self.alternatives, self.returns, self.branches = [], [], []
        for at, entry in self._table(".altinstructions", 14):
            instr, repl, feature, flags, length, repl_length = struct.unpack("<iiHHBB", entry)
            self.alternatives.append((at + instr, at + 4 + repl, feature, flags, length, repl_length))
        for at, entry in self._table(".return_sites", 4):
            self.returns.append(at + struct.unpack("<i", entry)[0])
        start, end = (self._marker(f"__{edge}___jump_table") for edge in ("start", "stop"))
        for at in range(start, end, 16):
            code, target, key = struct.unpack("<iiq", self.read(at, 16))
            self.branches.append((at + code, at + 4 + target, (at + 8 + key) & ~3))

    def _marker(self, name):
        out = subprocess.run(["nm", self.path_name], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf"^([0-9a-f]+) . {name}$", out, re.M)[1], 16)

    # What the boot makes of it

    def _patch(self, code, base, keys):
        def put(address, data):
            if base <= address and address + len(data) <= base + len(code):
                code[address - base:address - base + len(data)] = data

        longest = {}
        for site, _, _, _, length, _ in self.alternatives:
            longest[site] = max(length, longest.get(site, 0))
        for site, repl, feature, flags, _, repl_length in self.alternatives:
            if not base <= site < base + len(code):
                continue
            length = longest[site]
            if (feature in self.features) == bool(flags & ALT_FLAG_NOT):
                data = code[site - base:site - base + length]
            else:
                data = bytearray(self.read(repl, repl_length)) + b"\x90" * (length - repl_length)
                if repl_length == 5 and data[0] in (0xe8, 0xe9):
                    offset, = struct.unpack_from("<i", data, 1)
                    struct.pack_into("<i", data, 1, offset + repl - site)
            put(site, _join_nops(data))
        for site in self.returns:
            put(site, b"\xc3\xcc\xcc\xcc\xcc")
        for site, target, key in self.branches:
            if key in keys and base <= site < base + len(code):
                short = code[site - base] == 0x66
                put(site, struct.pack("<Bb", 0xeb, target - site - 2) if short
                    else struct.pack("<Bi", 0xe9, target - site - 5))

    def function(self, name):
        found = self.functions.get(name, [])
        if len(found) != 1:
            raise KeyError(f"{self.path_name}: {len(found)} functions {name}")
        return found[0]

    def matching(self, pattern):
        return sorted(n for n in self.functions if re.fullmatch(pattern, n))

    def code(self, name, keys=()):
        """The bytes of a function as it runs; branches with @keys are on."""
        f = self.function(name)
        code = bytearray(self.read(f.address, f.size))
        self._patch(code, f.address, keys)
        return bytes(code)

    def listing(self, name, keys=()):
        """All instructions of a function, {address: (Instruction, address of the next)}; @keys are on."""
        if (name, keys) not in self._listings:
            f = self.function(name)
            with tempfile.NamedTemporaryFile() as file:
                file.write(self.code(name, keys))
                file.flush()
                out = subprocess.run(
                    ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn",
                     f"--adjust-vma={f.address:#x}", file.name], capture_output=True, text=True, check=True).stdout
            rows = re.findall(r"^ *([0-9a-f]+):\t(\S+)(?: +(.*?))? *$", out, re.M)
            starts = [int(r[0], 16) for r in rows] + [f.address + f.size]
            self._listings[name, keys] = {
                a: (Instruction(a, mnemonic, re.sub(r"\s*#.*", "", operands)), following)
                for (_, mnemonic, operands), a, following in zip(rows, starts, starts[1:])}
        return self._listings[name, keys]

    def instructions(self, name, keys=()):
        return [i for i, _ in self.listing(name, keys).values()]

    def callees(self, name):
        """Names of what a function calls directly, in any of its paths."""
        return {self.names.get(i.target()) for i in self.instructions(name)
                if i.mnemonic == "call" and i.target()}

    def path(self, name, start, stop, keys=()):
        """What runs in @name from address @start on, calls included, up to and with the first instruction behind
        that for which @stop is true. Conditional branches are not taken: what is unlikely stands out of line."""
        out = []
        listing = self.listing(name, keys)
        at = start
        while not (len(out) > 1 and stop(out[-1])):
            if at not in listing or len(out) > 10000:
                raise ValueError(f"{name}: the path leaves the function at {at:#x}, or has no end")
            i, following = listing[at]
            if i.mnemonic == "call" and i.target():
                callee = self.names[i.target()]
                out += [i] + self.path(callee, i.target(), lambda c: c.mnemonic == "ret")
            else:
                out.append(i)
            at = i.target() if i.mnemonic == "jmp" else following
        return out


def _join_nops(data):
    """optimize_nops(): each run of single-byte NOPs becomes one instruction (alternatives are shorter than 9 bytes
    but for the last: runs are cut at 8)."""
    return re.sub(rb"\x90{2,8}", lambda m: bytes.fromhex(NOPS[len(m[0])]), bytes(data))
