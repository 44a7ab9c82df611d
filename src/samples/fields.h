/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records whose fields a table describes: the one table writes them, reads them back with every
 * field checked, and frees them. Keys that a table does not know are passed over, so that a record
 * may grow within its schema version; a key that it knows must be there, but for those IF_ANY.
 */
#ifndef SAMPLES_FIELDS_H
#define SAMPLES_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum field_kind {
	FIELD_TEXT,         /* char *; never NULL once read */
	FIELD_NAME,         /* the same, and not empty */
	FIELD_SHA256,       /* the same, empty or 64 hexadecimal digits */
	FIELD_TEXT_OR_NULL, /* char * */
	FIELD_TEXT_IF_ANY,  /* char *; NULL: the key is not there */
	FIELD_U64,          /* uint64_t, at most INT64_MAX */
	FIELD_UINT,         /* unsigned int */
	FIELD_BOOL,         /* bool */
	FIELD_STATUS,       /* int, -1 to 255 */
	FIELD_TEXTS,        /* char **, and its size_t at 'count' */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
	size_t count; /* offset, of FIELD_TEXTS only */
};

int fields_to_json(const struct field *rows, size_t n, const void *record,
		   json_t *object) __must_check;
int fields_from_json(const struct field *rows, size_t n, const json_t *object, void *record,
		     struct err *e) __must_check;
void fields_free(const struct field *rows, size_t n, void *record);
int fields_check_head(const json_t *object, const char *type, int version,
		      struct err *e) __must_check;

#endif
