/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up test run for the tests of its renderers: every verdict, and text that is hostile. */
#ifndef TESTS_TEST_FIXTURE_H
#define TESTS_TEST_FIXTURE_H

#include "report/test_report.h"

#define TEST_FIXTURE_CASES 9

/* What may stand in any text that a guest wrote, and must do nothing where it is shown. */
#define TEST_HOSTILE                                                                            \
	"<b a=\"1\">&amp; ]]> \033[31mred\033[0m \x01\x7f\r %0A::error::x\xff\xc3(\xed\xa0\x80" \
	" \xc2\x9b"                                                                             \
	"1m \xe2\x80\xae"                                                                       \
	"abc\xef\xbf\xbf # TODO \\ | `x` \xe4\xbd\xa0"

struct test_fixture {
	struct test_result results[TEST_FIXTURE_CASES];
	const struct test_result *list[TEST_FIXTURE_CASES];
	struct test_report report;
};

typedef int (*test_fixture_fn)(const struct test_report *t, FILE *out);

void test_fixture_init(struct test_fixture *f);
char *test_fixture_render(test_fixture_fn fn, const struct test_report *t);
void test_fixture_check_harmless(const char *text);
void test_fixture_check_full_disk(test_fixture_fn fn, const struct test_report *t);

#endif
