/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of "ringside compare", and the plan that they make. */
#ifndef CLI_COMPARE_OPTIONS_H
#define CLI_COMPARE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/pilot.h"
#include "engine/plan.h"

/* A number that was not given. */
#define COMPARE_NOT_GIVEN UINT64_MAX

struct compare_options {
	const char *a, *b, *bench;
	const char *scenario;
	uint64_t aa;    /* comparisons of A with itself; 0: A is compared with B */
	uint64_t pilot; /* blocks of a pilot; 0: it is none */
	const char *resolve;
	uint64_t budget_ns; /* COMPARE_NOT_GIVEN, or what the boots may take */
	uint64_t blocks, batches, seed, icount, timeout_ns;
	const char *backend;
	const char *results;
	const char *runner;
	uint64_t jobs;           /* 0: as many as do not disturb one another */
	const char *calibration; /* a file, "none", or NULL: of this host */
	bool no_build;
	bool matrix;         /* the scenario's, or: */
	bool print_scenario; /* and nothing else */
	bool resume;
	const char *shard_text;
	unsigned int shard, shards; /* 0: all blocks */
	bool json;
	const char *html; /* a page to write as well, or NULL */

	/* Made from the words. */
	bool has_goal; /* the number of blocks is chosen from a pilot, by this: */
	struct pilot_goal goal;
	const struct plan_sizing *size; /* it was chosen like this, or NULL */
	const char *margin;             /* or NULL: the scenario's, or the default */
	const char *gate;               /* what fails it, or NULL: there is none */
};

int compare_options_parse(struct compare_options *o, int argc, char **argv,
			  struct err *e) __must_check;
int compare_options_check_resume(const struct compare_options *o, struct err *e) __must_check;
int compare_options_check_shard(const struct compare_options *o, struct err *e) __must_check;
int compare_options_jobs(const struct compare_options *o, const struct plan *p, size_t cores,
			 unsigned int *ret, struct err *e) __must_check;
bool compare_options_has_plan(const struct compare_options *o);
int compare_options_plan(const struct compare_options *o, struct plan *ret,
			 struct err *e) __must_check;

#endif
