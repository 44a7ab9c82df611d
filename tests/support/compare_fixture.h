/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons of arms on the null system call, and lines for their boots. */
#ifndef TESTS_COMPARE_FIXTURE_H
#define TESTS_COMPARE_FIXTURE_H

#include "engine/comparison.h"

struct fixture_boot {
	double units;  /* a call */
	double spread; /* of the batches: every other one is so much larger, the rest smaller */
	int batches;   /* 0: 4 */
	int dirty;     /* the last so many took an interrupt, and are larger by 1000 */
	bool no_bench;
	bool wrong_arm;
	int status;
	const char *kind;          /* NULL: "exit" */
	const char *sha256;        /* NULL: the arm's */
	const char *class;         /* NULL: "icount" */
	const char *cpu;           /* NULL: "Fake CPU" */
	const char *print;         /* fingerprint of CPUID; NULL: none */
	int ticks_per_unit;        /* 0: 8 */
	uint64_t user_ns, exit_ns; /* 0: not known */
};

void fixture_comparison(struct comparison *c, unsigned int blocks);

/*
 * A scenario of two groups: "three" of three arms and so many blocks, and "two" of two arms and one
 * block more. Claim 0 is of the third arm, claim 1 of a row that no boot has, and claim 2 compares
 * a benchmark with itself.
 */
void fixture_scenario(struct comparison *c, unsigned int blocks);
char *fixture_line(const struct comparison *c, size_t slot, const struct fixture_boot *b);

/* Adds that line, which has to be taken. */
void fixture_add(struct comparison *c, size_t slot, const struct fixture_boot *b);

#endif
