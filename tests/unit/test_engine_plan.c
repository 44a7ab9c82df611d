/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/plan.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct err e;

static struct plan_arm make_arm(const char *name, const char *append)
{
	struct plan_arm a = {.name = strdup(name),
			     .arm = {.kernel = strdup("base"), .append = strdup(append)}};

	strcpy(a.sha256, SHA);
	return a;
}

/* Two blocks of two arms and, with @three, a second group: one block of three arms, and a claim. */
static char *make_groups(uint64_t seed, const char *append, bool three)
{
	struct plan p = {
		.ringside_version = strdup("0.1.0"),
		.title = three ? strdup("Three") : NULL,
		.backend = strdup("qemu"),
		.icount = 3,
		.timeout_ns = 60000000000,
		.seed = seed,
		.batches = 30,
		.warmup = 3,
		.groups = calloc(2, sizeof(*p.groups)),
		.group_count = three ? 2 : 1,
	};
	char *line;

	for (size_t i = 0; i < p.group_count; i++) {
		struct plan_group *g = &p.groups[i];

		g->name = three ? strdup(i ? "second" : "first") : NULL;
		g->blocks = i ? 1 : 2;
		g->benches = 1u << 0 | 1u << 4;
		g->arm_count = i ? 3 : 2;
		g->arms = calloc(g->arm_count, sizeof(*g->arms));
		g->arms[0] = make_arm("one", append);
		for (size_t k = 1; k < g->arm_count; k++) {
			g->arms[k] = make_arm("other", "");
		}
	}
	if (three) {
		struct claim *c = calloc(1, sizeof(*c));

		claim_init(c);
		c->text = strdup("saves much");
		c->source = strdup("a mail");
		c->hardware = strdup("a laptop");
		c->bench = strdup("syscall.null");
		c->arm = 2;
		c->from = 0.1;
		p.groups[1].claims = c;
		p.groups[1].claim_count = 1;
	}
	assert_int_equal(plan_make_schedule(&p, &e), 0);
	assert_int_equal(plan_line(&p, &line, &e), 0);
	plan_fini(&p);
	return line;
}

static char *make_line(uint64_t seed, const char *append)
{
	return make_groups(seed, append, false);
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
	assert_string_equal(p.groups[0].arms[ARM_A].arm.append, "nofsgsbase \"x\"");
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	assert_int_equal(plan_check_same(line, again, &e), 0);
	plan_fini(&p);
	free(again);
	free(line);
}

static void groups_of_more_arms_and_their_claims_are_read_back_too(void **state)
{
	char *line = make_groups(5, "x", true);
	struct plan p;
	char *again;

	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_string_equal(p.title, "Three");
	assert_int_equal(p.group_count, 2);
	assert_int_equal(p.boot_count, 2 * 4 + 6);
	assert_int_equal(plan_first_boot(&p, 1), 8);
	assert_int_equal(p.groups[1].claims[0].arm, 2);
	assert_true(p.groups[1].claims[0].from == 0.1);
	assert_true(isnan(p.groups[1].claims[0].to));
	assert_null(p.groups[1].claims[0].of);
	assert_string_equal(plan_boot_group(&p, &p.boots[8])->name, "second");
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	plan_fini(&p);
	free(again);
	free(line);
}

static void margins_are_read_back_to_the_last_bit(void **state)
{
	static const char *const texts[] = {"2cycles,0.35%", "0.1%"};
	char *line = make_groups(5, "x", true);
	struct plan p;
	char *with, *again;

	assert_null(strstr(line, "margin")); /* a plan without any is written as ever */
	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	p.groups[1].margins = calloc(2, sizeof(struct margin));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(margin_parse(texts[i], &p.groups[1].margins[i], &e), 0);
	}
	p.groups[1].margins[1].benches = benchmark_bit(0);
	p.groups[1].margin_count = 2;
	assert_int_equal(plan_line(&p, &with, &e), 0);
	plan_fini(&p);
	assert_int_equal(plan_parse(with, strlen(with), &p, &e), 0);
	assert_true(p.groups[1].margins[0].percent == .35);
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(with, again);
	plan_fini(&p);
	free(again);
	free(with);
	free(line);
}

static void the_processor_of_an_arm_is_kept(void **state)
{
	char *line = make_line(5, "");
	struct plan p;
	char *again;

	/* A plan of before there was such a property has no word of it. */
	assert_null(strstr(line, "\"cpu\""));
	line = edit(line, "\"append\":\"\",", "\"append\":\"\",\"cpu\":\"-pcid\",");
	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_string_equal(p.groups[0].arms[ARM_A].arm.cpu, "-pcid");
	assert_null(p.groups[0].arms[ARM_B].arm.cpu);
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	plan_fini(&p);
	free(again);
	free(line);
}

static void a_task_is_kept_and_one_that_there_is_not_is_refused(void **state)
{
	char *line = edit(make_line(5, ""), "\"task\":null}]", "\"task\":\"nopti\"}]");
	struct plan p;
	char *again;

	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_int_equal(p.groups[0].arms[ARM_A].arm.task, ARM_TASK_PLAIN);
	assert_int_equal(p.groups[0].arms[ARM_B].arm.task, ARM_TASK_NOPTI);
	assert_int_equal(plan_line(&p, &again, &e), 0);
	assert_string_equal(line, again);
	plan_fini(&p);
	free(again);
	line = edit(line, "\"task\":\"nopti\"", "\"task\":\"kpti\"");
	assert_int_equal(plan_parse(line, strlen(line), &p, &e), -EBADMSG);
	assert_string_equal(e.text, "the plan's 'task' is no kind of task");
	free(line);
}

