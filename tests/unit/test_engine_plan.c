/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/plan.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct err e;

static char *make_line(uint64_t seed, const char *append)
{
	struct plan p = {
		.ringside_version = strdup("0.1.0"),
		.backend = strdup("qemu"),
		.icount = 3,
		.timeout_ns = 60000000000,
		.seed = seed,
		.blocks = 2,
		.batches = 30,
		.warmup = 3,
		.benches = 1u << 0 | 1u << 4,
		.arms = {{{strdup("base"), strdup(append)}, SHA},
			 {{strdup("base"), strdup("")}, SHA}},
		.boot_count = 8,
	};
	char *line;

	assert_int_equal(schedule_make(seed, p.blocks, &p.boots), 0);
	assert_int_equal(plan_line(&p, &line, &e), 0);
	plan_fini(&p);
	return line;
}

/* The line with the first 'from' replaced. */
static char *edit(char *line, const char *from, const char *to)
{
	char *at = strstr(line, from);
	char *out;

	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - line), line, to, at + strlen(from)) > 0);
	free(line);
	return out;
}

static void a_plan_that_is_read_back_writes_the_same_line(void **state)
{
	char *line = make_line(INT64_MAX, "nofsgsbase \"x\"");
	struct plan p;
	char *again;

	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_int_equal(p.icount, 3);
	assert_int_equal(p.boot_count, 8);
	assert_string_equal(p.arms[ARM_A].arm.append, "nofsgsbase \"x\"");
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	assert_int_equal(plan_check_same(line, again, &e), 0);
	plan_fini(&p);
	free(again);
	free(line);
}

static void a_task_is_kept_and_one_that_there_is_not_is_refused(void **state)
{
	char *line = edit(make_line(5, ""), "\"sha256\":\"" SHA "\"}}",
			  "\"sha256\":\"" SHA "\",\"task\":\"nopti\"}}");
	struct plan p;
	char *again;

	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_int_equal(p.arms[ARM_A].arm.task, ARM_TASK_PLAIN);
	assert_int_equal(p.arms[ARM_B].arm.task, ARM_TASK_NOPTI);
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	plan_fini(&p);
	free(again);
	line = edit(line, "\"task\":\"nopti\"", "\"task\":\"kpti\"");
	assert_int_equal(plan_parse(line, strlen(line), &p, &e), -EBADMSG);
	assert_string_equal(e.text, "the plan's 'task' is no kind of task");
	free(line);
}

static void another_plan_is_refused_with_the_first_difference(void **state)
{
	char *one = make_line(1, "");
	char *two = make_line(2, "");
	char *three = make_line(1, "quiet");

	assert_int_equal(plan_check_same(one, two, &e), -EEXIST);
	assert_string_equal(e.text, "these results are of another plan: its seed is 2, not 1");
	assert_int_equal(plan_check_same(one, three, &e), -EEXIST);
	assert_string_equal(
		e.text, "these results are of another plan: its arms is "
			"{\"a\":{\"kernel\":\"base\",\"append\":\"quiet\",\"sha256\":\"" SHA
			"\"},\"b\":{\"kernel\":\"base\",\"append\":\"\",\"sha256\":\"" SHA
			"\"}}, not {\"a\":{\"kernel\":\"base\",\"append\":\"\",\"sha256\":\"" SHA
			"\"},\"b\":{\"kernel\":\"base\",\"append\":\"\",\"sha256\":\"" SHA "\"}}");
	free(one);
	free(two);
	free(three);
}

static void wrong_plans_are_refused_by_what_is_wrong(void **state)
{
	static const struct {
		const char *from, *to;
		int code;
		const char *text;
	} bad[] = {
		{"{", "[", -EBADMSG, "not the plan of a comparison"},
		{"\"plan\"", "\"boot\"", -EBADMSG, "not the plan of a comparison"},
		{"\"schema_version\":1", "\"schema_version\":2", -EPROTO,
		 "schema version 2 is newer than the 1 this ringside reads: use the one that wrote "
		 "it"},
		{"\"blocks\":2", "\"blocks\":10001", -EBADMSG,
		 "the plan's 'blocks' is not a number from 0 to 10000"},
		{"\"blocks\":2", "\"blocks\":0", -EBADMSG, "the plan has no blocks or no batches"},
		{"\"backend\":\"qemu\"", "\"backend\":7", -EBADMSG,
		 "the plan's 'backend' is not a text"},
		{SHA, "12", -EBADMSG, "the plan's 'sha256' is no SHA-256"},
		{"[\"syscall.null\",\"ctxsw.futex.fsgs\"]", "[]", -EBADMSG,
		 "the plan names no benchmarks"},
		{"\"seed\":5", "\"seed\":6", -EBADMSG,
		 "the order of the boots is not the one that seed 6 gives"},
	};
	struct plan p;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *line = edit(make_line(5, ""), bad[i].from, bad[i].to);

		assert_int_equal(plan_parse(line, strlen(line), &p, &e), bad[i].code);
		assert_string_equal(e.text, bad[i].text);
		free(line);
	}
}

static void the_key_of_a_line_is_the_beginning_of_its_sha256(void **state)
{
	char hex[17];

	plan_key("abc", hex, sizeof(hex)); /* FIPS 180-2, appendix B.1 */
	assert_string_equal(hex, "ba7816bf8f01cfea");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_that_is_read_back_writes_the_same_line),
		cmocka_unit_test(a_task_is_kept_and_one_that_there_is_not_is_refused),
		cmocka_unit_test(another_plan_is_refused_with_the_first_difference),
		cmocka_unit_test(wrong_plans_are_refused_by_what_is_wrong),
		cmocka_unit_test(the_key_of_a_line_is_the_beginning_of_its_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
