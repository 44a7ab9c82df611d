/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See err.h. Any thread; a struct err belongs to one caller at a time. */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/**
 * err_set() - record an error and return its code
 * @e: where to record it, or NULL when the caller only wants the code
 * @code: negative errno
 * @fmt: one line: what was given, what was found, what was expected, what to do
 *
 * Return: @code, always.
 * Context: any thread.
 */
int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code < 0);
	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

/**
 * err_errno() - like err_set(), with the text of the errno behind the message
 * @e: where to record it, or NULL
 * @code: negative errno
 * @fmt: what was tried, without a full stop
 *
 * Return: @code, always.
 * Context: any thread.
 */
int err_errno(struct err *e, int code, const char *fmt, ...)
{
	char what[ERR_TEXT_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(e, code, "%s: %s", what, strerror(-code));
}

/**
 * err_prefix() - put context before an error that is on its way up
 * @e: an error that was set, or NULL
 * @fmt: the context; ": " is put behind it
 *
 * Return: the code recorded in @e (0 when @e is NULL).
 * Context: any thread.
 */
int err_prefix(struct err *e, const char *fmt, ...)
{
	char joined[ERR_TEXT_MAX];
	va_list ap;
	int n;

	if (!e) {
		return 0;
	}
	va_start(ap, fmt);
	n = vsnprintf(joined, sizeof(joined), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(joined)) {
		snprintf(joined + n, sizeof(joined) - (size_t)n, ": %s", e->text);
	}
	memcpy(e->text, joined, sizeof(e->text));
	return e->code;
}
