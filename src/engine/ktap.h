/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads KTAP version 1 and TAP 13 and 14 out of whatever stands around them: a command's output, or
 * a console with the kernel's time stamps. Strict where a lenient reader loses tests: a plan that
 * is not kept, a number that is missing, late or comes twice, a document that ends early. Pure:
 * bytes in, results out. What a guest can make it keep is bounded.
 */
#ifndef ENGINE_KTAP_H
#define ENGINE_KTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define KTAP_LINE_MAX     1024    /* bytes; what a line has more is left out */
#define KTAP_DEPTH_MAX    16      /* documents in documents */
#define KTAP_NAME_MAX     512     /* of a result with all that it is in */
#define KTAP_MESSAGE_MAX  2048    /* of a result's diagnostic lines */
#define KTAP_LINES_MAX    1000000 /* of a report; further ones are not read: a problem */
#define KTAP_RESULTS_MAX  20000   /* further ones are counted as a problem */
#define KTAP_NUMBER_MAX   65536   /* of a result in its document */
#define KTAP_PROBLEMS_MAX 16      /* texts that are kept; the count goes on */

enum ktap_directive {
	KTAP_PLAIN,
	KTAP_SKIP,
	KTAP_TODO,
	KTAP_XFAIL,
	KTAP_TIMEOUT,
	KTAP_ERROR,
};

/* A test without tests in it, or one that failed though none in it did. */
struct ktap_result {
	char *name; /* with those that it is in: "list/list_add" */
	bool ok;    /* as written */
	enum ktap_directive directive;
	char *reason;  /* what stands behind the directive; NULL: nothing */
	char *message; /* the diagnostic lines before it, of one that is not ok; or NULL */
};

struct ktap {
	bool found;   /* a document has begun */
	bool bailed;  /* "Bail out!" */
	bool skipped; /* "1..0 # SKIP" of the outermost document */
	char *say;    /* reason of either; NULL: none was given */
	size_t count;
	struct ktap_result *results;
	size_t problem_count; /* why the report cannot be believed */
	char *problems[KTAP_PROBLEMS_MAX];
};

/* Where the outermost document may begin. */
enum ktap_begin {
	KTAP_AT_VERSION, /* at a version line: nothing else is a report */
	KTAP_AT_PLAN,    /* or at a plan that is the first line; blank ones and notes aside */
	KTAP_AT_ANY,     /* or at any plan or result: all of it is a report, as TAP 12 has it */
};

struct ktap_parser;

int ktap_parser_create(struct ktap_parser **ret) __must_check;
void ktap_parser_begin_at(struct ktap_parser *p, enum ktap_begin begin);
void ktap_parser_feed(struct ktap_parser *p, const void *data, size_t len);
const struct ktap *ktap_parser_finish(struct ktap_parser *p);
void ktap_parser_destroy(struct ktap_parser *p);
DEFINE_CLEANUP(struct ktap_parser *, ktap_parser_destroy)

const char *ktap_directive_name(enum ktap_directive d);
bool ktap_result_failed(const struct ktap_result *r);

#endif
