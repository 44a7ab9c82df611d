# SPDX-License-Identifier: GPL-2.0-or-later
"""What all suites need: the signals as a program finds them that a person starts."""
import signal


def pytest_configure():
    # A shell without job control starts what it puts into the background with SIGINT and SIGQUIT
    # ignored, and a CI runner may do the like; programs keep what they inherit, and ours honour it.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
