/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for "ringside run": writes the record that a boot would have left, without booting.
 * Called as fake_run run --kernel K --append A --job J --json FD ..., it draws its numbers from the
 * job's seed alone, so that a boot gives the same record whenever it is done. The kernel's file
 *says how it behaves, in words:
 *
 *	faster=N     N units less a call when the command line is "fast"
 *	noise=N      between boots, in units, uniform from -N to N
 *	dirty=N      the first N batches of each benchmark take an interrupt
 *	steal=N      the vCPU's thread waits and is preempted in the first N batches
 *	slow=S       takes S seconds
 *	boot=S       says that it took S seconds
 *	crash, hang, partial, garbage, none, panic, nokvm, benchfail
 *	             what the boot does instead; with "@fast" behind it only on that command line
 *	times=FILE:N and that only for the first N boots (FILE grows by a byte each)
 *	gate=FILE    waits until there is a byte in FILE, and takes it away
 *
 * Which machine it is on is said by FAKE_HOST, FAKE_CPU and FAKE_CLASS in the environment.
 */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"

#define TICKS_PER_UNIT 8
#define CALLS          1000
#define EMPTY_TICKS    80

static struct {
	const char *kernel, *sha256, *append, *job, *backend;
	int out;
} opt = {.append = "", .out = -1};

static struct {
	double faster, noise, slow, boot, steal;
	int dirty;
	char mode[32];
} how = {.mode = "ok"};

static void read_options(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i += 2) {
		const char *value = argv[i + 1];

		if (strcmp(argv[i], "--kernel") == 0) {
			opt.kernel = value;
		} else if (strcmp(argv[i], "--kernel-sha256") == 0) {
			opt.sha256 = value;
		} else if (strcmp(argv[i], "--append") == 0) {
			opt.append = value;
		} else if (strcmp(argv[i], "--job") == 0) {
			opt.job = value;
		} else if (strcmp(argv[i], "--backend") == 0) {
			opt.backend = value;
		} else if (strcmp(argv[i], "--json") == 0) {
			opt.out = atoi(value);
		}
	}
}

static bool is_fast(void)
{
	return strcmp(opt.append, "fast") == 0;
}

/* "FILE:N" */
static void limit_times(char *value)
{
	char *colon = strrchr(value, ':');
	struct stat st = {0};
	int fd;

	*colon = '\0';
	fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || fstat(fd, &st) < 0) {
		abort();
	}
	if (st.st_size >= atoi(colon + 1)) {
		strcpy(how.mode, "ok");
	} else if (write(fd, "x", 1) != 1) {
		abort();
	}
	close(fd);
}

static void pass_gate(const char *path)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct stat st = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		abort();
	}
	for (;;) {
		if (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0) {
			abort();
		}
		if (st.st_size > 0) {
			break;
		}
		flock(fd, LOCK_UN);
		nanosleep(&pause, NULL);
	}
	if (ftruncate(fd, st.st_size - 1) < 0) {
		abort();
	}
	close(fd);
}

static void read_behaviour(void)
{
	FILE *f = fopen(opt.kernel, "re");
	char word[512];

	while (f && fscanf(f, "%511s", word) == 1) {
		char *value = strchr(word, '=');
		char *only = strchr(word, '@');

		if (!value) {
			if (only) {
				*only = '\0';
			}
			if (!only || is_fast()) {
				snprintf(how.mode, sizeof(how.mode), "%.31s", word);
			}
			continue;
		}
		*value++ = '\0';
		if (strcmp(word, "times") == 0) {
			limit_times(value);
		} else if (strcmp(word, "gate") == 0) {
			pass_gate(value);
		} else if (strcmp(word, "dirty") == 0) {
			how.dirty = atoi(value);
		} else {
			double *d = strcmp(word, "faster") == 0  ? &how.faster
				    : strcmp(word, "noise") == 0 ? &how.noise
				    : strcmp(word, "boot") == 0  ? &how.boot
				    : strcmp(word, "steal") == 0 ? &how.steal
								 : &how.slow;

			*d = atof(value);
		}
	}
}

