/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one program and forwards what it writes, each stream byte for byte. It has /dev/null as
 * stdin, a session of its own, and pipes; the agent, being PID 1, reaps whatever else dies
 * meanwhile. What its descendants still write after it ended is nobody's output any more. See
 * agent.h.
 */
#include "guest/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT, ERR, RESULTS, N_STREAMS };

static const uint8_t stream_of[N_STREAMS] = {CHANNEL_STREAM_STDOUT, CHANNEL_STREAM_STDERR,
					     CHANNEL_STREAM_RESULTS};

static const char *const default_env[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
	"TERM=dumb",
	NULL,
};

/* What the agent's ends are, and what the program gets; each -1 when there is none. */
struct ends {
	int ours[N_STREAMS];
	int theirs[N_STREAMS];
	int null;
};

static void on_child(int sig)
{
	/* Only there to end ppoll(). */
}

static void ends_close(struct ends *p)
{
	for (int i = 0; i < N_STREAMS; i++) {
		if (p->ours[i] >= 0) {
			close(p->ours[i]);
		}
		if (p->theirs[i] >= 0) {
			close(p->theirs[i]);
		}
	}
	if (p->null >= 0) {
		close(p->null);
	}
}

static int ends_open(struct ends *p, bool results)
{
	p->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (p->null < 0) {
		return -errno;
	}
	for (int i = 0; i < N_STREAMS; i++) {
		int fd[2];

		if (i == RESULTS && !results) {
			continue;
		}
		if (i == RESULTS ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0
				 : pipe2(fd, O_CLOEXEC) < 0) {
			return -errno;
		}
		p->ours[i] = fd[0];
		p->theirs[i] = fd[1];
		if (fcntl(fd[0], F_SETFL, O_NONBLOCK) < 0) {
			return -errno;
		}
	}
	return 0;
}

static void put_env(const char *const *env)
{
	for (size_t i = 0; env && env[i]; i++) {
		putenv((char *)env[i]);
	}
}

/* In the child, which says what went wrong on its own stderr, and ends as sh would. */
static void __attribute__((noreturn)) child(const struct task *t, const struct ends *p)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (dup2(p->theirs[ERR], STDERR_FILENO) < 0 || dup2(p->null, STDIN_FILENO) < 0 ||
	    dup2(p->theirs[OUT], STDOUT_FILENO) < 0 ||
	    (t->results && dup2(p->theirs[RESULTS], TASK_RESULTS_FD) < 0)) {
		dprintf(STDERR_FILENO, "ringside-agent: dup2: %s\n", strerror(errno));
		_exit(AGENT_STATUS_NOEXEC);
	}
	if ((t->root && chroot(t->root) < 0) || chdir(t->cwd) < 0) {
		dprintf(STDERR_FILENO, "ringside-agent: %s: %s\n", t->cwd, strerror(errno));
		_exit(AGENT_STATUS_NOEXEC);
	}
	clearenv();
	put_env(default_env);
	put_env(t->env);
	execvp(t->argv[0], (char *const *)t->argv);
	dprintf(STDERR_FILENO, "ringside-agent: %s: %s\n", t->argv[0], strerror(errno));
	_exit(errno == ENOENT ? AGENT_STATUS_MISSING : AGENT_STATUS_NOEXEC);
}

/*
 * Forward what there is on one stream, at most @max bytes. Return 1 when there was something, 0
 * when there is nothing now, -ENODATA at the stream's end, or another negative errno.
 */
static int forward(struct link *l, const struct ends *p, int i, size_t max)
{
	static uint8_t chunk[LINK_CHUNK];
	ssize_t n = read(p->ours[i], chunk, max < sizeof(chunk) ? max : sizeof(chunk));
	int r;

	/* A socket whose other end closed without reading its last answer is reset: an end, too. */
	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		return -ENODATA;
	}
	if (n < 0) {
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	}
	r = link_send(l, stream_of[i], chunk, (size_t)n);
	/* Whoever writes results waits until a line is with the host, not to be disturbed by it. */
	if (r == 0 && i == RESULTS && chunk[n - 1] == '\n') {
		r = link_drain(l);
		if (r == 0 && send(p->ours[i], "", 1, MSG_NOSIGNAL) < 0 && errno != EPIPE) {
			r = -errno;
		}
	}
	return r < 0 ? r : (int)n;
}

