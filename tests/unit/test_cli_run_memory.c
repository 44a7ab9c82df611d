/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "cli/run_memory.h"

static void pages_are_a_kind_and_for_reserved_ones_a_size(void **state)
{
	static const struct {
		const char *value;
		enum machine_pages pages;
		uint64_t bytes;
	} rows[] = {
		{NULL, MACHINE_PAGES_AUTO, 0},
		{"auto", MACHINE_PAGES_AUTO, 0},
		{"normal", MACHINE_PAGES_NORMAL, 0},
		{"thp", MACHINE_PAGES_THP, 0},
		{"hugetlb", MACHINE_PAGES_HUGETLB, 2 << 20},
		{"hugetlb=2M", MACHINE_PAGES_HUGETLB, 2 << 20},
		{"hugetlb=1G", MACHINE_PAGES_HUGETLB, 1 << 30},
		{"hugetlb=1024M", MACHINE_PAGES_HUGETLB, 1 << 30},
	};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct machine_memory m = {.pages = MACHINE_PAGES_THP, .prefault = true};

		assert_int_equal(run_pages_parse(rows[i].value, &m, &e), 0);
		assert_int_equal(m.pages, rows[i].pages);
		assert_int_equal(m.huge_page_bytes, rows[i].bytes);
		assert_true(m.prefault);
	}
}

static void any_other_pages_are_refused(void **state)
{
	static const char *const bad[] = {"",         "THP",        "thp2",       "normal=2M",
					  "hugetlb=", "hugetlb=4K", "hugetlb=3M", "hugetlb2M",
					  "auto,thp", "huge"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct machine_memory m;
		struct err e = ERR_INIT;
		char expected[128];

		snprintf(expected, sizeof(expected),
			 "--pages: expected auto, normal, thp, hugetlb, hugetlb=2M or hugetlb=1G, "
			 "got '%s'",
			 bad[i]);
		assert_int_equal(run_pages_parse(bad[i], &m, &e), -EINVAL);
		assert_string_equal(e.text, expected);
	}
}

static void a_record_says_what_memory_was_made_of(void **state)
{
	const struct machine_memory m = {
		.pages = MACHINE_PAGES_HUGETLB, .huge_page_bytes = 2 << 20, .lock = true};
	json_t *j = run_memory_to_json(UINT64_C(5) << 30, &m);
	char *text = json_dumps(j, JSON_COMPACT);

	assert_string_equal(text, "{\"bytes\":5368709120,\"pages\":\"hugetlb\","
				  "\"huge_page_bytes\":2097152,\"prefault\":false,\"lock\":true}");
	free(text);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_a_kind_and_for_reserved_ones_a_size),
		cmocka_unit_test(any_other_pages_are_refused),
		cmocka_unit_test(a_record_says_what_memory_was_made_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
