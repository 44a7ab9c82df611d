/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See control_wire.h. */
#include "engine/control_wire.h"

#include <errno.h>
#include <string.h>

static const char *const verbs[CONTROL_VERBS] = {
	[CONTROL_STATUS] = "status", [CONTROL_PAUSE] = "pause",     [CONTROL_RESUME] = "resume",
	[CONTROL_STOP] = "stop",     [CONTROL_CONSOLE] = "console",
};

/**
 * control_verb_find() - the verb of a word
 * @name: the word
 * @ret: set on success
 *
 * Return: 0, or −ENOENT.
 */
int control_verb_find(const char *name, enum control_verb *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verbs[i], name) == 0) {
			*ret = (enum control_verb)i;
			return 0;
		}
	}
	return -ENOENT;
}

static json_t *read_object(const char *line, size_t len, struct err *e)
{
	json_error_t error;
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	json_t *version = json_object_get(o, CONTROL_VERSION_NAME);

	if (!json_is_object(o)) {
		err_set(e, -EPROTO, "a line that is no JSON object");
	} else if (!json_is_integer(version) || json_integer_value(version) != CONTROL_VERSION) {
		err_set(e, -EPROTO, "expected \"%s\": %d, the version of the protocol",
			CONTROL_VERSION_NAME, CONTROL_VERSION);
	} else {
		return o;
	}
	json_decref(o);
	return NULL;
}

/**
 * control_request_read() - understand a request
 * @line: @len bytes, without the newline; any bytes
 * @len: at most CONTROL_LINE_MAX
 * @ret: set on success
 * @e: set on failure, for the one who asked
 *
 * Return: 0; −EPROTO for what is no request of this version; −ENOENT for an unknown verb.
 */
int control_request_read(const char *line, size_t len, enum control_verb *ret, struct err *e)
{
	json_t *o = read_object(line, len, e);
	const char *verb;
	int r = 0;

	if (!o) {
		return -EPROTO;
	}
	verb = json_string_value(json_object_get(o, "do"));
	if (!verb || control_verb_find(verb, ret) < 0) {
		r = err_set(e, -ENOENT,
			    "\"do\" is none of status, pause, resume, stop and console");
	}
	json_decref(o);
	return r;
}

/**
 * control_request_write() - a request as it goes over the socket
 * @v: what is asked
 * @buf: gets the line with its newline
 * @size: its size; CONTROL_LINE_MAX is always enough
 *
 * Return: length of the line.
 */
size_t control_request_write(enum control_verb v, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "{\"%s\": %d, \"do\": \"%s\"}\n", CONTROL_VERSION_NAME,
				CONTROL_VERSION, verbs[v]);
}

/**
 * control_answer_write() - an answer as it goes over the socket
 * @fields: what there is to say, or NULL; taken
 * @error: why it could not be done, or NULL
 * @buf: gets the line with its newline
 * @size: its size; an answer that does not fit is replaced by an error that does
 *
 * Return: length of the line, at most @size; 0 when there is no memory, or @size is below 80.
 */
size_t control_answer_write(json_t *fields, const char *error, char *buf, size_t size)
{
	json_t *o = json_pack("{s:i, s:b}", CONTROL_VERSION_NAME, CONTROL_VERSION, "ok", !error);
	size_t n;

	if (error) {
		json_object_set_new(o, "error", json_string(error));
	}
	if (fields) {
		json_object_update(o, fields);
		json_decref(fields);
	}
	n = json_dumpb(o, buf, size, JSON_COMPACT);
	json_decref(o);
	if (n == 0 || n + 1 > size) {
		n = (size_t)snprintf(buf, size, "{\"%s\":%d,\"ok\":false,\"error\":\"no room\"}",
				     CONTROL_VERSION_NAME, CONTROL_VERSION);
		if (n + 1 > size) {
			return 0;
		}
	}
	buf[n] = '\n';
	return n + 1;
}

/**
 * control_answer_read() - understand an answer
 * @line: @len bytes, without the newline
 * @len: how many
 * @ret: set on success; the caller's to json_decref()
 * @e: set on failure: what the machine said
 *
 * Return: 0; −EPROTO for no answer of this version; −EREMOTEIO when the machine could not.
 */
int control_answer_read(const char *line, size_t len, json_t **ret, struct err *e)
{
	json_t *o = read_object(line, len, e);
	const char *error;

	if (!o) {
		return -EPROTO;
	}
	if (json_is_true(json_object_get(o, "ok"))) {
		*ret = o;
		return 0;
	}
	error = json_string_value(json_object_get(o, "error"));
	err_set(e, -EREMOTEIO, "%s", error ? error : "it refuses, and does not say why");
	json_decref(o);
	return -EREMOTEIO;
}
