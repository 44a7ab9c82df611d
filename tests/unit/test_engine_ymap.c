/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/ymap.h"

struct item {
	struct ymap_pos pos;
	struct ymap_text name;
	struct ymap_number size;
};

struct top {
	struct ymap_pos pos;
	struct ymap_text name, colour;
	struct ymap_uint count;
	struct ymap_list words, items;
};

static const struct ymap_field item_fields[] = {
	{.key = "name", .type = YMAP_TEXT, .at = offsetof(struct item, name), .required = true},
	{.key = "size",
	 .type = YMAP_NUMBER,
	 .at = offsetof(struct item, size),
	 .min = -2,
	 .max = 2},
};

static const struct ymap item_map = {"item", sizeof(struct item), item_fields, 2};

static const struct ymap_field top_fields[] = {
	{.key = "name", .type = YMAP_TEXT, .at = offsetof(struct top, name), .required = true},
	{.key = "colour",
	 .type = YMAP_TEXT,
	 .at = offsetof(struct top, colour),
	 .choices = "red|green"},
	{.key = "count", .type = YMAP_UINT, .at = offsetof(struct top, count), .min = 1, .max = 12},
	{.key = "words", .type = YMAP_TEXTS, .at = offsetof(struct top, words), .min = 1, .max = 3},
	{.key = "items",
	 .type = YMAP_MAPS,
	 .at = offsetof(struct top, items),
	 .max = 2,
	 .map = &item_map},
};

static const struct ymap top_map = {"thing", sizeof(struct top), top_fields, 5};

static struct err e;
static struct top t;
static char path[] = "/tmp/ringside-ymap-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int teardown(void **state)
{
	return unlink(path);
}

static int read_bytes(const char *bytes, size_t len)
{
	FILE *f = fopen(path, "we");
	int r;

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	r = ymap_read(path, &top_map, &t, &e);
	if (r < 0) {
		ymap_fini(&top_map, &t);
	}
	return r;
}

static void what_fits_is_read_with_its_places(void **state)
{
	const char *text = "# of a thing\n"
			   "name: a thing\n"
			   "colour: green\n"
			   "count: 12\n"
			   "words: [one, 'two three']\n"
			   "items:\n"
			   "  - {name: x, size: -1.5}\n"
			   "  - name: y\n";
	const struct ymap_text *words;
	const struct item *items;

	assert_int_equal(read_bytes(text, strlen(text)), 0);
	assert_string_equal(t.name.s, "a thing");
	assert_int_equal(t.name.pos.line, 2);
	assert_int_equal(t.name.pos.column, 7);
	assert_string_equal(t.colour.s, "green");
	assert_int_equal(t.count.v, 12);
	assert_int_equal(t.words.n, 2);
	words = t.words.items;
	assert_string_equal(words[1].s, "two three");
	assert_int_equal(words[1].pos.column, 14);
	assert_int_equal(t.items.n, 2);
	items = t.items.items;
	assert_true(items[0].size.given && items[0].size.v == -1.5);
	assert_false(items[1].size.given);
	assert_int_equal(items[1].pos.line, 8);
	assert_int_equal(items[1].pos.column, 5);
	ymap_fini(&top_map, &t);
	assert_null(t.name.s);
}

#define KEYS "name, colour, count, words, items"

