/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the primitives of a kernel change take on this machine, and from them the floors: what each
 * change can save at best here. Maths, and the JSON of 'ringside calibrate --json' in both
 * directions; who measures is src/cli/cmd_calibrate.c. No state, any thread.
 *
 *	struct calibration_point    one primitive in one replicate: the median of its clean batches
 *	struct calibration_replicate   all primitives of one process
 *	struct calibration          the medians over replicates with their intervals, and the floors
 *
 * A number that cannot be had is NaN here and null in JSON, and has a reason beside it.
 */
#ifndef ENGINE_CALIBRATION_H
#define ENGINE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "abi/calibrate.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "samples/boot_record.h"
#include "samples/class.h"

#define CALIBRATION_SCHEMA_VERSION 1
#define CALIBRATION_LEVEL          0.95
#define CALIBRATION_PRIMITIVES_MAX 64  /* of a file */
#define CALIBRATION_FLOORS_MAX     16  /* of a file */
#define CALIBRATION_REPLICATES_MAX 100 /* of a measurement */
#define CALIBRATION_FILE_MAX       (1u << 20)

/* A replicate with fewer clean batches of a primitive has no value for it. */
#define CALIBRATION_CLEAN_MIN 5

/* One batch as the payload and the VMM left it. */
struct calibration_batch {
	uint64_t ticks[CALIBRATE_VALUES]; /* abi/calibrate.h */
	uint8_t dirty;                    /* 1 << enum disturbance, 0: clean */
};

/* How far the host's counters went in a batch; CALIBRATION_NO_VALUE: this host does not have it. */
#define CALIBRATION_NO_VALUE UINT64_MAX

struct calibration_window {
	uint64_t kvm_exits;
	uint64_t irqs;
	uint64_t steal_ns;
	uint64_t nivcsw;
};

struct calibration_point {
	bool measured;
	double ticks;           /* TSC ticks of one operation, the empty loop subtracted */
	double core_cycles;     /* the same in core cycles; NaN where there is no chain to go by */
	double ticks_per_cycle; /* TSC ticks of one addition of the chain */
	uint64_t batches;
	uint64_t dirty; /* of them */
	uint64_t by_cause[DISTURBANCE_COUNT];
	char reason[160]; /* why it is not measured */
};

struct calibration_replicate {
	struct calibration_point points[CALIBRATE_PRIMITIVE_COUNT];
};

/* A median over replicates. NaN: there is none; an infinite end: too few replicates. */
struct calibration_number {
	double median;
	double low, high;
	double level; /* that the interval really has */
};

struct calibration_primitive {
	char name[40];
	char about[96];
	unsigned int ring; /* where it was timed */
	bool native;       /* the processor itself ran it, at its own speed */
	char unit[24];
	enum exec_class class;            /* of the machine */
	struct calibration_number number; /* in 'unit' */
	struct calibration_number core_cycles;
	uint64_t n; /* replicates */
	uint64_t batches;
	uint64_t dirty;
	char reason[160]; /* why the number is NaN, or "" */
};

struct calibration_floor {
	char id[40]; /* "uaccess.get" */
	char unit[24];
	double value; /* what the change saves at best; below 0: what it costs; NaN: see reason */
	double low, high;
	uint64_t n; /* replicates */
	char formula[200];
	char reason[240];
};

struct calibration {
	enum exec_class class;
	unsigned int icount_shift;
	char evidence[512]; /* what the class was found from */
	char host_cpu[128];
	char host_kernel[128];
	uint64_t replicates;
	struct calibration_number ticks_per_cycle; /* TSC ticks of a core cycle */
	size_t primitive_count;
	struct calibration_primitive primitives[CALIBRATION_PRIMITIVES_MAX];
	size_t floor_count;
	struct calibration_floor floors[CALIBRATION_FLOORS_MAX];
};

/* calibration.c */
void calibration_judge(struct calibration_batch *batches, const struct calibration_window *windows,
		       size_t count);
void calibration_point_make(const struct calibration_batch *batches, size_t count,
			    uint64_t operations, struct calibration_point *ret);
int calibration_make(const struct calibration_replicate *replicates, size_t count,
		     enum exec_class class, unsigned int icount_shift, struct calibration **ret,
		     struct err *e) __must_check;
const struct calibration_primitive *calibration_primitive(const struct calibration *c,
							  const char *name);
const struct calibration_floor *calibration_floor(const struct calibration *c, const char *id);
int calibration_check_floor(const char *id, struct err *e) __must_check;

/* calibration_json.c */
json_t *calibration_json(const struct calibration *c);
int calibration_parse(const char *text, size_t len, const char *source, struct calibration **ret,
		      struct err *e) __must_check;
int calibration_read(const char *path, struct calibration **ret, struct err *e) __must_check;
json_t *calibration_replicate_json(const struct calibration_replicate *r);
int calibration_replicate_parse(const char *text, size_t len, struct calibration_replicate *ret,
				struct err *e) __must_check;

#endif
