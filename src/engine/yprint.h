/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A YAML document that is made from its leaves to its root, and written. A node is a number; one
 * that could not be made is remembered, so that only the end has to be checked. The first node that
 * is added is the root. libyaml quotes what has to be.
 *
 *	r = yprint_init(&p, e);
 *	int map = yprint_map(&p);
 *	yprint_put_text(&p, map, "name", name);
 *	r = yprint_write(&p, "the suite", stdout, e);
 */
#ifndef ENGINE_YPRINT_H
#define ENGINE_YPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/err.h"

struct yprint {
	yaml_document_t doc;
	bool failed;   /* no memory, unless: */
	bool not_utf8; /* a text that YAML cannot hold */
	bool controls; /* one that a terminal would obey: what is not ASCII is escaped */
};

int yprint_init(struct yprint *p, struct err *e) __must_check;
int yprint_map(struct yprint *p);
int yprint_list(struct yprint *p, bool in_line);
int yprint_text(struct yprint *p, const char *s);
int yprint_number(struct yprint *p, uint64_t v);
void yprint_put(struct yprint *p, int map, const char *key, int value);
void yprint_append(struct yprint *p, int list, int item);
void yprint_put_text(struct yprint *p, int map, const char *key, const char *s);
void yprint_put_texts(struct yprint *p, int map, const char *key, char *const *v, size_t n);
void yprint_put_real(struct yprint *p, int map, const char *key, double v);
int yprint_write(struct yprint *p, const char *what, FILE *out, struct err *e) __must_check;

#endif
