/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_fixture.h. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "test_fixture.h"

static char *tags[] = {"smoke", "lists"};

static char *warnings[] = {"WARNING: at kernel/sched/core.c:1 allowed: known since 6.1"};

static struct test_sub subs[] = {
	{.name = "list/list_add", .verdict = TEST_OK},
	{.name = "list/list_del",
	 .verdict = TEST_NOT_OK,
	 .message = "EXPECTATION FAILED at lib/list-test.c:57\nExpected list.next == &b, but\n"
		    "    list.next == ffff888003b0fd88"},
	{.name = "list/list_swap", .verdict = TEST_SKIPPED, .directive = "SKIP no device"},
	{.name = "list/list_cut", .verdict = TEST_KNOWN, .directive = "TODO not written yet"},
};

static struct test_sub hostile_subs[] = {
	{.name = TEST_HOSTILE, .verdict = TEST_NOT_OK, .message = TEST_HOSTILE "\n\n\tnext line"},
};

static struct test_sub known_subs[] = {
	{.name = "tsc_sync", .verdict = TEST_NOT_OK, .message = "off by 12"},
};

static void add(struct test_fixture *f, struct test_result r)
{
	struct test_result *to = &f->results[f->report.count];

	*to = r;
	to->file = "tests/smoke.yaml";
	to->column = 3;
	to->line = 10 + 4 * (unsigned int)f->report.count;
	to->cpus = 2;
	to->memory_bytes = UINT64_C(512) << 20;
	to->started_unix_ns = (UINT64_C(1796100000) + f->report.count) * UINT64_C(1000000000);
	to->append = to->append ? to->append : "";
	to->cpu = to->cpu ? to->cpu : "";
	to->kernel = to->kernel ? to->kernel : "base";
	to->kernel_sha256 = "";
	to->message = to->message ? to->message : "";
	to->attempts = to->attempts ? to->attempts : 1;
	to->backend = to->backend ? to->backend : "kvm";
	to->has_class = *to->backend;
	to->exec_class = EXEC_NESTED;
	f->list[f->report.count++] = to;
}

/**
 * test_fixture_init() - fill a made-up run
 * @f: the caller's memory; it needs no end
 */
