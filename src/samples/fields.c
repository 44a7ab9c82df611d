/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fields.h. Any thread. */
#include "samples/fields.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "samples/record.h"

#define SHA256_DIGITS 64

static void *at(const void *record, size_t offset)
{
	return (char *)(uintptr_t)record + offset;
}

static const char *kind_words(enum field_kind k)
{
	switch (k) {
	case FIELD_NAME:
		return "a text that is not empty";
	case FIELD_SHA256:
		return "64 hexadecimal digits, or an empty text";
	case FIELD_TEXT_OR_NULL:
		return "a text or null";
	case FIELD_U64:
		return "a whole number of 0 or more";
	case FIELD_UINT:
		return "a whole number from 0 to 4294967295";
	case FIELD_BOOL:
		return "true or false";
	case FIELD_STATUS:
		return "a whole number from -1 to 255";
	case FIELD_TEXTS:
		return "a list of texts";
	case FIELD_TEXT_IF_ANY:
	case FIELD_TEXT:
		break;
	}
	return "a text";
}

static json_t *texts_to_json(char *const *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list, record_text_to_json(texts[i]));
	}
	return list;
}

static json_t *one_to_json(const struct field *f, const void *record)
{
	const char *text;

	switch (f->kind) {
	case FIELD_U64:
		return json_integer((json_int_t) * (const uint64_t *)at(record, f->offset));
	case FIELD_UINT:
		return json_integer(*(const unsigned int *)at(record, f->offset));
	case FIELD_BOOL:
		return json_boolean(*(const bool *)at(record, f->offset));
	case FIELD_STATUS:
		return json_integer(*(const int *)at(record, f->offset));
	case FIELD_TEXTS:
		return texts_to_json(*(char *const *const *)at(record, f->offset),
				     *(const size_t *)at(record, f->count));
	default:
		text = *(const char *const *)at(record, f->offset);
		return record_text_to_json(text || f->kind == FIELD_TEXT_OR_NULL ? text : "");
	}
}

static bool is_left_out(const struct field *f, const void *record)
{
	return f->kind == FIELD_TEXT_IF_ANY && !*(char *const *)at(record, f->offset);
}

/**
 * fields_to_json() - write a record's fields into an object
 * @rows: the table
 * @n: its rows
 * @record: the record; bytes of its texts that are no UTF-8 become '?'
 * @object: where to; NULL fails
 *
 * Return: 0, or -ENOMEM.
 */
