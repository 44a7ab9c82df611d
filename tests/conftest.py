# SPDX-License-Identifier: GPL-2.0-or-later
"""What all suites need: signals as a program finds them that a person starts, and a fair split."""
import os
import signal

import pytest


def pytest_configure(config):
    if not config.pluginmanager.hasplugin("xdist"):
        config.addinivalue_line("markers", "xdist_group(name): tests that stay together")
    config.addinivalue_line("markers", "long: takes more than half a minute, so it is started first")
    config.addinivalue_line("markers", "nightly: takes minutes; run by tools/nightly and not by tools/check")
    # A shell without job control starts what it puts into the background with SIGINT and SIGQUIT
    # ignored, and a CI runner may do the like; programs keep what they inherit, and ours honour it.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def shared_fixture(item):
    """The fixture of ours that several tests use one of: a boot, or a whole comparison."""
    # An autouse one is a check, and cheap.
    autouse = set(item.session._fixturemanager._getautousenames(item.nodeid))
    for name, definitions in sorted(item._fixtureinfo.name2fixturedefs.items()):
        d = definitions[-1]
        if d.scope in ("module", "session") and d.baseid and name not in autouse:
            return f"{d.baseid}:{name}"
    return None


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(config, items):
    # By day all but the nightly tests, by night those alone.
    night = bool(os.environ.get("RINGSIDE_NIGHTLY"))
    others = [i for i in items if (i.get_closest_marker("nightly") is not None) != night]
    config.hook.pytest_deselected(items=others)
    items[:] = [i for i in items if i not in others]

    # tools/check runs the tests on two processes, with pytest-xdist's --dist loadgroup: what uses the
    # same boot must stay together, or it is made twice; and what takes long must not come last.
    def order(item):
        long = item.get_closest_marker("long") is not None
        return 0 if shared_fixture(item) else 1 if long else 2

    for item in items:
        group = shared_fixture(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=order)
