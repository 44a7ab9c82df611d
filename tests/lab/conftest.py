# SPDX-License-Identifier: GPL-2.0-or-later
def pytest_configure(config):
    config.addinivalue_line("markers", "case(name): the case of the lab's script to look at")
