/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a comparison: all that decides what is booted and in which order, fixed before the
 * first boot. It is line 1 of the results file, and two runs are of one comparison exactly when
 * their plan lines are equal. Nothing that varies between equal comparisons (where the results are
 * kept, when they ran) is part of it. The shards of one comparison have the same plan but for the
 * number of the shard, and each draws the whole schedule.
 *
 * A plan is a list of groups, and a group a list of arms that are compared with its first one. What
 * "--a ARM --b ARM" makes is a plan of one group without a name, of two arms.
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
#include "engine/margin.h"
#include "engine/schedule.h"
#include "samples/claim.h"

#define PLAN_SHA256_HEX  64
#define PLAN_KEY_HEX     16
#define PLAN_SEED_MAX    INT64_MAX /* JSON integers are signed */
#define PLAN_BATCHES_MAX 10000u
#define PLAN_WARMUP      3u
#define PLAN_NO_ICOUNT   (-1)
#define PLAN_CLAIMS_MAX  64u /* of a group */
#define PLAN_SHARDS_MAX  10000u
#define PLAN_MARGINS_MAX 65u /* of a group: one of its own, and of its benchmarks */

struct plan_arm {
	char *name; /* what a scenario calls it, or NULL */
	struct arm arm;
	char sha256[PLAN_SHA256_HEX + 1]; /* of the kernel's file */
};

struct plan_group {
	char *name; /* NULL for the one group of --a and --b */
	unsigned int blocks;
	benchmark_set benches;
	size_t arm_count; /* 2 to SCHEDULE_ARMS_MAX; the first is the baseline */
	struct plan_arm *arms;
	size_t claim_count;
	struct claim *claims;
	size_t margin_count;
	struct margin *margins; /* see margin_of(); none: the default */
};

/* Where the number of blocks comes from, when it was chosen and not given. */
struct plan_sizing {
	char *by;                     /* "--resolve 2cycles"; NULL: it was given */
	char pilot[PLAN_KEY_HEX + 1]; /* plan_key() of the pilot that it was chosen from ... */
	unsigned int pilot_blocks;    /* ... and how many blocks that had, of each group */
};

struct plan {
	char *ringside_version;
	char *title;             /* of a scenario, or NULL */
	char *runner;            /* the program that boots, or NULL for ringside itself */
	char *backend;           /* "kvm" or "qemu" */
	int icount;              /* shift, or PLAN_NO_ICOUNT */
	uint64_t timeout_ns;     /* of one boot */
	bool aa;                 /* both arms are the same on purpose */
	bool matrix;             /* each arm of a group is compared with each other one */
	bool pilot;              /* it is to find out how many blocks a comparison needs */
	struct plan_sizing size; /* no pilot's boots are part of it: it only says how many */
	uint64_t seed;
	unsigned int batches; /* a benchmark and boot */
	unsigned int warmup;  /* batches before them */
	size_t group_count;
	struct plan_group *groups;
	unsigned int shard;  /* of so many, whose blocks alone are booted: 1 to shards */
	unsigned int shards; /* 0: all blocks are booted, as always but for compare --shard */

	/* What plan_make_schedule() draws from the above. */
	size_t boot_count;
	struct schedule_boot *boots;
};

int plan_make_schedule(struct plan *p, struct err *e) __must_check;
void plan_remove_group(struct plan *p, size_t group);
int plan_check_shards(const struct plan *p, struct err *e) __must_check;
unsigned int plan_shard_of(const struct plan *p, size_t slot);
bool plan_is_ours(const struct plan *p, size_t slot);
size_t plan_share(const struct plan *p);
size_t plan_first_boot(const struct plan *p, size_t group);
const struct plan_arm *plan_boot_arm(const struct plan *p, const struct schedule_boot *b);
const struct plan_group *plan_boot_group(const struct plan *p, const struct schedule_boot *b);
int plan_parse(const char *line, size_t len, struct plan *ret, struct err *e) __must_check;
int plan_line(const struct plan *p, char **ret, struct err *e) __must_check;
int plan_whole_line(const struct plan *p, char **ret, struct err *e) __must_check;
int plan_check_same(const char *wanted, const char *found, struct err *e) __must_check;
void plan_key(const char *line, char *ret_hex, size_t len);
void plan_fini(struct plan *p);

#endif
