/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a verdict does not look at, and a reader would want to know. Whatever is found is told; a
 * verdict is taken back only where it may well be wrong for it:
 *
 *   drift     the block differences have a trend (Mann-Kendall, p < 0.01) and move by more than the
 *             margin from the first third to the last: there is no one difference to state
 *   bimodal   an arm's boots are two groups, more than the margin apart; "equivalent" is taken
 *             back, since equal medians of such boots mean little
 *   step      the level moved by more than the margin inside more than a fifth of an arm's boots;
 *             taken back from half of them on: it was not warmed up, or something else changed
 *   dirty     more than 5 % of an arm's batches were disturbed; taken back above 50 %, since what
 *             disturbs so often may have disturbed the rest unseen. Not where instructions are
 *             counted: a timer's tick is in every other batch there, and nothing is unseen
 *   fingerprint  the boots differ in what a comparison tolerates: the host's kernel, microcode or
 *             clock source, a version, the command line. Between blocks such a difference cancels;
 *             taken back when it stands inside more than a tenth of the blocks, where it may be
 *             what tells the arms apart
 *   host      in more than 5 % of an arm's batches another program on the host was seen: the vCPU's
 *             thread waited for a CPU or lost it, or the processor's clock changed; by cause. Those
 *             batches are left out; what else it does to caches is not seen
 *   clock     the processor's clock ran at another rate in more than a fifth of an arm's boots than
 *             in most; any verdict is taken back where the arms differ in it: cycles of the
 *             time-stamp counter are no cycles of the core then
 *   tail      "equivalent", but a quantile above the median moved by more than ten margins
 *
 * Of drift, groups and steps nothing is said where the class gives no verdict on speed.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"
#include "stats/shape.h"

#define DRIFT_ALPHA      0.01
#define STEP_TOLD        0.2
#define STEP_DECIDES     0.5
#define DIRTY_TOLD       0.05
#define DIRTY_DECIDES    0.5
#define MIXED_DECIDES    0.1
#define HOST_TOLD        0.05
#define CLOCK_MOVED      0.02 /* of the empty loop's ticks */
#define CLOCK_TOLD       0.2
#define TAIL_MARGINS     10
#define TAIL_LEAST_CLEAN 100 /* batches of an arm: its tail is made of a few of them */

__printf(3, 4) static void say(struct report_bench *b, enum report_warning kind, const char *fmt,
			       ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->warnings[kind], sizeof(b->warnings[kind]), fmt, ap);
	va_end(ap);
}

static void take_back(struct report_bench *b, enum report_warning kind)
{
	struct stats_comparison *c = &b->result;

	if (b->decided_by >= 0 || c->verdict == VERDICT_INCONCLUSIVE) {
		return;
	}
	b->decided_by = (int)kind;
	b->taken_back = c->verdict;
	c->verdict = VERDICT_INCONCLUSIVE;
	c->reason = REASON_WARNED;
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
	}
	return sum / (double)n;
}

static void look_for_drift(const struct report *r, struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;
	size_t third = c->blocks / 3;
	double moved;
	double tau;
	double p;

	if (c->blocks < STATS_BLOCKS_MIN || stats_trend(c->diffs, c->blocks, &tau, &p) < 0 ||
	    p >= DRIFT_ALPHA) {
		return;
	}
	moved = mean_of(c->diffs + c->blocks - third, third) - mean_of(c->diffs, third);
	if (fabs(moved) <= c->margin) {
		return;
	}
	say(b, REPORT_WARN_DRIFT,
	    "the difference moved by %s %s from the first third of the blocks to the last (trend, p "
	    "%s)",
	    report_number_signed(moved, report_bench_decimals(b)).text, exec_class_unit(r->class),
	    report_p(p).text);
	take_back(b, REPORT_WARN_DRIFT);
}

/* The values of one arm's boots that count. */
static size_t values_of(const struct report_bench *b, int side, double *ret)
{
	size_t n = 0;

	for (size_t k = 0; k < b->n_blocks; k++) {
		memcpy(ret + n, side == STATS_A ? b->blocks[k].a : b->blocks[k].b,
		       2 * sizeof(*ret));
		n += 2;
	}
	return n;
}

static int look_for_groups(const struct report *r, struct report_bench *b)
{
	_cleanup_free_ double *values = calloc(2 * b->n_blocks + 1, sizeof(*values));
	int d = report_bench_decimals(b);

	if (!values) {
		return -ENOMEM;
	}
	for (int side = 0; side < 2; side++) {
		size_t n = values_of(b, side, values);
		struct stats_split s;
		int ret = stats_split(values, n, &s);

		if (ret == -ENOMEM) {
			return ret;
		}
		if (ret < 0 || !s.two || s.at[1] - s.at[0] <= b->result.margin) {
			continue;
		}
		say(b, REPORT_WARN_BIMODAL,
		    "the boots of %c are two groups: %zu around %s, %zu around %s",
		    report_letter(r, side), s.low, report_number(s.at[0], d).text, n - s.low,
		    report_number(s.at[1], d).text);
		if (b->result.verdict == VERDICT_EQUIVALENT) {
			take_back(b, REPORT_WARN_BIMODAL);
		}
		return 0;
	}
	return 0;
}

