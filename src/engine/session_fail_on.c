/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See session.h. Pure; any thread. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "engine/session.h"

/* "all" is all but taint, which a module of one's own brings with it. */
#define ALL (~SESSION_FAIL_ON_TAINT)

static const struct {
	const char *name;
	unsigned int bits;
} fail_on_names[] = {
	{"oops", SESSION_FAIL_ON_OOPS},
	{"warn", SESSION_FAIL_ON_WARN},
	/* All that says that memory was used as it must not be. */
	{"kasan", SESSION_FAIL_ON_KASAN | SESSION_FAIL_ON_KCSAN | SESSION_FAIL_ON_UBSAN},
	{"kcsan", SESSION_FAIL_ON_KCSAN},
	{"ubsan", SESSION_FAIL_ON_UBSAN},
	{"lockdep", SESSION_FAIL_ON_LOCKDEP},
	{"rcu", SESSION_FAIL_ON_RCU},
	{"lockup", SESSION_FAIL_ON_LOCKUP},
	{"hung", SESSION_FAIL_ON_HUNG},
	{"taint", SESSION_FAIL_ON_TAINT},
	{"all", ALL},
};

/**
 * session_fail_on_bit() - which of the kinds of --fail-on a line on the console is
 * @event: what the line says
 *
 * Return: SESSION_FAIL_ON_*, 0: none of them. Context: any thread.
 */
unsigned int session_fail_on_bit(enum console_event event)
{
	switch (event) {
	case CONSOLE_OOPS:
		return SESSION_FAIL_ON_OOPS;
	case CONSOLE_WARN:
		return SESSION_FAIL_ON_WARN;
	case CONSOLE_KASAN:
		return SESSION_FAIL_ON_KASAN;
	case CONSOLE_KCSAN:
		return SESSION_FAIL_ON_KCSAN;
	case CONSOLE_UBSAN:
		return SESSION_FAIL_ON_UBSAN;
	case CONSOLE_LOCKDEP:
		return SESSION_FAIL_ON_LOCKDEP;
	case CONSOLE_RCU:
		return SESSION_FAIL_ON_RCU;
	case CONSOLE_LOCKUP:
		return SESSION_FAIL_ON_LOCKUP;
	case CONSOLE_HUNG:
		return SESSION_FAIL_ON_HUNG;
	case CONSOLE_TAINT:
		return SESSION_FAIL_ON_TAINT;
	default:
		return 0;
	}
}

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
			return err_set(
				e, -EINVAL,
				"expected oops, warn, kasan, kcsan, ubsan, lockdep, rcu, "
				"lockup, hung, taint or all, separated by commas, got '%.*s'",
				(int)len, p);
		}
		p += len + (p[len] == ',');
	}
	return 0;
}
