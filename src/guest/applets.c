/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools that busybox stands in for inside the guest: each becomes a link /bin/NAME. Asking the
 * binary itself would mean to run a program at every start of a VM. A tool that a given busybox was
 * built without says so when it is called.
 */
#include "guest/initramfs_priv.h"

/* clang-format off */
const char *const initramfs_applets[] = {
	"[", "[[", "arp", "ash", "awk", "base64", "basename", "bc", "blockdev", "bunzip2", "bzcat",
	"bzip2", "cat", "chgrp", "chmod", "chown", "chroot", "chrt", "clear", "cmp", "cp", "cpio",
	"cut", "date", "dc", "dd", "devmem", "df", "diff", "dirname", "dmesg", "dnsdomainname",
	"du", "echo", "ed", "egrep", "env", "expand", "expr", "factor", "fallocate", "false",
	"fgrep", "find", "fold", "free", "getopt", "grep", "groups", "gunzip", "gzip", "halt",
	"head", "hexdump", "hostname", "id", "ifconfig", "insmod", "ionice", "ip", "kill",
	"killall", "less", "link", "ln", "logger", "logname", "losetup", "ls", "lsmod", "lzcat",
	"lzma", "md5sum", "mkdir", "mke2fs", "mkfifo", "mknod", "mktemp", "modinfo", "modprobe",
	"more", "mount", "mv", "nc", "netstat", "nl", "nproc", "nsenter", "nslookup", "od",
	"paste", "patch", "pidof", "ping", "ping6", "pivot_root", "poweroff", "printf", "ps",
	"pwd", "readlink", "realpath", "reboot", "renice", "rev", "rm", "rmdir", "rmmod", "route",
	"run-parts", "sed", "seq", "setpriv", "setsid", "sh", "sha1sum", "sha256sum", "sha3sum",
	"sha512sum", "shred", "shuf", "sleep", "sort", "stat", "strings", "stty", "swapoff",
	"swapon", "sync", "sysctl", "tac", "tail", "tar", "taskset", "tc", "tee", "telnet", "test",
	"time", "timeout", "top", "touch", "tr", "traceroute", "true", "truncate", "ts", "tty",
	"udhcpc", "umount", "uname", "unexpand", "uniq", "unlink", "unlzma", "unshare", "unxz",
	"unzip", "uptime", "usleep", "uudecode", "uuencode", "vi", "watch", "wc", "wget", "which",
	"whoami", "xargs", "xxd", "xz", "xzcat", "yes", "zcat",
	NULL,
};
/* clang-format on */
