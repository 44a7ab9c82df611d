/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/filter.h"
#include "report_fixture.h"

static struct set_fixture f;
static struct err e;

static int setup(void **state)
{
	fixture_set(&f);
	return 0;
}

static int teardown(void **state)
{
	fixture_set_fini(&f);
	return 0;
}

static void a_part_has_the_rows_that_were_asked_for_as_they_were(void **state)
{
	const struct report_bench *all =
		&f.set.reports[0]->benches[f.set.reports[0]->n_benches - 1];
	const struct report_filter filter = {.benches = all->name};
	struct report_part *p;
	const struct report_set *s;

	assert_int_equal(report_part_create(&f.set, &filter, &p, &e), 0);
	s = report_part_set(p);
	assert_true(s->n_reports >= 1);
	assert_int_equal(s->reports[0]->n_benches, 1);
	assert_string_equal(s->reports[0]->benches[0].name, all->name);
	assert_memory_equal(&s->reports[0]->benches[0], all, sizeof(*all));
	assert_int_equal(s->reports[0]->family, f.set.reports[0]->family);
	assert_non_null(strstr(s->reports[0]->filtered, " rows, --bench "));
	assert_non_null(
		strstr(s->reports[0]->filtered, "p-values, and the exit status, are of all"));
	for (size_t i = 0; i < s->n_claims; i++) {
		assert_non_null(strstr(s->claims[i].claim->bench, all->name));
	}
	report_part_destroy(p);
	assert_null(f.set.reports[0]->filtered);
}

static void a_group_leaves_the_others_out(void **state)
{
	const struct report_filter filter = {.groups = f.set.reports[1]->group};
	const struct report_set *s;
	struct report_part *p;

	assert_int_equal(report_part_create(&f.set, &filter, &p, &e), 0);
	s = report_part_set(p);
	assert_int_equal(s->n_reports, 1);
	assert_string_equal(s->reports[0]->group, f.set.reports[1]->group);
	assert_int_equal(s->reports[0]->n_benches, f.set.reports[1]->n_benches);
	report_part_destroy(p);
}

/* The names of the fixture's first two groups; the report's own are not its to write. */
static void name_groups(const char *first, const char *second)
{
	f.set.reports[0]->group = first;
	f.set.reports[1]->group = second;
}

static size_t count_groups(const char *list)
{
	const struct report_filter filter = {.groups = list};
	struct report_part *p;
	size_t n;

	if (report_part_create(&f.set, &filter, &p, &e) < 0) {
		return 0;
	}
	n = report_part_set(p)->n_reports;
	report_part_destroy(p);
	return n;
}

static void a_group_with_a_comma_is_named_whole_or_with_a_backslash(void **state)
{
	name_groups("fsgsbase, threads", "a\\b");
	assert_int_equal(count_groups("fsgsbase, threads"), 1);
	assert_int_equal(count_groups("fsgsbase\\, threads"), 1);
	assert_int_equal(count_groups("a\\b"), 1);
	assert_int_equal(count_groups("a\\\\b"), 1);
	assert_int_equal(count_groups("a\\b,fsgsbase\\, threads"), 2);
	assert_int_equal(count_groups("fsgsbase"), 0);
	assert_int_equal(count_groups("a\\b,fsgsbase, threads"), 0);
	assert_string_equal(e.text, "--group: there is no 'fsgsbase' in these results (a comma "
				    "inside a name is written '\\,')");
	/* The whole name counts before what its parts name. */
	name_groups("one", "one,one");
	assert_int_equal(count_groups("one,one"), 1);
}

static void a_list_takes_several_and_what_names_begin_with(void **state)
{
	char list[256];
	struct report_filter filter = {.benches = list};
	const struct report *first = f.set.reports[0];
	struct report_part *p;
	size_t len = strcspn(first->benches[0].name, ".");

	snprintf(list, sizeof(list), "%.*s,%s", (int)len, first->benches[0].name,
		 first->benches[first->n_benches - 1].name);
	assert_int_equal(report_part_create(&f.set, &filter, &p, &e), 0);
	assert_true(report_part_set(p)->reports[0]->n_benches >= 2);
	report_part_destroy(p);
}

static void what_is_not_there_is_an_error(void **state)
{
	static const char *const names[] = {"", "none", "syscall.", "ctxsw,", ",", "sys"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct report_filter benches = {.benches = names[i]};
		const struct report_filter groups = {.groups = names[i]};
		struct report_part *p = NULL;

		assert_int_equal(report_part_create(&f.set, &benches, &p, &e), -EINVAL);
		assert_memory_equal(e.text, "--bench: there is no '", 22);
		assert_int_equal(report_part_create(&f.set, &groups, &p, &e), -EINVAL);
		assert_memory_equal(e.text, "--group: there is no '", 22);
		assert_null(p);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_group_with_a_comma_is_named_whole_or_with_a_backslash, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_part_has_the_rows_that_were_asked_for_as_they_were, setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_leaves_the_others_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_takes_several_and_what_names_begin_with,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
