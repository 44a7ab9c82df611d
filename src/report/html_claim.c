/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was claimed, measured and possible at best, as bars from a common zero: in units where the
 * claim or the floor is in those of the measurement, else as percentages. What cannot be put on one
 * scale is left out, and a bar alone says nothing that the words beside it do not.
 */
#include <math.h>
#include <string.h>

#include "report/html_priv.h"

#define WIDTH    320.0
#define FROM     62.0  /* where bars may begin ... */
#define TO       244.0 /* ... and end; their numbers stand behind */
#define ROW      24.0
#define BARS_MAX 3

/* A saving: what is above 0 is less work. Where lo and hi are not known they are NaN. */
struct bar {
	const char *label;
	double value, lo, hi;
};

struct bars {
	struct bar at[BARS_MAX];
	size_t n;
};

static void add_saving(struct bars *b, const char *label, double value, double lo, double hi)
{
	if (isfinite(value)) {
		b->at[b->n++] = (struct bar){label, value, lo, hi};
	}
}

/* Of a change from @low to @high: less of the unit is a saving. */
static void add_change(struct bars *b, const char *label, double low, double high)
{
	add_saving(b, label, -(low + high) / 2, -high, -low);
}

/* Whether a number of this unit can stand beside one of @unit: "cycles per switch" and "cycles". */
static bool is_unit(const char *text, const char *unit)
{
	size_t len = strlen(unit);

	return text && strncmp(text, unit, len) == 0 && (text[len] == '\0' || text[len] == ' ');
}

static struct bars in_units(const struct report_claim *row)
{
	const struct stats_comparison *c = row->bench ? &row->bench->result : NULL;
	const char *unit = exec_class_unit(row->report->class);
	const struct claim *claim = row->claim;
	double change = claim->to - claim->from;
	struct bars b = {0};

	if (is_unit(claim->unit, unit)) {
		if (isfinite(claim->change_low)) {
			add_change(&b, "claimed", claim->change_low, claim->change_high);
		} else {
			add_change(&b, "claimed", change, change);
		}
	}
	if (c && c->blocks > 0) {
		add_saving(&b, "measured", -c->effect, -c->interval.hi, -c->interval.lo);
	}
	if (is_unit(row->floor.unit, unit)) {
		add_saving(&b, "floor", row->floor.value, row->floor.low, row->floor.high);
	}
	return b;
}

static struct bars in_percent(const struct report_claim *row)
{
	const struct stats_comparison *c = row->bench ? &row->bench->result : NULL;
	const struct claim *claim = row->claim;
	bool is_rate = report_claim_is_rate(claim);
	/* What is done more often takes less time each. */
	double share = is_rate ? claim->from / claim->to : claim->to / claim->from;
	double change = 100 * (share - 1);
	struct bars b = {0};

	if (isfinite(claim->percent_low) && !is_rate) {
		add_change(&b, "claimed", claim->percent_low, claim->percent_high);
	} else {
		add_change(&b, "claimed", change, change);
	}
	if (c && c->blocks > 0) {
		add_saving(&b, "measured", -report_percent_of_a(row->bench, c->effect),
			   -report_percent_of_a(row->bench, c->interval.hi),
			   -report_percent_of_a(row->bench, c->interval.lo));
	}
	return b;
}

static double place(double x, double lo, double hi)
{
	return FROM + (x - lo) / (hi - lo) * (TO - FROM);
}

static void put_bar(FILE *out, const struct bar *b, size_t i, double lo, double hi, int decimals)
{
	double y = ROW * (double)(i + 1);
	double from = place(fmin(0, b->value), lo, hi);
	double wide = fmax(place(fmax(0, b->value), lo, hi) - from, 1);

	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", FROM - 5,
		y + 14, b->label);
	fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>\n",
		i % 2 ? "pb" : "pa", from, y + 3, wide);
	if (isfinite(b->lo) && isfinite(b->hi) && b->lo < b->hi) {
		/* On a seam, so that it is seen on the bar as beside it. */
		for (int top = 0; top < 2; top++) {
			fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n",
				top ? "iv" : "seam", place(b->lo, lo, hi), y + 10,
				place(b->hi, lo, hi));
		}
	}
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", TO + 8, y + 14,
		report_number_signed(b->value, decimals).text);
}

/**
 * report_html_claim() - claimed, measured and best saving as bars, those that have one scale
 * @out: where to
 * @row: a claim
 *
 * Context: any thread that owns @out.
 */
void report_html_claim(FILE *out, const struct report_claim *row)
{
	const char *unit = exec_class_unit(row->report->class);
	struct bars b = in_units(row);
	double lo = 0, hi = 0;
	int decimals;

	if (b.n < 2) {
		b = in_percent(row);
		unit = "%";
	}
	if (b.n < 2) {
		return;
	}
	for (size_t i = 0; i < b.n; i++) {
		lo = fmin(lo,
			  isfinite(b.at[i].lo) ? fmin(b.at[i].lo, b.at[i].value) : b.at[i].value);
		hi = fmax(hi,
			  isfinite(b.at[i].hi) ? fmax(b.at[i].hi, b.at[i].value) : b.at[i].value);
	}
	hi = hi > lo ? hi : lo + 1;
	decimals = report_decimals((hi - lo) / 10, 0, 4);
	fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>Saving in %s", WIDTH,
		ROW * (double)(b.n + 1) + 4, unit);
	for (size_t i = 0; i < b.n; i++) {
		fprintf(out, ", %s %s", b.at[i].label, report_number(b.at[i].value, decimals).text);
	}
	fprintf(out, "</title>\n<text x=\"%.1f\" y=\"16\">saving, %s; below 0: a cost</text>\n",
		FROM, unit);
	for (size_t i = 0; i < b.n; i++) {
		put_bar(out, &b.at[i], i, lo, hi, decimals);
	}
	fprintf(out, "<path class=\"zero\" d=\"M%.1f %.1fV%.1f\"/>\n</svg>\n", place(0, lo, hi),
		ROW, ROW * (double)(b.n + 1) + 4);
}
