/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/trim.h"

static const char constants[65536] = {[0] = 'a', [32768] = 'm', [65535] = 'z'};
static char written[65536] = {[0] = 'a'};

/* KiB of all files that are mapped and cannot be written to. */
static long resident_files(void)
{
	char line[512], perms[8], path[256];
	long sum = 0, kib;
	bool file = false;
	FILE *f = fopen("/proc/self/smaps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*x-%*x %7s %*s %*s %*s %255s", perms, path) == 2) {
			file = perms[1] == '-' && path[0] == '/';
		} else if (file && sscanf(line, "Rss: %ld kB", &kib) == 1) {
			sum += kib;
		}
	}
	fclose(f);
	return sum;
}

static void pages_of_files_go_and_come_back_as_they_were(void **state)
{
	const volatile char *touched = constants;
	long before, after;

	for (size_t i = 0; i < sizeof(constants); i += 4096) {
		(void)touched[i];
	}
	written[40000] = 'w';
	before = resident_files();
	trim_program_pages();
	after = resident_files();
	assert_true(after < before - 64);
	assert_int_equal(constants[0], 'a');
	assert_int_equal(constants[32768], 'm');
	assert_int_equal(constants[65535], 'z');
	assert_int_equal(written[0], 'a');
	assert_int_equal(written[40000], 'w');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_files_go_and_come_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
