/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See arm.h. Pure; any thread. */
#include "engine/arm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Takes one field up to the next comma. "\," and "\\" stand for a comma and a backslash; any other
 * backslash is kept, as kernel parameters may hold them.
 */
static const char *take_field(const char *p, char *ret_field, bool *ret_more)
{
	while (*p && *p != ',') {
		if (*p == '\\' && (p[1] == ',' || p[1] == '\\')) {
			p++;
		}
		*ret_field++ = *p++;
	}
	*ret_field = '\0';
	*ret_more = *p == ',';
	return *ret_more ? p + 1 : p;
}

static int add_append(char *append, const char *value)
{
	return sprintf(append + strlen(append), "%s%s", *append ? " " : "", value);
}

/**
 * arm_parse() - read an arm
 * @option: the option it was given to, such as "--a", for messages
 * @text: the arm
 * @ret: set on success; end it with arm_fini()
 * @e: set on failure
 *
 * Return: 0, -EINVAL or -ENOMEM.
 * Context: any thread.
 */
int arm_parse(const char *option, const char *text, struct arm *ret, struct err *e)
{
	static const char key[] = "append=";
	size_t room = strlen(text) + 1;
	_cleanup_free_ char *field = malloc(room);
	_cleanup_free_ char *kernel = malloc(room);
	_cleanup_free_ char *append = calloc(1, room);
	const char *p = text;
	bool more;

	if (!field || !kernel || !append) {
		return err_set(e, -ENOMEM, "%s: out of memory", option);
	}
	p = take_field(p, kernel, &more);
	if (!*kernel) {
		return err_set(e, -EINVAL,
			       "%s '%s': the kernel is missing; an arm is KERNEL[,append=TEXT]...",
			       option, text);
	}
	while (more) {
		p = take_field(p, field, &more);
		if (!strchr(field, '=')) {
			return err_set(e, -EINVAL,
				       "%s '%s': expected append=TEXT, got '%s' (a comma inside a "
				       "value is written '\\,')",
				       option, text, field);
		}
		if (strncmp(field, key, sizeof(key) - 1) != 0) {
			return err_set(e, -EINVAL,
				       "%s '%s': '%.*s' is no property of an arm; there is: append",
				       option, text, (int)strcspn(field, "="), field);
		}
		if (!field[sizeof(key) - 1]) {
			return err_set(e, -EINVAL, "%s '%s': append= is empty", option, text);
		}
		add_append(append, field + sizeof(key) - 1);
	}
	ret->kernel = TAKE_PTR(kernel);
	ret->append = TAKE_PTR(append);
	return 0;
}

/**
 * arm_fini() - free what an arm holds
 * @a: the arm; all zero is fine
 *
 * Context: any thread.
 */
void arm_fini(struct arm *a)
{
	free(a->kernel);
	free(a->append);
	*a = (struct arm){0};
}
