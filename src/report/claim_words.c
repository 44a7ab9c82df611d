/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A claim, what was measured of it and its floor in words, the same in every form. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/report_priv.h"

/**
 * report_reading() - what the numbers of a class can show of a claim in cycles, and what not
 * @class: the class
 *
 * Return: a constant text, or NULL where the numbers are cycles.
 * Context: any thread.
 */
const char *report_reading(enum exec_class class)
{
	switch (class) {
	case EXEC_ICOUNT:
		return "These are counts of instructions. They show how many a change leaves out "
		       "or adds, and whether its path is really taken. They do not show what one "
		       "costs: a fence, a WRMSR, a SWAPGS and a write to CR3 count as one each, "
		       "like an addition, and a miss of a cache or of the TLB counts as nothing. "
		       "A claim in cycles or in connections a second is neither confirmed nor "
		       "refuted by them.";
	case EXEC_TCG:
		return "These are ticks of an emulator: they follow what the emulator does for an "
		       "instruction, not what a processor does, and decide nothing about speed.";
	case EXEC_EMULATED:
		return "Ring 0 is emulated on this host: its ticks decide nothing about speed.";
	case EXEC_NESTED:
		return "Cycles of a host that is itself a guest: what leaves the guest costs more "
		       "than on bare hardware.";
	case EXEC_NATIVE:
		break;
	}
	return NULL;
}

__printf(2, 3) static void add(struct report_cell *c, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(c->text + c->len, sizeof(c->text) - c->len, fmt, ap);
	va_end(ap);
	if (n > 0) {
		c->len += (size_t)n;
		c->len = c->len < sizeof(c->text) ? c->len : sizeof(c->text) - 1;
	}
}

/* A number as its author wrote it: 12400 as 12400, 75.1 as 75.1. */
static const char *plain(double x, char *buf, size_t len)
{
	snprintf(buf, len, "%.10g", x);
	return buf;
}

static void add_range(struct report_cell *c, double low, double high, const char *unit)
{
	char a[32], b[32];

	plain(low, a, sizeof(a));
	plain(high, b, sizeof(b));
	add(c, "%s%s", low > 0 ? "+" : "", a);
	if (low != high) {
		add(c, " to %s%s", high > 0 ? "+" : "", b);
	}
	add(c, " %s", unit);
}

/**
 * report_claim_words() - what was claimed, on what, and where
 * @c: behind what is in it already
 * @claim: the claim
 *
 * Context: any thread.
 */
void report_claim_words(struct report_cell *c, const struct claim *claim)
{
	const char *unit = claim->unit ? claim->unit : "";
	char from[32], to[32];

	add(c, "%s:", claim->text);
	if (isfinite(claim->from) && isfinite(claim->to)) {
		add(c, " %s to %s %s (%+.1f %% of %s);", plain(claim->from, from, sizeof(from)),
		    plain(claim->to, to, sizeof(to)), unit,
		    100 * (claim->to - claim->from) / claim->from, claim->of ? claim->of : from);
	}
	if (isfinite(claim->change_low)) {
		add(c, " ");
		add_range(c, claim->change_low, claim->change_high, unit);
		add(c, ";");
	}
	if (isfinite(claim->percent_low)) {
		add(c, " ");
		add_range(c, claim->percent_low, claim->percent_high, "%");
		add(c, " of %s;", claim->of ? claim->of : "?");
	}
	add(c, " %s. Source: %s.", claim->hardware, claim->source);
}

/**
 * report_claim_is_rate() - whether a claim is of things done in a second
 * @c: the claim
 *
 * Such a claim is turned round: what is measured is the cost of one.
 *
 * Return: whether it is.
 * Context: any thread.
 */
bool report_claim_is_rate(const struct claim *c)
{
	size_t len = c->unit ? strlen(c->unit) : 0;

	return len >= 2 && strcmp(c->unit + len - 2, "/s") == 0;
}

