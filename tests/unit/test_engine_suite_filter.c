/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suite_fixture.h"

#include <errno.h>
#include <string.h>

/* The cases, in order: a 0 to 3, b 4 to 7, net-tcp 8, net-udp 9, or 10. */
#define CASES 11

static const char text[] =
	"matrix: {kernels: [base, nopti], cpus: [1, 4]}\n"
	"tests:\n"
	"  - {name: a, command: [x], tags: [fast, ci]}\n"
	"  - {name: b, command: [x], tags: [slow]}\n"
	"  - name: net-tcp\n"
	"    command: [x]\n"
	"    tags: [slow, net.4]\n"
	"    matrix: {kernels: [base], cpus: [2], memory: [2G], append: ['a=b c']}\n"
	"  - name: net-udp\n"
	"    command: [x]\n"
	"    matrix: {kernels: [./vm], cpus: [2], cpu: ['host,-avx']}\n"
	"  - {name: or, firmware: payload, matrix: {cpus: [8]}}\n";

static struct suite_plan whole;

static int setup(void **state)
{
	suite_setup(state);
	suite_must_read(text);
	suite_must_expand(&(struct suite_select){0});
	whole = suite_plan;
	assert_int_equal(whole.count, CASES);
	return 0;
}

static int teardown(void **state)
{
	suite_plan = whole;
	suite_end();
	return suite_teardown(state);
}

static int filter(const char *expression)
{
	struct suite_select sel = {.filter = expression};

	return suite_expand(suite, &sel, &suite_plan, &suite_error);
}

