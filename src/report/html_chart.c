/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The charts of the HTML report, as SVG in the page. Each has a title and a sentence for who does
 * not see it; arm A is a circle, or above the line, arm B a square, or below it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_priv.h"

#define WIDTH  320.0
#define HEIGHT 180.0
#define LEFT   62.0
#define RIGHT  10.0
#define TOP    10.0
#define BOTTOM 26.0
#define BINS   28
#define LETTER 7.5 /* no digit of the font is wider */

/* A number's place on one axis. */
struct axis {
	double lo, hi;   /* of the data */
	double from, to; /* pixels */
};

static double place(const struct axis *a, double x)
{
	double share = (x - a->lo) / (a->hi - a->lo);

	return a->from + fmin(fmax(share, 0), 1) * (a->to - a->from);
}

/* Room around the data; where they are one value, so much as the margin makes visible. */
static struct axis axis_of(double lo, double hi, double least, double from, double to)
{
	double pad = .06 * (hi - lo);

	if (!(hi - lo > least)) {
		pad = fmax(least, 1e-9 * (fabs(lo) + 1)) / 2;
	}
	return (struct axis){.lo = lo - pad, .hi = hi + pad, .from = from, .to = to};
}

/* Round numbers along an axis, at most so many and at least two: 1, 2 or 5 times a power of ten
 * apart. */
struct ticks {
	double first, step;
	int n, decimals;
};

static struct ticks ticks_of(const struct axis *a, double most)
{
	double span = a->hi - a->lo;
	double power = floor(log10(span / most));
	struct ticks t = {.step = pow(10, power)};

	if (span / t.step > most) {
		t.step *= span / (2 * t.step) <= most ? 2 : 5;
		if (span / t.step > most) {
			t.step *= 2;
			power++;
		}
	}
	t.first = ceil(a->lo / t.step) * t.step;
	t.n = (int)((a->hi - t.first) / t.step * (1 + 1e-9)) + 1;
	t.decimals = (int)fmin(fmax(-power, 0), 6);
	return t;
}

static void begin(FILE *out, const char *caption)
{
	fputs("<figure><figcaption>", out);
	report_html_text(out, caption);
	fprintf(out, "</figcaption><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>", WIDTH,
		HEIGHT);
	report_html_text(out, caption);
	fputs("</title>\n", out);
}

static void end(FILE *out)
{
	fputs("</svg></figure>\n", out);
}

static void put_label(FILE *out, double x, double y, const char *anchor, const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	report_html_text(out, text);
	fputs("</text>\n", out);
}

