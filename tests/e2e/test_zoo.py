# SPDX-License-Identifier: GPL-2.0-or-later
"""Every animal of tests/zoo.py under QEMU's software processor: exact status, message and kind."""
import concurrent.futures
import json

import pytest

import zoo
from conftest import in_guest, ringside


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


@pytest.mark.nightly
def test_each_status_of_a_command_comes_through():
    """By day tests/firmware/test_machine_faults.py has them all of a payload, and the zoo some of a command."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda n: in_guest("sh", "-c", f"exit {n}"), range(256)))
    assert {n: end.status for n, end in enumerate(ends) if end.status != min(n, 239)} == {}
    assert {n for n, end in enumerate(ends) if end.err} == set(range(240, 256))
