/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of reports for people: the claims as a table of three columns (what was claimed, what was
 * measured, what can be saved at best), and behind it a table for each comparison.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/report_priv.h"

#define CELLS    3
#define CELL_MAX 1536

static const size_t widths[CELLS] = {26, 27, 21};

struct cell {
	char text[CELL_MAX];
	size_t len;
};

/**
 * report_set_is_plain() - whether a set is one comparison of two arms and nothing else
 * @s: the set
 *
 * Return: whether it is shown as a report by itself.
 */
bool report_set_is_plain(const struct report_set *s)
{
	return s->n_reports == 1 && !s->title && s->n_claims == 0;
}

/**
 * report_set_exit_status() - what the verdicts of all comparisons come to
 * @s: of computed reports
 *
 * Return: 1 where an arm is worse than its baseline anywhere, else 3 where anything is
 * inconclusive or was not compared, else 0.
 */
int report_set_exit_status(const struct report_set *s)
{
	int status = 0;

	for (size_t i = 0; i < s->n_reports; i++) {
		int one = report_exit_status(s->reports[i]);

		if (one == 1) {
			return 1;
		}
		status = one ? one : status;
	}
	return status;
}

/**
 * report_reading() - what the numbers of a class can show of a claim in cycles, and what not
 * @class: the class
 *
 * Return: a constant text, or NULL where the numbers are cycles.
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

__printf(2, 3) static void add(struct cell *c, const char *fmt, ...)
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

static void add_range(struct cell *c, double low, double high, const char *unit)
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

static void put_claim(struct cell *c, const struct claim *claim)
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

/* Claims of things done in a second are turned round: what is measured is the cost of one. */
static bool is_rate(const struct claim *c)
{
	size_t len = c->unit ? strlen(c->unit) : 0;

	return len >= 2 && strcmp(c->unit + len - 2, "/s") == 0;
}

/* What was measured as what was claimed: how often in a second. */
static void put_rate(struct cell *c, const struct report *r, const struct report_bench *b)
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

