/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder with a suite file in it and what the suite may name. */
#ifndef TESTS_SUITE_FIXTURE_H
#define TESTS_SUITE_FIXTURE_H

#include "support.h"

#include "engine/suite.h"

extern struct err suite_error;
extern struct suite *suite;
extern struct suite_plan suite_plan;
extern const char
	*suite_folder; /* with: data, a:b, a.sh, payload, kst/one, kst/two, mods/x.ko, none/ */

int suite_setup(void **state);
int suite_teardown(void **state);
const char *suite_file_name(void);
int suite_read_text(const char *text);
void suite_must_read(const char *text);
void suite_must_expand(const struct suite_select *sel);
void suite_end(void);

#endif
