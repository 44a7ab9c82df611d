/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison of two arms on the null system call, and lines for its boots. */
#ifndef TESTS_COMPARE_FIXTURE_H
#define TESTS_COMPARE_FIXTURE_H

#include "engine/comparison.h"

struct fixture_boot {
	double units; /* a call */
	int batches;  /* 0: 4 */
	int dirty;    /* the last so many took an interrupt, and are larger by 1000 */
	bool no_bench;
	bool wrong_arm;
	int status;
	const char *kind;   /* NULL: "exit" */
	const char *sha256; /* NULL: the arm's */
	const char *class;  /* NULL: "icount" */
	const char *cpu;    /* NULL: "Fake CPU" */
	int ticks_per_unit; /* 0: 8 */
};

void fixture_comparison(struct comparison *c, unsigned int blocks);
char *fixture_line(const struct comparison *c, size_t slot, const struct fixture_boot *b);

#endif
