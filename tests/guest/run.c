/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs all test programs of one boot and reports them as one KTAP document. Each line of the list
 * (the one argument) is "KIND SECONDS NAME PROGRAM [ARG]...", with single blanks:
 *
 *   ktap   the program's standard output is KTAP itself, and becomes a nested document
 *   plain  its exit status is the result: 0 passed, 4 skipped; its output becomes '# ' lines
 *
 * A program that is not done after SECONDS is killed with all of its process group.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES_MAX 128
#define WORDS_MAX   16
#define LINE_BYTES  512

enum { STATUS_SKIP = 4, STATUS_USAGE = 2 };

struct entry {
	bool ktap;
	int seconds;
	const char *name;
	char *argv[WORDS_MAX];
};

/* A line of output that is not complete yet, and what the lines begin with. */
struct lines {
	const char *before;
	char text[LINE_BYTES];
	size_t len;
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void lines_end(struct lines *l)
{
	if (l->len > 0) {
		printf("%s%.*s\n", l->before, (int)l->len, l->text);
	}
	l->len = 0;
}

static void lines_add(struct lines *l, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			lines_end(l);
		} else if (l->len < sizeof(l->text)) {
			l->text[l->len++] = data[i];
		}
	}
}

static bool parse(char *line, struct entry *ret)
{
	char *save, *kind = strtok_r(line, " \n", &save);
	char *seconds = strtok_r(NULL, " \n", &save);
	size_t n = 0;

	ret->name = strtok_r(NULL, " \n", &save);
	if (!kind || !seconds || !ret->name) {
		return false;
	}
	ret->ktap = strcmp(kind, "ktap") == 0;
	ret->seconds = atoi(seconds);
	while (n < WORDS_MAX - 1 && (ret->argv[n] = strtok_r(NULL, " \n", &save))) {
		n++;
	}
	ret->argv[n] = NULL;
	return (ret->ktap || strcmp(kind, "plain") == 0) && ret->seconds > 0 && n > 0;
}

/* Forward the output until its end; false when the time is over first. */
static bool forward(int fd, const struct entry *e)
{
	struct lines l = {.before = e->ktap ? "  " : "# "};
	long long end = now_ms() + e->seconds * 1000LL;
	bool in_time = true;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		long long left = end - now_ms();
		char data[4096];
		ssize_t n;

		if (left <= 0 || (poll(&p, 1, (int)left) == 0)) {
			in_time = false;
			break;
		}
		n = p.revents ? read(fd, data, sizeof(data)) : -1;
		if (n == 0 || (n < 0 && errno != EINTR)) {
			break;
		}
		if (n > 0) {
			lines_add(&l, data, (size_t)n);
			fflush(stdout);
		}
	}
	lines_end(&l);
	return in_time;
}

static pid_t start(const struct entry *e, int out[2])
{
	pid_t pid;

	fflush(stdout);
	if (pipe(out) < 0) {
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		close(out[0]);
		close(out[1]);
		execv(e->argv[0], e->argv);
		dprintf(STDOUT_FILENO, "# %s: %s\n", e->argv[0], strerror(errno));
		_exit(127);
	}
	close(out[1]);
	return pid;
}

/* Run one and print its result; true unless it failed. */
static bool run(const struct entry *e, size_t number)
{
	long long begun = now_ms();
	int out[2], status = 0;
	pid_t pid = start(e, out);
	bool in_time;

	if (pid < 0) {
		printf("# %s\nnot ok %zu %s\n", strerror(errno), number, e->name);
		return false;
	}
	in_time = forward(out[0], e);
	close(out[0]);
	kill(-pid, in_time ? SIGTERM : SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		/* again */
	}
	printf("# %s took %lld ms\n", e->name, now_ms() - begun);
	if (!in_time) {
		printf("not ok %zu %s # TIMEOUT\n", number, e->name);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		printf("ok %zu %s\n", number, e->name);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIP) {
		printf("ok %zu %s # SKIP see above\n", number, e->name);
	} else {
		printf("# %s: wait status 0x%x\nnot ok %zu %s\n", e->name, status, number, e->name);
	}
	fflush(stdout);
	return in_time && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == STATUS_SKIP);
}

int main(int argc, char **argv)
{
	static struct entry entries[ENTRIES_MAX];
	FILE *list = argc == 2 ? fopen(argv[1], "re") : NULL;
	size_t count = 0, room = 0;
	char *line = NULL;
	bool good = true;

	if (!list) {
		fprintf(stderr, "usage: %s LIST: %s\n", argv[0], strerror(errno));
		return STATUS_USAGE;
	}
	while (getline(&line, &room, list) > 0) {
		if (count == ENTRIES_MAX || !parse(line, &entries[count])) {
			fprintf(stderr, "%s: bad line, or more than %d\n", argv[1], ENTRIES_MAX);
			return STATUS_USAGE;
		}
		count++;
		line = NULL; /* the entry's words point into it */
		room = 0;
	}
	fclose(list);
	printf("KTAP version 1\n1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		good = run(&entries[i], i + 1) && good;
	}
	return good ? 0 : 1;
}