static void a_filter_takes_what_it_says(void **state)
{
	static const struct {
		const char *filter;
		const char *takes; /* a digit for each case; x is the tenth */
	} rows[] = {
		{"a", "0123"},
		{"net-*", "89"},
		{"net-[tu]??", "89"},
		{"*", "0123456789x"},
		{"a | b", "01234567"},
		{"a or b", "01234567"},
		{"a|b", "01234567"},
		{"tag:slow", "45678"},
		{"tag:net.*", "8"},
		{"tag:f*|tag:net*", "01238"},
		{"!tag:slow", "01239x"},
		{"not tag:slow", "01239x"},
		{"!!a", "0123"},
		{"kernel=base", "01458"},
		{"kernel = base", "01458"},
		{"kernel!=base", "23679x"},
		{"kernel=*p*", "2367"},
		{"kernel=./vm", "9"},
		{"kernel=\"\"", "x"},
		{"cpus=4", "1357"},
		{"cpus!=4", "024689x"},
		{"cpus>=2", "135789x"},
		{"cpus>2", "1357x"},
		{"cpus<2", "0246"},
		{"cpus<=0x2", "024689"},
		{"memory=2G", "8"},
		{"memory<2048 & cpus=2", "9"},
		{"append=a=b\\ c", NULL},
		{"append=\"a=b c\"", "8"},
		{"append=a=b*", "8"},
		{"cpu=host,-avx", "9"},
		{"a & cpus=4", "13"},
		{"a and cpus=4", "13"},
		{"a & cpus=4 | b & cpus=1", "1346"},
		{"a & (cpus=4 | kernel=nopti)", "123"},
		{"!(a | b)", "89x"},
		{"! a & ! b", "89x"},
		{"a[kernel=nopti,cpus=4]", "3"},
		{"a[kernel=nopti,cpus=4] | net-tcp", "38"},
		{"\"or\"", "x"},
		{"(((a)))", "0123"},
		{"  a  ", "0123"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *takes = rows[i].takes;

		if (!takes) {
			assert_int_equal(filter(rows[i].filter), -EINVAL);
			continue;
		}
		if (filter(rows[i].filter) < 0) {
			fail_msg("%s: %s", rows[i].filter, suite_error.text);
		}
		if (suite_plan.count != strlen(takes)) {
			fail_msg("%s: %zu cases", rows[i].filter, suite_plan.count);
		}
		for (size_t k = 0; takes[k]; k++) {
			size_t which = takes[k] == 'x' ? 10 : (size_t)(takes[k] - '0');

			assert_string_equal(suite_plan.cases[k].id, whole.cases[which].id);
		}
		suite_plan_fini(&suite_plan);
	}
}

static void what_is_wrong_in_a_filter_is_named_with_its_column(void **state)
{
#define TERM "expected a test, tag:NAME, an axis or '(', got "
	static const struct {
		const char *filter, *error;
	} bad[] = {
		{"", "filter, column 1: " TERM "the end"},
		{"a &", "filter, column 4: " TERM "the end"},
		{"a & | b", "filter, column 5: " TERM "'|'"},
		{"a & and", "filter, column 5: " TERM "'and'"},
		{"a b", "filter, column 3: expected '&', '|' or the end, got 'b'"},
		{"a)", "filter, column 2: expected '&', '|' or the end, got ')'"},
		{"a & (b", "filter, column 5: the '(' here is not closed"},
		{"(a b)", "filter, column 4: expected '&', '|' or ')', got 'b)'"},
		{"()", "filter, column 2: " TERM "')'"},
		{"!", "filter, column 2: " TERM "the end"},
		{"kernels=base",
		 "filter, column 1: 'kernels' is no axis; they are kernel, cpu, cpus, memory, "
		 "append"},
		{"a & cpus=two", "filter, column 10: 'cpus': expected a whole number, got 'two'"},
		{"memory>x", "filter, column 8: 'memory': expected a size such as 512M, got 'x'"},
		{"kernel>base",
		 "filter, column 8: 'kernel' is a text: it is compared by = and != only"},
		{"kernel=", "filter, column 8: expected a value, got the end"},
		{"tag:", "filter, column 1: 'tag:' needs a name or a glob"},
		{"a | \"b", "filter, column 5: the quotes that begin here do not end"},
		{"a | c",
		 "filter, column 5: there is no test and no case 'c'; the tests are: a, b, "
		 "net-tcp, net-udp, or"},
		{"a[kernel=base]",
		 "filter, column 1: there is no test and no case 'a[kernel=base]'; the tests are: "
		 "a, b, net-tcp, net-udp, or"},
		{"a & tag:slow", "the filter 'a & tag:slow' takes none of the cases"},
		{"kernel=full", "the filter 'kernel=full' takes none of the cases"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(filter(bad[i].filter), -EINVAL);
		assert_string_equal(suite_error.text, bad[i].error);
		assert_null(suite_plan.cases);
	}
}

static void a_filter_is_neither_deep_nor_long(void **state)
{
	static char deep[SUITE_CASES_MAX];

	memset(deep, '(', sizeof(deep) - 1);
	assert_int_equal(filter(deep), -EINVAL);
	assert_string_equal(suite_error.text, "filter: longer than 4096 bytes");
	deep[4096] = '\0';
	assert_int_equal(filter(deep), -EINVAL);
	assert_string_equal(suite_error.text, "filter, column 65: more than 64 deep");
	/* A chain is long, and not deep. */
	for (size_t i = 0; i < 4096; i++) {
		deep[i] = i % 2 ? '|' : 'a';
	}
	deep[4095] = '\0';
	assert_int_equal(filter(deep), 0);
	assert_int_equal(suite_plan.count, 4);
	suite_plan_fini(&suite_plan);
}

static void repetitions_come_round_by_round_with_a_number_each(void **state)
{
	struct suite_select sel = {.repeat = 3};

	suite_must_expand(&sel);
	assert_int_equal(suite_plan.count, 3 * CASES);
	for (size_t i = 0; i < suite_plan.count; i++) {
		const struct suite_case *c = &suite_plan.cases[i];
		const char *id = whole.cases[i % CASES].id;
		char want[128];

		assert_int_equal(c->repeat, i / CASES + 1);
		snprintf(want, sizeof(want), "%s#%u", id, c->repeat);
		assert_string_equal(c->id, c->repeat == 1 ? id : want);
	}
	suite_plan_fini(&suite_plan);
	sel.filter = "net-tcp#2";
	suite_must_expand(&sel);
	assert_int_equal(suite_plan.count, 1);
	suite_plan_fini(&suite_plan);
	sel.repeat = SUITE_REPEAT_MAX + 1;
	assert_int_equal(suite_expand(suite, &sel, &suite_plan, &suite_error), -EINVAL);
	assert_string_equal(suite_error.text,
			    "10001 repetitions of 11 cases: at most 10000 of each and 1000000 in "
			    "all are taken");
}

/* Whether both have the same cases in the same order. */
static bool same_order(const struct suite_plan *a, const struct suite_plan *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++) {
		if (strcmp(a->cases[i].id, b->cases[i].id) != 0) {
			return false;
		}
	}
	return a->count == b->count;
}

/* How often each case of the whole is in the plan. */
static void count_cases(const struct suite_plan *p, unsigned int times[CASES])
{
	for (size_t i = 0; i < p->count; i++) {
		for (size_t k = 0; k < CASES; k++) {
			times[k] += strcmp(p->cases[i].id, whole.cases[k].id) == 0;
		}
	}
}

static void the_same_seed_gives_the_same_order_and_another_one_another(void **state)
{
	struct suite_plan first;
	unsigned int orders = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct suite_select sel = {.shuffle = true, .seed = seed};
		unsigned int times[CASES] = {0};

		suite_must_expand(&sel);
		first = suite_plan;
		suite_must_expand(&sel);
		assert_true(same_order(&first, &suite_plan));
		orders += !same_order(&first, &whole);
		count_cases(&first, times);
		for (size_t k = 0; k < CASES; k++) {
			assert_int_equal(times[k], 1);
		}
		suite_plan_fini(&first);
		suite_plan_fini(&suite_plan);
	}
	/* 11! orders: that one of 20 is the whole's has a chance of 1 to 2 million. */
	assert_int_equal(orders, 20);
}