static void a_group_that_is_left_out_leaves_the_others_as_they_were(void **state)
{
	char *line = make_groups(5, "x", true);
	struct plan p;

	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	plan_remove_group(&p, 0);
	assert_int_equal(p.group_count, 1);
	assert_string_equal(p.groups[0].name, "second");
	assert_int_equal(p.groups[0].claim_count, 1);
	plan_fini(&p);
	free(line);
}

static void a_shard_has_whole_blocks_and_the_line_of_the_whole_plan_but_for_its_number(void **state)
{
	char *whole = make_groups(1, "", true), *line = NULL, *again = NULL;
	unsigned int seen = 0;
	size_t share = 0;
	struct plan p;

	assert_int_equal(plan_parse(whole, strlen(whole), &p, &e), 0);
	assert_int_equal(plan_share(&p), p.boot_count);
	for (p.shards = 3, p.shard = 1; p.shard <= 3; p.shard++) {
		share += plan_share(&p);
	}
	assert_int_equal(share, p.boot_count);
	p.shard = 3;
	/* Two blocks of the first group, and the third block of all is the second group's. */
	for (size_t slot = 0; slot < p.boot_count; slot++) {
		assert_int_equal(plan_is_ours(&p, slot), p.boots[slot].group == 1);
		seen |= 1u << plan_shard_of(&p, slot);
	}
	assert_int_equal(seen, 0xe);
	assert_int_equal(plan_check_shards(&p, &e), 0);
	assert_int_equal(plan_line(&p, &line, &e), 0);
	assert_int_equal(plan_check_same(line, whole, &e), -EEXIST);
	assert_string_equal(e.text,
			    "these results are of another plan: its shard is nothing, not 3");
	assert_int_equal(plan_check_same(whole, line, &e), -EEXIST);
	assert_string_equal(e.text,
			    "these results are of another plan: its shard is 3, not nothing");
	plan_fini(&p);
	assert_int_equal(plan_parse(line, strlen(line), &p, &e), 0);
	assert_int_equal(p.shard, 3);
	assert_int_equal(p.shards, 3);
	assert_int_equal(plan_whole_line(&p, &again, &e), 0);
	assert_string_equal(again, whole);
	p.shards = 4;
	assert_int_equal(plan_check_shards(&p, &e), -EINVAL);
	plan_fini(&p);
	free(again);
	free(line);
	free(whole);
}

static void another_plan_is_refused_with_the_first_difference(void **state)
{
	char *one = make_line(1, "");
	char *two = make_line(2, "");
	char *three = make_line(1, "quiet");

	assert_int_equal(plan_check_same(one, two, &e), -EEXIST);
	assert_string_equal(e.text, "these results are of another plan: its seed is 2, not 1");
	assert_int_equal(plan_check_same(one, three, &e), -EEXIST);
	assert_non_null(strstr(e.text, "its groups[0].arms[0].append is \"quiet\", not \""));
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
		{"\"schema_version\":2", "\"schema_version\":3", -EPROTO,
		 "schema version 3 is newer than the 2 this ringside reads: use the one that wrote "
		 "it"},
		{"\"schema_version\":2", "\"schema_version\":1", -EPROTO,
		 "schema version 1 is older than the 2 this ringside reads: use the one that wrote "
		 "it"},
		{"\"blocks\":2", "\"blocks\":10001", -EBADMSG,
		 "the plan's 'blocks' is not a number from 0 to 512"},
		{"\"blocks\":2", "\"blocks\":0", -EBADMSG, "the plan has no blocks"},
		{"\"batches\":30", "\"batches\":0", -EBADMSG, "the plan has no batches"},
		{"\"groups\":[{", "\"groups\":[],\"x\":[{", -EBADMSG,
		 "the plan's 'groups' is not a list of 1 to 64"},
		{"\"arms\":[{", "\"arms\":[],\"x\":[{", -EBADMSG,
		 "the plan's 'arms' is not a list of 2 to 8"},
		{"\"claims\":[]", "\"claims\":[{}]", -EBADMSG,
		 "a claim's 'arm' is not a number from 0 to 99"},
		{"\"claims\":[]", "\"claims\":[{\"arm\":1}]", -EBADMSG,
		 "a claim's 'text' is not a text"},
		{"\"claims\":[]",
		 "\"claims\":[{\"arm\":2,\"text\":\"t\",\"source\":\"s\",\"hardware\":\"h\","
		 "\"bench\":\"b\"}]",
		 -EBADMSG, "a claim's arm is none that its group compares"},
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
		cmocka_unit_test(groups_of_more_arms_and_their_claims_are_read_back_too),
		cmocka_unit_test(margins_are_read_back_to_the_last_bit),
		cmocka_unit_test(the_processor_of_an_arm_is_kept),
		cmocka_unit_test(a_task_is_kept_and_one_that_there_is_not_is_refused),
		cmocka_unit_test(a_group_that_is_left_out_leaves_the_others_as_they_were),
		cmocka_unit_test(
			a_shard_has_whole_blocks_and_the_line_of_the_whole_plan_but_for_its_number),
		cmocka_unit_test(another_plan_is_refused_with_the_first_difference),
		cmocka_unit_test(wrong_plans_are_refused_by_what_is_wrong),
		cmocka_unit_test(the_key_of_a_line_is_the_beginning_of_its_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