static json_t *provenance(void)
{
	return json_pack(
		"{s:s, s:{s:s, s:s, s:s}, s:s, s:{s:s*, s:s, s:s}, s:n, s:n, s:s, s:s, s:s, "
		"s:i}",
		"ringside", "0.1.0", "kernel", "path", opt.kernel, "sha256", opt.sha256, "version",
		"6.12-fake", "append", opt.append, "host", "name", getenv("FAKE_HOST"), "cpu",
		getenv("FAKE_CPU") ? getenv("FAKE_CPU") : "Fake CPU", "kernel", "6.1", "kvm",
		"qemu", "backend", opt.backend, "class",
		getenv("FAKE_CLASS") ? getenv("FAKE_CLASS") : "icount", "unit", "instructions",
		"ticks_per_unit", TICKS_PER_UNIT);
}

static void add_bench(json_t *root, const char *name, int batches, double shift, int bank)
{
	json_t *windows = json_object_get(root, "windows");
	bool is_syscall = strncmp(name, "syscall", 7) == 0;
	double units = (is_syscall ? 223 : 900) + shift - (is_fast() ? how.faster : 0);
	json_t *ticks = json_array(), *irqs = json_array(), *nivcsw = json_array();
	size_t window0 = json_array_size(windows);

	for (int i = 0; i < batches; i++) {
		bool dirty = i < how.dirty;
		double t = round(units * CALLS * TICKS_PER_UNIT) + EMPTY_TICKS + dirty * 1e5;

		json_array_append_new(ticks, json_integer((json_int_t)t));
		json_array_append_new(irqs, json_integer(dirty));
		json_array_append_new(nivcsw, json_integer(0));
		json_array_append_new(windows,
				      json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "open_tsc", 1,
						"exits", 0, "kvm_exits", 1, "irqs", 0, "steal_ns",
						i < how.steal ? 1000000 : 0, "nivcsw",
						i < how.steal ? 1 : 0));
	}
	json_array_append_new(json_object_get(root, "guest"),
			      json_pack("{s:s, s:s, s:i, s:s, s:i, s:i, s:o, s:i, s:o, s:o, s:o}",
					"type", "bench", "name", name, "calls", CALLS, "per_call",
					is_syscall ? "call" : "switch", "window0", (int)window0,
					"batches", batches, "ticks", ticks, "empty", EMPTY_TICKS,
					"irqs", irqs, "nivcsw", nivcsw, "calltime_bank",
					is_syscall ? json_null() : json_integer(bank)));
	if (!is_syscall) {
		int low = is_fast() ? 400 : 608; /* both are where a bucket begins */

		json_array_append_new(
			json_object_get(root, "calltime"),
			json_pack("{s:i, s:s, s:i, s:i, s:i, s:i, s:i, s:[[i, i], [i, i], [i, i]]}",
				  "bank", bank, "probe", "switch_to.fsgs", "count", 2000, "sum",
				  2000 * TICKS_PER_UNIT * (is_fast() ? 50 : 75), "empty_min",
				  5 * TICKS_PER_UNIT, "min", low, "max", 9000, "hist", low, 1500,
				  low + 32, 498, 8960, 2));
	}
}

static json_t *my_processors(void)
{
	json_t *list = json_array();
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0) {
		abort();
	}
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set)) {
			json_array_append_new(list, json_integer(i));
		}
	}
	return list;
}