static void shards_have_nothing_in_common_and_are_all_together(void **state)
{
	for (unsigned int shards = 1; shards <= CASES + 2; shards++) {
		unsigned int times[CASES] = {0};

		for (unsigned int shard = 1; shard <= shards; shard++) {
			/* Even with a seed of its own each. */
			struct suite_select sel = {
				.shuffle = true, .seed = shard, .shard = shard, .shards = shards};

			suite_must_expand(&sel);
			assert_in_range(suite_plan.count, CASES / shards, CASES / shards + 1);
			count_cases(&suite_plan, times);
			suite_plan_fini(&suite_plan);
		}
		for (size_t k = 0; k < CASES; k++) {
			assert_int_equal(times[k], 1);
		}
	}
	/* The second of four: the second case, and from there one in four. */
	suite_must_expand(&(struct suite_select){.shard = 2, .shards = 4});
	for (size_t i = 0; i < suite_plan.count; i++) {
		assert_string_equal(suite_plan.cases[i].id, whole.cases[1 + 4 * i].id);
	}
	suite_plan_fini(&suite_plan);
}

static void a_shard_that_is_none_is_refused(void **state)
{
	struct suite_select sel = {.shard = 3, .shards = 2};

	assert_int_equal(suite_expand(suite, &sel, &suite_plan, &suite_error), -EINVAL);
	assert_string_equal(suite_error.text, "there is no shard 3 of 2: they are 1 to 2");
	sel.shard = 0;
	assert_int_equal(suite_expand(suite, &sel, &suite_plan, &suite_error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_takes_what_it_says),
		cmocka_unit_test(what_is_wrong_in_a_filter_is_named_with_its_column),
		cmocka_unit_test(a_filter_is_neither_deep_nor_long),
		cmocka_unit_test(repetitions_come_round_by_round_with_a_number_each),
		cmocka_unit_test(the_same_seed_gives_the_same_order_and_another_one_another),
		cmocka_unit_test(shards_have_nothing_in_common_and_are_all_together),
		cmocka_unit_test(a_shard_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
