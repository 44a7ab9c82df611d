/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See matrix.h. A cell is what the row's arm takes more than the column's. Each pair of arms was
 * compared once; the other half of a table is that one turned round. All verdicts of a run are one
 * family, so what a table says of its pairs holds by Holm over all of them.
 */
#include "report/matrix.h"

#include <math.h>
#include <string.h>

#include "report/html_priv.h"

#define ARMS_MAX   26
#define CELL_WIDTH 12
#define BAND       ((REPORT_COLUMNS - 6) / (CELL_WIDTH + 1))
#define ALPHA      0.05

struct cell {
	const struct report_bench *b; /* NULL: there is none */
	double effect;                /* of the row's arm, less the column's */
	enum stats_verdict verdict;
	bool holds; /* a difference that holds among all rows of the run */
};

/* The arms of a group, by the reports of the set that compare them with its baseline. */
struct group {
	const struct report_set *s;
	const struct report *first;
	size_t n; /* arms */
	const struct report_arm *arms[ARMS_MAX];
};

static bool same_group(const struct report *a, const struct report *b)
{
	return a->group && b->group ? strcmp(a->group, b->group) == 0 : a->group == b->group;
}

/* The group that begins at a report of the set; fewer than three arms have no matrix. */
static struct group group_at(const struct report_set *s, size_t i)
{
	struct group g = {.s = s, .first = s->reports[i], .n = 1};

	g.arms[0] = &g.first->arms[STATS_A];
	for (; i < s->n_reports && g.n < ARMS_MAX && same_group(s->reports[i], g.first); i++) {
		g.arms[g.n++] = &s->reports[i]->arms[STATS_B];
	}
	return g;
}

static bool begins_matrix(const struct report_set *s, size_t i)
{
	return s->has_matrix && report_set_begins_group(s, i) && group_at(s, i).n > 2;
}

static const struct report *find_report(const struct group *g, char a, char b)
{
	for (size_t i = 0; i < g->s->n_reports + g->s->n_matrix; i++) {
		const struct report *r =
			i < g->s->n_reports ? g->s->reports[i] : g->s->matrix[i - g->s->n_reports];

		if (same_group(r, g->first) && r->arms[STATS_A].letter == a &&
		    r->arms[STATS_B].letter == b) {
			return r;
		}
	}
	return NULL;
}

static enum stats_verdict turned(enum stats_verdict v)
{
	return v == VERDICT_BETTER ? VERDICT_WORSE : v == VERDICT_WORSE ? VERDICT_BETTER : v;
}

static struct cell cell_of(const struct group *g, const char *bench, size_t row, size_t column)
{
	bool turn = row < column;
	const struct report *r = find_report(g, g->arms[turn ? row : column]->letter,
					     g->arms[turn ? column : row]->letter);
	struct cell c = {.verdict = VERDICT_INCONCLUSIVE, .effect = NAN};

	for (size_t k = 0; r && k < r->n_benches; k++) {
		const struct stats_comparison *x = &r->benches[k].result;

		if (strcmp(r->benches[k].name, bench) == 0) {
			c.b = &r->benches[k];
			c.effect = turn ? -x->effect : x->effect;
			c.verdict = turn ? turned(x->verdict) : x->verdict;
			c.holds =
				x->reason != REASON_INCOMPLETE && (x->exact || x->p_holm <= ALPHA);
		}
	}
	return c;
}

/* "<" saves, ">" costs, "=" equivalent, "?" open; in brackets what holds by itself only. */
static void cell_text(const struct cell *c, char *buf, size_t len)
{
	static const char *const signs[] = {
		[VERDICT_BETTER] = "<",
		[VERDICT_WORSE] = ">",
		[VERDICT_EQUIVALENT] = "=",
		[VERDICT_INCONCLUSIVE] = "?",
	};
	bool differs = c->verdict == VERDICT_BETTER || c->verdict == VERDICT_WORSE;
	bool alone = differs && !c->holds;

	if (!c->b) {
		snprintf(buf, len, "-");
		return;
	}
	snprintf(buf, len, "%s %s%s%s",
		 report_number_signed(c->effect, report_bench_decimals(c->b)).text,
		 alone ? "(" : "", signs[c->verdict], alone ? ")" : "");
}

static const char legend[] =
	"what the row's arm takes more than the column's; < less, > more, = no change, ? open; in "
	"brackets: by itself, but not by Holm over all rows of the run";

/* As many columns as a line holds, from one on. */
static void put_band(FILE *out, const struct group *g, const char *bench, size_t from, size_t to)
{
	char text[REPORT_NUMBER_MAX + 8];

	fprintf(out, "  %-4s", "");
	for (size_t j = from; j < to; j++) {
		fprintf(out, " %*c", CELL_WIDTH, g->arms[j]->letter);
	}
	fputc('\n', out);
	for (size_t i = 0; i < g->n; i++) {
		fprintf(out, "  %-4c", g->arms[i]->letter);
		for (size_t j = from; j < to; j++) {
			struct cell c = cell_of(g, bench, i, j);

			cell_text(&c, text, sizeof(text));
			fprintf(out, " %*s", CELL_WIDTH, text);
		}
		fputc('\n', out);
	}
}

static void put_text(FILE *out, const struct group *g, const struct report_bench *b)
{
	fputs("\n  ", out);
	report_wrap(out, 2, 2, b->name);
	for (size_t from = 0; from < g->n; from += BAND) {
		put_band(out, g, b->name, from, from + BAND < g->n ? from + BAND : g->n);
	}
}

