/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn: connections to haproxy over loopback, one request each, in a closed loop: connect,
 * send, read to the end, close, and again. haproxy answers by itself (http-request return), so that
 * what is measured is accepting, reading, writing and closing. Client and server share one CPU and
 * both run at the same real-time priority: each waits until the other does, and a connection is the
 * same sequence every time. Its cost is that of both sides.
 *
 * haproxy is a program that knows nothing of abi/nopti.h. Where the arm says so it is started
 * through the wrapper, as somebody with such a kernel would start it, and what the process really
 * has is asked of it, before and after. The client stands for another machine, on which nothing
 * changes: here it shares the CPU, so in conn.http it has the flag as well, or its own system calls
 * would hide a third of what the server gains. conn.server is the same with the client an ordinary
 * task.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/nopti.h"
#include "base/io.h"
#include "remote.h"
#include "tick.h"

#define HAPROXY_PATH "/usr/sbin/haproxy"
#define WRAPPER_PATH "/ringside/nopti"
#define CONFIG_PATH  "/tmp/conn.cfg"
#define PORT         8080

/* haproxy starts within a second or two; under a software CPU that is busy, within ten. */
#define START_MS_MAX  120000
#define START_STEP_MS 20

#define ASK_TRIES     50

static const char config[] =
	"global\n"
	"    nbthread 1\n"
	"    maxconn 100\n"
	"defaults\n"
	"    mode http\n"
	"    timeout connect 60s\n"
	"    timeout client 60s\n"
	"    timeout server 60s\n"
	"frontend conn\n"
	"    bind 127.0.0.1:8080\n"
	"    http-request return status 200 content-type text/plain string ok\n";

static const char request[] = "GET / HTTP/1.1\r\nHost: conn\r\nConnection: close\r\n\r\n";
static const char status_line[] = "HTTP/1.1 200 ";

struct conn {
	struct sockaddr_in to;
	pid_t pid;
	const struct machine *machine;
	uint64_t asked;    /* connections tried so far */
	uint64_t answered; /* with 200 and a proper end */
	char last[64];     /* beginning of the last answer that was another one */
	int error;         /* errno of the last call that failed, or 0 */
};

/* One connection; true when all of it went as it should. */
static bool connect_once(struct conn *c)
{
	char answer[512];
	ssize_t n = -1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		c->error = errno;
		return false;
	}
	if (connect(fd, (struct sockaddr *)&c->to, sizeof(c->to)) == 0 &&
	    write(fd, request, sizeof(request) - 1) == sizeof(request) - 1) {
		/* One call waits for all of it: it comes back short because of the end. */
		n = recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL);
	}
	c->error = n < 0 ? errno : 0;
	close(fd);
	answer[n > 0 ? n : 0] = '\0';
	if (n > 0 && n < (ssize_t)sizeof(answer) - 1 &&
	    memcmp(answer, status_line, sizeof(status_line) - 1) == 0) {
		return true;
	}
	snprintf(c->last, sizeof(c->last), "%.*s", (int)strcspn(answer, "\r\n"), answer);
	return false;
}

static void conn_loop(void *state, unsigned int turns)
{
	struct conn *c = state;

	c->asked += turns;
	do {
		c->answered += connect_once(c);
	} while (--turns);
}

static void conn_empty(void *state, unsigned int turns)
{
	do {
		__asm__ volatile("" : : : "memory");
	} while (--turns);
}

