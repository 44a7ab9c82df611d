/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms for other programs, held against golden files, and with texts that want to break out.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "report_fixture.h"

static struct set_fixture f;
static const char *golden;

static int setup(void **state)
{
	f = (struct set_fixture){0};
	fixture_set(&f);
	return 0;
}

static int teardown(void **state)
{
	fixture_set_fini(&f);
	return 0;
}

static char *render(int (*form)(const struct report_set *, FILE *))
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(form(&f.set, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void each_form_is_as_in_its_golden_file(void **state)
{
	static const struct {
		const char *name;
		int (*form)(const struct report_set *, FILE *);
	} rows[] = {{"report-set.csv", report_set_csv},
		    {"report-set.gobench", report_set_gobench},
		    {"report-set.md", report_set_markdown},
		    {"report-set.xml", report_set_junit}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = render(rows[i].form);

		fixture_golden(golden, rows[i].name, text);
		free(text);
	}
}

static void a_label_stays_a_label_in_every_form(void **state)
{
	char *text;

	f.one.report.arms[STATS_B].label = "a|b\"</x>&\n**c**";
	text = render(report_set_csv);
	assert_non_null(strstr(text, "\"a|b\"\"</x>&\n**c**\""));
	free(text);
	text = render(report_set_gobench);
	assert_non_null(strstr(text, "\narm: a|b\"</x>&?**c**\n"));
	free(text);
	text = render(report_set_markdown);
	assert_non_null(strstr(text, "a&#124;b&quot;&lt;/x&gt;&amp; &#42;&#42;c&#42;&#42;**,"));
	free(text);
	text = render(report_set_junit);
	assert_non_null(strstr(text, "a|b&quot;&lt;/x&gt;&amp;\n**c**"));
	free(text);
}

static void what_cannot_be_written_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	assert_true(report_set_csv(&f.set, full) < 0);
	fclose(full);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_as_in_its_golden_file),
		cmocka_unit_test(a_label_stays_a_label_in_every_form),
		cmocka_unit_test(what_cannot_be_written_is_an_error),
	};

	if (argc < 2) {
		fprintf(stderr, "usage: %s GOLDEN-FOLDER\n", argv[0]);
		return 2;
	}
	golden = argv[1];
	return cmocka_run_group_tests(tests, setup, teardown);
}
