/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "bench.h"

static const struct bench bench = {.name = "ctxsw.pipe.fs", .unit = "switch"};

static void a_result_is_one_compact_line_of_json(void **state)
{
	uint64_t ticks[] = {UINT64_MAX, 2}, empty[] = {1, 1}, irqs[] = {0, 3}, nivcsw[] = {0, 0};
	struct machine m = {.fifo = true, .tick_ticks = 10, .stack_pad = 16};
	struct run r = {.machine = &m,
			.bench = &bench,
			.batches = 2,
			.calls = 80,
			.window0 = 60,
			.ticks = ticks,
			.empty = empty,
			.irqs = irqs,
			.nivcsw = nivcsw,
			.bank = -1};
	_cleanup_free_ char *line = NULL;
	size_t len;

	assert_int_equal(result_line(&r, &line, &len), 0);
	assert_string_equal(line,
			    "{\"type\":\"bench\",\"name\":\"ctxsw.pipe.fs\",\"calls\":80,"
			    "\"per_call\":\"switch\",\"window0\":60,\"batches\":2,"
			    "\"ticks\":[18446744073709551615,2],\"empty\":[1,1],\"irqs\":[0,3],"
			    "\"nivcsw\":[0,0],\"calltime_bank\":null,\"facts\":{\"fsgsbase\":false,"
			    "\"pti\":false,\"nopti\":false,"
			    "\"policy\":\"fifo\",\"cpu\":0,\"tick\":10,\"stackpad\":16}}\n");
	free(TAKE_PTR(line));
	r.bank = 3;
	r.ticks_hz = 1000000000;
	m.fsgsbase = true;
	m.pti = true;
	m.nopti = true;
	assert_int_equal(result_line(&r, &line, &len), 0);
	assert_non_null(strstr(line, "\"calltime_bank\":3,\"facts\":{\"fsgsbase\":true,"
				     "\"pti\":true,\"nopti\":true,"));
	assert_non_null(strstr(line, "\"nivcsw\":[0,0],\"ticks_hz\":1000000000,"));
}

static void an_error_line_quotes_what_json_needs_quoted(void **state)
{
	_cleanup_free_ char *line = NULL;
	size_t len;

	assert_int_equal(result_error_line("a\"b", "x\\\n\xff", &line, &len), 0);
	assert_string_equal(line, "{\"type\":\"bench\",\"name\":\"a\\\"b\","
				  "\"error\":\"x\\\\\\u000a\\u00ff\"}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_one_compact_line_of_json),
		cmocka_unit_test(an_error_line_quotes_what_json_needs_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
