# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests in the guest share: boots that are started ahead, each once."""
import pytest

import boot
import subjects

# What looks at one image alone is not for a run over others, such as the nightly one.
collect_ignore = [] if set(subjects.images()) - subjects.NIGHTLY else [
    "test_cr3.py", "test_guest_flaws.py"]


def pytest_generate_tests(metafunc):
    if "outcome" in metafunc.fixturenames:
        chosen = metafunc.function.__dict__.get("chosen", lambda s: True)
        metafunc.parametrize("subject", [s for s in subjects.all_subjects() if chosen(s)], ids=str)


@pytest.fixture(scope="session")
def boots():
    made = subjects.Boots()
    yield made
    made.end()


@pytest.fixture(scope="session")
def ahead(request, boots):
    """Start every boot that the chosen tests will ask for: in the one process that runs them, and in no other."""
    assert boot.RINGSIDE.exists(), f"{boot.RINGSIDE} is missing: run 'ninja -C build'"
    for item in request.session.items:
        subject = getattr(item, "callspec", None) and item.callspec.params.get("subject")
        if subject and boot.is_built(subject.image):
            boots.start(subject.boot())


@pytest.fixture
def outcome(subject, boots, ahead):
    del ahead
    assert boot.is_built(subject.image), (
        f"image '{subject.image}' is not built: run guest-kernel-config/build {subject.image}")
    return boots.outcome(subject.boot())
