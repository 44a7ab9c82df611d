/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boots what a comparison's plan still lacks, one process a boot, and records each boot. Where
 * instructions are counted several may run side by side: what they count is not disturbed by it.
 */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include <sched.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/comparison.h"
#include "engine/progress.h"
#include "samples/results.h"

/*
 * So many boots whose guest fails end a group: their blocks are lost, and what fails that often
 * will fail on. The other groups go on. The number is fixed beforehand, as the number of boots is.
 */
#define COMPARE_FAILED_MAX 3u

#define COMPARE_JOBS_MAX   64u

struct compare_request {
	const char *program; /* called as PROGRAM run ... */
	unsigned int jobs;   /* boots that run at a time, 1 to COMPARE_JOBS_MAX */
	/* As many sets of processors, no two of which overlap: boots that run at a time have one
	 * each. NULL: they run wherever we may. */
	const cpu_set_t *cores;
	/* The file of the kernel that a boot of the plan boots. */
	const char *(*kernel_path)(void *ctx, const struct schedule_boot *b);
	void *ctx;
	struct results *results; /* the plan is in it already */
	struct progress *progress;
};

enum compare_end {
	COMPARE_COMPLETE,     /* every boot of the plan is recorded */
	COMPARE_INTERRUPTED,  /* by a signal to us */
	COMPARE_GUEST_FAILED, /* COMPARE_FAILED_MAX boots of a group have failed */
	COMPARE_NO_BOOT,      /* the machine failed a boot; the error says how */
};

int compare_boots(struct comparison *c, const struct compare_request *req,
		  enum compare_end *ret_end, int *ret_signal, struct err *e) __must_check;

#endif
