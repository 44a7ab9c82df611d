/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_options.h. Main thread, before anything else is started. */
#include "cli/test_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/helpers.h"
#include "cli/shard.h"
#include "samples/class.h"

#define JOBS_MAX   256
#define REPEAT_MAX 10000
#define CPUS_MAX   1024

static int parse_jobs(struct test_options *o, struct err *e)
{
	uint64_t n;

	if (strcmp(o->jobs_text, "auto") == 0) {
		return 0;
	}
	if (text_parse_u64(o->jobs_text, &n) < 0 || n < 1 || n > JOBS_MAX) {
		return err_set(e, -EINVAL, "--jobs: expected auto or a number, 1 to %d, got '%s'",
			       JOBS_MAX, o->jobs_text);
	}
	o->jobs = (unsigned int)n;
	return 0;
}

/* A suite says itself what its tests run on. */
static int check_suite(const struct test_options *o, struct err *e)
{
	const struct {
		const char *option;
		bool given;
	} rows[] = {
		{"kernel", o->kernels.count > 0},
		{"append", o->append.count > 0},
		{"cpu", o->cpu != NULL},
		{"cpus", o->cpus > 0},
		{"memory", o->memory_bytes > 0},
		{"timeout", o->timeout_ns > 0},
		{"boot-timeout", o->boot_timeout_ns > 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].given) {
			return err_set(e, -EINVAL,
				       "--%s goes with a command behind '--': %s says it of its "
				       "tests",
				       rows[i].option, o->suite);
		}
	}
	return 0;
}

static int check_what(struct test_options *o, struct err *e)
{
	o->suite = o->rest.word_count ? o->rest.words[0] : NULL;
	if (!o->suite && o->rest.command_count == 0) {
		return err_set(e, -EINVAL,
			       "what is to be tested? Name a suite file, or a command behind '--'");
	}
	if (o->suite && o->rest.has_dashdash) {
		return err_set(e, -EINVAL,
			       "a suite file and a command behind '--' exclude each other");
	}
	return o->suite ? check_suite(o, e) : 0;
}

/* Each report goes somewhere, and no two to one place. */
static int check_files(const struct test_options *o, struct err *e)
{
	const struct {
		const char *option, *path;
		bool is_written;
	} rows[] = {
		{"json", o->json, true},      {"junit", o->junit, true},
		{"tap", o->tap, true},        {"github", o->github, true},
		{"out", o->out, false},       {"baseline", o->baseline, false},
		{"runner", o->runner, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].path && !*rows[i].path) {
			return err_set(e, -EINVAL, "--%s: the path is empty", rows[i].option);
		}
		for (size_t k = 0; rows[i].path && rows[i].is_written && k < i; k++) {
			if (rows[k].path && strcmp(rows[i].path, rows[k].path) == 0 &&
			    strcmp(rows[i].path, "/dev/null") != 0) {
				return err_set(e, -EINVAL, "--%s and --%s are both '%s'",
					       rows[k].option, rows[i].option, rows[i].path);
			}
		}
	}
	return 0;
}

static int check(struct test_options *o, struct err *e)
{
	int r = check_what(o, e);

	if (r == 0 && o->shard_text) {
		r = shard_parse(o->shard_text, &o->shard, &o->shards, e);
	}
	if (r == 0) {
		r = parse_jobs(o, e);
	}
	if (r < 0) {
		return r;
	}
	if (o->require_kvm && strcmp(o->backend, "qemu") == 0) {
		return err_set(e, -EINVAL, "--require-kvm and --backend qemu exclude each other");
	}
	if (o->icount != TEST_NOT_GIVEN && strcmp(o->backend, "qemu") != 0) {
		return err_set(e, -EINVAL, "--icount needs --backend qemu");
	}
	if (o->until_failure && o->repeat > 1) {
		return err_set(e, -EINVAL, "--until-failure and --repeat exclude each other");
	}
	if (cli_is_stdout(o->json) + cli_is_stdout(o->junit) + cli_is_stdout(o->tap) +
		    cli_is_stdout(o->github) >
	    1) {
		return err_set(e, -EINVAL, "only one report can go to stdout, '-'");
	}
	if (check_files(o, e) < 0) {
		return -EINVAL;
	}
	if (o->rest.has_dashdash && !*o->rest.command[0]) {
		return err_set(e, -EINVAL, "the command behind '--' is empty");
	}
	if (o->list && o->print_suite) {
		return err_set(e, -EINVAL, "--list and --print-suite exclude each other");
	}
	return 0;
}

