/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on a guest's console that are no failure: POSIX extended regular expressions. Pure. */
#ifndef ENGINE_CONSOLE_ALLOW_H
#define ENGINE_CONSOLE_ALLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

struct console_allow;

int console_allow_create(struct console_allow **ret, struct err *e) __must_check;
int console_allow_add(struct console_allow *a, const char *pattern, struct err *e) __must_check;
bool console_allow_match(const struct console_allow *a, const char *line, size_t *ret_which);
void console_allow_destroy(struct console_allow *a);
DEFINE_CLEANUP(struct console_allow *, console_allow_destroy)

#endif
