/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "ringside ctl" and a running machine say to each other: version 1. One line of JSON each
 * way, then another, or, after "console", the console's bytes both ways. ringside-ctl(1) describes
 * it for others. Pure.
 */
#ifndef ENGINE_CONTROL_WIRE_H
#define ENGINE_CONTROL_WIRE_H

#include <jansson.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

#define CONTROL_VERSION      1
#define CONTROL_LINE_MAX     1024 /* bytes of a request, without its newline */
#define CONTROL_ANSWER_MAX   8192 /* bytes of an answer, with its newline */
#define CONTROL_VERSION_NAME "ringside"

enum control_verb {
	CONTROL_STATUS,
	CONTROL_PAUSE,
	CONTROL_RESUME,
	CONTROL_STOP,
	CONTROL_CONSOLE,
	CONTROL_VERBS,
};

int control_verb_find(const char *name, enum control_verb *ret) __must_check;
int control_request_read(const char *line, size_t len, enum control_verb *ret,
			 struct err *e) __must_check;
size_t control_request_write(enum control_verb v, char *buf, size_t size);
size_t control_answer_write(json_t *fields, const char *error, char *buf, size_t size);
int control_answer_read(const char *line, size_t len, json_t **ret, struct err *e) __must_check;

#endif
