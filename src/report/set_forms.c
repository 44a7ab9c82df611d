/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of reports in the forms that other programs read: CSV (RFC 4180), the text of Go's
 * benchmarks for benchstat, Markdown for a commit message or a merge request, JUnit for a gate.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/html_priv.h"
#include "report/matrix.h"

static int finish(FILE *out)
{
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

static void put_field(FILE *out, const char *s, const char *behind)
{
	fputc('"', out);
	for (; s && *s; s++) {
		size_t control = *s == '\n' ? 0 : text_control_len(s);

		fputs(control ? "?" : *s == '"' ? "\"\"" : (char[]){*s, '\0'}, out);
		s += control ? control - 1 : 0;
	}
	fprintf(out, "\"%s", behind);
}

static void put_exact(FILE *out, double x)
{
	char text[TEXT_REAL_MAX];

	fputs(text_real(x, text, sizeof(text)), out);
}

/* One that cannot be had is an empty field. */
static void put_value(FILE *out, double x)
{
	if (isfinite(x)) {
		put_exact(out, x);
	}
	fputc(',', out);
}

static void put_csv_row(FILE *out, const struct report_set *s, const struct report *r,
			const struct report_bench *b, const char *pair)
{
	const struct stats_comparison *c = &b->result;

	put_field(out, r->group, ",");
	put_field(out, r->arms[STATS_A].label, ",");
	put_field(out, r->arms[STATS_B].label, ",");
	put_field(out, b->name, ",");
	put_field(out, exec_class_unit(r->class), ",");
	put_field(out, b->per, ",");
	fprintf(out, "%zu,", c->blocks);
	put_value(out, c->median[STATS_A]);
	put_value(out, c->median[STATS_B]);
	put_value(out, c->effect);
	put_value(out, c->interval.lo);
	put_value(out, c->interval.hi);
	put_value(out, c->interval.level);
	put_value(out, report_percent_of_a(b, c->effect));
	put_value(out, c->p);
	put_value(out, c->p_holm);
	put_value(out, c->mde);
	put_value(out, c->margin);
	fprintf(out, "%s,%s,", stats_verdict_name(c->verdict), stats_reason_name(c->reason));
	put_value(out, b->noise_of > 0 ? b->noise : NAN);
	fprintf(out, "%s,%s,", b->gate == REPORT_GATE_NONE ? "" : report_gate_name(b->gate), pair);
	put_field(out, s->host, "\r\n");
}

/**
 * report_set_csv() - a row for each benchmark of each comparison
 * @s: of computed reports; those of a matrix that is asked for come behind the others
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_csv(const struct report_set *s, FILE *out)
{
	fputs(s->host_before
		      ? ""
		      : "group,a,b,benchmark,unit,per,blocks,median_a,median_b,effect,low,high,"
			"level,percent_of_a,p,p_holm,smallest_detectable,margin,verdict,reason,"
			"noise_floor,gate,pair,host\r\n",
	      out);
	for (size_t i = 0; i < s->n_reports; i++) {
		for (size_t k = 0; k < s->reports[i]->n_benches; k++) {
			put_csv_row(out, s, s->reports[i], &s->reports[i]->benches[k], "baseline");
		}
	}
	for (size_t i = 0; i < s->n_matrix; i++) {
		for (size_t k = 0; k < s->matrix[i]->n_benches; k++) {
			put_csv_row(out, s, s->matrix[i], &s->matrix[i]->benches[k], "matrix");
		}
	}
	return finish(out);
}

/* A value of Go's format ends with its line. */
static void put_line(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s: ", key);
	report_put_clean(out, value ? value : "", value ? strlen(value) : 0);
	fputc('\n', out);
}

/* "ctxsw.pipe.fs" is BenchmarkCtxsw.pipe.fs: a name begins with a capital letter. */
static void put_go_boots(FILE *out, const struct report *r, int side)
{
	for (size_t k = 0; k < r->n_benches; k++) {
		const struct report_bench *b = &r->benches[k];

		for (size_t i = 0; i < b->n_blocks; i++) {
			const double *v = side == STATS_A ? b->blocks[i].a : b->blocks[i].b;

			for (int j = 0; j < 2; j++) {
				fprintf(out, "Benchmark%c%s 1 ", toupper((unsigned char)b->name[0]),
					b->name + 1);
				put_exact(out, v[j]);
				fprintf(out, " %s/op\n", exec_class_unit(r->class));
			}
		}
	}
}

/**
 * report_set_gobench() - every boot's value in the format of Go's benchmarks
 * @s: of computed reports
 * @out: where to
 *
 * The arm is a configuration key: "benchstat -col arm FILE" compares. A boot is one line, since a
 * boot is one sample.
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_gobench(const struct report_set *s, FILE *out)
{
	if (s->host) {
		put_line(out, "host", s->host);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];

		put_line(out, "group", r->group ? r->group : "compare");
		put_line(out, "class", exec_class_name(r->class));
		/* A baseline that several arms are compared with stands there once. */
		if (report_set_begins_group(s, i)) {
			put_line(out, "arm", r->arms[STATS_A].label);
			put_go_boots(out, r, STATS_A);
		}
		put_line(out, "arm", r->arms[STATS_B].label);
		put_go_boots(out, r, STATS_B);
	}
	return finish(out);
}