/**
 * report_matrix_text() - the tables for people
 * @s: of computed reports; without a matrix, or groups of three arms, nothing is written
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_matrix_text(const struct report_set *s, FILE *out)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		struct group g;
		char text[REPORT_SENTENCE_MAX];

		if (!begins_matrix(s, i)) {
			continue;
		}
		g = group_at(s, i);
		snprintf(text, sizeof(text), "%s%seach arm against each, %s: %s",
			 g.first->group ? g.first->group : "", g.first->group ? ": " : "",
			 exec_class_unit(g.first->class), legend);
		fputc('\n', out);
		report_wrap(out, 0, 0, text);
		for (size_t k = 0; k < g.n; k++) {
			char letter[2] = {g.arms[k]->letter};

			report_line(out, letter, g.arms[k]->label);
		}
		for (size_t k = 0; k < g.first->n_benches; k++) {
			put_text(out, &g, &g.first->benches[k]);
		}
	}
}

/**
 * report_matrix_markdown() - the tables as Markdown
 * @s: of computed reports
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_matrix_markdown(const struct report_set *s, FILE *out)
{
	char text[REPORT_NUMBER_MAX + 8];

	for (size_t i = 0; i < s->n_reports; i++) {
		struct group g = group_at(s, i);

		for (size_t k = 0; begins_matrix(s, i) && k < g.first->n_benches; k++) {
			const char *name = g.first->benches[k].name;

			fprintf(out, "\n`%s`, %s: ", name, exec_class_unit(g.first->class));
			report_html_text(out, legend);
			fputs("\n\n| |", out);
			for (size_t j = 0; j < g.n; j++) {
				fprintf(out, " %c |", g.arms[j]->letter);
			}
			fputs("\n| --- |", out);
			for (size_t j = 0; j < g.n; j++) {
				fputs(" ---: |", out);
			}
			for (size_t row = 0; row < g.n; row++) {
				fprintf(out, "\n| %c |", g.arms[row]->letter);
				for (size_t j = 0; j < g.n; j++) {
					struct cell c = cell_of(&g, name, row, j);

					cell_text(&c, text, sizeof(text));
					fputc(' ', out);
					report_html_text(out, text);
					fputs(" |", out);
				}
			}
			fputc('\n', out);
		}
	}
}

static void put_html_row(FILE *out, const struct group *g, const char *name, size_t row)
{
	fputs("<tr><th scope=\"row\">", out);
	report_html_text(out, g->arms[row]->label);
	fputs("</th>", out);
	for (size_t j = 0; j < g->n; j++) {
		struct cell c = cell_of(g, name, row, j);
		char text[REPORT_NUMBER_MAX + 8];

		cell_text(&c, text, sizeof(text));
		fputs("<td class=\"n\" data-l=\"", out);
		report_html_text(out, g->arms[j]->label);
		fputs("\">", out);
		report_html_text(out, text);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

/**
 * report_matrix_html() - the tables for the page
 * @s: of computed reports
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_matrix_html(const struct report_set *s, FILE *out)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		struct group g = group_at(s, i);

		for (size_t k = 0; begins_matrix(s, i) && k < g.first->n_benches; k++) {
			const char *name = g.first->benches[k].name;

			fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"each arm "
			      "against each\"><table class=\"r\"><caption>",
			      out);
			report_html_text(out, name);
			fprintf(out, ", %s: ", exec_class_unit(g.first->class));
			report_html_text(out, legend);
			fputs("</caption><thead><tr><th scope=\"col\">arm</th>", out);
			for (size_t j = 0; j < g.n; j++) {
				fputs("<th scope=\"col\" class=\"n\">", out);
				report_html_text(out, g.arms[j]->label);
				fputs("</th>", out);
			}
			fputs("</tr></thead><tbody>\n", out);
			for (size_t row = 0; row < g.n; row++) {
				put_html_row(out, &g, name, row);
			}
			fputs("</tbody></table></div>\n", out);
		}
	}
}

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *cell_json(const struct cell *c)
{
	const struct stats_comparison *x = c->b ? &c->b->result : NULL;

	return x ? json_pack("{s:o, s:s, s:b, s:o, s:b}", "effect", number(c->effect), "verdict",
			     stats_verdict_name(c->verdict), "exact", x->exact, "p_holm",
			     number(x->p_holm), "holds", c->holds)
		 : json_null();
}

static json_t *bench_json(const struct group *g, const struct report_bench *b)
{
	json_t *rows = json_array(), *arms = json_array();

	for (size_t i = 0; i < g->n; i++) {
		json_t *row = json_array();

		json_array_append_new(arms, json_string(g->arms[i]->label));
		for (size_t j = 0; j < g->n; j++) {
			struct cell c = cell_of(g, b->name, i, j);

			json_array_append_new(row, cell_json(&c));
		}
		json_array_append_new(rows, row);
	}
	return json_pack("{s:s?, s:s, s:s, s:s, s:o, s:o}", "group", g->first->group, "benchmark",
			 b->name, "unit", exec_class_unit(g->first->class), "per", b->per, "arms",
			 arms, "rows", rows);
}

/**
 * report_matrix_json() - the tables for programs
 * @s: of computed reports
 *
 * Return: a list, the caller's; NULL where no matrix was asked for.
 * Context: any thread.
 */
json_t *report_matrix_json(const struct report_set *s)
{
	json_t *list = s->has_matrix ? json_array() : NULL;

	for (size_t i = 0; i < s->n_reports; i++) {
		struct group g = group_at(s, i);

		for (size_t k = 0; begins_matrix(s, i) && k < g.first->n_benches; k++) {
			json_array_append_new(list, bench_json(&g, &g.first->benches[k]));
		}
	}
	return list;
}
