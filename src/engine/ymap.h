/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML mappings under a schema: a table says which keys a mapping may have, of what type and range
 * each is, and where in a C struct it goes. Whatever does not fit is an error with file, line and
 * column, and with the keys or values that are allowed. Values keep their place in the file, so
 * that what only the caller can judge (a name that must exist elsewhere) is reported the same way.
 */
#ifndef ENGINE_YMAP_H
#define ENGINE_YMAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

#define YMAP_BYTES_MAX (1u << 20) /* of a file */

/* Where something stands in its file, both from 1. */
struct ymap_pos {
	unsigned int line, column;
};

struct ymap_text {
	char *s; /* NULL: not given */
	struct ymap_pos pos;
};

struct ymap_uint {
	bool given;
	uint64_t v;
	struct ymap_pos pos;
};

struct ymap_number {
	bool given;
	double v;
	struct ymap_pos pos;
};

struct ymap_list {
	void *items; /* of struct ymap_text, or of the struct that the field's map fills */
	size_t n;
	struct ymap_pos pos;
};

enum ymap_type {
	YMAP_TEXT,   /* struct ymap_text, never empty but where @empty allows a quoted one */
	YMAP_UINT,   /* struct ymap_uint */
	YMAP_NUMBER, /* struct ymap_number */
	YMAP_TEXTS,  /* struct ymap_list of struct ymap_text */
	YMAP_MAPS,   /* struct ymap_list of what @map fills */
	YMAP_MAP,    /* what @map fills, in place; its pos stays 0:0 when it is not given */
};

struct ymap;

struct ymap_field {
	const char *key;
	enum ymap_type type;
	size_t at; /* offset of the member */
	bool required;
	bool empty;             /* of a text, or the texts of a list: '' is one */
	double min, max;        /* of numbers; of lists: how many */
	const char *choices;    /* of a text: "auto|kvm|qemu"; NULL: any */
	const struct ymap *map; /* of YMAP_MAPS and YMAP_MAP */
};

struct ymap {
	const char *what; /* "group" */
	size_t bytes;     /* of the struct that it fills; its first member is a struct ymap_pos */
	const struct ymap_field *fields;
	size_t count;
};

__printf(4, 0) int ymap_fail(const char *path, struct ymap_pos pos, struct err *e, const char *fmt,
			     va_list ap);
int ymap_read(const char *path, const struct ymap *map, void *ret, struct err *e) __must_check;
void ymap_fini(const struct ymap *map, void *filled);

#endif
