/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several comparisons of one arm with itself: every difference that they find is a false alarm, and
 * a test at 5 % may raise one time in twenty. More than that many means that the verdicts of this
 * machine are not to be trusted: its boots are no independent samples, or one of our methods is
 * wrong.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_priv.h"
#include "report/report_priv.h"
#include "stats/binomial.h"

#define ALPHA 0.05
#define LEVEL 0.95 /* that all rows lie in their ranges */
#define NAME  30   /* columns */

static struct report_aa *find(struct report_aa *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

static void count(struct report_aa *row, const struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;

	if (c->blocks < STATS_BLOCKS_MIN || c->reason == REASON_INCOMPLETE) {
		return;
	}
	row->trials++;
	row->by_p += c->significant;
	row->rejected += c->reason == REASON_FALSE_ALARM;
	row->largest = fmax(row->largest, fabs(c->effect));
}

/**
 * report_aa_rows() - count what each benchmark's comparisons found
 * @s: of computed reports, all of an arm with itself
 * @ret: set, in the order of the first comparison
 * @room: of @ret
 *
 * Return: how many were set.
 * Context: any thread.
 */
size_t report_aa_rows(const struct report_set *s, struct report_aa *ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_reports; i++) {
		for (size_t k = 0; k < s->reports[i]->n_benches; k++) {
			const struct report_bench *b = &s->reports[i]->benches[k];
			struct report_aa *row = find(ret, n, b->name);

			if (!row && n < room) {
				row = &ret[n++];
				*row = (struct report_aa){.name = b->name};
			}
			if (row) {
				count(row, b);
			}
		}
	}
	return n;
}

/**
 * report_aa_expected() - how many false alarms are no surprise
 * @rows: benchmarks that are looked at, 1 or more: all of them lie in their ranges in 19 of 20 runs
 * @trials: comparisons of one of them
 * @ret_lo: set
 * @ret_hi: set
 *
 * Context: any thread.
 */
void report_aa_expected(size_t rows, size_t trials, size_t *ret_lo, size_t *ret_hi)
{
	if (stats_binomial_range(trials, ALPHA, 1 - (1 - LEVEL) / (double)rows, ret_lo, ret_hi) <
	    0) {
		*ret_lo = 0;
		*ret_hi = trials;
	}
}

/* The rows in memory of their own; NULL without. */
static struct report_aa *make_rows(const struct report_set *s, size_t *ret_n)
{
	size_t room = 0;
	struct report_aa *rows;

	for (size_t i = 0; i < s->n_reports; i++) {
		room += s->reports[i]->n_benches;
	}
	rows = calloc(room + 1, sizeof(*rows));
	*ret_n = rows ? report_aa_rows(s, rows, room) : 0;
	return rows;
}

/**
 * report_aa_status() - what the false alarms come to
 * @s: of computed reports, all of an arm with itself
 *
 * Too few are none: with few blocks no p lies just below 5 %, and the margin takes more away.
 *
 * Return: 0; 1 where a benchmark has more of them than are to be expected; 3 where boots are
 * missing, or nothing might have raised one. Context: any thread.
 */
int report_aa_status(const struct report_set *s)
{
	size_t n, lo, hi, trials = 0;
	_cleanup_free_ struct report_aa *rows = make_rows(s, &n);
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		report_aa_expected(n, rows[i].trials, &lo, &hi);
		status = rows[i].rejected > hi ? 1 : status;
		trials += rows[i].trials;
	}
	return trials && !report_set_is_incomplete(s) ? status : 3;
}

static const char *answer_of(const struct report_set *s)
{
	int status = report_aa_status(s);

	return report_set_is_incomplete(s)
		       ? "Not all boots are recorded: how many false alarms there are is open."
	       : status == 0 ? "No benchmark has more false alarms than a test at 5 % may have."
	       : status == 1 ? "More false alarms than a test at 5 % may have: the verdicts of "
			       "this machine are not to be trusted."
			     : "Nothing was compared that might have been a false alarm.";
}

