/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of reports for people: the claims as a table of three columns (what was claimed, what was
 * measured, what can be saved at best), and behind it a table for each comparison.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "report/filter.h"
#include "report/matrix.h"
#include "report/report_priv.h"

#define CELLS 3

static const size_t widths[CELLS] = {26, 27, 21};

/**
 * report_set_is_plain() - whether a set is one comparison of two arms and nothing else
 * @s: the set
 *
 * Return: whether it is shown as a report by itself.
 * Context: any thread.
 */
bool report_set_is_plain(const struct report_set *s)
{
	return s->n_reports == 1 && !s->title && s->n_claims == 0;
}

/**
 * report_set_exit_status() - what the verdicts of all comparisons come to
 * @s: of computed reports
 *
 * Return: that of the gate where there is one; else 3 where boots are missing; else 1 where an arm
 * is worse than its baseline anywhere, else 3 where anything is inconclusive or was not compared,
 * else 0. Of comparisons of an arm with itself that of report_aa_status().
 * Context: any thread.
 */
int report_set_exit_status(const struct report_set *s)
{
	int status = 0;

	if (s->gate) {
		return report_gate_status(s->gate);
	}
	if (report_set_is_incomplete(s)) {
		return 3;
	}
	if (s->aa) {
		return report_aa_status(s);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		int one = report_exit_status(s->reports[i]);

		if (one == 1) {
			return 1;
		}
		status = one ? one : status;
	}
	return status;
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

static void put_cells(FILE *out, const struct report_cell *cells)
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
			report_put_clean(out, rest[i], len);
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
	static const struct report_cell head[CELLS] = {
		{.text = "claimed"}, {.text = "measured here"}, {.text = "floor: at best here"}};
	const char *group = NULL;

	fputc('\n', out);
	put_cells(out, head);
	for (size_t i = 0; i < s->n_claims; i++) {
		struct report_cell cells[CELLS] = {0};

		put_rule(out);
		if (s->claims[i].group && (!group || strcmp(group, s->claims[i].group) != 0)) {
			group = s->claims[i].group;
			report_put_clean(out, group, strlen(group));
			fputc('\n', out);
			put_rule(out);
		}
		report_claim_words(&cells[0], s->claims[i].claim);
		report_measured_words(&cells[1], &s->claims[i]);
		report_floor_words(&cells[2], &s->claims[i].floor);
		put_cells(out, cells);
	}
	put_rule(out);
}

/**
 * report_set_has_one_margin() - whether all groups have the same
 * @s: the set
 *
 * Return: true where it can stand at the head of the report.
 * Context: any thread.
 */
bool report_set_has_one_margin(const struct report_set *s)
{
	for (size_t i = 1; i < s->n_reports; i++) {
		if (s->reports[i]->margin_abs != s->reports[0]->margin_abs ||
		    s->reports[i]->margin_rel != s->reports[0]->margin_rel) {
			return false;
		}
	}
	return true;
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
	snprintf(text, sizeof(text), "%zu rows: p-values are adjusted for all of them (Holm)",
		 first->family);
	report_line(out, "family", text);
	report_put_sizing(out, first);
	if (report_set_has_one_margin(s)) {
		report_put_margin(out, first);
	}
	report_put_shown(out, first);
	if (reading) {
		report_line(out, "reading", reading);
	}
}

/**
 * report_set_begins_group() - is a report the first one of its group?
 * @s: the set
 * @i: which report
 *
 * Return: whether its baseline was not the one of the report before it.
 * Context: any thread.
 */
bool report_set_begins_group(const struct report_set *s, size_t i)
{
	const char *group = s->reports[i]->group;

	return i == 0 || !group || !s->reports[i - 1]->group ||
	       strcmp(group, s->reports[i - 1]->group) != 0;
}

static void put_comparison(FILE *out, const struct report_set *s, size_t i, bool colour,
			   bool details)
{
	const struct report *r = s->reports[i];
	char text[ERR_TEXT_MAX];

	fputc('\n', out);
	if (report_set_begins_group(s, i)) {
		snprintf(text, sizeof(text), "%.200s: %zu of %zu blocks complete",
			 r->group ? r->group : "", r->blocks_complete, r->blocks_planned);
		report_wrap(out, 0, 0, text);
		report_put_arm(out, r, STATS_A);
		if (!report_set_has_one_margin(s)) {
			report_put_margin(out, r);
		}
	}
	report_put_arm(out, r, STATS_B);
	for (size_t k = 0; details && k < r->n_benches; k++) {
		report_put_bench(out, r, &r->benches[k], colour);
	}
	report_put_table(out, r, colour);
}

static void put_all(FILE *out, const struct report_set *s, bool colour, bool details)
{
	put_set_head(out, s);
	if (s->n_claims > 0) {
		put_claims(out, s);
	}
	if (s->aa) {
		report_aa_text(s, out);
	}
	for (size_t i = 0; (!s->aa || details) && i < s->n_reports; i++) {
		put_comparison(out, s, i, colour, details);
	}
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
		int r = report_text(s->reports[0], out, colour);

		if (r < 0) {
			return r;
		}
	} else {
		put_all(out, s, colour, details);
	}
	report_matrix_text(s, out);
	if (s->gate) {
		fputc('\n', out);
		report_wrap(out, 0, 0, s->gate->text);
	}
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