static void put_y_axis(FILE *out, const struct axis *y)
{
	struct ticks t = ticks_of(y, 5);

	for (int i = 0; i < t.n; i++) {
		double v = t.first + i * t.step;
		double at = place(y, v);

		fprintf(out,
			"<line class=\"gr\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			LEFT, WIDTH - RIGHT, at, at);
		put_label(out, LEFT - 5, at + 4, "end", report_number(v, t.decimals).text);
	}
}

static void put_x_axis(FILE *out, const struct axis *x)
{
	struct ticks t = ticks_of(x, 4);
	double at = HEIGHT - BOTTOM;

	fprintf(out, "<line class=\"ax\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
		WIDTH - RIGHT, at, at);
	for (int i = 0; i < t.n; i++) {
		struct report_number n = report_number(t.first + i * t.step, t.decimals);
		double here = place(x, t.first + i * t.step);
		double half = LETTER * (double)strlen(n.text) / 2;

		fprintf(out, "<path class=\"ax\" d=\"M%.1f %.1fv4\"/>\n", here, at);
		put_label(out, fmin(here, WIDTH - half), at + 16, "middle", n.text);
	}
}

static void put_mark(FILE *out, int side, double x, double y, bool hollow)
{
	const char *more = hollow ? " out" : "";

	if (side == STATS_A) {
		fprintf(out, "<circle class=\"pa%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", more,
			x, y);
	} else {
		fprintf(out,
			"<rect class=\"pb%s\" x=\"%.1f\" y=\"%.1f\" width=\"6\" height=\"6\"/>\n",
			more, x - 3, y - 3);
	}
}

/**
 * report_html_boots() - each boot's value in the order of time: a drift is seen here
 * @out: where to
 * @r: the report
 * @b: one of its benchmarks, computed
 *
 * Context: any thread that owns @out.
 */
void report_html_boots(FILE *out, const struct report *r, const struct report_bench *b)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t first, last;
	char caption[256];
	struct axis x, y;

	if (b->n_boots == 0) {
		return;
	}
	for (size_t i = 0; i < b->n_boots; i++) {
		lo = fmin(lo, b->boots[i].value);
		hi = fmax(hi, b->boots[i].value);
	}
	first = b->boots[0].slot;
	last = b->boots[b->n_boots - 1].slot;
	x = axis_of((double)first, (double)last, 1, LEFT, WIDTH - RIGHT);
	y = axis_of(lo, hi, b->result.margin, HEIGHT - BOTTOM, TOP);
	snprintf(
		caption, sizeof(caption),
		"Boots in the order of time: %c circles, %c squares; hollow: not in a complete block",
		report_letter(r, STATS_A), report_letter(r, STATS_B));
	begin(out, caption);
	put_y_axis(out, &y);
	for (size_t i = 0; i < b->n_boots; i++) {
		put_mark(out, b->boots[i].side, place(&x, (double)b->boots[i].slot),
			 place(&y, b->boots[i].value), !b->boots[i].counts);
	}
	snprintf(caption, sizeof(caption), "boot %zu to %zu", first + 1, last + 1);
	put_label(out, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle", caption);
	end(out);
}

/* How both sides are spread: shares of each in bars, A above the line and B below it. */
struct spread {
	struct axis x;
	double bins[2][BINS];
	double sum[2];
};

static void add_to_bins(struct spread *s, int side, double low, double high, double count)
{
	double wide = (s->x.hi - s->x.lo) / BINS;
	size_t from = (size_t)fmin(fmax((low - s->x.lo) / wide, 0), BINS - 1);
	size_t to = (size_t)fmin(fmax((high - s->x.lo) / wide, (double)from), BINS - 1);

	for (size_t i = from; i <= to; i++) {
		s->bins[side][i] += count / (double)(to - from + 1);
	}
	s->sum[side] += count;
}

static void put_spread(FILE *out, const struct report *r, const struct spread *s)
{
	double middle = (TOP + HEIGHT - BOTTOM) / 2;
	double wide = (s->x.to - s->x.from) / BINS;
	double most = 0;

	for (int k = 0; k < 2 * BINS; k++) {
		most = fmax(most, s->bins[k / BINS][k % BINS] / s->sum[k / BINS]);
	}
	for (int side = 0; side < 2; side++) {
		char letter[2] = {report_letter(r, side)};

		for (int i = 0; i < BINS; i++) {
			double share = s->bins[side][i] / s->sum[side] / most;
			/* One of many is seen too. */
			double tall = fmax(share * (middle - TOP - 2), 1.5);

			if (s->bins[side][i] > 0) {
				fprintf(out,
					"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
					"height=\"%.1f\"/>\n",
					side == STATS_A ? "pa" : "pb", s->x.from + wide * i + .5,
					side == STATS_A ? middle - tall : middle, wide - 1, tall);
			}
		}
		put_label(out, LEFT - 8, side == STATS_A ? middle - 10 : middle + 18, "end",
			  letter);
	}
	fprintf(out, "<line class=\"ax\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
		WIDTH - RIGHT, middle, middle);
	put_x_axis(out, &s->x);
}

/**
 * report_html_batches() - how the batches of both arms are distributed
 * @out: where to
 * @r: the report
 * @b: one of its benchmarks, computed
 *
 * Context: any thread that owns @out.
 */
void report_html_batches(FILE *out, const struct report *r, const struct report_bench *b)
{
	double lo = INFINITY, hi = -INFINITY;
	struct spread s = {0};
	char text[256];

	if (b->n_clean[STATS_A] == 0 || b->n_clean[STATS_B] == 0) {
		return;
	}
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < b->n_clean[side]; i++) {
			lo = fmin(lo, b->clean[side][i]);
			hi = fmax(hi, b->clean[side][i]);
		}
	}
	s.x = axis_of(lo, hi, b->result.margin, LEFT, WIDTH - RIGHT);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < b->n_clean[side]; i++) {
			add_to_bins(&s, side, b->clean[side][i], b->clean[side][i], 1);
		}
	}
	snprintf(text, sizeof(text),
		 "Clean batches: %c above the line (%zu), %c below it (%zu); height is the share",
		 report_letter(r, STATS_A), b->n_clean[STATS_A], report_letter(r, STATS_B),
		 b->n_clean[STATS_B]);
	begin(out, text);
	put_spread(out, r, &s);
	end(out);
}

/**
 * report_html_samples() - how the samples of a counter in the guest's kernel are distributed
 * @out: where to
 * @r: the report
 * @b: one of its benchmarks, computed
 *
 * A few samples can be a hundred times the others: the axis ends at the 99.5th percentile, and
 * all above it is in the last bar.
 *
 * Context: any thread that owns @out.
 */
void report_html_samples(FILE *out, const struct report *r, const struct report_bench *b)
{
	const struct histogram *h = b->histogram;
	double lo = INFINITY, hi = -INFINITY, most = -INFINITY;
	struct spread s = {0};
	char text[256];

	if (h[STATS_A].n == 0 || h[STATS_B].n == 0) {
		return;
	}
	for (int side = 0; side < 2; side++) {
		lo = fmin(lo, h[side].buckets[0].low);
		hi = fmax(hi, histogram_quantile(&h[side], .995));
		most = fmax(most, histogram_quantile(&h[side], 1));
	}
	s.x = axis_of(lo, hi, b->result.margin, LEFT, WIDTH - RIGHT);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < h[side].n; i++) {
			const struct histogram_bucket *at = &h[side].buckets[i];

			add_to_bins(&s, side, at->low, at->high, (double)at->count);
		}
	}
	snprintf(text, sizeof(text),
		 "Samples of the kernel's counter: %c above the line, %c below it; height is the "
		 "share%s",
		 report_letter(r, STATS_A), report_letter(r, STATS_B),
		 most > s.x.hi ? "; the last bar is all above 99.5 % of them" : "");
	begin(out, text);
	put_spread(out, r, &s);
	end(out);
}