static json_t *make_record(const json_t *job, int argc, char **argv)
{
	const json_t *bench = json_object_get(job, "bench");
	int batches = (int)json_integer_value(json_object_get(bench, "batches"));
	struct timespec now;
	json_t *root, *words, *name;
	struct rng rng;
	double shift;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC, &now);
	rng_init(&rng, (uint64_t)json_integer_value(json_object_get(bench, "seed")));
	shift = how.noise * (2 * rng_unit(&rng) - 1);
	/* The time differs with every run: it must not be seen in a report. */
	root = json_pack("{s:i, s:s, s:o, s:{s:I}, s:[], s:[], s:[], s:[], s:O, s:{s:i, s:s, s:s}}",
			 "schema_version", 1, "type", "boot", "provenance", provenance(),
			 "phases_ns", "exit",
			 how.boot > 0 ? (json_int_t)(how.boot * 1e9) : (json_int_t)now.tv_nsec,
			 "windows", "guest", "calltime", "argv", "env", json_object_get(job, "env"),
			 "outcome", "status", 0, "kind", "exit", "text", "");
	json_object_set_new(root, "ran_on", my_processors());
	json_object_set_new(root, "ran_from",
			    json_real((double)now.tv_sec - how.slow + (double)now.tv_nsec / 1e9));
	json_object_set_new(root, "ran_for", json_real(how.slow));
	words = json_object_get(root, "argv");
	for (int k = 0; k < argc; k++) {
		json_array_append_new(words, json_string(argv[k]));
	}
	json_array_foreach (json_object_get(bench, "names"), i, name) {
		add_bench(root, json_string_value(name), batches, shift, (int)i + 1);
	}
	return root;
}

static void fail(json_t *root, int status, const char *kind, const char *text)
{
	json_object_set_new(root, "outcome",
			    json_pack("{s:i, s:s, s:s}", "status", status, "kind", kind, "text",
				      text));
}

static void misbehave(json_t *root, const json_t *job)
{
	if (strcmp(how.mode, "benchfail") == 0) {
		json_t *names = json_object_get(json_object_get(job, "bench"), "names");

		json_object_set_new(root, "guest",
				    json_pack("[{s:s, s:O, s:s}]", "type", "bench", "name",
					      json_array_get(names, 0), "error",
					      "FSGSBASE is off"));
		fail(root, 1, "exit", "the benchmark failed");
	} else if (strcmp(how.mode, "panic") == 0) {
		json_t *tail = json_array();

		for (int i = 0; i < 20; i++) {
			json_array_append_new(tail, json_sprintf("line %d", i));
		}
		json_object_set_new(root, "console_tail", tail);
		json_object_set_new(root, "guest", json_array());
		fail(root, 240, "panic", "Attempted to kill init!");
	} else if (strcmp(how.mode, "nokvm") == 0) {
		fail(root, 247, "nokvm", "/dev/kvm: no permission");
	}
}

static void say(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(opt.out, text, len);

		if (n < 0) {
			abort();
		}
		text += n;
		len -= (size_t)n;
	}
}

int main(int argc, char **argv)
{
	struct timespec slow;
	json_t *job, *root;
	char *text;

	read_options(argc, argv);
	read_behaviour();
	job = json_load_file(opt.job, 0, NULL);
	if (!job || opt.out < 0 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "fake_run was not called as ringside run is\n");
		return 249;
	}
	slow = (struct timespec){(time_t)how.slow, (long)(fmod(how.slow, 1) * 1e9)};
	nanosleep(&slow, NULL);
	if (strcmp(how.mode, "crash") == 0) {
		kill(getpid(), SIGSEGV);
	} else if (strcmp(how.mode, "hang") == 0) {
		sleep(1000);
	} else if (strcmp(how.mode, "none") == 0) {
		fprintf(stderr, "nothing to say\n");
		return 3;
	} else if (strcmp(how.mode, "garbage") == 0) {
		say("{]\n", 3);
		return 0;
	}
	root = make_record(job, argc, argv);
	misbehave(root, job);
	text = json_dumps(root, JSON_COMPACT);
	if (strcmp(how.mode, "partial") == 0) {
		say(text, strlen(text) / 2);
		return 248;
	}
	say(text, strlen(text));
	say("\n", 1);
	return (int)json_integer_value(json_object_get(json_object_get(root, "outcome"), "status"));
}