static void look_for_steps(const struct report *r, struct report_bench *b)
{
	for (int side = 0; side < 2; side++) {
		size_t boots = 0;
		size_t moved = 0;

		for (size_t i = 0; i < b->n_boots; i++) {
			if (b->boots[i].side == side && b->boots[i].counts) {
				boots++;
				moved += fabs(b->boots[i].step) > b->result.margin;
			}
		}
		if ((double)moved <= STEP_TOLD * (double)boots) {
			continue;
		}
		say(b, REPORT_WARN_STEP,
		    "in %zu of %zu boots of %c the level changed while it was measured", moved,
		    boots, report_letter(r, side));
		if ((double)moved > STEP_DECIDES * (double)boots) {
			take_back(b, REPORT_WARN_STEP);
		}
		return;
	}
}

static void look_for_dirt(const struct report *r, struct report_bench *b)
{
	int worst = b->batches[STATS_B].dirty * b->batches[STATS_A].total >
				    b->batches[STATS_A].dirty * b->batches[STATS_B].total
			    ? STATS_B
			    : STATS_A;
	const struct report_batches *n = &b->batches[worst];
	double share = n->total ? (double)n->dirty / (double)n->total : 0;

	if (share <= DIRTY_TOLD) {
		return;
	}
	say(b, REPORT_WARN_DIRTY, "%.0f %% of the batches of %c were disturbed and left out",
	    100 * share, report_letter(r, worst));
	if (share > DIRTY_DECIDES) {
		take_back(b, REPORT_WARN_DIRTY);
	}
}

static void look_at_prints(const struct report *r, struct report_bench *b)
{
	if (!r->unequal && r->blocks_mixed == 0) {
		return;
	}
	say(b, REPORT_WARN_FINGERPRINT,
	    "the boots are not all alike: %s; %zu of %zu blocks are mixed",
	    r->unequal ? r->unequal : "they are of several hosts", r->blocks_mixed,
	    r->blocks_planned);
	if ((double)r->blocks_mixed > MIXED_DECIDES * (double)r->blocks_planned) {
		take_back(b, REPORT_WARN_FINGERPRINT);
	}
}

/* The worse arm by one cause, and how much of its batches. */
static double worst_share(const struct report_bench *b, enum disturbance cause, int *ret_side)
{
	double worst = 0;

	for (int side = 0; side < 2; side++) {
		const struct report_batches *n = &b->batches[side];
		double share = n->total ? (double)n->by_cause[cause] / (double)n->total : 0;

		if (share > worst) {
			worst = share;
			*ret_side = side;
		}
	}
	return worst;
}

static void look_for_others(const struct report *r, struct report_bench *b)
{
	static const struct {
		enum disturbance cause;
		const char *what;
	} others[] = {
		{DISTURBED_STEAL, "waited for a CPU (steal)"},
		{DISTURBED_PREEMPT, "lost the CPU (preempt)"},
		{DISTURBED_CLOCK, "ran at another clock rate (clock)"},
	};
	char text[REPORT_WARNING_MAX] = "";
	double worst = 0;
	int at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		int side = STATS_A;
		double share = worst_share(b, others[i].cause, &side);

		worst = fmax(worst, share);
		if (share > 0 && at < (int)sizeof(text)) {
			at += snprintf(text + at, sizeof(text) - (size_t)at,
				       "%s%.0f %% of the batches of %c %s", at ? ", " : "",
				       100 * share, report_letter(r, side), others[i].what);
		}
	}
	if (worst > HOST_TOLD) {
		say(b, REPORT_WARN_HOST, "another program ran on this host: %s", text);
	}
}

/* The empty loop's ticks in the boots of one side, or (-1) of both. */
static int median_empty(const struct report_bench *b, int side, double *ret)
{
	_cleanup_free_ double *x = calloc(b->n_boots + 1, sizeof(*x));
	size_t n = 0;

	if (!x) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->n_boots; i++) {
		if (b->boots[i].empty > 0 && (side < 0 || b->boots[i].side == side)) {
			x[n++] = b->boots[i].empty;
		}
	}
	return stats_median(x, n, ret);
}