/* A text in a cell of Markdown: nothing in it is markup, of HTML neither. */
static void put_markdown(FILE *out, const char *s)
{
	for (; s && *s; s++) {
		size_t control = text_control_len(s);

		if (control) {
			fputc(*s == '\n' ? ' ' : '?', out);
			s += control - 1;
		} else if (strchr("|`*_[]\\~#@!", *s)) {
			fprintf(out, "&#%d;", *s);
		} else {
			report_html_text(out, (char[]){*s, '\0'});
		}
	}
}

/**
 * report_set_markdown() - the verdicts as a table, and each as a sentence
 * @s: of computed reports
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_markdown(const struct report_set *s, FILE *out)
{
	if (s->host) {
		fputs(s->host_before ? "\n### " : "### ", out);
		put_markdown(out, s->host);
		fputs("\n\n", out);
	}
	if (s->aa) {
		report_aa_markdown(s, out);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];
		char a = report_letter(r, STATS_A), b_side = report_letter(r, STATS_B);
		bool noise = report_knows_noise(r);

		fprintf(out, "%s**%c: ", i ? "\n" : "", a);
		put_markdown(out, r->arms[STATS_A].label);
		fprintf(out, ", %c: ", b_side);
		put_markdown(out, r->arms[STATS_B].label);
		fprintf(out, "**, %s, %zu of %zu blocks of four boots, seed %llu\n\n",
			exec_class_name(r->class), r->blocks_complete, r->blocks_planned,
			(unsigned long long)r->seed);
		if (report_is_incomplete(r)) {
			char text[REPORT_SENTENCE_MAX];

			report_incomplete_words(r, text, sizeof(text));
			fprintf(out, "%s\n\n", text);
		}
		fprintf(out,
			"| %s | %c | %c | %c - %c | 95 %% interval | of %c |%s verdict |\n"
			"| --- | ---: | ---: | ---: | ---: | ---: |%s --- |\n",
			exec_class_unit(r->class), a, b_side, b_side, a, a,
			noise ? " noise floor |" : "", noise ? " ---: |" : "");
		for (size_t k = 0; k < r->n_benches; k++) {
			const struct report_bench *b = &r->benches[k];
			const struct stats_comparison *c = &b->result;
			int d = report_bench_decimals(b);
			char interval[REPORT_INTERVAL_MAX];

			fprintf(out, "| `%s` | %s | %s | %s | %s | %s%s |%s%s%s %s |\n", b->name,
				report_number(c->median[STATS_A], d).text,
				report_number(c->median[STATS_B], d).text,
				report_number_signed(c->effect, d).text,
				report_interval(c, d, interval, sizeof(interval)),
				report_number_signed(report_percent_of_a(b, c->effect), 2).text,
				c->blocks > 0 ? " %" : "", noise ? " " : "",
				noise ? report_number(b->noise_of ? b->noise : NAN, d).text : "",
				noise ? " |" : "", stats_verdict_name(c->verdict));
		}
	}
	report_matrix_markdown(s, out);
	if (s->gate) {
		fputc('\n', out);
		put_markdown(out, s->gate->text);
		fputc('\n', out);
	}
	return finish(out);
}

/* An element of JUnit, NULL for a pass. What is not decided has not passed, and has not failed. */
static const char *outcome_of(const struct report_bench *b)
{
	enum stats_verdict v = b->result.verdict;
	bool gated = b->gate != REPORT_GATE_NONE;

	if (gated ? b->gate == REPORT_GATE_FAILED : v == VERDICT_WORSE) {
		return "failure";
	}
	return (gated ? b->gate == REPORT_GATE_OPEN : v == VERDICT_INCONCLUSIVE) ? "skipped" : NULL;
}