static void what_does_not_fit_is_refused_with_its_place_and_what_is_allowed(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"", "1:1: the file is empty; the keys of a thing are: " KEYS},
		{"# nothing but a comment\n",
		 "1:1: the file is empty; the keys of a thing are: " KEYS},
		{"name: a\nnom: b\n", "2:1: thing: 'nom' is no key of it; its keys are: " KEYS},
		{"name: a\nitems:\n  - name: x\n    colour: red\n",
		 "4:5: item: 'colour' is no key of it; its keys are: name, size"},
		{"name: a\n? [x]\n: y\n",
		 "2:3: thing: 'a list' is no key of it; its keys are: " KEYS},
		{"name: a\ncount: 2\nname: b\n", "3:1: thing: 'name' stands twice in it"},
		{"count: 2\n", "1:1: thing: 'name' is missing; its keys are: " KEYS},
		{"name: a\nitems:\n  - size: 1\n",
		 "3:5: item: 'name' is missing; its keys are: name, size"},
		{"name:\n", "1:6: 'name': expected a text, got nothing"},
		{"name: [a]\n", "1:7: 'name': expected a text, got a list"},
		{"name: {a: b}\n", "1:7: 'name': expected a text, got a mapping"},
		{"name: \"a\\0b\"\n", "1:7: 'name': expected a text, got a text with a NUL in it"},
		{"name: a\ncolour: blue\n", "2:9: 'colour': 'blue' is none of red|green"},
		{"name: a\ncolour: re\n", "2:9: 'colour': 're' is none of red|green"},
		{"name: a\ncount: x\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got 'x'"},
		{"name: a\ncount: 0\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got '0'"},
		{"name: a\ncount: 13\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got '13'"},
		{"name: a\ncount: -1\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got '-1'"},
		{"name: a\ncount: 1.5\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got '1.5'"},
		{"name: a\ncount: 99999999999999999999999\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got "
		 "'99999999999999999999999'"},
		{"name: a\ncount: [1]\n",
		 "2:8: 'count': expected a whole number from 1 to 12, got a list"},
		{"name: a\nitems: [{name: x, size: 2.5}]\n",
		 "2:25: 'size': expected a number from -2 to 2, got '2.5'"},
		{"name: a\nitems: [{name: x, size: nan}]\n",
		 "2:25: 'size': expected a number from -2 to 2, got 'nan'"},
		{"name: a\nwords: one\n",
		 "2:8: 'words': expected a list (text), got a text; one alone stands in [ ], too"},
		{"name: a\nwords: []\n", "2:8: 'words': expected a list of 1 to 3 (text), got 0"},
		{"name: a\nwords: [a, b, c, d]\n",
		 "2:8: 'words': expected a list of 1 to 3 (text), got 4"},
		{"name: a\nwords: [a, {b: c}]\n", "2:12: 'words': expected a text, got a mapping"},
		{"name: a\nitems: {name: x}\n",
		 "2:8: 'items': expected a list (item), got a mapping"},
		{"name: a\nitems: [x]\n",
		 "2:9: expected a mapping (item), got a text; its keys are: name, size"},
		{"- a\n", "1:1: expected a mapping (thing), got a list; its keys are: " KEYS},
		{"just words\n",
		 "1:1: expected a mapping (thing), got a text; its keys are: " KEYS},
		{"name: a\n---\nname: b\n", "3:1: a second document: one file is one thing"},
		{"name: [a\n",
		 "2:1: not YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
		{"name: a\n\tcount: 1\n",
		 "2:1: not YAML: while scanning a plain scalar: found a tab character that "
		 "violates indentation"},
		{"name: *b\n", "1:7: not YAML: found undefined alias"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_bytes(bad[i].text, strlen(bad[i].text)), -EINVAL);
		assert_memory_equal(e.text, path, strlen(path));
		assert_int_equal(e.text[strlen(path)], ':');
		assert_string_equal(e.text + strlen(path) + 1, bad[i].error);
	}
}

static void a_file_that_refers_to_itself_ends(void **state)
{
	const char *text = "name: a\nitems: &i\n  - name: x\n    size: *i\n";

	assert_int_equal(read_bytes(text, strlen(text)), -EINVAL);
	assert_non_null(strstr(e.text, "expected a number from -2 to 2, got a list"));
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	assert_int_equal(read_bytes("name: \xff\n", 8), -EINVAL);
	assert_non_null(strstr(e.text, ":1:1: not a YAML text: "));
	assert_int_equal(read_bytes("name: \0\n", 8), -EINVAL);
}

static void a_file_that_is_missing_or_too_large_is_named(void **state)
{
	static char large[YMAP_BYTES_MAX + 2];

	assert_int_equal(ymap_read("/no/such/file", &top_map, &t, &e), -ENOENT);
	assert_string_equal(e.text, "/no/such/file: No such file or directory");
	assert_int_equal(ymap_read("/", &top_map, &t, &e), -EISDIR);
	memset(large, '#', sizeof(large));
	assert_int_equal(read_bytes(large, sizeof(large)), -EFBIG);
	assert_int_equal(read_bytes(large, YMAP_BYTES_MAX), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_read_with_its_places),
		cmocka_unit_test(what_does_not_fit_is_refused_with_its_place_and_what_is_allowed),
		cmocka_unit_test(a_file_that_refers_to_itself_ends),
		cmocka_unit_test(bytes_that_are_no_text_are_refused),
		cmocka_unit_test(a_file_that_is_missing_or_too_large_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
