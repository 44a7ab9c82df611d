/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See margin.h. Pure. */
#include "engine/margin.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Beside a share there is always a number of units: a margin of 0 would make noise a change. */
#define UNITS_LEAST 1e-9

static int bad(const char *text, struct err *e)
{
	return err_set(e, -EINVAL,
		       "expected a margin such as 2cycles, 0.5instructions, 0.5%% or "
		       "\"2cycles,0.5%%\", got '%s'",
		       text);
}

static bool is_unit(const char *word)
{
	return exec_class_has_unit(EXEC_NATIVE, word) || exec_class_has_unit(EXEC_TCG, word) ||
	       exec_class_has_unit(EXEC_ICOUNT, word);
}

/* One number and what stands behind it, which is cut from @text. */
static int parse_part(char *text, struct margin *m, bool *ret_units, bool *ret_share)
{
	char *end = text;
	double v = strspn(text, "0123456789.") > 0 ? strtod(text, &end) : -1;
	const char *unit = end + strspn(end, " ");
	bool is_share = strcmp(unit, "%") == 0;

	if (end == text || !(v >= 0) || !isfinite(v) || (is_share ? *ret_share : *ret_units) ||
	    (!is_share && *unit && !is_unit(unit))) {
		return -EINVAL;
	}
	if (is_share) {
		m->percent = v;
		*ret_share = true;
	} else {
		m->units = fmax(v, UNITS_LEAST);
		snprintf(m->unit, sizeof(m->unit), "%s", unit);
		*ret_units = true;
	}
	return 0;
}

/**
 * margin_parse() - read a margin
 * @text: such as "2cycles", "0.5%", "2cycles,0.5%"; with one of the two, the other is as good as 0
 * @ret: set on success, of all benchmarks
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int margin_parse(const char *text, struct margin *ret, struct err *e)
{
	struct margin m = {.benches = MARGIN_BENCHES_ALL, .units = UNITS_LEAST};
	bool units = false, share = false;
	char copy[MARGIN_TEXT_MAX];
	char *second;

	if (strlen(text) >= sizeof(copy)) {
		return bad(text, e);
	}
	strcpy(copy, text);
	second = strchr(copy, ',');
	if (second) {
		*second++ = '\0';
		second += strspn(second, " ");
	}
	if (parse_part(copy, &m, &units, &share) < 0 ||
	    (second && parse_part(second, &m, &units, &share) < 0)) {
		return bad(text, e);
	}
	*ret = m;
	return 0;
}

/**
 * margin_text() - write a margin so that margin_parse() reads it back
 * @m: the margin
 * @buf: for the text
 * @len: its size, MARGIN_TEXT_MAX
 *
 * Return: @buf.
 * Context: any thread.
 */
const char *margin_text(const struct margin *m, char *buf, size_t len)
{
	bool units = m->units > UNITS_LEAST || m->percent == 0;
	char number[TEXT_REAL_MAX];
	int n = 0;

	if (units) {
		text_real(m->units > UNITS_LEAST ? m->units : 0, number, sizeof(number));
		n = snprintf(buf, len, "%s%s%s", number, m->unit, m->percent > 0 ? "," : "");
	}
	if (m->percent > 0) {
		snprintf(buf + n, len - (size_t)n, "%s%%",
			 text_real(m->percent, number, sizeof(number)));
	}
	return buf;
}

/**
 * margin_check_class() - whether a margin can be of what a class counts
 * @m: the margin
 * @class: the class
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int margin_check_class(const struct margin *m, enum exec_class class, struct err *e)
{
	if (!*m->unit || exec_class_has_unit(class, m->unit)) {
		return 0;
	}
	return err_set(e, -EINVAL,
		       "a margin of %g %s: class %s counts %s, and one is not the other", m->units,
		       m->unit, exec_class_name(class), exec_class_unit(class));
}

/**
 * margin_of() - the margin of a benchmark
 * @list: of a group; the later ones count more
 * @n: how many
 * @bench: its number, see benchmark_name()
 *
 * Return: the last one that is of @bench; where there is none, the default of all reports.
 * Context: any thread.
 */
struct margin margin_of(const struct margin *list, size_t n, size_t bench)
{
	while (n-- > 0) {
		if (benchmark_in(list[n].benches, bench)) {
			return list[n];
		}
	}
	return (struct margin){.benches = MARGIN_BENCHES_ALL,
			       .units = MARGIN_UNITS_DEFAULT,
			       .percent = MARGIN_PERCENT_DEFAULT};
}