/**
 * test_options_parse() - read the command line of "ringside test"
 * @o: set; points into @argv
 * @argc: number of words, the command's name first
 * @argv: the words
 * @e: set on failure
 *
 * Return: 0, OPT_SHOWN_HELP, or -EINVAL.
 * Context: main thread.
 */
int test_options_parse(struct test_options *o, int argc, char **argv, struct err *e)
{
	const struct opt_row rows[] = {
		{OPT_GROUP, .help = "What a command runs on (a suite file says it itself)"},
		{OPT_LIST, "kernel", 'k', &o->kernels, .arg = "FILE|NAME",
		 .help = "as 'ringside run' has it; of several each is tested [base]"},
		{OPT_STRING, "cpu", 0, &o->cpu, .arg = "SPEC",
		 .help = "what CPUID offers, as 'ringside run' has it"},
		{OPT_U64, "cpus", 'c', &o->cpus, .min = 1, .max = CPUS_MAX, .arg = "N",
		 .help = "number of vCPUs [1]"},
		{OPT_BYTES, "memory", 'm', &o->memory_bytes, .min = 1, .arg = "SIZE",
		 .help = "guest memory, in MiB without a unit [512M]"},
		{OPT_LIST, "append", 'a', &o->append, .arg = "TEXT",
		 .help = "kernel command line, after ringside's own words"},
		{OPT_SECONDS, "timeout", 't', &o->timeout_ns, .min = NS_PER_MSEC, .arg = "TIME",
		 .help = "for all of a boot [10m]"},
		{OPT_SECONDS, "boot-timeout", 0, &o->boot_timeout_ns, .min = NS_PER_MSEC,
		 .arg = "TIME", .help = "until the guest's user space starts [60s]"},
		{OPT_GROUP, .help = "Which cases"},
		{OPT_FLAG, "list", 'l', &o->list, .help = "print their names, and run none"},
		{OPT_FLAG, "print-suite", 0, &o->print_suite,
		 .help = "print the suite with every default in it, and run nothing"},
		{OPT_STRING, "filter", 'f', &o->filter, .once = true, .arg = "EXPR",
		 .help = "only those that it holds for"},
		{OPT_U64, "repeat", 'n', &o->repeat, .min = 1, .max = REPEAT_MAX, .arg = "N",
		 .help = "each so many times [1]"},
		{OPT_FLAG, "until-failure", 0, &o->until_failure,
		 .help = "again and again, until one is not ok"},
		{OPT_U64, "shuffle", 0, &o->shuffle, .max = INT64_MAX, .arg = "SEED",
		 .help = "in an order that is drawn; the same seed gives the same [the suite's]"},
		{OPT_STRING, "shard", 0, &o->shard_text, .once = true, .arg = "I/N",
		 .help = "of N parts only the I-th; 'ringside report --merge' puts the results "
			 "together"},
		{OPT_GROUP, .help = "How they run"},
		{OPT_CHOICE, "backend", 'b', &o->backend, .choices = "auto|kvm|qemu",
		 .arg = "WHERE",
		 .help = "kvm: ringside's own VMM; qemu: QEMU's software CPU; auto: kvm where it "
			 "can run a kernel [auto]"},
		{OPT_FLAG, "require-kvm", 0, &o->require_kvm,
		 .help = "end with 4 where auto would take qemu"},
		{OPT_U64, "icount", 0, &o->icount, .max = EXEC_ICOUNT_SHIFT_MAX, .arg = "SHIFT",
		 .help = "with --backend qemu: an instruction takes 2^SHIFT ns of guest time"},
		{OPT_STRING, "jobs", 'j', &o->jobs_text, .arg = "auto|N",
		 .help = "guests at once; auto: as many as this machine has processors and memory "
			 "for [auto]"},
		{OPT_STRING, "runner", 0, &o->runner, .arg = "FILE",
		 .help = "the program that boots, called as FILE run ... [ringside itself]"},
		{OPT_FLAG, "fail-fast", 'x', &o->fail_fast,
		 .help = "begin nothing more after a case that is not ok"},
		{OPT_FLAG, "bisect", 0, &o->bisect,
		 .help = "for 'git bisect run': exit 0 for good, 1 for bad, 125 where it cannot be "
			 "told: no kernel, no boot, or a fault of this machine's"},
		{OPT_GROUP, .help = "Output"},
		{OPT_STRING, "out", 'o', &o->out, .once = true, .arg = "DIR",
		 .help = "where the results go, and a directory for each case; it must not hold "
			 "results yet [a new one in the cache]"},
		{OPT_FLAG, "core", 0, &o->cores,
		 .help = "keep the memory and registers of each guest that failed and was not to, "
			 "as an ELF core for GDB in the case's directory"},
		{OPT_STRING, "json", 0, &o->json, .once = true, .arg = "FILE",
		 .help = "write a report as JSON; -: to stdout, here and below, in place of the "
			 "text"},
		{OPT_STRING, "junit", 0, &o->junit, .once = true, .arg = "FILE",
		 .help = "as JUnit XML"},
		{OPT_STRING, "tap", 0, &o->tap, .once = true, .arg = "FILE", .help = "as KTAP"},
		{OPT_STRING, "github", 0, &o->github, .once = true, .arg = "FILE",
		 .help = "as annotations of GitHub Actions"},
		{OPT_STRING, "baseline", 0, &o->baseline, .once = true, .arg = "OLD",
		 .help = "report only what has changed since the results in OLD"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "test",
		.usage = "[OPTION]... SUITE.yaml | [OPTION]... -- COMMAND [ARG]...",
		.about =
			"Boots each case of a suite in a virtual machine of its own, some at once, "
			"and tells what came of them: see ringside-suite(5).\n"
			"Exit status: 0 all as expected, 1 not all, 2 usage, 4 this machine or a "
			"file does not allow it.",
		.rows = rows,
		.takes_command = true,
		.max_words = 1,
	};
	int r;

	*o = (struct test_options){
		.repeat = 1,
		.shuffle = TEST_NOT_GIVEN,
		.icount = TEST_NOT_GIVEN,
		.shard = 1,
		.shards = 1,
		.jobs_text = "auto",
		.backend = "auto",
	};
	r = opt_parse(&cmd, argc, argv, &o->rest, e);
	return r ? r : check(o, e);
}

/* The texts of a list with spaces between them; NULL for none. */
static int join(const struct opt_list *l, char **ret, struct err *e)
{
	size_t room = 1;
	char *text;

	*ret = NULL;
	for (size_t i = 0; i < l->count; i++) {
		room += strlen(l->items[i]) + 1;
	}
	if (l->count == 0) {
		return 0;
	}
	text = calloc(1, room);
	if (!text) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < l->count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, l->items[i]);
	}
	*ret = text;
	return 0;
}

