/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite_file.h: the keys of ringside-suite(5). */
#include "engine/suite_file.h"

#define MEMBER(type, member) .key = #member, .at = offsetof(type, member)

static const struct ymap_field exclude_fields[] = {
	{MEMBER(struct suite_file_exclude, kernel), .type = YMAP_TEXT},
	{MEMBER(struct suite_file_exclude, cpu), .type = YMAP_TEXT},
	{MEMBER(struct suite_file_exclude, cpus), .type = YMAP_UINT, .min = 1,
	 .max = SUITE_CPUS_MAX},
	{MEMBER(struct suite_file_exclude, memory), .type = YMAP_TEXT},
	{MEMBER(struct suite_file_exclude, append), .type = YMAP_TEXT, .empty = true},
};

static const struct ymap exclude_map = {"exclude", sizeof(struct suite_file_exclude),
					exclude_fields, ARRAY_SIZE(exclude_fields)};

#define AXIS(member)                                                            \
	MEMBER(struct suite_file_matrix, member), .type = YMAP_TEXTS, .min = 1, \
						  .max = SUITE_AXIS_MAX

static const struct ymap_field matrix_fields[] = {
	{AXIS(kernels)},
	{AXIS(cpu)},
	{AXIS(cpus)},
	{AXIS(memory)},
	{AXIS(append), .empty = true},
	{MEMBER(struct suite_file_matrix, exclude), .type = YMAP_MAPS, .max = SUITE_LIST_MAX,
	 .map = &exclude_map},
};

static const struct ymap matrix_map = {"matrix", sizeof(struct suite_file_matrix), matrix_fields,
				       ARRAY_SIZE(matrix_fields)};

static const struct ymap_field allow_fields[] = {
	{MEMBER(struct suite_file_allow, pattern), .type = YMAP_TEXT, .required = true},
	{MEMBER(struct suite_file_allow, reason), .type = YMAP_TEXT, .required = true},
};

static const struct ymap allow_map = {"allow", sizeof(struct suite_file_allow), allow_fields,
				      ARRAY_SIZE(allow_fields)};

static const struct ymap_field timeouts_fields[] = {
	{MEMBER(struct suite_file_timeouts, boot), .type = YMAP_TEXT},
	{MEMBER(struct suite_file_timeouts, idle), .type = YMAP_TEXT},
	{MEMBER(struct suite_file_timeouts, whole), .type = YMAP_TEXT},
};

static const struct ymap timeouts_map = {"timeouts", sizeof(struct suite_file_timeouts),
					 timeouts_fields, ARRAY_SIZE(timeouts_fields)};

static const struct ymap_field known_fields[] = {
	{MEMBER(struct suite_file_known, reason), .type = YMAP_TEXT, .required = true},
	{MEMBER(struct suite_file_known, until), .type = YMAP_TEXT},
};

static const struct ymap known_map = {"known", sizeof(struct suite_file_known), known_fields,
				      ARRAY_SIZE(known_fields)};

#define TEXT(member) MEMBER(struct suite_file_test, member), .type = YMAP_TEXT
#define LIST(member) \
	MEMBER(struct suite_file_test, member), .type = YMAP_TEXTS, .max = SUITE_LIST_MAX

/* The first of them are a test's own; the defaults have the others. */
static const struct ymap_field test_fields[] = {
	{TEXT(name), .required = true},
	{MEMBER(struct suite_file_test, matrix), .type = YMAP_MAP, .map = &matrix_map},
	{LIST(command), .min = 1, .empty = true},
	{TEXT(script)},
	{TEXT(kselftest)},
	{TEXT(scripts)},
	{TEXT(kunit)},
	{TEXT(firmware)},
	{LIST(only), .min = 1},
#define OWN_FIELDS 9
	{LIST(files)},
	{LIST(env)},
	{TEXT(root)},
	{LIST(shares)},
	{LIST(initrds)},
	{LIST(artifacts)},
	{LIST(needs)},
	{MEMBER(struct suite_file_test, allow), .type = YMAP_MAPS, .max = SUITE_LIST_MAX,
	 .map = &allow_map},
	{TEXT(fail_on)},
	{MEMBER(struct suite_file_test, timeouts), .type = YMAP_MAP, .map = &timeouts_map},
	{TEXT(format), .choices = "auto|tap|none"},
	{TEXT(expect), .choices = "pass|fail|panic|skip"},
	{MEMBER(struct suite_file_test, known), .type = YMAP_MAP, .map = &known_map},
	{MEMBER(struct suite_file_test, retries), .type = YMAP_UINT, .max = SUITE_RETRIES_MAX},
	{LIST(tags)},
};

static const struct ymap test_map = {"test", sizeof(struct suite_file_test), test_fields,
				     ARRAY_SIZE(test_fields)};

static const struct ymap defaults_map = {"defaults", sizeof(struct suite_file_test),
					 test_fields + OWN_FIELDS,
					 ARRAY_SIZE(test_fields) - OWN_FIELDS};

static const struct ymap_field file_fields[] = {
	{MEMBER(struct suite_file, name), .type = YMAP_TEXT},
	{MEMBER(struct suite_file, defaults), .type = YMAP_MAP, .map = &defaults_map},
	{MEMBER(struct suite_file, matrix), .type = YMAP_MAP, .map = &matrix_map},
	{MEMBER(struct suite_file, tests), .type = YMAP_MAPS, .required = true, .min = 1,
	 .max = SUITE_TESTS_MAX, .map = &test_map},
};

const struct ymap suite_file_map = {"suite", sizeof(struct suite_file), file_fields,
				    ARRAY_SIZE(file_fields)};