/* Reap every child that ended; true when @main_pid was among them. */
static bool reap(pid_t main_pid, struct task_end *end)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != main_pid) {
			continue;
		}
		ended = true;
		end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		end->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return ended;
}

/* After the program's end: what it left in the pipes, and no byte of what others write there now.
 */
static int forward_rest(struct link *l, const struct ends *p)
{
	for (int i = 0; i < N_STREAMS; i++) {
		int left = 0;

		if (p->ours[i] < 0 || ioctl(p->ours[i], FIONREAD, &left) < 0) {
			continue;
		}
		while (left > 0) {
			int r = forward(l, p, i, (size_t)left);

			if (r == 0 || r == -ENODATA) {
				break;
			}
			if (r < 0) {
				return r;
			}
			left -= r;
		}
	}
	return 0;
}

/* Any word is a sign of life; this one is for when there is no other. */
static int beat(struct link *l, unsigned int beat_ms, struct timespec *ret_wait)
{
	static const char word[] = "alive\n";
	static struct timespec last;
	struct timespec now;
	int64_t left_ms;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left_ms = beat_ms - ((now.tv_sec - last.tv_sec) * INT64_C(1000) +
			     (now.tv_nsec - last.tv_nsec) / 1000000);
	if (left_ms <= 0) {
		r = link_send(l, CHANNEL_STREAM_LOG, word, sizeof(word) - 1);
		last = now;
		left_ms = beat_ms;
	}
	*ret_wait =
		(struct timespec){.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
	return r;
}

static int serve(struct link *l, const struct task *t, struct ends *p, pid_t pid,
		 const sigset_t *waiting, struct task_end *end)
{
	while (!reap(pid, end)) {
		struct pollfd fds[N_STREAMS];
		struct timespec wait;
		int b = t->beat_ms ? beat(l, t->beat_ms, &wait) : 0;

		if (b < 0) {
			return b;
		}

		for (int i = 0; i < N_STREAMS; i++) {
			fds[i] = (struct pollfd){.fd = p->ours[i], .events = POLLIN};
		}
		if (ppoll(fds, N_STREAMS, t->beat_ms ? &wait : NULL, waiting) < 0) {
			if (errno != EINTR) {
				return -errno;
			}
			continue; /* and revents say nothing */
		}
		for (int i = 0; i < N_STREAMS; i++) {
			int r = fds[i].revents ? forward(l, p, i, LINK_CHUNK) : 0;

			if (r == -ENODATA) {
				close(p->ours[i]);
				p->ours[i] = -1;
			} else if (r < 0) {
				return r;
			}
		}
	}
	return forward_rest(l, p);
}

/**
 * task_run() - run a program to its end
 * @l: an open link, gets its output
 * @t: the program
 * @ret: set on success
 * @e: set on failure
 *
 * A program that cannot be started is no failure here: the reason is on its stderr and the status
 * is 127 (there is none) or 126, as with sh.
 *
 * Return: 0, or the errno of pipe2(2), fork(2), ppoll(2) or of the link.
 * Context: the agent.
 */
int task_run(struct link *l, const struct task *t, struct task_end *ret, struct err *e)
{
	struct ends p = {.ours = {-1, -1, -1}, .theirs = {-1, -1, -1}, .null = -1};
	const struct sigaction sa = {.sa_handler = on_child};
	sigset_t blocked, waiting;
	pid_t pid;
	int r;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	sigdelset(&waiting, SIGCHLD);
	sigaction(SIGCHLD, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);

	r = ends_open(&p, t->results);
	if (r < 0) {
		err_errno(e, r, "agent: %s", t->argv[0]);
		goto out;
	}
	pid = fork();
	if (pid == 0) {
		child(t, &p);
	}
	if (pid < 0) {
		r = err_errno(e, -errno, "agent: fork for %s", t->argv[0]);
		goto out;
	}
	for (int i = 0; i < N_STREAMS; i++) {
		if (p.theirs[i] >= 0) {
			close(p.theirs[i]);
			p.theirs[i] = -1;
		}
	}
	r = serve(l, t, &p, pid, &waiting, ret);
	if (r < 0) {
		err_errno(e, r, "agent: forwarding the output of %s", t->argv[0]);
	}
out:
	ends_close(&p);
	return r;
}