/* What was measured as what was claimed: how often in a second. */
static void put_rate(struct report_cell *c, const struct report *r, const struct report_bench *b)
{
	const double *median = b->result.median;

	if (!(median[STATS_A] > 0) || !(median[STATS_B] > 0)) {
		return;
	}
	add(c, "; %.2f times as many for the same %s", median[STATS_A] / median[STATS_B],
	    exec_class_unit(r->class));
	if (b->units_hz > 0) {
		add(c, ", %.0f to %.0f %ss/s", b->units_hz / median[STATS_A],
		    b->units_hz / median[STATS_B], b->per);
	}
	if (b->units_hz > 0 && r->class == EXEC_ICOUNT) {
		add(c, " of the guest's time, where an instruction is %.0f ns whatever it is",
		    1e9 / b->units_hz);
	}
}

/**
 * report_measured_words() - what was measured of a claim, or why nothing was
 * @c: behind what is in it already
 * @row: the claim with its report
 *
 * Context: any thread.
 */
void report_measured_words(struct report_cell *c, const struct report_claim *row)
{
	const struct claim *claim = row->claim;
	const struct report_bench *b = row->bench;
	const struct stats_comparison *s = b ? &b->result : NULL;
	const struct report *r = row->report;
	const char *a_side = claim->against ? claim->against : r->arms[STATS_A].label;
	double half;
	int d, pd;

	if (!b || s->blocks == 0) {
		add(c, "nothing: %s",
		    row->why        ? row->why
		    : b && b->error ? b->error
				    : "no block is complete");
		return;
	}
	d = report_bench_decimals(b);
	half = report_percent_of_a(b, s->interval.hi - s->interval.lo) / 2;
	pd = report_decimals(half, 2, 3);
	add(c, "%s: %s to %s %s per %s: %s, ", b->name, report_number(s->median[STATS_A], d).text,
	    report_number(s->median[STATS_B], d).text, exec_class_unit(r->class), b->per,
	    report_number_signed(s->effect, d).text);
	if (s->exact) {
		char where[64];

		report_exact_where(b, where, sizeof(where));
		add(c, "exactly, %s", where);
	} else if (s->blocks < 2) {
		add(c, "one block has no interval");
	} else {
		add(c, "%.1f %% interval [%s, %s]", 100 * s->interval.level,
		    report_number_signed(s->interval.lo, d).text,
		    report_number_signed(s->interval.hi, d).text);
	}
	add(c, "; %s %% of %s", report_number_signed(report_percent_of_a(b, s->effect), pd).text,
	    a_side);
	if (report_claim_is_rate(claim)) {
		put_rate(c, r, b);
	}
	if (claim->against) {
		add(c, ". %s, %zu boots of %s, both in each: %s.", exec_class_name(r->class),
		    report_boots(b), r->arms[STATS_B].label, stats_verdict_name(s->verdict));
	} else {
		add(c, ". %s, %zu boots of %s and %zu of %s: %s.", exec_class_name(r->class),
		    report_boots(b), a_side, report_boots(b), r->arms[STATS_B].label,
		    stats_verdict_name(s->verdict));
	}
	if (claim->note) {
		add(c, " %s", claim->note);
	}
}

/**
 * report_floor_words() - what can be saved at best, or why that is not known
 * @c: behind what is in it already
 * @f: the floor
 *
 * Context: any thread.
 */
void report_floor_words(struct report_cell *c, const struct report_floor *f)
{
	bool costs = f->value < 0;
	int d = report_decimals((f->high - f->low) / 2, 2, 3);

	if (!f->unit) {
		add(c, "none: %s", f->reason ? f->reason : "not asked for");
		return;
	}
	add(c, "%s %s %s", costs ? "it costs" : "saves at most",
	    report_number(fabs(f->value), d).text, f->unit);
	if (isfinite(f->low) && isfinite(f->high)) {
		add(c, ", 95 %% [%s, %s], %llu replicates",
		    report_number(costs ? -f->high : f->low, d).text,
		    report_number(costs ? -f->low : f->high, d).text, (unsigned long long)f->n);
	}
	if (f->formula) {
		add(c, ": %s", f->formula);
	}
}
