/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See console_allow.h. Pure; any thread. */
#include "engine/console_allow.h"

#include <errno.h>
#include <regex.h>

struct console_allow {
	size_t count;
	regex_t *patterns;
};

/**
 * console_allow_create() - begin with no pattern
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 */
int console_allow_create(struct console_allow **ret, struct err *e)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/**
 * console_allow_add() - one more pattern
 * @a: from console_allow_create()
 * @pattern: an extended regular expression, found anywhere in a line
 * @e: set on failure
 *
 * Return: 0, -EINVAL for one that is wrong, -ENOMEM.
 */
int console_allow_add(struct console_allow *a, const char *pattern, struct err *e)
{
	regex_t *bigger = reallocarray(a->patterns, a->count + 1, sizeof(*bigger));
	char why[128];
	int bad;

	if (!bigger) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	a->patterns = bigger;
	bad = regcomp(&a->patterns[a->count], pattern, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		regerror(bad, &a->patterns[a->count], why, sizeof(why));
		return err_set(e, -EINVAL, "'%s' is no regular expression: %s", pattern, why);
	}
	a->count++;
	return 0;
}

/**
 * console_allow_match() - is this line allowed?
 * @a: the patterns; NULL: there are none
 * @line: a line of the console, without its time stamp
 * @ret_which: set on a match to the pattern's number from 0; or NULL
 *
 * Return: true when a pattern is found in it.
 */
bool console_allow_match(const struct console_allow *a, const char *line, size_t *ret_which)
{
	for (size_t i = 0; a && i < a->count; i++) {
		if (regexec(&a->patterns[i], line, 0, NULL, 0) == 0) {
			if (ret_which) {
				*ret_which = i;
			}
			return true;
		}
	}
	return false;
}

/**
 * console_allow_destroy() - free the patterns
 * @a: from console_allow_create()
 */
void console_allow_destroy(struct console_allow *a)
{
	for (size_t i = 0; i < a->count; i++) {
		regfree(&a->patterns[i]);
	}
	free(a->patterns);
	free(a);
}
