/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See session.h. Pure; any thread. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "engine/session.h"

static const struct {
	const char *name;
	unsigned int bits;
} fail_on_names[] = {
	{"oops", SESSION_FAIL_ON_OOPS},
	{"warn", SESSION_FAIL_ON_WARN},
	{"kasan", SESSION_FAIL_ON_KASAN},
	{"lockdep", SESSION_FAIL_ON_LOCKDEP},
	{"all", SESSION_FAIL_ON_OOPS | SESSION_FAIL_ON_WARN | SESSION_FAIL_ON_KASAN |
			SESSION_FAIL_ON_LOCKDEP},
};

/**
 * session_fail_on_parse() - what on the console ends a run
 * @text: names, separated by commas
 * @ret: set on success, SESSION_FAIL_ON_*
 * @e: set on failure, with the names that there are
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int session_fail_on_parse(const char *text, unsigned int *ret, struct err *e)
{
	const char *p = text;

	*ret = 0;
	while (*p) {
		size_t len = strcspn(p, ","), i;

		for (i = 0; i < ARRAY_SIZE(fail_on_names); i++) {
			if (strlen(fail_on_names[i].name) == len &&
			    memcmp(fail_on_names[i].name, p, len) == 0) {
				*ret |= fail_on_names[i].bits;
				break;
			}
		}
		if (i == ARRAY_SIZE(fail_on_names)) {
			return err_set(e, -EINVAL,
				       "expected oops, warn, kasan, lockdep or all, separated by "
				       "commas, got '%.*s'",
				       (int)len, p);
		}
		p += len + (p[len] == ',');
	}
	return 0;
}
