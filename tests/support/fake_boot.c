// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stands in for "ringside run" where its scheduler is tested: takes the same words, and does what
 * the job's command says instead of booting. Each word is one act, in their order:
 *
 *	say=TEXT sleep=SECONDS exit=STATUS crash deaf (to SIGTERM) orphan (a process that stays)
 *	once=FILE (goes on if FILE was there, else makes it and exits 1) argv (prints its own)
 *	scratch (leaves a file in TMPDIR) talk=SECONDS (says something all the time)
 *	begun=N (goes on when the log has the beginning of so many)
 *	warn=TEXT (as ringside run does, on stderr)
 *
 * FAKE_BOOT_LOG names a file that gets a line when it begins and when it ends.
 */
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *job_path, *backend = "?", *append = "";
static int record_fd = -1;

static void sleep_s(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	nanosleep(&t, NULL);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(const char *what)
{
	const char *path = getenv("FAKE_BOOT_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (fd >= 0) {
		dprintf(fd, "%s %d %.6f %s\n", what, getpid(), now_s(), append);
		close(fd);
	}
}

static void read_words(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i++) {
		if (strcmp(argv[i], "--job") == 0) {
			job_path = argv[++i];
		} else if (strcmp(argv[i], "--json") == 0) {
			record_fd = atoi(argv[++i]);
		} else if (strcmp(argv[i], "--backend") == 0) {
			backend = argv[++i];
		} else if (strcmp(argv[i], "--append") == 0) {
			append = argv[++i];
		} else if (strcmp(argv[i], "--console") == 0) {
			int fd = open(argv[++i], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

			dprintf(fd, "[    0.000000] Linux version of none\n");
			close(fd);
		}
	}
}

/* As engine/outcome.c has them, from 240 on. */
static const char *const kinds[] = {"panic",    "oops",     "boot",  "hang",     "timeout",
				    "nostatus", "kvmerror", "nokvm", "internal", "usage"};

static void end(int status)
{
	const char *kind = status < 240 ? "exit" : kinds[status - 240];
	json_t *root =
		json_pack("{s:i, s:s, s:{s:{s:s}, s:s, s:s}, s:{s:i, s:i, s:i}, s:[], s:[], s:[], "
			  "s:{s:i, s:s, s:o, s:s}}",
			  "schema_version", 1, "type", "boot", "provenance", "kernel", "path",
			  "none", "backend", backend, "execution_class", "tcg", "phases_ns", "load",
			  1, "user_mark", 1000000, "exit", 2000000, "windows", "guest", "calltime",
			  "outcome", "status", status, "kind", kind, "guest_status",
			  status < 240 ? json_integer(status) : json_null(), "text", "");
	char *text = json_dumps(root, JSON_COMPACT);

	if (dprintf(record_fd, "%s\n", text) < 0) {
		abort();
	}
	note("end");
	exit(status);
}

static void once(const char *path)
{
	if (access(path, F_OK) < 0) {
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
		end(1);
	}
}

static int count_begun(void)
{
	FILE *f = fopen(getenv("FAKE_BOOT_LOG"), "re");
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		n += strncmp(line, "begin ", 6) == 0;
	}
	if (f) {
		fclose(f);
	}
	return n;
}

static void leave_scratch(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/left", getenv("TMPDIR"));
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

static void act(const char *word, int argc, char **argv)
{
	const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "";

	if (strncmp(word, "say=", 4) == 0) {
		printf("%s\n", value);
	} else if (strncmp(word, "warn=", 5) == 0) {
		fprintf(stderr, "ringside: warning: %s\n", value);
	} else if (strncmp(word, "sleep=", 6) == 0) {
		fflush(stdout);
		sleep_s(atof(value));
	} else if (strncmp(word, "talk=", 5) == 0) {
		for (double until = now_s() + atof(value); now_s() < until; sleep_s(0.05)) {
			dprintf(1, "still here\n");
		}
	} else if (strncmp(word, "begun=", 6) == 0) {
		while (count_begun() < atoi(value)) {
			sleep_s(0.01);
		}
	} else if (strncmp(word, "exit=", 5) == 0) {
		end(atoi(value));
	} else if (strncmp(word, "once=", 5) == 0) {
		once(value);
	} else if (strcmp(word, "crash") == 0) {
		raise(SIGABRT); /* which no sanitizer catches */
	} else if (strcmp(word, "deaf") == 0) {
		signal(SIGTERM, SIG_IGN);
	} else if (strcmp(word, "orphan") == 0) {
		if (fork() == 0) {
			note("orphan");
			sleep(1000);
			_exit(0);
		}
		sleep_s(0.05);
	} else if (strcmp(word, "scratch") == 0) {
		leave_scratch();
	} else if (strcmp(word, "argv") == 0) {
		for (int i = 0; i < argc; i++) {
			printf("%s\n", argv[i]);
		}
	} else {
		fprintf(stderr, "fake_boot: %s: no such act\n", word);
		end(249);
	}
}

int main(int argc, char **argv)
{
	json_t *job, *word;
	size_t i;

	read_words(argc, argv);
	note("begin");
	job = job_path ? json_load_file(job_path, 0, NULL) : NULL;
	if (!job || record_fd < 0 || argc < 2 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "fake_boot was not called as ringside run is\n");
		return 249;
	}
	json_array_foreach (json_object_get(job, "command"), i, word) {
		act(json_string_value(word), argc, argv);
	}
	end(0);
}
