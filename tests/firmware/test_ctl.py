# SPDX-License-Identifier: GPL-2.0-or-later
"""ringside ctl on our own VMM with a payload: pauses of a vCPU that runs, and a console from elsewhere."""
import json
import os
import signal
import subprocess
import tempfile
import time

import pytest

from test_machine import BUILD, PATIENCE_S, kvm_trouble


@pytest.fixture(scope="module", autouse=True)
def kvm():
    trouble = kvm_trouble()
    if trouble:
        pytest.skip(trouble)


@pytest.fixture
def env():
    with tempfile.TemporaryDirectory(prefix="rs") as folder:
        yield {**os.environ, "XDG_RUNTIME_DIR": folder}


@pytest.fixture
def echo(env, tmp_path):
    """A run of the echo, whose console goes to a file, so that nothing but ctl types."""
    run = subprocess.Popen([BUILD / "ringside", "run", "--backend", "kvm", "--force", "--memory", "16M",
                            "--kernel", BUILD / "firmware/echo.elf", "--name", "echo", "--timeout", "100",
                            "--console", tmp_path / "console"],
                           env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(lambda: (tmp_path / "console").exists()
             and (tmp_path / "console").read_bytes() == b"ready\n")
    yield run
    if run.poll() is None:
        run.kill()
        run.wait(PATIENCE_S)


def wait_for(what):
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def ctl(env, *words, **kwargs):
    end = subprocess.run([BUILD / "ringside", "ctl", *words], env=env, capture_output=True,
                         timeout=PATIENCE_S, check=False, **kwargs)
    assert end.returncode == 0, end.stderr.decode()
    return end.stdout


def exits(env):
    return json.loads(ctl(env, "echo", "status", "--json"))["exits"]


def test_a_vcpu_that_runs_stands_for_as_long_as_it_is_paused(env, echo):
    for _ in range(20):
        ctl(env, "echo", "pause")
        before = exits(env)
        time.sleep(0.05)
        assert exits(env) == before
        ctl(env, "echo", "resume")
        wait_for(lambda: exits(env) > before)
    ctl(env, "echo", "stop")
    assert echo.wait(PATIENCE_S) == -signal.SIGTERM


def test_the_console_is_typed_into_from_elsewhere(env, echo, tmp_path):
    words = [BUILD / "ringside", "ctl", "echo", "console"]
    first = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdout.read(6) == b"ready\n"
    second = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert second.stdout.read(6) == b"ready\n"
    second.stdin.write(b"not heard\n")
    second.stdin.flush()
    text = b"".join(b"line %d\n" % i for i in range(300))
    first.stdin.write(text)
    first.stdin.flush()
    # Both see all of it, and so does the file.
    assert first.stdout.read(len(text)) == text
    assert second.stdout.read(len(text)) == text
    first.stdin.write(b"\x04")
    first.stdin.flush()
    assert echo.wait(PATIENCE_S) == 0
    assert first.wait(PATIENCE_S) == 0 and second.wait(PATIENCE_S) == 0
    assert (tmp_path / "console").read_bytes() == b"ready\n" + text
    first.stdin.close()
    second.stdin.close()