/**
 * test_options_suite() - the suite that is meant
 * @o: parsed options
 * @ret: set on success; end it with suite_destroy()
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or as suite_read() or suite_single().
 * Context: main thread.
 */
int test_options_suite(const struct test_options *o, struct suite **ret, struct err *e)
{
	_cleanup_free_ char *append = NULL;
	const char *kernels[OPT_LIST_MAX + 1] = {NULL};
	struct suite_single single = {
		.kernels = kernels,
		.cpu = o->cpu,
		.cpus = o->cpus,
		.memory_bytes = o->memory_bytes,
		.timeout_ns = o->timeout_ns,
		.boot_timeout_ns = o->boot_timeout_ns,
		.argv = o->rest.command,
	};
	int r;

	if (o->suite) {
		return suite_read(o->suite, ret, e);
	}
	for (size_t i = 0; i < o->kernels.count; i++) {
		kernels[i] = o->kernels.items[i];
	}
	r = join(&o->append, &append, e);
	if (r < 0) {
		return r;
	}
	single.append = append;
	return suite_single(&single, ret, e);
}

/**
 * test_options_select() - which cases are meant
 * @o: parsed options
 *
 * Return: for suite_expand(); points into @o.
 * Context: any thread.
 */
struct suite_select test_options_select(const struct test_options *o)
{
	return (struct suite_select){
		.filter = o->filter,
		.repeat = (unsigned int)o->repeat,
		.shuffle = o->shuffle != TEST_NOT_GIVEN,
		.seed = o->shuffle != TEST_NOT_GIVEN ? o->shuffle : 0,
		.shard = o->shard,
		.shards = o->shards,
	};
}