static void put_measured(struct cell *c, const struct report_claim *row)
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
	if (s->blocks < 2) {
		add(c, "one block has no interval");
	} else {
		add(c, "%.1f %% interval [%s, %s]", 100 * s->interval.level,
		    report_number_signed(s->interval.lo, d).text,
		    report_number_signed(s->interval.hi, d).text);
	}
	add(c, "; %s %% of %s", report_number_signed(report_percent_of_a(b, s->effect), pd).text,
	    a_side);
	if (is_rate(claim)) {
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

static void put_floor(struct cell *c, const struct report_floor *f)
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

/* Whether a byte begins a character of UTF-8: each takes one column. */
static bool begins(char c)
{
	return (c & 0xc0) != 0x80;
}

/*
 * The bytes of a text that one line of a column takes, how many columns they are, and how many
 * bytes behind them the next line begins.
 */
static size_t line_of(const char *text, size_t width, size_t *ret_columns, size_t *ret_skip)
{
	size_t columns = 0, cut = 0, cut_columns = 0, i;

	for (i = 0; text[i]; i++) {
		if (text[i] == ' ') {
			cut = i;
			cut_columns = columns;
		}
		columns += begins(text[i]);
		if (columns > width) {
			break;
		}
	}
	if (!text[i]) {
		*ret_columns = columns;
		*ret_skip = i;
		return i;
	}
	if (cut == 0) {
		/* A word that is longer than the column is cut. */
		*ret_columns = width;
		*ret_skip = i;
		return i;
	}
	*ret_columns = cut_columns;
	*ret_skip = cut + 1;
	return cut;
}

static void put_cells(FILE *out, const struct cell *cells)
{
	const char *rest[CELLS];
	bool more = true;

	for (int i = 0; i < CELLS; i++) {
		rest[i] = cells[i].text;
	}
	while (more) {
		more = false;
		for (int i = 0; i < CELLS; i++) {
			size_t columns, skip;
			size_t len = line_of(rest[i], widths[i], &columns, &skip);

			fputs(i == 0 ? "" : len || i + 1 < CELLS ? " | " : " |", out);
			for (size_t k = 0; k < len; k++) {
				fputc(iscntrl((unsigned char)rest[i][k]) ? '?' : rest[i][k], out);
			}
			if (i + 1 < CELLS) {
				fprintf(out, "%*s", (int)(widths[i] - columns), "");
			}
			rest[i] += skip;
			more |= *rest[i] != '\0';
		}
		fputc('\n', out);
	}
}

static void put_rule(FILE *out)
{
	for (int i = 0; i < CELLS; i++) {
		for (size_t k = 0; k < widths[i]; k++) {
			fputc('-', out);
		}
		fputs(i + 1 < CELLS ? "-+-" : "\n", out);
	}
}

static void put_claims(FILE *out, const struct report_set *s)
{
	static const struct cell head[CELLS] = {
		{.text = "claimed"}, {.text = "measured here"}, {.text = "floor: at best here"}};
	const char *group = NULL;

	fputc('\n', out);
	put_cells(out, head);
	for (size_t i = 0; i < s->n_claims; i++) {
		struct cell cells[CELLS] = {0};

		put_rule(out);
		if (s->claims[i].group && (!group || strcmp(group, s->claims[i].group) != 0)) {
			group = s->claims[i].group;
			fprintf(out, "%s\n", group);
			put_rule(out);
		}
		put_claim(&cells[0], s->claims[i].claim);
		put_measured(&cells[1], &s->claims[i]);
		put_floor(&cells[2], &s->claims[i].floor);
		put_cells(out, cells);
	}
	put_rule(out);
}

static void put_set_head(FILE *out, const struct report_set *s)
{
	const struct report *first = s->reports[0];
	const char *reading = report_reading(first->class);
	char text[ERR_TEXT_MAX];

	report_wrap(out, 0, 0, s->title ? s->title : "Comparison of several arms");
	fputc('\n', out);
	report_put_machine(out, first);
	snprintf(text, sizeof(text),
		 "%zu of %zu boots recorded, seed %llu; one boot is one sample; a block boots each "
		 "arm of a group in an order drawn at random and again in its mirror",
		 s->boots_recorded, s->boots_planned, (unsigned long long)first->seed);
	report_line(out, "plan", text);
	report_put_margin(out, first);
	if (reading) {
		report_line(out, "reading", reading);
	}
}

static void put_comparison(FILE *out, const struct report_set *s, size_t i, bool colour,
			   bool details)
{
	const struct report *r = s->reports[i];
	bool first = i == 0 || !r->group || !s->reports[i - 1]->group ||
		     strcmp(r->group, s->reports[i - 1]->group) != 0;
	char text[ERR_TEXT_MAX];

	fputc('\n', out);
	if (first) {
		snprintf(text, sizeof(text), "%.200s: %zu of %zu blocks complete",
			 r->group ? r->group : "", r->blocks_complete, r->blocks_planned);
		report_wrap(out, 0, 0, text);
		report_put_arm(out, r, STATS_A);
	}
	report_put_arm(out, r, STATS_B);
	for (size_t k = 0; details && k < r->n_benches; k++) {
		report_put_bench(out, r, &r->benches[k], colour);
	}
	report_put_table(out, r, colour);
}

/**
 * report_set_text() - write all comparisons for people
 * @s: of computed reports
 * @out: where to
 * @colour: colour the verdicts; see report_wants_colour()
 * @details: a section for each benchmark, also where there are several comparisons
 *
 * One plain comparison is written as report_text() writes it.
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_text(const struct report_set *s, FILE *out, bool colour, bool details)
{
	if (report_set_is_plain(s)) {
		return report_text(s->reports[0], out, colour);
	}
	put_set_head(out, s);
	if (s->n_claims > 0) {
		put_claims(out, s);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		put_comparison(out, s, i, colour, details);
	}
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
