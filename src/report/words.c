/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers with as many decimals as the data carry, and the verdict of a benchmark as a sentence
 * that can be quoted alone: who, how much, of what unit, how sure.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/report_priv.h"

const struct report_spread report_spreads[REPORT_SPREADS] = {
	{.5, "their median", "median"},
	{.99, "99 % are below", "p99"},
	{1, "the largest", "max"},
};

static struct report_number format(const char *fmt, double x, int decimals)
{
	struct report_number n;
	double unit = pow(10, -decimals);

	if (isnan(x)) {
		return (struct report_number){"-"};
	}
	if (fabs(x) < unit / 2) {
		x = 0; /* and not -0 */
	}
	snprintf(n.text, sizeof(n.text), fmt, decimals, x);
	return n;
}

/**
 * report_put_clean() - write other people's text, such as a label or a claim
 * @out: where to
 * @s: the text
 * @len: the bytes of it
 *
 * What a terminal obeys, or what turns the direction of writing round, becomes '?'
 * (text_control_len()). Every form but JSON, which has escapes of its own, goes by this.
 *
 * Context: any thread that owns @out.
 */
void report_put_clean(FILE *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t control = text_control_len(s + i);

		fputc(control ? '?' : s[i], out);
		i += control ? control - 1 : 0;
	}
}

/**
 * report_number() - a number as text
 * @x: any; NaN becomes "-"
 * @decimals: 0 or more
 *
 * Return: the text, cut at its size only above 1e20.
 * Context: any thread.
 */
struct report_number report_number(double x, int decimals)
{
	return format("%.*f", x, decimals);
}

/**
 * report_number_signed() - a number as text, with its sign if it has one at this precision
 * @x: any; NaN becomes "-"
 * @decimals: 0 or more
 *
 * Return: the text.
 * Context: any thread.
 */
struct report_number report_number_signed(double x, int decimals)
{
	bool zero = fabs(x) < pow(10, -decimals) / 2;

	return format(zero ? "%.*f" : "%+.*f", x, decimals);
}

/**
 * report_p() - a p-value as text
 * @p: 0 to 1, or NaN
 *
 * Return: three significant digits, "< 0.0001" for very small ones.
 * Context: any thread.
 */
struct report_number report_p(double p)
{
	struct report_number n = {"-"};

	if (p < 1e-4) {
		snprintf(n.text, sizeof(n.text), "< 0.0001");
	} else if (!isnan(p)) {
		snprintf(n.text, sizeof(n.text), "%.3g", p);
	}
	return n;
}

/**
 * report_decimals() - how many decimals a number of this uncertainty deserves
 * @resolution: half the width of its interval, or the like; 0 and NaN mean exact
 * @least: at least so many
 * @most: at most so many
 *
 * Return: enough to show two digits of @resolution, @most where it is exact.
 * Context: any thread.
 */
int report_decimals(double resolution, int least, int most)
{
	int d;

	if (!(resolution > 0)) {
		return most;
	}
	if (isinf(resolution)) {
		return least;
	}
	d = (int)ceil(-log10(resolution)) + 1;
	return d < least ? least : d > most ? most : d;
}

static double half_width(const struct report_bench *b)
{
	return (b->result.interval.hi - b->result.interval.lo) / 2;
}

/**
 * report_bench_decimals() - the decimals for all numbers of one benchmark
 * @b: computed
 *
 * Return: 0 to 3.
 * Context: any thread.
 */
int report_bench_decimals(const struct report_bench *b)
{
	return report_decimals(half_width(b) > 0 ? half_width(b) : b->result.mde, 0, 3);
}

/**
 * report_percent_of_a() - a difference as a percentage of A's median
 * @b: computed
 * @x: a difference, in units
 *
 * Return: percent, NaN where A's median is 0 or unknown.
 * Context: any thread.
 */
double report_percent_of_a(const struct report_bench *b, double x)
{
	double a = fabs(b->result.median[STATS_A]);

	return a > 0 ? 100 * x / a : NAN;
}

/**
 * report_boots() - the boots of one arm that count
 * @b: a benchmark
 *
 * Return: two for each complete block.
 * Context: any thread.
 */
size_t report_boots(const struct report_bench *b)
{
	return 2 * b->n_blocks;
}

/**
 * report_interval() - the interval of an effect
 * @c: a result
 * @decimals: as for the effect
 * @buf: REPORT_INTERVAL_MAX
 * @len: its size
 *
 * Return: @buf: "[-1.2, +3.4]", or "exact" where nothing varies.
 * Context: any thread.
 */