static int look_at_clock(const struct report *r, struct report_bench *b)
{
	double all = 0, of[2] = {0};
	int ret = median_empty(b, -1, &all);

	for (int side = 0; ret == 0 && side < 2; side++) {
		ret = median_empty(b, side, &of[side]);
	}
	if (ret < 0) {
		return ret == -ENOMEM ? ret : 0;
	}
	for (int side = 0; side < 2; side++) {
		size_t boots = 0, moved = 0;

		for (size_t i = 0; i < b->n_boots; i++) {
			const struct report_boot *boot = &b->boots[i];

			if (boot->side == side && boot->empty > 0) {
				boots++;
				moved += fabs(boot->empty - all) > CLOCK_MOVED * all;
			}
		}
		if ((double)moved > CLOCK_TOLD * (double)boots) {
			say(b, REPORT_WARN_CLOCK,
			    "in %zu of %zu boots of %c the processor's clock ran at another rate "
			    "than in most (the same empty loop took %.0f ticks in the median boot "
			    "of %c, %.0f of %c)",
			    moved, boots, report_letter(r, side), of[STATS_A],
			    report_letter(r, STATS_A), of[STATS_B], report_letter(r, STATS_B));
			break;
		}
	}
	if (*b->warnings[REPORT_WARN_CLOCK] &&
	    fabs(of[STATS_A] - of[STATS_B]) > CLOCK_MOVED * all) {
		take_back(b, REPORT_WARN_CLOCK);
	}
	return 0;
}

static int look_at_tail(const struct report *r, struct report_bench *b)
{
	int d = report_bench_decimals(b);
	int ret;

	if (b->n_clean[STATS_A] == 0 || b->n_clean[STATS_B] == 0) {
		return 0;
	}
	ret = stats_quantile_shift(b->clean[STATS_A], b->n_clean[STATS_A], b->clean[STATS_B],
				   b->n_clean[STATS_B], b->shift);
	if (ret < 0) {
		return ret;
	}
	b->shift_known = true;
	if (b->result.verdict != VERDICT_EQUIVALENT || b->n_clean[STATS_A] < TAIL_LEAST_CLEAN ||
	    b->n_clean[STATS_B] < TAIL_LEAST_CLEAN) {
		return 0;
	}
	for (size_t i = STATS_SHIFT_QUANTILES; i-- > STATS_SHIFT_QUANTILES / 2;) {
		const struct stats_shift_point *p = &b->shift[i];

		if (fabs(p->diff) > TAIL_MARGINS * b->result.margin) {
			say(b, REPORT_WARN_TAIL,
			    "the middle does not differ, but the %.0f %% quantile of the batches does: "
			    "%s %s",
			    100 * p->q, report_number_signed(p->diff, d).text,
			    exec_class_unit(r->class));
			return 0;
		}
	}
	return 0;
}

/**
 * report_warn() - look at a benchmark for what its verdict does not
 * @r: the report
 * @b: one of its benchmarks, its result computed; warnings, quantile shift and, where a warning
 *     decides or boots are missing, verdict and reason are set
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int report_warn(const struct report *r, struct report_bench *b)
{
	int ret = 0;

	b->decided_by = -1;
	if (b->n_blocks > 0) {
		look_at_prints(r, b);
	}
	if (r->class != EXEC_ICOUNT) {
		look_for_dirt(r, b);
		look_for_others(r, b);
		ret = look_at_clock(r, b);
	}
	if (ret < 0) {
		return ret;
	}
	if (exec_class_judges_speed(r->class) && b->n_blocks > 0) {
		look_for_drift(r, b);
		look_for_steps(r, b);
		ret = look_for_groups(r, b);
	}
	if (ret == 0) {
		ret = look_at_tail(r, b);
	}
	/* What the boots so far would say is nobody's business: one might stop when one likes it.
	 */
	if (report_is_incomplete(r)) {
		struct stats_comparison *c = &b->result;

		b->decided_by = -1;
		*b->warnings[REPORT_WARN_TAIL] = '\0';
		c->verdict = VERDICT_INCONCLUSIVE;
		c->reason = REASON_INCOMPLETE;
		/* A p of whatever is there is no p. */
		c->p = c->p_holm = c->p_bh = c->p_unpaired = NAN;
		c->significant = false;
	}
	return ret;
}

/**
 * report_warning_name() - the word for a warning, the same in every format
 * @w: a warning
 *
 * Return: a static text.
 */
const char *report_warning_name(enum report_warning w)
{
	static const char *const names[REPORT_WARNINGS] = {
		[REPORT_WARN_DRIFT] = "drift", [REPORT_WARN_BIMODAL] = "bimodal",
		[REPORT_WARN_STEP] = "step",   [REPORT_WARN_DIRTY] = "dirty",
		[REPORT_WARN_TAIL] = "tail",   [REPORT_WARN_FINGERPRINT] = "fingerprint",
		[REPORT_WARN_HOST] = "host",   [REPORT_WARN_CLOCK] = "clock",
	};

	return names[w];
}
