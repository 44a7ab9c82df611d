/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario file: groups of arms with what is measured on them, and what others have claimed of
 * it. Its keys are those of ringside-scenario(5). A file may take in the groups of others.
 * scenario_print() writes the one that a plan comes to: it reads back to the same plan.
 */
#ifndef ENGINE_SCENARIO_H
#define ENGINE_SCENARIO_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/plan.h"

#define SCENARIO_INCLUDES_MAX 16u

/* What a file leaves open is NULL, or not given; the caller decides it then. */
struct scenario {
	char *title;
	char *backend; /* "auto", "kvm" or "qemu" */
	char *runner;
	bool aa;     /* its arms are the same on purpose */
	bool matrix; /* each arm of a group is compared with each other one */
	bool has_icount, has_batches, has_seed, has_timeout;
	uint64_t icount, batches, seed, timeout_ns;
	size_t group_count;        /* 1 or more */
	struct plan_group *groups; /* blocks 0: left open; no hashes yet */
	size_t include_count;
	char *includes[SCENARIO_INCLUDES_MAX]; /* the files that it was also read from */
};

int scenario_read(const char *path, struct scenario *ret, struct err *e) __must_check;
int scenario_print(const struct plan *p, FILE *out, struct err *e) __must_check;
void scenario_fini(struct scenario *s);

#endif