/**
 * report_html_differences() - the block differences, their interval, and the margin
 * @out: where to
 * @r: the report
 * @b: one of its benchmarks, computed
 *
 * Context: any thread that owns @out.
 */
void report_html_differences(FILE *out, const struct report *r, const struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;
	double floor = HEIGHT - BOTTOM;
	double lo = -c->margin, hi = c->margin;
	bool bounded = isfinite(c->interval.lo) && isfinite(c->interval.hi);
	double strip = 62;
	double at = (TOP + 12 + strip + floor) / 2 + 4;
	char text[256];
	struct axis x;

	if (c->blocks == 0) {
		return;
	}
	for (size_t i = 0; i < c->blocks; i++) {
		lo = fmin(lo, c->diffs[i]);
		hi = fmax(hi, c->diffs[i]);
	}
	if (bounded) {
		lo = fmin(lo, c->interval.lo);
		hi = fmax(hi, c->interval.hi);
	}
	x = axis_of(lo, hi, c->margin, LEFT, WIDTH - RIGHT);
	snprintf(text, sizeof(text),
		 "%c - %c, a dot for each of %zu blocks; %s; shaded: the margin",
		 report_letter(r, STATS_B), report_letter(r, STATS_A), c->blocks,
		 c->exact ? "diamond: the effect, which is exact"
			  : "line and diamond: 95 % interval and effect");
	begin(out, text);
	fprintf(out,
		"<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		place(&x, -c->margin), TOP, place(&x, c->margin) - place(&x, -c->margin),
		floor - TOP);
	fprintf(out, "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		place(&x, 0), place(&x, 0), TOP, floor);
	for (size_t i = 0; i < c->blocks; i++) {
		fprintf(out, "<circle class=\"pt\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
			place(&x, c->diffs[i]),
			TOP + 12 + strip * (double)i / (double)(c->blocks > 1 ? c->blocks - 1 : 1));
	}
	if (bounded) {
		fprintf(out,
			"<path class=\"iv\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f %.1fV%.1f\"/>\n",
			place(&x, c->interval.lo), at - 6, at + 6, place(&x, c->interval.lo), at,
			place(&x, c->interval.hi), place(&x, c->interval.hi), at - 6, at + 6);
	}
	if (bounded || c->exact) {
		fprintf(out, "<path class=\"pt\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\"/>\n",
			place(&x, c->effect), at - 6);
		put_label(out, LEFT - 5, at + 4, "end", "effect");
	}
	put_label(out, LEFT - 5, TOP + 16, "end", "first");
	put_label(out, LEFT - 5, TOP + 16 + strip, "end", "last");
	put_x_axis(out, &x);
	end(out);
}

/**
 * report_html_shift() - how far the arms differ at each quantile of their batches
 * @out: where to
 * @r: the report
 * @b: one of its benchmarks, computed
 *
 * Context: any thread that owns @out.
 */
void report_html_shift(FILE *out, const struct report *r, const struct report_bench *b)
{
	double lo = -b->result.margin, hi = b->result.margin;
	struct axis x, y;
	char text[160];

	if (!b->shift_known) {
		return;
	}
	for (size_t i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		lo = fmin(lo, b->shift[i].diff);
		hi = fmax(hi, b->shift[i].diff);
	}
	x = (struct axis){.lo = 0, .hi = 1.04, .from = LEFT, .to = WIDTH - RIGHT};
	y = axis_of(lo, hi, b->result.margin, HEIGHT - BOTTOM, TOP);
	snprintf(text, sizeof(text), "%c - %c at the quantiles of the batches; shaded: the margin",
		 report_letter(r, STATS_B), report_letter(r, STATS_A));
	begin(out, text);
	fprintf(out,
		"<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		LEFT, place(&y, b->result.margin), WIDTH - RIGHT - LEFT,
		place(&y, -b->result.margin) - place(&y, b->result.margin));
	put_y_axis(out, &y);
	fprintf(out, "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		LEFT, WIDTH - RIGHT, place(&y, 0), place(&y, 0));
	fputs("<path class=\"iv\" d=\"", out);
	for (size_t i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', place(&x, b->shift[i].q),
			place(&y, b->shift[i].diff));
	}
	fputs("\"/>\n", out);
	for (size_t i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		fprintf(out, "<circle class=\"pt\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
			place(&x, b->shift[i].q), place(&y, b->shift[i].diff));
	}
	for (int i = 1; i <= 9; i += 2) {
		snprintf(text, sizeof(text), ".%d", i);
		put_label(out, place(&x, i / 10.), HEIGHT - 8, "middle", text);
	}
	put_label(out, place(&x, .99), HEIGHT - 8, "middle", ".99");
	end(out);
}
