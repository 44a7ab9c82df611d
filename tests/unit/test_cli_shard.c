/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>

#include "cli/shard.h"

static void a_part_of_parts_is_read(void **state)
{
	static const struct {
		const char *text;
		unsigned int shard, shards;
	} rows[] = {{"1/1", 1, 1}, {"3/4", 3, 4}, {"10000/10000", 10000, 10000}};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int shard = 0, shards = 0;

		assert_int_equal(shard_parse(rows[i].text, &shard, &shards, &e), 0);
		assert_int_equal(shard, rows[i].shard);
		assert_int_equal(shards, rows[i].shards);
	}
}

static void what_is_no_part_is_refused(void **state)
{
	static const char *const rows[] = {
		"",    "1",       "/",     "1/",   "/2",   "0/1", "2/1",
		"1/0", "1/10001", "1/2/3", "-1/2", "1 /2", "a/b", "00000000000000001/2",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		unsigned int shard = 7, shards = 7;

		assert_int_equal(shard_parse(rows[i], &shard, &shards, &e), -EINVAL);
		assert_memory_equal(
			e.text,
			"--shard: expected I/N, the I-th of N parts: I from 1 to N, and "
			"N at most 10000, got '",
			85);
		assert_int_equal(shard, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_parts_is_read),
		cmocka_unit_test(what_is_no_part_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
