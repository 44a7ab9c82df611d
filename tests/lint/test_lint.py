# SPDX-License-Identifier: GPL-2.0-or-later
"""The lint scripts are tests too: each must find the fault that it is there for."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lint(script, tree):
    return subprocess.run([ROOT / "tools/lint" / script, tree], capture_output=True, text=True)


def put(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    "name, line, complaint",
    [
        ("src/devices/a.c", '#include "vmm/vmm.h"', "devices may not include vmm"),
        ("src/engine/a.c", '#include "vmm/vmm.h"', "engine may not include vmm"),
        ("src/base/a.c", '#include "hw/bus.h"', "base may not include hw"),
        ("src/arch/a.c", '#include "kvm/vm.h"', "arch may not include kvm"),
        ("src/vmm/a.c", "#include <linux/kvm.h>", "<linux/kvm.h> belongs to src/kvm alone"),
        ("src/new/a.c", '#include "base/err.h"', "src/new is not in the layer table"),
        ("src/hw/a.c", '#include "bus.h"', 'name the folder: "hw/bus.h"'),
        ("src/vmm/a.c", '#include "hw/bus_priv.h"', "is private to hw"),
        ("src/vmm/a.c", '#include "nowhere/x.h"', "is in no folder of src"),
        ("firmware/abi/a.h", '#include "b.h"', "firmware/abi includes nothing of ours"),
        ("firmware/lib/a.c", '#include "base/err.h"', "firmware includes nothing of src"),
    ],
)
def test_an_include_against_the_table_is_named(tmp_path, name, line, complaint):
    put(tmp_path, "src/base/err.h", "")
    put(tmp_path, name, line + "\n")
    done = lint("layers", tmp_path)
    assert done.returncode == 1
    assert complaint in done.stdout
    assert f"{name}:1:" in done.stdout


def test_allowed_includes_pass(tmp_path):
    put(tmp_path, "src/vmm/a.c", '#include <stdio.h>\n#include "hw/bus.h"\n#include "abi/marks.h"\n')
    put(tmp_path, "src/kvm/a.c", "#include <linux/kvm.h>\n")
    put(tmp_path, "src/arch/a.c", '#include "kvm/types.h"\n')
    done = lint("layers", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "name, text, complaint",
    [
        ("src/a.c", "int a;\n", "no SPDX line at the top"),
        ("src/a.c", "/* SPDX-License-Identifier: x */\n" + "\n" * 600, "asks to be split"),
        ("src/a.c", "/* SPDX-License-Identifier: x */\nint  a;\n", "clang-formatted"),
        ("docs/a.md", "see /home/" + "me/x\n", "names a path or host of one machine"),
        ("bin", "a\0b", "a binary file"),
    ],
)
def test_a_broken_house_rule_is_named(tmp_path, name, text, complaint):
    put(tmp_path, name, text)
    put(tmp_path, ".clang-format", (ROOT / ".clang-format").read_text())
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    done = lint("house", tmp_path)
    assert done.returncode == 1
    assert complaint in done.stdout