static int write_config(struct err *e)
{
	_cleanup_close_ int fd = open(CONFIG_PATH, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_all(fd, config, sizeof(config) - 1);

	return r < 0 ? err_errno(e, r, CONFIG_PATH) : 0;
}

static void __attribute__((noreturn)) run_haproxy(bool nopti)
{
	static const char *const argv[] = {WRAPPER_PATH, HAPROXY_PATH, "-db", "-q",
					   "-f",         CONFIG_PATH,  NULL};
	const char *const *from = nopti ? argv : argv + 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(from[0], (char *const *)from);
	dprintf(STDERR_FILENO, "ringside-bench: %s: %s\n", from[0], strerror(errno));
	_exit(127);
}

/* haproxy ended before its time; @pid was reaped or is about to be. */
static int explain_end(int status, struct err *e)
{
	return WIFSIGNALED(status) ? err_set(e, -ENOTRECOVERABLE, "haproxy was killed by signal %d",
					     WTERMSIG(status))
				   : err_set(e, -ENOTRECOVERABLE, "haproxy ended with status %d",
					     WEXITSTATUS(status));
}

static int wait_until_it_answers(struct conn *c, struct err *e)
{
	const struct timespec step = {.tv_nsec = START_STEP_MS * 1000000L};
	int status;

	for (int ms = 0; ms < START_MS_MAX; ms += START_STEP_MS) {
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			return explain_end(status, e);
		}
		if (connect_once(c)) {
			return 0;
		}
		nanosleep(&step, NULL);
	}
	return err_set(e, -ETIMEDOUT, "haproxy did not answer within %d s: '%s', %s",
		       START_MS_MAX / 1000, c->last, strerror(c->error));
}

/* Assert that haproxy, and not only its wrapper, has what the arm says. */
static int check_flag(const struct conn *c, struct err *e)
{
	const struct timespec step = {.tv_nsec = START_STEP_MS * 1000000L};
	unsigned long bits = 0;
	int r = remote_nopti_get(c->pid, &bits, e);

	/* It runs, and will wait again. */
	for (int i = 0; r == -EAGAIN && i < ASK_TRIES; i++) {
		nanosleep(&step, NULL);
		r = remote_nopti_get(c->pid, &bits, e);
	}
	if (r == -EINVAL && !c->machine->nopti) {
		*e = (struct err)ERR_INIT;
		return 0; /* a kernel that does not know the call has flagged nobody */
	}
	if (r < 0) {
		return r;
	}
	return !!(bits & NOPTI_GET_ON) == c->machine->nopti
		       ? 0
		       : err_set(e, -ENOTRECOVERABLE,
				 "arch_prctl(ARCH_GET_NOPTI) in haproxy says %#lx, the flag should "
				 "be %d",
				 bits, (int)c->machine->nopti);
}

static int conn_setup(struct run *r, struct err *e)
{
	static struct conn c;
	int ret = write_config(e);

	c.to = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(PORT),
				    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	c.machine = r->machine;
	r->state = &c;
	r->ticks_hz = tick_measure_tsc_hz();
	if (ret < 0) {
		return ret;
	}
	c.pid = fork();
	if (c.pid == 0) {
		run_haproxy(r->machine->nopti);
	}
	if (c.pid < 0) {
		return err_errno(e, -errno, "fork");
	}
	ret = wait_until_it_answers(&c, e);
	return ret < 0 ? ret : check_flag(&c, e);
}

static int conn_finish(struct run *r, struct err *e)
{
	struct conn *c = r->state;
	int status;
	int ret;

	if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
		return explain_end(status, e);
	}
	ret = check_flag(c, e);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	if (ret < 0) {
		return ret;
	}
	return c->answered == c->asked
		       ? 0
		       : err_set(e, -ENOTRECOVERABLE,
				 "%llu of %llu connections were answered with 200; another answer "
				 "was '%s' (%s)",
				 (unsigned long long)c->answered, (unsigned long long)c->asked,
				 c->last, strerror(c->error));
}

#define ROW(bench_name, is_elsewhere)                                                       \
	{                                                                                   \
		.name = (bench_name), .unit = "connection", .calls = 4, .calls_of_loop = 1, \
		.waits = true, .elsewhere = (is_elsewhere), .setup = conn_setup,            \
		.loop = conn_loop, .empty = conn_empty, .finish = conn_finish               \
	}

const struct bench bench_conn[] = {
	ROW("conn.http", false),
	ROW("conn.server", true),
};
const size_t bench_conn_count = ARRAY_SIZE(bench_conn);
