/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs, one after the other. See runner.h. */
#include "guest/runner/runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* What is still in the pipe when the program has ended: its descendants may write for ever. */
#define REST_MAX (1 << 20)

struct child {
	pid_t pid;
	int out; /* what it says; does not block */
	bool timed_out;
	int status; /* as of waitpid() */
};

static void on_child(int sig)
{
	/* Only there to end ppoll(). */
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static _Noreturn void become(const char *dir, const char *path, int out)
{
	char *argv[] = {(char *)path, NULL};
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) {
		_exit(126);
	}
	if (chdir(dir) < 0) {
		fprintf(stderr, "%s: %s\n", dir, strerror(errno));
		_exit(126);
	}
	execvp(path, argv); /* which gives a script without a first line to sh */
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start(const struct runner_options *o, const char *name, struct child *c)
{
	char path[PATH_MAX];
	int fds[2];

	/* Relative to the directory, with a slash: PATH plays no part. */
	snprintf(path, sizeof(path), "./%s", name);
	if (pipe2(fds, O_CLOEXEC) < 0) {
		return -errno;
	}
	c->pid = fork();
	if (c->pid == 0) {
		become(o->dir, path, fds[1]);
	}
	close(fds[1]);
	c->out = fds[0];
	if (c->pid < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0) {
		return -errno;
	}
	return 0;
}

/* Passes on what there is, at most so much. False at the end of it. */
static bool forward(struct child *c, struct runner_frame *f, size_t max)
{
	char buf[4096];
	ssize_t n = 1;

	for (size_t all = 0; n > 0 && all < max; all += (size_t)n) {
		n = read(c->out, buf, sizeof(buf));
		if (n > 0) {
			runner_frame_feed(f, buf, (size_t)n);
		}
	}
	fflush(f->out);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Waits for its end, or ends it. */
static void follow(struct child *c, struct runner_frame *f, unsigned int timeout_s)
{
	int64_t until = now_ms() + timeout_s * INT64_C(1000);
	struct pollfd p = {.fd = c->out, .events = POLLIN};
	sigset_t blocked, waiting;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	sigdelset(&waiting, SIGCHLD);
	while (waitpid(c->pid, &c->status, WNOHANG) == 0) {
		int64_t left = until - now_ms();
		struct timespec t = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};

		if (timeout_s && left <= 0) {
			c->timed_out = true;
			kill(-c->pid, SIGKILL);
			kill(c->pid, SIGKILL);
			waitpid(c->pid, &c->status, 0);
			break;
		}
		if (ppoll(&p, 1, timeout_s ? &t : NULL, &waiting) > 0 && !forward(c, f, SIZE_MAX)) {
			p.fd = -1;
		}
	}
	/* What it started goes with it. */
	kill(-c->pid, SIGKILL);
	(void)forward(c, f, REST_MAX);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

static bool is_skip(const struct runner_options *o, int status)
{
	for (size_t i = 0; i < o->skip_count; i++) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == o->skips[i]) {
			return true;
		}
	}
	return false;
}

/* Runs one program, and writes its result. True when it is as good as ok. */
static bool run_program(const struct runner_options *o, const char *name, size_t number, FILE *out)
{
	struct runner_frame f = {.out = out};
	struct child c = {.out = -1};
	int r = start(o, name, &c);
	bool good;

	if (r < 0) {
		fprintf(out, "# %s\nnot ok %zu %s\n", strerror(-r), number, name);
		return false;
	}
	follow(&c, &f, o->timeout_s);
	runner_frame_end(&f);
	close(c.out);
	good = WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0;
	if (c.timed_out) {
		fprintf(out, "not ok %zu %s # TIMEOUT %u seconds\n", number, name, o->timeout_s);
	} else if (good) {
		fprintf(out, "ok %zu %s\n", number, name);
	} else if (is_skip(o, c.status)) {
		fprintf(out, "ok %zu %s # SKIP exit status %d\n", number, name,
			WEXITSTATUS(c.status));
		good = true;
	} else if (WIFSIGNALED(c.status)) {
		fprintf(out, "# ended by signal %d (%s)\nnot ok %zu %s\n", WTERMSIG(c.status),
			strsignal(WTERMSIG(c.status)), number, name);
	} else {
		fprintf(out, "# exit status %d\nnot ok %zu %s\n", WEXITSTATUS(c.status), number,
			name);
	}
	return good && !c.timed_out;
}

/* Loads one module: what its tests come to is in the kernel's log. */
static bool load_module(const struct runner_options *o, const char *name, size_t number, FILE *out)
{
	char path[PATH_MAX];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/%s", o->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)) {
		r = errno;
		fprintf(out, "# %s: %s\n", path, strerror(r));
	}
	if (fd >= 0) {
		close(fd);
	}
	fprintf(out, "%s %zu %s\n", r ? "not ok" : "ok", number, name);
	return r == 0;
}

/* Runs programs or loads modules, one after the other. */
static int run_all(const struct runner_options *o, char *const *names, FILE *out)
{
	size_t n = 0, bad = 0;

	while (names[n]) {
		n++;
	}
	if (n == 0) {
		fprintf(stderr, "ringside-runner: %s: no %s in it\n", o->dir,
			o->insmod ? "modules" : "programs");
		return 2;
	}
	fprintf(out, "KTAP version 1\n1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		fflush(out);
		bad += o->insmod ? !load_module(o, names[i], i + 1, out)
				 : !run_program(o, names[i], i + 1, out);
	}
	return fflush(out) == EOF || bad > 0 ? 1 : 0;
}

/**
 * runner_run() - run them all
 * @o: which, and how
 * @out: where the document goes
 *
 * Return: 0 when all are ok or skipped, 1 when not, 2 when there is none or the directory cannot
 * be read, which stderr has then.
 */
int runner_run(const struct runner_options *o, FILE *out)
{
	const struct sigaction sa = {.sa_handler = on_child};
	char **names = NULL;
	int r;

	sigaction(SIGCHLD, &sa, NULL);
	if (o->names[0]) {
		return run_all(o, o->names, out);
	}
	r = runner_list(o->dir, o->insmod, &names);
	if (r < 0) {
		fprintf(stderr, "ringside-runner: %s: %s\n", o->dir, strerror(-r));
		return 2;
	}
	r = run_all(o, names, out);
	runner_list_free(names);
	return r;
}
