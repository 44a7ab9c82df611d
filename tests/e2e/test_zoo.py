# SPDX-License-Identifier: GPL-2.0-or-later
"""Every animal of tests/zoo.py under QEMU's software processor: exact status, message and kind."""
import json

import pytest

import zoo
from conftest import ringside


@pytest.fixture(scope="session")
def initrd(tmp_path_factory):
    return zoo.initrd(tmp_path_factory.mktemp("zoo") / "initrd")


@pytest.mark.parametrize("animal", [
    pytest.param(a, id=a.name, marks=[pytest.mark.nightly] if a.slow else [])
    for a in zoo.ANIMALS])
def test_what_comes_of_it(animal, initrd, tmp_path):
    more = ("--initrd", initrd) if animal.command else ()
    end = ringside("run", *animal.words("--backend", "qemu", "--json", tmp_path / "json", *more))
    animal.check(end.status, end.out, end.err, json.loads((tmp_path / "json").read_text()))
