/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of one comparison of two arms. The engine fills a struct report from the records
 * (everything above "computed"), calls report_compute() once, and hands it to any renderer. All
 *strings and arrays that the engine puts in stay the engine's; only the results inside are the
 *report's, and report_fini() frees them.
 *
 *	struct report r = REPORT_INIT;
 *	... fill r ...
 *	ret = report_compute(&r, err);
 *	ret = report_text(&r, stdout, report_wants_colour(STDOUT_FILENO));
 *	status = report_exit_status(&r);
 *	report_fini(&r);
 *
 * A scenario makes several of them, a struct report_set, with rows for what others have claimed.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/boot_record.h"
#include "samples/claim.h"
#include "samples/class.h"
#include "stats/compare.h"
#include "stats/quantile.h"

#define REPORT_SCHEMA_VERSION 1

struct report_arm {
	char letter;                /* 'A', 'B', ...; 0: by its place */
	const char *label;          /* what people call it: "fsgsbase" */
	const char *kernel;         /* as given: a path or a name */
	const char *kernel_version; /* NULL if unknown */
	const char *kernel_sha256;  /* in full, NULL if unknown */
	const char *append;         /* this arm's own part of the command line, "" for none */
	const char *task;           /* kind of task that it measures, NULL for a plain one */
};

/* The batches of one arm on one benchmark, warm-up not counted. */
struct report_batches {
	uint64_t total;
	uint64_t dirty; /* left out; one disturbed twice over counts once here ... */
	uint64_t by_cause[DISTURBANCE_COUNT]; /* ... and under each cause here */
};

/* One boot's value, and where it stands in the run. */
struct report_boot {
	size_t slot;  /* from 0, in the order of time */
	int side;     /* STATS_A or STATS_B */
	bool counts;  /* its block is complete */
	double value; /* units per call */
	double step;  /* its level changed by so much while it was measured; 0: not seen to */
	double empty; /* ticks of its loop around nothing; 0: not known (see boot_clock.h) */
};

/* What was found odd. Each is told of; some make a verdict inconclusive (see report/warn.c). */
enum report_warning {
	REPORT_WARN_DRIFT,       /* the difference grew or shrank from block to block */
	REPORT_WARN_BIMODAL,     /* an arm's boots are two groups */
	REPORT_WARN_STEP,        /* the level changed inside many boots */
	REPORT_WARN_DIRTY,       /* many batches were disturbed */
	REPORT_WARN_TAIL,        /* the middle does not differ, the distribution does */
	REPORT_WARN_FINGERPRINT, /* the boots are not all of one host and setting */
	REPORT_WARN_HOST,        /* another program on the host disturbed many batches */
	REPORT_WARN_CLOCK,       /* the processor's clock was not the same in all boots */
};

#define REPORT_WARNINGS    8
#define REPORT_WARNING_MAX 320

/* What a gate says, of a row and of a run. */
enum report_gate_result {
	REPORT_GATE_NONE, /* it was not asked */
	REPORT_GATE_PASSED,
	REPORT_GATE_FAILED,
	REPORT_GATE_OPEN, /* the data do not decide */
};

#define REPORT_GATE_RESULTS 4

/* What fails a gate. */
enum report_gate_on {
	REPORT_GATE_WORSE,        /* a row that is worse */
	REPORT_GATE_CHANGED,      /* or better: any difference */
	REPORT_GATE_INCONCLUSIVE, /* worse, or not shown to be no worse */
};

#define REPORT_GATE_ON_COUNT 3
#define REPORT_GATE_TEXT_MAX 1536

/* One answer for a run. */
struct report_gate {
	enum report_gate_on on;
	enum report_gate_result result;
	size_t rows[REPORT_GATE_RESULTS]; /* how many of each */
	char text[REPORT_GATE_TEXT_MAX];  /* one line, which says why */
};

struct report_bench {
	const char *name;     /* "ctxsw.futex.fsgs" */
	const char *per;      /* what one unit of work is, singular: "call", "switch" */
	uint64_t calls;       /* of these in one batch, 0 if it varies */
	double units_hz;      /* units in a second, for a rate; 0: none is shown */
	const char *error;    /* NULL, or why some boot has no value for it */
	double margin_abs;    /* of this row alone, or 0: the report's ... */
	double margin_rel;    /* ... and as a share of A's median */
	bool is_probe;        /* counted by the guest's kernel, not timed in batches */
	uint64_t samples[2];  /* of a probe: all that its boots counted; then no batches */
	size_t boots_lost[2]; /* boots without a value (their whole block is left out) */
	struct report_batches batches[2];
	const struct stats_block *blocks; /* the complete ones, values in units per call */
	size_t n_blocks;
	const struct report_boot *boots; /* all that have a value, in the order of time, or NULL */
	size_t n_boots;
	const double *clean[2]; /* the batches that count, units per call, boot by boot */
	size_t n_clean[2];
	struct histogram histogram[2]; /* of a probe's samples; without buckets: not recorded */
	/* What this host makes of no difference: the 95th percentile of |effect| in so many ... */
	double noise;
	size_t noise_of;        /* ... comparisons of an arm with itself; 0: not known */
	size_t noise_blocks[2]; /* of so many blocks, the fewest and the most */

	/* computed */
	struct stats_comparison result;
	bool shift_known; /* there are batches of both arms */
	struct stats_shift_point shift[STATS_SHIFT_QUANTILES];
	char warnings[REPORT_WARNINGS][REPORT_WARNING_MAX]; /* by kind; empty: none */
	enum report_gate_result gate;  /* its part of a gate; NONE where there is no gate */
	int decided_by;                /* the warning that took a verdict back, or -1 */
	enum stats_verdict taken_back; /* which one that was */
};

