/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See passt.h. Runs on the main thread. */
#include "cli/passt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "cli/helpers.h"

#define CHILD_FD   3
#define SAID_BYTES 4096
#define WORDS_MAX  32
#define SPEC_BYTES (BACKEND_FORWARDS_MAX * 12 + 32)
#define ROOM_BYTES (8 << 20) /* for what a TCP connection of Linux's may have on its way */

/* "127.0.0.1/8080:80,8443:443": only this machine's own programs reach the guest. */
static void forwards_text(const struct backend_net *net, char buf[SPEC_BYTES])
{
	int at = snprintf(buf, SPEC_BYTES, "%s", net->forward_count ? "127.0.0.1/" : "none");

	for (size_t i = 0; i < net->forward_count; i++) {
		at += snprintf(buf + at, SPEC_BYTES - (size_t)at, "%s%u:%u", i ? "," : "",
			       net->forwards[i].host, net->forwards[i].guest);
	}
}

/* In the child, between fork and exec: only what signal-safety(7) allows. */
static _Noreturn void become(char *const *argv, pid_t parent, int said_fd, int child_fd,
			     int null_fd)
{
	sigset_t none;

	/* A key that interrupts us is not to take the guest's network away first. */
	setpgid(0, 0);
	process_die_with(parent);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(null_fd, 0) == 0 && dup2(null_fd, 1) == 1 && dup2(said_fd, 2) == 2 &&
	    dup2(child_fd, CHILD_FD) == CHILD_FD) {
		execvp(argv[0], argv);
	}
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int spawn(struct passt *p, const struct backend_net *net, int child_fd, int null_fd,
		 struct err *e)
{
	char forwards[SPEC_BYTES], address[32], *slash;
	char *argv[WORDS_MAX] = {
		"passt",
		"--foreground",
		"--quiet",
		"--stderr",
		"--fd",
		"3",
		"--address",
		address,
		"--netmask",
		"",
		"--gateway",
		(char *)net->gateway,
		"--dns-forward",
		(char *)net->dns,
		"--tcp-ports",
		forwards,
		"--udp-ports",
		"none",
		NULL,
	};
	const pid_t parent = getpid();

	forwards_text(net, forwards);
	snprintf(address, sizeof(address), "%s", net->address);
	slash = strchr(address, '/');
	*slash = '\0';
	argv[9] = slash + 1;
	if (!cli_in_path(argv[0])) {
		return err_set(e, -ENOENT, "--net user needs passt: install the package passt");
	}
	p->pid = fork();
	if (p->pid == 0) {
		become(argv, parent, p->said_fd, child_fd, null_fd);
	}
	if (p->pid < 0) {
		p->pid = 0;
		return err_errno(e, -errno, "--net user: passt");
	}
	p->pid_fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	log_debug("net", "passt %d: address %s/%s, ports %s", (int)p->pid, address, argv[9],
		  forwards);
	return p->pid_fd < 0 ? err_errno(e, -errno, "--net user: passt") : 0;
}

/* It throws away what its socket has no room for. Who may not have as much gets what the host's
 * administrator gives everybody, net.core.wmem_max. */
static void make_room(int fd)
{
	const int bytes = ROOM_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0) {
		(void)!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	}
}

/**
 * passt_start() - start passt
 * @p: the caller's memory; set, also on failure; end it with passt_end()
 * @net: what the guest is to find
 * @e: set on failure
 *
 * Return: 0, -ENOENT when it is not installed, or another −errno.
 */
int passt_start(struct passt *p, const struct backend_net *net, struct err *e)
{
	_cleanup_close_ int child_fd = -1;
	_cleanup_close_ int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int pair[2];

	*p = (struct passt)PASST_INIT;
	p->said_fd = memfd_create("ringside-passt", MFD_CLOEXEC);
	if (null_fd < 0 || p->said_fd < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		return err_errno(e, -errno, "--net user");
	}
	make_room(pair[1]);
	p->fd = pair[0];
	/* Not one of those that the child gets as another number: dup2 would leave it closed. */
	child_fd = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_FD + 1);
	close(pair[1]);
	if (child_fd < 0) {
		return err_errno(e, -errno, "--net user");
	}
	return spawn(p, net, child_fd, null_fd, e);
}

/**
 * passt_said() - the last line that passt said
 * @p: started
 * @buf: gets it, or an empty text
 * @size: room in @buf
 */
void passt_said(const struct passt *p, char *buf, size_t size)
{
	char text[SAID_BYTES], *line = text;
	off_t end = p->said_fd < 0 ? 0 : lseek(p->said_fd, 0, SEEK_END);
	off_t at = end > SAID_BYTES - 1 ? end - (SAID_BYTES - 1) : 0;
	ssize_t n = end > 0 ? pread(p->said_fd, text, SAID_BYTES - 1, at) : 0;

	while (n > 0 && text[n - 1] == '\n') {
		n--;
	}
	text[n > 0 ? n : 0] = '\0';
	if (strrchr(text, '\n')) {
		line = strrchr(text, '\n') + 1;
	}
	snprintf(buf, size, "%s", line);
}

/**
 * passt_end() - end it, if it runs
 * @p: started or not
 */
void passt_end(struct passt *p)
{
	if (p->fd >= 0) {
		close(p->fd);
	}
	if (p->said_fd >= 0) {
		close(p->said_fd);
	}
	/* It keeps nothing that would be lost. */
	if (p->pid > 0) {
		syscall(SYS_pidfd_send_signal, p->pid_fd, SIGKILL, NULL, 0);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	if (p->pid_fd >= 0) {
		close(p->pid_fd);
	}
	*p = (struct passt)PASST_INIT;
}
