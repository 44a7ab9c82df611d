# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab's suites share: the marker that names a case, and what that case left behind."""
import pytest

from cases import End


def pytest_configure(config):
    config.addinivalue_line("markers", "case(name): the case of the lab's script to look at")


@pytest.fixture
def end(request, ends):
    """Of the case that the test is marked with; a file of tests has a fixture "ends" of its own."""
    return End(ends / request.node.get_closest_marker("case").args[0])