/**
 * report_aa_text() - a row for each benchmark
 * @s: of computed reports, all of an arm with itself
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_aa_text(const struct report_set *s, FILE *out)
{
	size_t n, lo, hi;
	_cleanup_free_ struct report_aa *rows = make_rows(s, &n);

	fprintf(out, "\n  %-*s%9s%13s%10s%10s%9s\n", NAME, "of an arm with itself", "compared",
		"p <= .05", "rejected", "expected", "largest");
	for (size_t i = 0; i < n; i++) {
		char expected[48];

		report_aa_expected(n, rows[i].trials, &lo, &hi);
		snprintf(expected, sizeof(expected), "%zu to %zu", lo, hi);
		fprintf(out, "  %-*s%9zu%13zu%10zu%10s%9s\n", NAME, rows[i].name, rows[i].trials,
			rows[i].by_p, rows[i].rejected, expected,
			report_number(rows[i].largest, 3).text);
	}
	fputc('\n', out);
	report_wrap(out, 0, 0, answer_of(s));
	report_wrap(out, 0, 0,
		    "(rejected: the interval leaves zero out and the effect is larger than the "
		    "margin; expected: of a test at 5 %, for all rows together in 19 of 20 runs; "
		    "largest: |effect|)");
}

/**
 * report_aa_markdown() - the same as a table of Markdown
 * @s: of computed reports, all of an arm with itself
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_aa_markdown(const struct report_set *s, FILE *out)
{
	size_t n, lo, hi;
	_cleanup_free_ struct report_aa *rows = make_rows(s, &n);

	fputs("| of an arm with itself | compared | p <= .05 | rejected | expected | largest |\n"
	      "| --- | ---: | ---: | ---: | ---: | ---: |\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		report_aa_expected(n, rows[i].trials, &lo, &hi);
		fprintf(out, "| `%s` | %zu | %zu | %zu | %zu to %zu | %s |\n", rows[i].name,
			rows[i].trials, rows[i].by_p, rows[i].rejected, lo, hi,
			report_number(rows[i].largest, 3).text);
	}
	fprintf(out, "\n%s\n\n", answer_of(s));
}

/**
 * report_aa_html() - the same as a part of the page
 * @s: of computed reports, all of an arm with itself
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_aa_html(const struct report_set *s, FILE *out)
{
	static const char *const heads[] = {"compared", "p \u2264 .05", "rejected", "expected",
					    "largest effect"};
	size_t n, lo, hi;
	_cleanup_free_ struct report_aa *rows = make_rows(s, &n);

	fprintf(out, "<h2 id=\"aa\">False alarms</h2>\n<p>%s</p>\n", answer_of(s));
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"false alarms\">"
	      "<table class=\"r\"><thead><tr><th scope=\"col\">benchmark</th>",
	      out);
	for (size_t k = 0; k < ARRAY_SIZE(heads); k++) {
		fprintf(out, "<th scope=\"col\">%s</th>", heads[k]);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < n; i++) {
		report_aa_expected(n, rows[i].trials, &lo, &hi);
		fputs("<tr><th scope=\"row\">", out);
		report_html_text(out, rows[i].name);
		fprintf(out,
			"</th><td data-l=\"%s\">%zu</td><td data-l=\"%s\">%zu</td><td "
			"data-l=\"%s\">%zu</td><td data-l=\"%s\">%zu to %zu</td><td "
			"data-l=\"%s\">%s</td></tr>\n",
			heads[0], rows[i].trials, heads[1], rows[i].by_p, heads[2],
			rows[i].rejected, heads[3], lo, hi, heads[4],
			report_number(rows[i].largest, 3).text);
	}
	fputs("</tbody></table></div>\n", out);
}

/**
 * report_aa_json() - the same for programs
 * @s: of computed reports, all of an arm with itself
 *
 * Return: an array, the caller's to json_decref(); NULL without memory.
 * Context: any thread.
 */
json_t *report_aa_json(const struct report_set *s)
{
	size_t n, lo, hi;
	_cleanup_free_ struct report_aa *rows = make_rows(s, &n);
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++) {
		report_aa_expected(n, rows[i].trials, &lo, &hi);
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:I, s:[I, I], s:f}", "benchmark",
					rows[i].name, "compared", (json_int_t)rows[i].trials,
					"significant", (json_int_t)rows[i].by_p, "rejected",
					(json_int_t)rows[i].rejected, "expected", (json_int_t)lo,
					(json_int_t)hi, "largest_effect", rows[i].largest));
	}
	return list;
}

/**
 * report_noise_words() - the noise floor of a benchmark as a text
 * @b: computed
 * @decimals: of its numbers
 * @ret: set where it is known
 * @len: size of @ret
 *
 * Return: whether it is known.
 * Context: any thread.
 */
bool report_noise_words(const struct report_bench *b, int decimals, char *ret, size_t len)
{
	const size_t *blocks = b->noise_blocks;
	char most[24] = "";

	if (b->noise_of == 0) {
		return false;
	}
	if (blocks[1] > blocks[0]) {
		snprintf(most, sizeof(most), " to %zu", blocks[1]);
	}
	snprintf(ret, len,
		 "%s, the 95th percentile of |effect| in %zu comparisons of an arm with itself on "
		 "this host (%zu%s blocks)%s",
		 report_number(b->noise, decimals).text, b->noise_of, blocks[0], most,
		 b->result.blocks > 0 && b->noise > 0 && fabs(b->result.effect) <= b->noise
			 ? ": this effect is no larger"
			 : "");
	return true;
}

/**
 * report_knows_noise() - is there a noise floor for any benchmark?
 * @r: the report
 *
 * Return: whether there is.
 * Context: any thread.
 */
bool report_knows_noise(const struct report *r)
{
	for (size_t i = 0; i < r->n_benches; i++) {
		if (r->benches[i].noise_of > 0) {
			return true;
		}
	}
	return false;
}
