/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cases: names and globs, tag:x, kernel=base, cpus>=2, with !, & and |. ringside-suite(5) has
 * the language.
 */
#ifndef ENGINE_SUITE_FILTER_H
#define ENGINE_SUITE_FILTER_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/suite.h"

#define SUITE_FILTER_MAX 4096u /* bytes */

struct suite_filter;

int suite_filter_parse(const char *text, struct suite_filter **ret, struct err *e) __must_check;
bool suite_filter_takes(struct suite_filter *f, const struct suite_case *c);
int suite_filter_check(const struct suite_filter *f, const struct suite *s,
		       struct err *e) __must_check;
void suite_filter_destroy(struct suite_filter *f);
DEFINE_CLEANUP(struct suite_filter *, suite_filter_destroy)

#endif
