/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ringside-runner: runs a guest's test programs one after the other, and frames what they say as
 * one KTAP document on stdout. A program's own KTAP or TAP becomes a document inside it; whatever
 * else it says stands there as notes.
 *
 *	ringside-runner [--timeout SECONDS] [--skip STATUS]... [--insmod] DIR [NAME]...
 *
 * Without names it is every program in DIR, in the order of their names. One thread.
 */
#ifndef GUEST_RUNNER_H
#define GUEST_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

#define RUNNER_SKIPS_MAX 8
#define RUNNER_LINE_MAX  4096 /* bytes; a longer one is broken */

struct runner_options {
	const char *dir;
	char **names;                /* NULL-terminated; empty: all */
	unsigned int timeout_s;      /* for each program; 0: none */
	int skips[RUNNER_SKIPS_MAX]; /* exit statuses of a program that says: not here */
	size_t skip_count;
	bool insmod; /* they are modules, to be loaded */
};

/* What one program says, on its way out. */
struct runner_frame {
	FILE *out;
	bool in_ktap; /* it has begun a document of its own */
	bool in_line;
	size_t len;
	char line[RUNNER_LINE_MAX];
};

void runner_frame_feed(struct runner_frame *f, const char *data, size_t len);
void runner_frame_end(struct runner_frame *f);

int runner_list(const char *dir, bool modules, char ***ret_names) __must_check;
void runner_list_free(char **names);
int runner_run(const struct runner_options *o, FILE *out) __must_check;

#endif
