# SPDX-License-Identifier: GPL-2.0-or-later
"""
Linux's own driver on ringside's network device, on a real KVM in the lab: into a TAP interface of the
lab's own kernel, and as a program by passt. One boot of the lab runs all cases; networks are the lab's.
"""
import pytest

from cases import case, run_cases

RUN = "ringside run --backend kvm --timeout 200"
RUN_LONG = "ringside run --backend kvm --timeout 600"
TAP = "ip link set lo up; ip tuntap add dev t0 mode tap && ip addr add 192.0.2.1/24 dev t0 && " \
      "ip link set t0 up || exit 1; trap 'ip link del t0' EXIT"
# passt looks for an interface with a default route before it does anything.
UPLINK = "ip link set lo up; ip tuntap add dev u0 mode tap && ip addr add 198.51.100.1/24 dev u0 && " \
         "ip link set u0 up && ip route add default via 198.51.100.2 || exit 1; " \
         "trap 'ip link del u0' EXIT"
# Not python's http.server, which asks for its own name before it listens.
SERVE = "busybox httpd -f -h /tmp/www -p"
# The guest listens, says so, and takes all that comes; the host's end of it.
LISTEN = "mkfifo /p; exec 3<>/p; while ! [ -s /g ]; do echo go >&3; nc -l -p 9 >/g <&3; done; " \
         "sha256sum </g"
SEND = """python3 - {address} {port} <<'END'
import socket, sys, time
for _ in range(300):
    try:
        s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
        if s.recv(2) == b"go":
            break
    except OSError:
        pass
    time.sleep(0.3)
s.settimeout(150)
s.sendall(open("/tmp/www/f", "rb").read())
s.shutdown(socket.SHUT_WR)
while s.recv(64):
    pass
END"""
FETCH = "timeout 150 wget -q -O /f http://{address}:8000/f; sha256sum </f"
DOWNLOADS = 8
SHELL = "mkdir -p /tmp/r/etc; cp /bin/busybox /tmp/r/sh"
CASES = {
    # To the guest twice, as client and as server, large enough for the segments that the guest and the host leave to each other.
    "tap": f"""
        {TAP}
        mkdir -p /tmp/www; head -c 4000000 /dev/urandom >/tmp/www/f; sha256sum </tmp/www/f
        {SERVE} 192.0.2.1:8000 & server=$!
        {RUN} --json $d/json --net tap=t0,addr=192.0.2.2/24,gateway=192.0.2.1 -- sh -c '
            ping -c 2 -W 5 192.0.2.1 >/dev/null; echo ping $?
            {FETCH.format(address="192.0.2.1")}
            {LISTEN}
            ip route | head -1; cat /sys/class/net/eth0/mtu' & guest=$!
{SEND.format(address="192.0.2.2", port=9)}
        wait $guest
        kill $server
        cat /sys/class/net/t0/statistics/rx_packets /sys/class/net/t0/statistics/tx_packets""",
    # The interface goes away under the guest.
    "deleted": f"""
        {TAP}
        {RUN} --net tap=t0,addr=192.0.2.2/24 -- sh -c 'cat /sys/class/net/eth0/carrier; echo up >&2
            while grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.2; done
            cat /sys/class/net/eth0/carrier' 2>$d/up & guest=$!
        while ! grep -q up $d/up; do sleep 0.2; done
        ip link del t0; ip tuntap add dev t0 mode tap
        wait $guest; echo status $?
        cat $d/up >&2""",
    "busy": f"""
        {TAP}
        {RUN} --net tap=t0 -- sh -c 'echo up; sleep 1000' >$d/up & guest=$!
        while ! grep -q up $d/up; do sleep 0.2; done
        {RUN} --net tap=t0 -- true; echo $?
        {RUN} --net tap=nonesuch -- true; echo $?
        kill $guest; wait $guest""",
    # More than passt's socket takes at once, some times: what it throws away it sends again much later.
    "user": f"""
        {UPLINK}
        mkdir -p /tmp/www; head -c 4000000 /dev/urandom >/tmp/www/f; sha256sum </tmp/www/f
        {SERVE} 127.0.0.1:8000 & server=$!
        {RUN_LONG} --net user -- sh -c '
            for i in $(seq {DOWNLOADS}); do
                {FETCH.format(address="10.0.2.2")}
            done
            cat /etc/resolv.conf' & guest=$!
        wait $guest
        kill $server
        pgrep passt | wc -l""",
    # The host's own file stays, whether the root is a directory for writing or only for reading.
    "root": f"""
        {UPLINK}; {SHELL}
        echo own >/tmp/r/etc/resolv.conf
        {RUN} --root /tmp/r,rw --net user -- /sh -c 'read line </etc/resolv.conf; echo "$line"'
        cat /tmp/r/etc/resolv.conf
        rm /tmp/r/etc/resolv.conf; ln -s ../run/nowhere /tmp/r/etc/resolv.conf
        {RUN} --root /tmp/r --net user -- /sh -c 'read line </etc/resolv.conf; echo "$line"'
        readlink /tmp/r/etc/resolv.conf""",
    "killed": f"""
        {UPLINK}
        {RUN} --net user -- sh -c 'echo up >&2
            while grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.2; done; echo down' \\
            2>$d/up & guest=$!
        while ! grep -q up $d/up; do sleep 0.2; done
        kill -9 $(pgrep passt)
        wait $guest; echo status $?
        cat $d/up >&2""",
}


@pytest.fixture(scope="session")
def ends(tmp_path_factory):
    return run_cases(tmp_path_factory.mktemp("net"), CASES)


@case("tap")
def test_bytes_come_whole_over_a_tap_interface_in_segments_of_many_packets(end):
    assert end.status == 0, end.err
    sent, ping, got, pushed, route, mtu = end.lines[:6]
    assert ping == "ping 0"
    assert got == sent and pushed == sent
    assert route.rstrip() == "default via 192.0.2.1 dev eth0"
    assert mtu == "1500"
    # 8 MB are 5,524 packets of 1,448 bytes: not half as many were needed.
    from_guest, to_guest = int(end.lines[6]), int(end.lines[7])
    assert to_guest < 2700, end.lines


@case("deleted")
def test_an_interface_that_is_deleted_takes_the_link_down_and_the_run_goes_on(end):
    assert end.lines == ["1", "0", "status 0"], end.err
    assert end.err.count("network 0: the interface was deleted: the guest's link is down") == 1


@case("busy")
def test_an_interface_that_cannot_be_had_is_249_in_one_line(end):
    assert end.lines == ["249", "249"]
    assert end.err.count("ringside: error: network interface t0: in use by another program\n") == 1
    assert end.err.count("ringside: error: network interface nonesuch: there is none; "
                         "'ip tuntap add dev nonesuch mode tap' makes one\n") == 1


@case("user")
def test_a_guest_reaches_the_host_by_passt_and_none_is_left(end):
    sent, *got, dns, left = end.lines
    assert got == [sent] * DOWNLOADS, end.err
    assert dns == "nameserver 10.0.2.3"
    assert left == "0"


@case("root")
def test_programs_in_another_root_find_the_name_server_and_the_host_keeps_its_file(end):
    assert end.lines == ["nameserver 10.0.2.3", "own", "nameserver 10.0.2.3", "../run/nowhere"], end.err


@case("killed")
def test_passt_that_is_killed_takes_the_link_down_and_the_run_goes_on(end):
    assert end.lines == ["down", "status 0"], end.err
    assert end.err.count("network 0: passt has ended, or said what is no frame: ") == 1
    assert end.err.count(": the guest's link is down\n") == 1
