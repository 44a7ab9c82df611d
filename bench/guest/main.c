/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The benchmark program's command line, and one process for each benchmark. See bench.h. */
#include "bench.h"

#include <alloca.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/rng.h"
#include "base/text.h"
#include "tick.h"

#define CHOSEN_MAX    64
#define STATUS_FAILED 1

/* Without RINGSIDE_STACKPAD the seed says how far the stack is moved, which costs nothing where it
 * does not matter, and keeps an accident of alignment from being the same in every boot. */
#define STACK_PAD_STEP 16
#define STACK_PAD_MAX  65536

struct options {
	uint64_t batches, warmup, calls, seed, calltime, nopti, results_fd;
	bool wait, marks, list;
};

static const struct bench *bench_at(size_t i)
{
	const struct {
		const struct bench *rows;
		size_t count;
	} tables[] = {
		{bench_syscall, bench_syscall_count}, {bench_ctxsw, bench_ctxsw_count},
		{bench_uaccess, bench_uaccess_count}, {bench_kvmwalk, bench_kvmwalk_count},
		{bench_conn, bench_conn_count},
	};

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		if (i < tables[t].count) {
			return &tables[t].rows[i];
		}
		i -= tables[t].count;
	}
	return NULL;
}

static bool is_chosen(const struct bench *b, const char *name)
{
	size_t len = strlen(name);

	return strncmp(b->name, name, len) == 0 && (b->name[len] == '.' || b->name[len] == '\0');
}

/* Send a line; with --wait-for-reader, wait until the reader has dealt with it. */
static int send_line(const struct options *o, const char *line, size_t len)
{
	char answer;
	int r = io_write_all((int)o->results_fd, line, len);

	while (r == 0 && o->wait) {
		ssize_t n = read((int)o->results_fd, &answer, 1);

		if (n >= 0 || errno != EINTR) {
			break;
		}
	}
	return r;
}

static int send_error(const struct options *o, const char *name, const char *text)
{
	_cleanup_free_ char *line = NULL;
	size_t len;
	int r = result_error_line(name, text, &line, &len);

	fprintf(stderr, "ringside-bench: %s: %s\n", name, text);
	return r < 0 ? r : send_line(o, line, len);
}

static int measure(struct run *r, int bank, struct err *e)
{
	const struct bench *b = r->bench;
	int ret = machine_settle(r->machine, e);

	if (ret == 0) {
		ret = b->elsewhere ? nopti_require(r->machine, e) : nopti_take(r->machine, e);
	}
	if (ret == 0) {
		ret = b->setup(r, e);
	}
	if (ret == 0) {
		ret = batches_run(r, e);
	}
	if (ret == 0 && bank > 0) {
		ret = calltime_pass(r, bank, e);
	}
	if (ret == 0 && !b->elsewhere) {
		ret = nopti_check(r->machine, e);
	}
	if (ret == 0) {
		ret = b->finish(r, e);
	}
	return ret;
}

/*
 * In the process of one benchmark. Return its exit status: 0 after its line, or STATUS_FAILED. The
 * parent says why, once the process and so all of its threads are gone: waiting for the reader
 * while one of them spins at a real-time priority would be waiting for ever.
 */
static int run_one(const struct options *o, struct machine *m, const struct bench *b, int bank)
{
	_cleanup_free_ uint64_t *numbers = calloc(o->batches * 4, sizeof(*numbers));
	_cleanup_free_ char *line = NULL;
	struct run r = {
		.machine = m,
		.bench = b,
		.batches = (unsigned int)o->batches,
		.warmup = (unsigned int)o->warmup,
		.calls = o->calls ? (unsigned int)o->calls : b->calls,
		.ticks = numbers,
		.empty = numbers + o->batches,
		.irqs = numbers + 2 * o->batches,
		.nivcsw = numbers + 3 * o->batches,
		.bank = -1,
		.peer_fd = -1,
	};
	struct err e = ERR_INIT;
	size_t len;

	r.calls -= r.calls % b->calls_of_loop;
	if (!numbers) {
		err_errno(&e, -ENOMEM, "%u batches", r.batches);
	} else if (r.calls == 0) {
		err_set(&e, -EINVAL, "%u calls a batch, expected at least %u",
			(unsigned int)o->calls, b->calls_of_loop);
	} else if (measure(&r, bank, &e) == 0 && result_line(&r, &line, &len) < 0) {
		err_errno(&e, -ENOMEM, "the result");
	}
	if (e.code < 0) {
		snprintf(m->shared->error, sizeof(m->shared->error), "%s", e.text);
		return STATUS_FAILED;
	}
	return send_line(o, line, len) < 0 ? STATUS_FAILED : 0;
}