const char *report_interval(const struct stats_comparison *c, int decimals, char *buf, size_t len)
{
	if (c->exact) {
		snprintf(buf, len, "exact");
	} else if (isnan(c->interval.lo)) {
		snprintf(buf, len, "-");
	} else {
		snprintf(buf, len, "[%s, %s]", report_number_signed(c->interval.lo, decimals).text,
			 report_number_signed(c->interval.hi, decimals).text);
	}
	return buf;
}

/**
 * report_margin_words() - what difference is taken for no change
 * @r: the report
 * @units: up to so many, above 0
 * @share: or up to this share of A's median; 0: none
 * @ret: half a sentence
 * @len: its size
 *
 * Context: any thread.
 */
void report_margin_words(const struct report *r, double units, double share, char *ret, size_t len)
{
	const char *unit = exec_class_unit(r->class);
	char a = report_letter(r, STATS_A);

	if (units < 1e-6 && share > 0) {
		snprintf(ret, len, "up to %g %% of %c is no change", 100 * share, a);
	} else if (units < 1e-6) {
		snprintf(ret, len, "none: any difference is a change");
	} else if (share > 0) {
		snprintf(ret, len, "up to %g %s or %g %% of %c, whichever is more, is no change",
			 units, unit, 100 * share, a);
	} else {
		snprintf(ret, len, "up to %g %s is no change", units, unit);
	}
}

/**
 * report_exact_where() - in what an exact effect was seen
 * @b: a benchmark whose result is exact
 * @ret: "the same in 6 of 6 blocks", or "identical in 24 of 24 boots"
 * @len: its size
 *
 * Context: any thread.
 */
void report_exact_where(const struct report_bench *b, char *ret, size_t len)
{
	if (b->result.boots_identical) {
		snprintf(ret, len, "identical in %zu of %zu boots", 2 * report_boots(b),
			 2 * report_boots(b));
	} else {
		snprintf(ret, len, "the same in %zu of %zu blocks", b->result.blocks,
			 b->result.blocks);
	}
}

/**
 * report_letter() - what an arm is called for short
 * @r: the report
 * @side: STATS_A or STATS_B
 *
 * Return: 'A', 'B', ...
 * Context: any thread.
 */
char report_letter(const struct report *r, int side)
{
	return r->arms[side].letter ? r->arms[side].letter : "AB"[side];
}

/* "B (fsgsbase) saves 24.9 instructions per switch" */
static int who_how_much(const struct report *r, const struct report_bench *b, const char *exactly,
			char *ret, size_t len)
{
	const struct stats_comparison *c = &b->result;
	int d = report_bench_decimals(b);

	return snprintf(ret, len, "%c (%.200s) %s %s%s %s%s per %.32s", report_letter(r, STATS_B),
			r->arms[STATS_B].label, c->effect < 0 ? "saves" : "costs", exactly,
			report_number(fabs(c->effect), d).text, c->effect < 0 ? "" : "more ",
			exec_class_unit(r->class), b->per);
}

static void difference(const struct report *r, const struct report_bench *b, char *ret, size_t len)
{
	const struct stats_comparison *c = &b->result;
	int d = report_bench_decimals(b);
	double lo = c->effect < 0 ? -c->interval.hi : c->interval.lo;
	double hi = c->effect < 0 ? -c->interval.lo : c->interval.hi;
	int pd = report_decimals(report_percent_of_a(b, half_width(b)), 2, 3);
	struct report_number percent = report_number(report_percent_of_a(b, fabs(c->effect)), pd);
	bool exact = c->reason == REASON_SAME_DIFFERENCE;
	int at = who_how_much(r, b, exact ? "exactly " : "", ret, len);

	if (exact) {
		at += snprintf(ret + at, len - (size_t)at,
			       ": the same difference in %zu of %zu blocks, %s %% of %c.",
			       c->blocks, c->blocks, percent.text, report_letter(r, STATS_A));
	} else {
		at += snprintf(ret + at, len - (size_t)at, ", 95 %% [%s, %s], %s %% of %c.",
			       report_number(lo, d).text, report_number(hi, d).text, percent.text,
			       report_letter(r, STATS_A));
	}
	if (c->p_holm > 0.05) {
		snprintf(ret + at, len - (size_t)at,
			 " That is this benchmark by itself: among all %zu its p is %s (Holm).",
			 r->family, report_p(c->p_holm).text);
	}
}

/**
 * report_incomplete_words() - why a report decides nothing, of one that is incomplete
 * @r: the report
 * @ret: a sentence
 * @len: its size
 *
 * Context: any thread.
 */
