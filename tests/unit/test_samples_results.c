/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "samples/results.h"

static struct err e;
static char folder[64], path[96];

/* Lines joined by '|'. */
static char seen[256];

static int see(void *ctx, size_t line, const char *text, size_t len, struct err *err)
{
	assert_int_equal(strlen(text), len);
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%zu:%s|", line, text);
	return strcmp(text, "bad") == 0 ? err_set(err, -EBADMSG, "no record") : 0;
}

static void put(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *content(void)
{
	static char *text;

	free(text);
	assert_int_equal(io_read_file(path, 1 << 20, &text, NULL, &e), 0);
	return text;
}

static int setup(void **state)
{
	seen[0] = '\0';
	unlink(path);
	return 0;
}

static void lines_are_appended_and_read_back(void **state)
{
	struct results_scan scan;
	struct results *r;

	assert_int_equal(results_create(path, &r, &e), 0);
	assert_int_equal(results_append(r, "plan", 4, &e), 0);
	assert_int_equal(results_append(r, "one", 3, &e), 0);
	results_close(r);
	assert_string_equal(content(), "plan\none\n");
	assert_int_equal(results_read(path, see, NULL, &scan, &e), 0);
	assert_string_equal(seen, "1:plan|2:one|");
	assert_int_equal(scan.lines, 2);
	assert_int_equal(scan.dropped, 0);
}

static void a_file_that_exists_is_never_begun_anew(void **state)
{
	struct results *r;

	put("precious");
	assert_int_equal(results_create(path, &r, &e), -EEXIST);
	assert_non_null(strstr(e.text, "exists and is never overwritten: go on with it by "
				       "--resume, or choose another --results file or --seed"));
	assert_string_equal(content(), "precious");
}

static void a_partial_last_line_is_cut_off_and_writing_goes_on_behind_the_whole_ones(void **state)
{
	struct results_scan scan;
	struct results *r;

	put("plan\none\n{\"tw");
	assert_int_equal(results_reopen(path, see, NULL, &r, &scan, &e), 0);
	assert_string_equal(seen, "1:plan|2:one|");
	assert_int_equal(scan.dropped, 4);
	assert_int_equal(results_append(r, "two", 3, &e), 0);
	results_close(r);
	assert_string_equal(content(), "plan\none\ntwo\n");
}

static void reading_alone_changes_nothing(void **state)
{
	struct results_scan scan;

	put("plan\n{\"tw");
	assert_int_equal(results_read(path, see, NULL, &scan, &e), 0);
	assert_int_equal(scan.dropped, 4);
	assert_string_equal(content(), "plan\n{\"tw");
}

static void a_line_that_is_refused_names_its_place_and_leaves_the_file_as_it_was(void **state)
{
	struct results_scan scan;
	struct results *r;
	char want[160];

	put("plan\nbad\npart");
	assert_int_equal(results_reopen(path, see, NULL, &r, &scan, &e), -EBADMSG);
	snprintf(want, sizeof(want), "%s: line 2: no record", path);
	assert_string_equal(e.text, want);
	assert_string_equal(content(), "plan\nbad\npart");
}

static void two_writers_at_once_are_refused(void **state)
{
	struct results_scan scan;
	struct results *one, *two;

	assert_int_equal(results_create(path, &one, &e), 0);
	assert_int_equal(results_reopen(path, see, NULL, &two, &scan, &e), -EBUSY);
	results_close(one);
	assert_int_equal(results_reopen(path, see, NULL, &two, &scan, &e), 0);
	results_close(two);
}

/* A limit on the file's size fails a write in its middle, as a full disk does. */
static void append_fails(struct results *r, const char *text, size_t limit)
{
	struct rlimit before, tight;
	int code;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = (struct rlimit){limit, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	code = results_append(r, text, strlen(text), &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(code, -EFBIG);
}

static void a_write_that_fails_half_way_leaves_the_records_before_it(void **state)
{
	struct results *r;
	char want[256];

	assert_int_equal(results_create(path, &r, &e), 0);
	assert_int_equal(results_append(r, "plan", 4, &e), 0);
	append_fails(r, "0123456789", 10);
	snprintf(want, sizeof(want),
		 "%s: writing a record: File too large; the records before it are kept", path);
	assert_string_equal(e.text, want);
	assert_string_equal(content(), "plan\n");
	assert_int_equal(results_append(r, "one", 3, &e), 0);
	assert_string_equal(content(), "plan\none\n");
	results_close(r);
}

static void a_file_whose_first_line_fails_is_not_left(void **state)
{
	struct results *r;
	char want[256];

	assert_int_equal(results_create(path, &r, &e), 0);
	append_fails(r, "plan", 2);
	snprintf(want, sizeof(want), "%s: writing the first record: File too large", path);
	assert_string_equal(e.text, want);
	results_close(r);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(results_create(path, &r, &e), 0);
	assert_int_equal(results_append(r, "plan", 4, &e), 0);
	results_close(r);
	assert_string_equal(content(), "plan\n");
}

static void an_empty_file_that_was_there_stays(void **state)
{
	struct results_scan scan;
	struct results *r;

	put("");
	assert_int_equal(results_reopen(path, see, NULL, &r, &scan, &e), 0);
	append_fails(r, "plan", 2);
	results_close(r);
	assert_string_equal(content(), "");
}

static void a_line_without_end_is_refused(void **state)
{
	struct results_scan scan;
	FILE *f = fopen(path, "w");

	for (size_t i = 0; i <= RESULTS_LINE_MAX; i++) {
		fputc('x', f);
	}
	fputc('\n', f);
	fclose(f);
	assert_int_equal(results_read(path, see, NULL, &scan, &e), -EFBIG);
}

static void what_never_ends_is_refused_and_what_has_no_lines_says_why(void **state)
{
	struct results_scan scan;

	assert_int_equal(results_read("/dev/zero", see, NULL, &scan, &e), -EFBIG);
	assert_int_equal(results_read("/", see, NULL, &scan, &e), -EISDIR);
	assert_string_equal(e.text, "/: reading: Is a directory");
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct results_scan scan;
	struct results *r;
	char want[160];

	snprintf(want, sizeof(want), "%s: No such file or directory", path);
	assert_int_equal(results_read(path, see, NULL, &scan, &e), -ENOENT);
	assert_string_equal(e.text, want);
	assert_int_equal(results_reopen(path, see, NULL, &r, &scan, &e), -ENOENT);
	assert_string_equal(e.text, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lines_are_appended_and_read_back, setup),
		cmocka_unit_test_setup(a_file_that_exists_is_never_begun_anew, setup),
		cmocka_unit_test_setup(
			a_partial_last_line_is_cut_off_and_writing_goes_on_behind_the_whole_ones,
			setup),
		cmocka_unit_test_setup(reading_alone_changes_nothing, setup),
		cmocka_unit_test_setup(
			a_line_that_is_refused_names_its_place_and_leaves_the_file_as_it_was,
			setup),
		cmocka_unit_test_setup(two_writers_at_once_are_refused, setup),
		cmocka_unit_test_setup(a_write_that_fails_half_way_leaves_the_records_before_it,
				       setup),
		cmocka_unit_test_setup(a_file_whose_first_line_fails_is_not_left, setup),
		cmocka_unit_test_setup(an_empty_file_that_was_there_stays, setup),
		cmocka_unit_test_setup(a_line_without_end_is_refused, setup),
		cmocka_unit_test_setup(what_never_ends_is_refused_and_what_has_no_lines_says_why,
				       setup),
		cmocka_unit_test_setup(a_file_that_is_not_there_is_named, setup),
	};
	int failed;

	strcpy(folder, "/tmp/ringside-test-XXXXXX");
	if (!mkdtemp(folder)) {
		return 1;
	}
	snprintf(path, sizeof(path), "%s/results.ndjson", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