static int run_in_child(const struct options *o, struct machine *m, const struct bench *b, int bank)
{
	char text[64];
	int status = 0;
	pid_t pid;

	snprintf(m->shared->error, sizeof(m->shared->error), "the result could not be sent");
	pid = fork();
	if (pid == 0) {
		/* Moved by what stays allocated in this frame. */
		volatile char *pad = alloca(m->stack_pad + 1);

		pad[0] = 0;
		_exit(run_one(o, m, b, bank));
	}
	if (pid < 0) {
		snprintf(text, sizeof(text), "fork: %s", strerror(errno));
		send_error(o, b->name, text);
		return STATUS_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "killed by signal %d", WTERMSIG(status));
		send_error(o, b->name, text);
		return STATUS_FAILED;
	}
	if (WEXITSTATUS(status) != 0) {
		send_error(o, b->name, m->shared->error);
		return STATUS_FAILED;
	}
	return 0;
}

static int choose(const struct options *o, char **names, const struct bench **chosen, size_t *n)
{
	int bad = 0;

	for (; *names; names++) {
		const struct bench *b;
		bool any = false;

		for (size_t i = 0; (b = bench_at(i)); i++) {
			bool have = false;

			if (!is_chosen(b, *names)) {
				continue;
			}
			any = true;
			for (size_t c = 0; c < *n; c++) {
				have = have || chosen[c] == b;
			}
			if (!have) {
				chosen[(*n)++] = b;
			}
		}
		if (!any) {
			send_error(o, *names, "there is no such benchmark");
			bad = STATUS_FAILED;
		}
	}
	return bad;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{"batches", required_argument, NULL, 'b'},
		{"warmup", required_argument, NULL, 'w'},
		{"calls", required_argument, NULL, 'c'},
		{"seed", required_argument, NULL, 's'},
		{"calltime", required_argument, NULL, 't'},
		{"nopti", required_argument, NULL, 'n'},
		{"results-fd", required_argument, NULL, 'f'},
		{"wait-for-reader", no_argument, NULL, 'W'},
		{"no-marks", no_argument, NULL, 'M'},
		{"list", no_argument, NULL, 'l'},
		{NULL, 0, NULL, 0},
	};
	const struct {
		int letter;
		uint64_t *value;
		uint64_t min, max;
	} numbers[] = {
		{'b', &o->batches, 1, 100000},  {'w', &o->warmup, 0, 100000},
		{'c', &o->calls, 0, 100000000}, {'s', &o->seed, 0, UINT64_MAX},
		{'t', &o->calltime, 0, 1},      {'n', &o->nopti, 0, 1},
		{'f', &o->results_fd, 0, 1023},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		size_t i = 0;

		o->wait = o->wait || c == 'W';
		o->marks = o->marks && c != 'M';
		o->list = o->list || c == 'l';
		while (i < ARRAY_SIZE(numbers) && numbers[i].letter != c) {
			i++;
		}
		if (c == '?') {
			return -EINVAL;
		}
		if (i < ARRAY_SIZE(numbers) &&
		    (text_parse_u64(optarg, numbers[i].value) < 0 ||
		     *numbers[i].value < numbers[i].min || *numbers[i].value > numbers[i].max)) {
			fprintf(stderr,
				"ringside-bench: '%s': expected a number from %llu to %llu\n",
				optarg, (unsigned long long)numbers[i].min,
				(unsigned long long)numbers[i].max);
			return -EINVAL;
		}
	}
	return 0;
}

static unsigned int stack_pad(uint64_t seed)
{
	const char *given = getenv("RINGSIDE_STACKPAD");
	uint64_t bytes;
	struct rng rng;

	if (given && text_parse_u64(given, &bytes) == 0 && bytes <= STACK_PAD_MAX) {
		return (unsigned int)bytes;
	}
	rng_init(&rng, seed);
	return (unsigned int)rng_below(&rng, 4096 / STACK_PAD_STEP) * STACK_PAD_STEP;
}

int main(int argc, char **argv)
{
	struct options o = {.batches = 30, .warmup = 3, .results_fd = 1};
	const struct bench *chosen[CHOSEN_MAX];
	struct machine m;
	struct err e = ERR_INIT;
	size_t n = 0;
	int bank = 0;
	int status;

	o.marks = getenv("RINGSIDE_GUEST") != NULL;
	if (parse(argc, argv, &o) < 0 || (optind == argc && !o.list)) {
		fprintf(stderr, "usage: ringside-bench [--batches N] [--warmup N] [--calls N] "
				"[--seed S] [--calltime 0|1] [--nopti 0|1] "
				"[--results-fd FD [--wait-for-reader]] [--no-marks] NAME... | "
				"--list\n");
		return 2;
	}
	for (size_t i = 0; o.list && bench_at(i); i++) {
		puts(bench_at(i)->name);
	}
	if (o.list) {
		return 0;
	}
	status = choose(&o, argv + optind, chosen, &n);
	if (n == 0) {
		return status;
	}
	if (machine_init(&m, o.marks, &e) < 0) {
		send_error(&o, chosen[0]->name, e.text);
		return STATUS_FAILED;
	}
	m.nopti = o.nopti;
	m.tick_ticks = tick_measure();
	m.stack_pad = stack_pad(o.seed);
	for (size_t i = 0; i < n; i++) {
		bool probe = o.calltime && chosen[i]->probe && calltime_present();

		status |= run_in_child(&o, &m, chosen[i], probe ? ++bank : 0);
	}
	return status;
}