void report_incomplete_words(const struct report *r, char *ret, size_t len)
{
	if (r->boots_failed > 0) {
		snprintf(ret, len, "%zu boots failed: there is no verdict.", r->boots_failed);
	} else {
		snprintf(ret, len,
			 "%zu of %zu boots are recorded: what they say so far is no verdict.",
			 r->boots_recorded, r->boots_planned);
	}
}

static bool all_dirty(const struct report_bench *b)
{
	for (int side = 0; side < 2; side++) {
		const struct report_batches *n = &b->batches[side];

		if (n->total > 0 && n->dirty == n->total) {
			return true;
		}
	}
	return false;
}

/* What is found between an arm and itself. */
static void false_alarm(const struct report *r, const struct report_bench *b, const char *where,
			char *ret, size_t len)
{
	const struct stats_comparison *c = &b->result;
	struct report_number effect = report_number_signed(c->effect, report_bench_decimals(b));

	if (c->exact) {
		snprintf(ret, len,
			 "%c and %c are one and the same, and yet they differ by %s, %s: that is "
			 "not of the kernel.",
			 report_letter(r, STATS_A), report_letter(r, STATS_B), effect.text, where);
		return;
	}
	snprintf(ret, len,
		 "%c and %c are one and the same, so this difference of %s (p %s) is a false "
		 "alarm, as one comparison in twenty gives.",
		 report_letter(r, STATS_A), report_letter(r, STATS_B), effect.text,
		 report_p(c->p).text);
}

/**
 * report_sentence() - a benchmark's verdict in plain language
 * @r: computed
 * @b: one of its benchmarks
 * @ret: one or two sentences, without the verdict's word
 * @len: its size, REPORT_SENTENCE_MAX or more
 *
 * Context: any thread.
 */
void report_sentence(const struct report *r, const struct report_bench *b, char *ret, size_t len)
{
	const struct stats_comparison *c = &b->result;
	const char *unit = exec_class_unit(r->class);
	int d = report_bench_decimals(b);
	struct report_number margin = report_number(c->margin, report_decimals(c->margin, 0, 3));
	char where[64];

	report_exact_where(b, where, sizeof(where));
	switch (c->reason) {
	case REASON_NO_BLOCKS:
		snprintf(ret, len, "%s, so there is nothing to compare.",
			 all_dirty(b) ? "every batch of an arm was disturbed"
				      : "no block is complete");
		break;
	case REASON_NO_SPEED:
		snprintf(ret, len, "no verdict on speed: class %s (%s).", exec_class_name(r->class),
			 exec_class_about(r->class));
		break;
	case REASON_FEW_BLOCKS:
		snprintf(ret, len,
			 "%zu complete block%s cannot decide: it takes %d, since with 5 no p is "
			 "below 0.0625.",
			 c->blocks, c->blocks == 1 ? "" : "s", STATS_BLOCKS_MIN);
		break;
	case REASON_IDENTICAL:
		snprintf(ret, len, "no difference: %s.", where);
		break;
	case REASON_SAME_DIFFERENCE:
	case REASON_SIGNIFICANT:
		difference(r, b, ret, len);
		break;
	case REASON_FALSE_ALARM:
		false_alarm(r, b, where, ret, len);
		break;
	case REASON_WITHIN_MARGIN:
		if (c->exact) {
			snprintf(ret, len,
				 "no change beyond the margin of %s %s per %s: exactly %s, %s.",
				 margin.text, unit, b->per, report_number_signed(c->effect, d).text,
				 where);
			break;
		}
		snprintf(ret, len,
			 "no change beyond the margin of %s %s per %s: the 90 %% interval [%s, %s] "
			 "lies within it.",
			 margin.text, unit, b->per, report_number_signed(c->interval90.lo, d).text,
			 report_number_signed(c->interval90.hi, d).text);
		break;
	case REASON_BELOW_MARGIN:
		snprintf(
			ret, len,
			"there is a difference (p %s), but whether it is larger than the margin of "
			"%s %s per %s is open.",
			report_p(c->p).text, margin.text, unit, b->per);
		break;
	case REASON_UNDECIDED:
		snprintf(ret, len,
			 "no change is possible, and so is one beyond the margin of %s %s per %s. "
			 "With this noise %zu blocks find effects from %s up.",
			 margin.text, unit, b->per, c->blocks, report_number(c->mde, d).text);
		break;
	case REASON_INCOMPLETE:
		report_incomplete_words(r, ret, len);
		break;
	case REASON_WARNED:
		snprintf(ret, len, "it would be \"%s\", but (%s) %s.",
			 stats_verdict_name(b->taken_back),
			 report_warning_name((enum report_warning)b->decided_by),
			 b->warnings[b->decided_by]);
		break;
	}
}
