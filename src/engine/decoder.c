/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See decoder.h. Main thread. */
#include "engine/decoder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/process.h"

#define FILE_FD 3 /* as decode.h has it */

/**
 * decoder_pays() - whether a file has lines to tell of
 * @fd: the file
 *
 * Return: true when it is an ELF file with a table of them.
 * Context: reads the file's section headers.
 */
bool decoder_pays(int fd)
{
	bool found = false;
	size_t names;
	Elf *elf;

	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
		return false;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && elf_getshdrstrndx(elf, &names) == 0) {
		for (Elf_Scn *s = elf_nextscn(elf, NULL); s && !found; s = elf_nextscn(elf, s)) {
			GElf_Shdr sh;
			const char *name =
				gelf_getshdr(s, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

			found = name && strcmp(name, ".debug_line") == 0;
		}
	}
	elf_end(elf);
	return found;
}

/* In the child: nothing of ours is left open, and no signal of the terminal's reaches it. */
static void become(const char *program, int socket, int fd)
{
	int file = fcntl(fd, F_DUPFD, FILE_FD + 1), null = open("/dev/null", O_RDWR);

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (file < 0 || null < 0 || dup2(socket, STDIN_FILENO) < 0 ||
	    dup2(socket, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup2(file, FILE_FD) < 0) {
		_exit(1);
	}
	close_range(FILE_FD + 1, ~0u, 0);
	execl(program, program, (char *)NULL);
	_exit(1);
}

/**
 * decoder_start() - start the child, which waits to be asked
 * @program: ringside-decode
 * @fd: the file with debug information; it gets a descriptor of its own
 * @ret: set on success; decoder_end() it
 * @e: gets one line
 *
 * Return: 0 or a negative errno. A program that cannot be run is found out when it is asked.
 * Context: the main thread, before any filter of system calls.
 */
int decoder_start(const char *program, int fd, struct decoder *ret, struct err *e)
{
	const pid_t parent = getpid();
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		return err_errno(e, -errno, "%s", program);
	}
	pid = fork();
	if (pid == 0) {
		process_die_with(parent);
		become(program, fds[1], fd);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_errno(e, -errno, "%s", program);
	}
	*ret = (struct decoder){.pid = pid, .fd = fds[0]};
	return 0;
}

static int send_questions(const struct decoder *d, const struct decoder_query *q, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		r = io_write_all(d->fd, q[i].what, strlen(q[i].what));
		if (r == 0) {
			r = io_write_all(d->fd, "\n", 1);
		}
	}
	return r == 0 ? io_write_all(d->fd, "\n", 1) : r;
}

static void take_text(const char *from, size_t len, char *to)
{
	bool good = len > 0 && len < DECODER_TEXT_MAX && !(len == 1 && *from == '?');

	for (size_t i = 0; i < len && good; i++) {
		good = isprint((unsigned char)from[i]);
	}
	snprintf(to, DECODER_TEXT_MAX, "%.*s", good ? (int)len : 0, from);
}

/* "NAME+0xOFFSET", a tab, "FILE:LINE". */
static void take_answer(const char *line, struct decoder_query *q)
{
	size_t name = strcspn(line, "\t");

	take_text(line, name, q->name);
	take_text(line + name + (line[name] == '\t'), strlen(line + name + (line[name] == '\t')),
		  q->place);
}

/* All lines that come in time. */
static int read_answers(const struct decoder *d, struct decoder_query *q, size_t count,
			uint64_t deadline_ns)
{
	char buf[3 * DECODER_TEXT_MAX];
	size_t len = 0, got = 0;

	while (got < count) {
		struct pollfd p = {.fd = d->fd, .events = POLLIN};
		uint64_t now = clock_now_ns(&clock_monotonic);
		char *end;
		ssize_t n;

		if (now >= deadline_ns) {
			return -ETIMEDOUT;
		}
		if (poll(&p, 1, (int)((deadline_ns - now) / NS_PER_MSEC) + 1) <= 0) {
			continue;
		}
		n = read(d->fd, buf + len, sizeof(buf) - 1 - len);
		if (n <= 0) {
			return n < 0 ? -errno : -EPIPE;
		}
		len += (size_t)n;
		buf[len] = '\0';
		while (got < count && (end = strchr(buf, '\n'))) {
			*end = '\0';
			take_answer(buf, &q[got++]);
			len -= (size_t)(end + 1 - buf);
			memmove(buf, end + 1, len + 1);
		}
		if (len == sizeof(buf) - 1) {
			return -EPROTO;
		}
	}
	return 0;
}

/**
 * decoder_ask() - ask the child, once
 * @d: a child that was started
 * @queries: what is asked, and answered; what is not known stays empty
 * @count: 0..DECODER_QUERIES_MAX
 * @deadline_ns: monotonic; what has not come by then is not known
 *
 * Return: 0, -ETIMEDOUT, or -EPIPE and -EPROTO for a child that failed; the answers before are
 * good. Context: behind the filter of system calls, too.
 */
int decoder_ask(struct decoder *d, struct decoder_query *queries, size_t count,
		uint64_t deadline_ns)
{
	int r;

	for (size_t i = 0; i < count; i++) {
		queries[i].name[0] = queries[i].place[0] = '\0';
	}
	if (d->pid == 0 || count > DECODER_QUERIES_MAX) {
		return -EINVAL;
	}
	r = send_questions(d, queries, count);
	return r == 0 ? read_answers(d, queries, count, deadline_ns) : r;
}

/**
 * decoder_end() - let go of the child, which ends by itself when nobody listens
 * @d: a child, or none
 *
 * One that is still at work is ended by the kernel when we are gone: it is not waited for.
 *
 * Context: behind the filter of system calls, too.
 */
void decoder_end(struct decoder *d)
{
	if (d->pid > 0) {
		close(d->fd);
		(void)!waitpid(d->pid, NULL, WNOHANG);
		d->pid = 0;
	}
}