void test_fixture_init(struct test_fixture *f)
{
	static const char *const missing[] = {"late[cpus=2]"};

	*f = (struct test_fixture){
		.report =
			{
				.title = "tests/smoke.yaml",
				.ringside_version = "1.2.3",
				.seed = 42,
				.shard = 1,
				.shards = 2,
				.results = f->list,
				.missing = missing,
				.missing_count = 1,
				.dir = "out",
			},
	};
	add(f, (struct test_result){
		       .id = "hello[cpus=2]",
		       .test = "hello",
		       .tag_count = 1,
		       .tags = tags,
		       .duration_ns = 1234567890,
		       .boot_ns = 400000000,
		       .dir = "hello[cpus=2]",
	       });
	add(f, (struct test_result){
		       .id = "kunit[cpus=2]",
		       .test = "kunit",
		       .tag_count = 2,
		       .tags = tags,
		       .outcome = TEST_FAIL,
		       .verdict = TEST_NOT_OK,
		       .message = "1 of 4 results is not ok: list/list_del",
		       .sub_count = ARRAY_SIZE(subs),
		       .subs = subs,
		       .duration_ns = 2500000000,
		       .dir = "kunit[cpus=2]",
	       });
	add(f,
	    (struct test_result){
		    .id = "boot[kernel=bad,cpus=2]",
		    .test = "boot",
		    .kernel = "bad",
		    .outcome = TEST_PANIC,
		    .verdict = TEST_NOT_OK,
		    .status = 240,
		    .message = "Kernel panic - not syncing: VFS: Unable to mount root fs on "
			       "unknown-block(0,0)\nCall Trace:\n panic+0x10f/0x2c0",
		    .backtrace = "vCPU 0: RIP 0xffffffff81001234 = panic+0x14 (kernel/panic.c:4)\n"
				 "Call Trace:\n"
				 " panic+0x10f/0x2c0 (kernel/panic.c:355)",
		    .console_tail = "Unable to mount root fs\n"
				    "Kernel panic - not syncing: VFS: Unable to mount root fs\n",
		    .duration_ns = 900400000,
		    .dir = "boot[kernel=bad,cpus=2]",
	    });
	add(f, (struct test_result){
		       .id = "race[cpus=2]",
		       .test = "race",
		       .verdict = TEST_FLAKY,
		       .message = "attempt 1 of 3: hang: no vCPU made progress for 10 s",
		       .attempts = 2,
		       .duration_ns = 12000000000,
		       .dir = "race[cpus=2]",
	       });
	add(f, (struct test_result){
		       .id = "clock[cpus=2]",
		       .test = "clock",
		       .outcome = TEST_FAIL,
		       .verdict = TEST_KNOWN,
		       .known = "the emulated TSC drifts, until 2027-01-01",
		       .message = "1 of 1 results is not ok: tsc_sync",
		       .sub_count = ARRAY_SIZE(known_subs),
		       .subs = known_subs,
		       .status = 1,
		       .duration_ns = 700000000,
		       .dir = "clock[cpus=2]",
	       });
	add(f, (struct test_result){
		       .id = "native[cpus=2]",
		       .test = "native",
		       .outcome = TEST_SKIP,
		       .verdict = TEST_SKIPPED,
		       .status = -1,
		       .backend = "",
		       .message = "needs class=native, this machine is nested",
		       .dir = "",
	       });
	add(f, (struct test_result){
		       .id = "warned[cpus=2]",
		       .test = "warned",
		       .warning_count = 1,
		       .warnings = warnings,
		       .duration_ns = 600000000,
		       .dir = "warned[cpus=2]",
	       });
	add(f, (struct test_result){
		       .id = "expects[cpus=2]",
		       .test = "expects",
		       .verdict = TEST_NOT_OK,
		       .message = "it passed, and a panic was expected",
		       .duration_ns = 600000000,
		       .dir = "expects[cpus=2]",
	       });
	add(f, (struct test_result){
		       .id = TEST_HOSTILE,
		       .test = TEST_HOSTILE,
		       .kernel = TEST_HOSTILE,
		       .append = "a=" TEST_HOSTILE,
		       .outcome = TEST_BROKEN,
		       .verdict = TEST_NOT_OK,
		       .message = TEST_HOSTILE "\nsecond line: " TEST_HOSTILE,
		       .backtrace = TEST_HOSTILE,
		       .console_tail = TEST_HOSTILE "\n" TEST_HOSTILE "\n",
		       .sub_count = ARRAY_SIZE(hostile_subs),
		       .subs = hostile_subs,
		       .duration_ns = 600000000,
		       .dir = TEST_HOSTILE,
	       });
}

/**
 * test_fixture_render() - what a renderer writes
 * @fn: the renderer
 * @t: the run
 *
 * Return: the text, the caller's to free().
 */
char *test_fixture_render(test_fixture_fn fn, const struct test_report *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(fn(t, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), len);
	return text;
}

/**
 * test_fixture_check_harmless() - that nothing in a text moves a cursor, and all of it is UTF-8
 * @text: what was rendered
 */
void test_fixture_check_harmless(const char *text)
{
	for (const char *p = text; *p; p++) {
		assert_true((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t');
		assert_true(*p != 0x7f);
	}
	assert_null(strstr(text, "\xff"));
	assert_null(strstr(text, "\xed\xa0"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xe2\x80\xae"));
}

/**
 * test_fixture_check_full_disk() - that a renderer tells of a disk that is full
 * @fn: the renderer
 * @t: the run
 */
void test_fixture_check_full_disk(test_fixture_fn fn, const struct test_report *t)
{
	FILE *out = fopen("/dev/full", "we");

	assert_non_null(out);
	assert_int_equal(fn(t, out), -EIO);
	fclose(out);
}
