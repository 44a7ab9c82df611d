# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's own driver on ringside's socket device: streams both ways, in the lab. One boot of each."""
import pathlib
import sys

import pytest

from cases import TOP, case, run_cases

sys.path.insert(0, str(TOP / "tests/guest"))

import boot  # noqa: E402
import ktap  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = {
    "streams": f"""
        /usr/bin/python3 {HERE}/vsock_peer.py /tmp/v >$d/peer 2>&1 & peer=$!
        ringside run --backend kvm --timeout 300 --vsock /tmp/v --initrd $d/../initrd -- \\
            sh -c '/tests/test_vsock; s=$?; sleep 2; exit $s'  # what it wrote last is taken before the machine ends
        status=$?
        # By now it is in the socket, but need not have been read; a peer that fails says something, too.
        until [ -s $d/peer ]; do kill -0 $peer || break; sleep 0.1; done
        ls /tmp/v 2>/dev/null && echo left behind
        kill $peer
        exit $status""",
    "address": """
        printf x >/tmp/w.file
        ringside run --backend kvm --vsock /tmp/w.file -- true; echo $? >&2
        ringside run --backend kvm --vsock /tmp/w,cid=2 -- true; echo $? >&2""",
}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    where = tmp_path_factory.mktemp("vsock")
    program = (boot.PROGRAMS / "test_vsock").read_bytes()
    (where / "initrd").write_bytes(boot.newc({"tests": (0o755, None),
                                              "tests/test_vsock": (0o755, program)}))
    return run_cases(where, CASES)


@case("streams")
def test_streams_go_both_ways_between_guest_and_host(end):
    results = ktap.parse(end.out.decode())
    assert end.status == 0, end.out.decode() + end.err + end.file("peer")
    assert [r.ok and not r.skipped for r in results] == [True] * 6
    assert end.file("peer") == "echo ok\n"


@case("address")
def test_an_address_that_cannot_be_is_249_in_one_line(end):
    assert end.err.splitlines() == [
        "ringside: error: vsock: /tmp/w.file: Address already in use", "249",
        "ringside: error: vsock: expected a CID of 3 to 4294967294, got 2", "249"]