/* Readers take a dot, or a path's slash, for the seam of a package: a label is one name. */
static void put_class(FILE *out, const char *label)
{
	while (strncmp(label, "../", 3) == 0 || strncmp(label, "./", 2) == 0) {
		label = strchr(label, '/') + 1;
	}
	for (label += *label == '/'; *label; label++) {
		size_t control = text_control_len(label);

		if (control) {
			fputc('?', out);
			label += control - 1;
		} else {
			report_html_text(
				out, (char[]){*label == '.' || *label == '/' ? '_' : *label, '\0'});
		}
	}
}

static void put_case(FILE *out, const struct report *r, const struct report_bench *b)
{
	char text[REPORT_SENTENCE_MAX];
	enum stats_verdict v = b->result.verdict;
	const char *outcome = outcome_of(b);

	report_sentence(r, b, text, sizeof(text));
	fputs("    <testcase classname=\"", out);
	report_html_text(out, r->group ? r->group : "compare");
	fputs(".", out);
	put_class(out, r->arms[STATS_B].label);
	fputs("\" name=\"", out);
	report_html_text(out, b->name);
	fputs("\">\n", out);
	if (outcome) {
		fprintf(out, "      <%s message=\"%s: ", outcome, stats_verdict_name(v));
		report_html_text(out, text);
		fputs("\"/>\n", out);
	}
	fprintf(out, "      <system-out>%s: ", stats_verdict_name(v));
	report_html_text(out, text);
	for (int w = 0; w < REPORT_WARNINGS; w++) {
		if (*b->warnings[w]) {
			fprintf(out,
				"\nwarning (%s): ", report_warning_name((enum report_warning)w));
			report_html_text(out, b->warnings[w]);
		}
	}
	fputs("</system-out>\n    </testcase>\n", out);
}

static void put_gate_property(FILE *out, const struct report_set *s)
{
	if (s->gate) {
		fputs("    <properties>\n      <property name=\"gate\" value=\"", out);
		report_html_text(out, s->gate->text);
		fputs("\"/>\n    </properties>\n", out);
	}
}

/**
 * report_set_junit() - a test case for each benchmark
 * @s: of computed reports
 *
 * It fails where the gate does, and where there is none, where B is worse.
 *
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_junit(const struct report_set *s, FILE *out)
{
	if (!s->host_before) {
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];
		size_t failed = 0, open = 0;

		for (size_t k = 0; k < r->n_benches; k++) {
			const char *outcome = outcome_of(&r->benches[k]);

			failed += outcome && *outcome == 'f';
			open += outcome && *outcome == 's';
		}
		fputs("  <testsuite name=\"", out);
		report_html_text(out, r->arms[STATS_A].label);
		fputs(" against ", out);
		report_html_text(out, r->arms[STATS_B].label);
		if (s->host) {
			fputs("\" hostname=\"", out);
			report_html_text(out, s->host);
		}
		fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
			r->n_benches, failed, open);
		put_gate_property(out, s);
		for (size_t k = 0; k < r->n_benches; k++) {
			put_case(out, r, &r->benches[k]);
		}
		fputs("  </testsuite>\n", out);
	}
	if (!s->host_behind) {
		fputs("</testsuites>\n", out);
	}
	return finish(out);
}
