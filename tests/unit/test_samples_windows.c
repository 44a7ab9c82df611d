/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "samples/windows.h"

static struct err e;
static struct windows w;

/* Loads @line and says how many windows it has, or why not. */
static int load(const char *line)
{
	json_t *root;
	int r = windows_load(line, strlen(line), &root, &w, &e);

	if (r < 0) {
		return r;
	}
	assert_true(json_is_object(root));
	json_decref(root);
	return (int)w.count;
}

#define ROW                                                                                      \
	"{\"open_tsc\":776173704,\"exits\":1,\"kvm_exits\":2,\"irqs\":null,\"steal_ns\":0,\"niv" \
	"csw\":5}"

static void rows_are_the_same_read_at_once_or_as_json(void **state)
{
	static const char *const lines[] = {
		"{\"a\":\"\\\"windows\\\":[\",\"windows\":[" ROW "," ROW "],\"b\":1}",
		"{\"windows\":[" ROW ", " ROW "]}",
		"{\"windows\" : [" ROW "," ROW "]}",
		"{\"windows\":[" ROW ",{\"nivcsw\":5,\"exits\":1,\"kvm_exits\":2,\"open_tsc\":"
		"776173704,\"other\":[1]}]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(load(lines[i]), 2);
		for (size_t k = 0; k < 2; k++) {
			static const uint64_t want[WINDOW_COUNTS] = {776173704, 1, 2, 0, 0, 5};

			assert_memory_equal(w.rows[k].v, want, sizeof(want));
		}
		windows_fini(&w);
	}
}

static void only_the_record_s_own_windows_are_taken(void **state)
{
	assert_int_equal(load("{\"guest\":[{\"windows\":[" ROW "]}],\"windows\":[]}"), 0);
	windows_fini(&w);
	assert_int_equal(
		load("{\"guest\":[{\"windows\":[" ROW "]}],\"windows\":[" ROW "," ROW "]}"), 2);
	windows_fini(&w);
	assert_int_equal(load("{\"guest\":[{\"windows\":[" ROW "]}]}"), 0);
	windows_fini(&w);
	assert_int_equal(load("{\"windows\":null}"), 0);
	windows_fini(&w);
	assert_int_equal(load("{\"windows\":[]}"), 0);
	windows_fini(&w);
}

static void what_is_no_window_is_refused_as_json_would_refuse_it(void **state)
{
	static const char *const bad[] = {
		"{\"windows\":[{\"exits\":-1}]}",
		"{\"windows\":[{\"exits\":1.5}]}",
		"{\"windows\":[{\"exits\":\"1\"}]}",
		"{\"windows\":[{\"exits\":01}]}",
		"{\"windows\":[{\"exits\":1,\"exits\":1}]}",
		"{\"windows\":[{\"exits\":99999999999999999999}]}",
		"{\"windows\":[" ROW "],\"windows\":[" ROW "]}",
		"{\"windows\":[" ROW ",]}",
		"{\"windows\":[" ROW "}",
		"{\"windows\":[" ROW "]",
		"{\"windows\":[" ROW,
		"{\"windows\":[{",
		"{\"windows\":",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(load(bad[i]), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_the_same_read_at_once_or_as_json),
		cmocka_unit_test(only_the_record_s_own_windows_are_taken),
		cmocka_unit_test(what_is_no_window_is_refused_as_json_would_refuse_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