struct report {
	const char *title; /* NULL: made from the labels */
	const char *group; /* of a scenario, or NULL */
	const char *ringside_version;
	struct report_arm arms[2]; /* A, B */
	bool same_image;           /* one kernel file for both, told apart by parameters only */
	bool same_arm;             /* A and B are one and the same: an A/A comparison */
	enum exec_class class;
	const char *backend;         /* "kvm", "qemu" */
	unsigned int ticks_per_unit; /* 1, or 2^shift under icount; values are divided already */
	const char *hosts;           /* the names of several that parted the blocks; NULL: one */
	const char *host_cpu;        /* these four: NULL if unknown */
	const char *host_kernel;
	const char *host_clock; /* its clock source */
	const char *qemu_version;
	uint64_t seed;
	const char *blocks_by; /* how their number was chosen: "--resolve 2cycles"; NULL: given */
	size_t pilot_blocks;   /* from a pilot of so many */
	const char *pilot;     /* whose plan has this key */
	size_t blocks_planned;
	size_t blocks_complete; /* all four boots ended as they should */
	size_t boots_planned;   /* of its group: what all arms of it were to boot ... */
	size_t boots_recorded;  /* ... and have. Fewer: it decides nothing yet */
	size_t boots_failed;    /* so many guests failed that it was ended; 0: not so */
	const char *unequal;    /* what the boots do not have in common, or NULL */
	size_t blocks_mixed;    /* with such a difference between their own boots */
	double margin_abs;      /* practical margin: see stats/compare.h */
	double margin_rel;
	struct report_bench *benches; /* the array is the engine's */
	const char *
		filtered; /* that, and of what, this is a part; NULL: it is all (report/filter.h) */
	size_t n_benches;

	/* computed */
	size_t family; /* the rows over which p-values are adjusted, with or without a p of their
			  own */
};

/* What a change can save at best on this host, from the costs of what it trades. */
struct report_floor {
	const char *id;
	const char *unit;        /* NULL: there is no floor */
	const char *formula;     /* or NULL */
	const char *reason;      /* why there is none */
	double value, low, high; /* below 0: it costs so much */
	uint64_t n;              /* replicates that the interval is of */
};

/* A claim and what was measured of it. */
struct report_claim {
	const struct claim *claim;
	const char *group;
	const struct report *report;      /* the comparison that it is held against */
	const struct report_bench *bench; /* its row there; NULL: there is none */
	const char *why;                  /* there is none */
	struct report_floor floor;
};

/* How often the comparisons of an arm with itself found a difference in one benchmark. */
struct report_aa {
	const char *name;
	size_t trials;   /* comparisons that might have */
	size_t by_p;     /* p was at most .05 and the interval left zero out ... */
	size_t rejected; /* ... and by more than the margin, which is a false verdict */
	double largest;  /* |effect|, units */
};

/* All comparisons of one results file, which are of one machine. */
struct report_set {
	bool aa;                       /* several comparisons of one arm with itself */
	const char *title;             /* of the scenario; NULL: a plain comparison of two arms */
	struct report *const *reports; /* computed; group by group */
	size_t n_reports;              /* 1 or more */
	struct report *const *matrix;  /* of the arms that are no baselines, against each other */
	size_t n_matrix;
	bool has_matrix; /* it is asked for; n_matrix is 0 where no group has three arms */
	struct report_claim *claims; /* group by group */
	size_t n_claims;
	size_t boots_planned, boots_recorded;
	const struct report_gate *gate; /* NULL: none was asked for */
	/* One host's of several, which are written one behind the other; NULL: there is one. */
	const char *host;
	bool host_before, host_behind; /* another's stands before it, or is to come */
};

#define REPORT_INIT                                     \
	{                                               \
		.margin_abs = 0.1, .margin_rel = 0.001, \
	}

const char *report_warning_name(enum report_warning w);
int report_compute(struct report *r, struct err *e) __must_check;
int report_compute_family(struct report *const *family, size_t n, struct err *e) __must_check;
void report_fini(struct report *r);
int report_exit_status(const struct report *r);
bool report_is_incomplete(const struct report *r);
bool report_set_is_incomplete(const struct report_set *s);

int report_gate_parse(const char *name, enum report_gate_on *ret) __must_check;
const char *report_gate_on_name(enum report_gate_on on);
const char *report_gate_name(enum report_gate_result r);
void report_gate_judge(const struct report_set *s, enum report_gate_on on, struct report_gate *ret);
int report_gate_status(const struct report_gate *g);

bool report_wants_colour(int fd);
void report_fit(const char *text, size_t columns, FILE *out);
int report_text(const struct report *r, FILE *out, bool colour) __must_check;
json_t *report_json(const struct report *r);

size_t report_aa_rows(const struct report_set *s, struct report_aa *ret, size_t room);
void report_aa_expected(size_t rows, size_t trials, size_t *ret_lo, size_t *ret_hi);
int report_aa_status(const struct report_set *s);
void report_aa_text(const struct report_set *s, FILE *out);
void report_aa_markdown(const struct report_set *s, FILE *out);
void report_aa_html(const struct report_set *s, FILE *out);
json_t *report_aa_json(const struct report_set *s);

bool report_set_is_plain(const struct report_set *s);
int report_set_exit_status(const struct report_set *s);
int report_set_text(const struct report_set *s, FILE *out, bool colour, bool details) __must_check;
json_t *report_set_json(const struct report_set *s);
int report_set_csv(const struct report_set *s, FILE *out) __must_check;
int report_set_gobench(const struct report_set *s, FILE *out) __must_check;
int report_set_markdown(const struct report_set *s, FILE *out) __must_check;
int report_set_junit(const struct report_set *s, FILE *out) __must_check;
int report_set_github(const struct report_set *s, FILE *out) __must_check;

#endif
