/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a comparison: all that decides what is booted and in which order, fixed before the
 * first boot. It is line 1 of the results file, and two runs are of one comparison exactly when
 * their plan lines are equal. Nothing that varies between equal comparisons (where the results are
 * kept, when they ran) is part of it.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/arm.h"
#include "engine/benchmarks.h"
#include "engine/schedule.h"

#define PLAN_SHA256_HEX  64
#define PLAN_SEED_MAX    INT64_MAX /* JSON integers are signed */
#define PLAN_BATCHES_MAX 10000u
#define PLAN_WARMUP      3u
#define PLAN_NO_ICOUNT   (-1)

struct plan_arm {
	struct arm arm;
	char sha256[PLAN_SHA256_HEX + 1]; /* of the kernel's file */
};

struct plan {
	char *ringside_version;
	char *runner;        /* the program that boots, or NULL for ringside itself */
	char *backend;       /* "kvm" or "qemu" */
	int icount;          /* shift, or PLAN_NO_ICOUNT */
	uint64_t timeout_ns; /* of one boot */
	bool aa;             /* both arms are the same on purpose */
	uint64_t seed;
	unsigned int blocks;
	unsigned int batches; /* a benchmark and boot */
	unsigned int warmup;  /* batches before them */
	benchmark_set benches;
	struct plan_arm arms[ARM_COUNT];
	size_t boot_count;
	struct schedule_boot *boots;
};

int plan_parse(const char *line, size_t len, struct plan *ret, struct err *e) __must_check;
int plan_line(const struct plan *p, char **ret, struct err *e) __must_check;
int plan_check_same(const char *wanted, const char *found, struct err *e) __must_check;
void plan_key(const char *line, char *ret_hex, size_t len);
void plan_fini(struct plan *p);

#endif