int fields_to_json(const struct field *rows, size_t n, const void *record, json_t *object)
{
	for (size_t i = 0; i < n; i++) {
		if (is_left_out(&rows[i], record)) {
			continue;
		}
		if (json_object_set_new(object, rows[i].key, one_to_json(&rows[i], record)) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

static bool is_valid_text(enum field_kind kind, const json_t *v)
{
	const char *s = json_string_value(v);

	if (!s) {
		return kind == FIELD_TEXT_OR_NULL && json_is_null(v);
	}
	if (kind == FIELD_SHA256 && *s) {
		return strlen(s) == SHA256_DIGITS && strspn(s, "0123456789abcdef") == SHA256_DIGITS;
	}
	return kind != FIELD_NAME || *s;
}

static bool in_range(const json_t *v, int64_t low, int64_t high)
{
	return json_is_integer(v) && json_integer_value(v) >= low && json_integer_value(v) <= high;
}

static bool is_valid(enum field_kind kind, const json_t *v)
{
	const json_t *text;
	size_t i;

	switch (kind) {
	case FIELD_U64:
		return in_range(v, 0, INT64_MAX);
	case FIELD_UINT:
		return in_range(v, 0, UINT_MAX);
	case FIELD_BOOL:
		return json_is_boolean(v);
	case FIELD_STATUS:
		return in_range(v, -1, 255);
	case FIELD_TEXTS:
		json_array_foreach (v, i, text) {
			if (!json_is_string(text)) {
				return false;
			}
		}
		return json_is_array(v);
	default:
		return is_valid_text(kind, v);
	}
}

static int read_texts(const json_t *v, char ***ret, size_t *ret_count)
{
	const json_t *text;
	size_t i;

	*ret = calloc(json_array_size(v) + 1, sizeof(**ret));
	if (!*ret) {
		return -ENOMEM;
	}
	json_array_foreach (v, i, text) {
		(*ret)[i] = strdup(json_string_value(text));
		if (!(*ret)[i]) {
			return -ENOMEM;
		}
		(*ret_count)++;
	}
	return 0;
}

/* A value that is valid. */
static int read_one(const struct field *f, const json_t *v, void *record)
{
	char *text;

	switch (f->kind) {
	case FIELD_U64:
		*(uint64_t *)at(record, f->offset) = (uint64_t)json_integer_value(v);
		return 0;
	case FIELD_UINT:
		*(unsigned int *)at(record, f->offset) = (unsigned int)json_integer_value(v);
		return 0;
	case FIELD_BOOL:
		*(bool *)at(record, f->offset) = json_is_true(v);
		return 0;
	case FIELD_STATUS:
		*(int *)at(record, f->offset) = (int)json_integer_value(v);
		return 0;
	case FIELD_TEXTS:
		return read_texts(v, at(record, f->offset), at(record, f->count));
	default:
		text = json_is_null(v) ? NULL : strdup(json_string_value(v));
		*(char **)at(record, f->offset) = text;
		return text || json_is_null(v) ? 0 : -ENOMEM;
	}
}

/**
 * fields_from_json() - read a record's fields
 * @rows: the table
 * @n: its rows
 * @object: what to read
 * @record: zeroed; fields_free() frees what was read, also on failure
 * @e: set on failure, names the key
 *
 * Return: 0, -EBADMSG for a field that is missing or not of its kind, -ENOMEM.
 */
int fields_from_json(const struct field *rows, size_t n, const json_t *object, void *record,
		     struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(object, rows[i].key);

		if (!v && rows[i].kind == FIELD_TEXT_IF_ANY) {
			continue;
		}
		if (!v) {
			return err_set(e, -EBADMSG, "'%s' is missing", rows[i].key);
		}
		if (!is_valid(rows[i].kind, v)) {
			return err_set(e, -EBADMSG, "'%s' is not %s", rows[i].key,
				       kind_words(rows[i].kind));
		}
		if (read_one(&rows[i], v, record) < 0) {
			return err_set(e, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

/**
 * fields_free() - free what a record's fields hold
 * @rows: the table
 * @n: its rows
 * @record: the record, also one that is half read
 */
void fields_free(const struct field *rows, size_t n, void *record)
{
	for (size_t i = 0; i < n; i++) {
		char ***texts = at(record, rows[i].offset);

		switch (rows[i].kind) {
		case FIELD_U64:
		case FIELD_UINT:
		case FIELD_BOOL:
		case FIELD_STATUS:
			break;
		case FIELD_TEXTS:
			for (size_t k = 0; k < *(size_t *)at(record, rows[i].count); k++) {
				free((*texts)[k]);
			}
			free(*texts);
			break;
		default:
			free(*(char **)at(record, rows[i].offset));
		}
	}
}

/**
 * fields_check_head() - whether an object is a record of a type that this ringside can read
 * @object: the object
 * @type: the type that is due
 * @version: the newest schema that is known
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no such record, -EPROTO for one of a newer schema.
 */
int fields_check_head(const json_t *object, const char *type, int version, struct err *e)
{
	const json_t *v = json_object_get(object, "schema_version");
	const char *found = json_string_value(json_object_get(object, "type"));

	if (!in_range(v, 1, INT64_MAX)) {
		return err_set(e, -EBADMSG, "no 'schema_version': this is no record of ringside");
	}
	if (!found || strcmp(found, type) != 0) {
		return err_set(e, -EBADMSG, "a record of type '%.32s', expected '%s'",
			       found ? found : "", type);
	}
	if (json_integer_value(v) > version) {
		return err_set(e, -EPROTO,
			       "schema version %" JSON_INTEGER_FORMAT " is newer than the %d this "
			       "ringside reads: use the one that wrote it",
			       json_integer_value(v), version);
	}
	return 0;
}
