/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ktap.c (documents and results) and ktap_line.c (single lines) share. */
#ifndef ENGINE_KTAP_PRIV_H
#define ENGINE_KTAP_PRIV_H

#include "engine/ktap.h"

enum ktap_line_kind {
	KTAP_LINE_OTHER,
	KTAP_LINE_PLAN,
	KTAP_LINE_RESULT,
	KTAP_LINE_BAIL,
	KTAP_LINE_NOTE,
	KTAP_LINE_SUBTEST,
};

struct ktap_line {
	enum ktap_line_kind kind;
	const char *text; /* what follows the number, or the words that make the kind */
	uint64_t number;
	bool has_number, ok;
};

bool ktap_is_version(const char *s);
size_t ktap_skip_output(const char *s, size_t len);
struct ktap_line ktap_line_read(const char *s);
bool ktap_says_nothing(const char *s);
bool ktap_may_begin(const char *s, enum ktap_begin begin, bool first);
enum ktap_directive ktap_take_directive(char *text, const char **ret_reason);

#endif
