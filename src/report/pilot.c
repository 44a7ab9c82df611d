/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See pilot.h: a row for each benchmark, a column for each number of blocks. */
#include "report/pilot.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/report_priv.h"
#include "stats/plan.h"

#define NAME 22 /* columns */
#define CELL 9

static const size_t sizes[] = {6, 8, 12, 20, 30};

/* NaN where the spread is not known. */
static double mde(const struct report_pilot_bench *b, size_t n)
{
	double factor = NAN;

	return isnan(b->sd) || stats_mde_factor(n, &factor) < 0 ? NAN : factor * b->sd;
}

static double percent_of_a(const struct report_pilot_bench *b, double x)
{
	return b->median_a != 0 ? 100 * x / fabs(b->median_a) : NAN;
}

/* "35 s", "12 min", "2.5 h" */
static struct report_number duration(double ns)
{
	struct report_number n = {"-"};
	double s = ns / 1e9;

	if (isfinite(s)) {
		snprintf(n.text, sizeof(n.text), "%.*f %s",
			 s < 10 || (s >= 6000 && s < 36000) ? 1 : 0,
			 s < 120    ? s
			 : s < 6000 ? s / 60
				    : s / 3600,
			 s < 120    ? "s"
			 : s < 6000 ? "min"
				    : "h");
	}
	return n;
}

/**
 * report_pilot_varies() - does anything vary from block to block?
 * @p: the pilot
 *
 * Return: false where every benchmark has the same difference in each of its blocks.
 * Context: any thread.
 */
bool report_pilot_varies(const struct report_pilot *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->benches[i].varies) {
			return true;
		}
	}
	return false;
}

static void put_head(const struct report_pilot *p, FILE *out)
{
	char text[ERR_TEXT_MAX];
	int at;

	fprintf(out, "Pilot: %u blocks, %zu boots\n\n", p->blocks, p->boots);
	snprintf(text, sizeof(text), "%s: %s", exec_class_name(p->class),
		 exec_class_about(p->class));
	report_line(out, "class", text);
	at = snprintf(text, sizeof(text), "a boot takes %s", duration(p->boot_ns).text);
	if (isfinite(p->start_ns)) {
		at += snprintf(text + at, sizeof(text) - (size_t)at,
			       ", of which %s until user space is there",
			       duration(p->start_ns).text);
	}
	snprintf(text + at, sizeof(text) - (size_t)at,
		 "; a block of %zu boots takes %s, %u at a time", p->block_boots,
		 duration(p->block_ns).text, p->jobs);
	report_line(out, "time",
		    isnan(p->boot_ns) ? "the records do not say what a boot takes" : text);
}

static void put_row(FILE *out, const char *label, const char *first,
		    const struct report_number *cells, const char *last)
{
	fprintf(out, "  %-*s%*s", NAME, label, CELL, first);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		fprintf(out, "%*s", CELL, cells[i].text);
	}
	fprintf(out, "%s\n", last);
}

static void put_columns(const struct report_pilot *p, FILE *out)
{
	struct report_number cells[ARRAY_SIZE(sizes)];

	fprintf(out, "\n  What so many blocks find in four experiments of five, in %s:\n\n",
		exec_class_unit(p->class));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(cells[i].text, sizeof(cells[i].text), "%zu", sizes[i]);
	}
	put_row(out, "blocks", "s_d", cells, "");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cells[i] = duration(p->block_ns * (double)sizes[i]);
	}
	put_row(out, "they take", "", cells, "");
}

static void put_batches(const struct report_pilot *p, const struct report_pilot_bench *b, FILE *out)
{
	if (isinf(b->best_batches)) {
		fprintf(out, "  %-*s  as many as you like: boots differ by nothing else\n", NAME,
			"  batches a boot");
	} else if (!isnan(b->best_batches)) {
		fprintf(out, "  %-*s%*.0f of it would be best, %u were made\n", NAME,
			"  batches a boot", CELL, ceil(b->best_batches), p->batches);
	}
}

static void put_bench(const struct report_pilot *p, const struct report_pilot_bench *b, FILE *out)
{
	int d = report_decimals(mde(b, sizes[ARRAY_SIZE(sizes) - 1]), 0, 3);
	struct report_number cells[ARRAY_SIZE(sizes)];
	char name[NAME + 1];

	if (strlen(b->name) > NAME - 1) {
		fprintf(out, "  %s\n", b->name);
	}
	snprintf(name, sizeof(name), "%s", strlen(b->name) > NAME - 1 ? "" : b->name);
	if (isnan(b->sd)) {
		fprintf(out, "  %-*s  %zu complete blocks: nothing is known of their spread\n",
			NAME, name, b->blocks);
		return;
	}
	if (!b->varies) {
		fprintf(out, "  %-*s%*s  nothing varied in %zu boots\n", NAME, name, CELL, "0",
			4 * b->blocks);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cells[i] = report_number(mde(b, sizes[i]), d);
	}
	put_row(out, name, report_number(b->sd, d).text, cells, "");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		double percent = percent_of_a(b, mde(b, sizes[i]));

		cells[i] = report_number(percent, report_decimals(percent, 1, 4));
	}
	put_row(out, "  % of A", "", cells, "");
	put_batches(p, b, out);
}

static bool is_of_another(const struct report_pilot_bench *a, const struct report_pilot_bench *b)
{
	return (a->group && b->group && strcmp(a->group, b->group) != 0) ||
	       strcmp(a->arm, b->arm) != 0;
}

/**
 * report_pilot_text() - a pilot for people
 * @p: the pilot
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_pilot_text(const struct report_pilot *p, FILE *out)
{
	char text[ERR_TEXT_MAX];

	put_head(p, out);
	put_columns(p, out);
	for (size_t i = 0; i < p->n; i++) {
		const struct report_pilot_bench *b = &p->benches[i];

		if (b->group && (i == 0 || is_of_another(b - 1, b))) {
			snprintf(text, sizeof(text), "%.200s: %.200s", b->group, b->arm);
			fputc('\n', out);
			report_wrap(out, 0, 0, text);
		}
		put_bench(p, b, out);
	}
	if (!report_pilot_varies(p)) {
		snprintf(text, sizeof(text),
			 "Nothing varied in %zu boots: the smallest number of blocks that gives a "
			 "verdict, %d, is enough.",
			 p->boots, STATS_PLAN_BLOCKS_LEAST);
		fputc('\n', out);
		report_wrap(out, 0, 0, text);
	}
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *bench_to_json(const struct report_pilot *p, const struct report_pilot_bench *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		double x = mde(b, sizes[i]);

		json_array_append_new(list,
				      json_pack("{s:I, s:o, s:o}", "blocks", (json_int_t)sizes[i],
						"smallest_detectable", number(x), "percent_of_a",
						number(percent_of_a(b, x))));
	}
	return json_pack("{s:s, s:s?, s:s, s:s, s:I, s:b, s:o, s:o, s:o, s:o}", "name", b->name,
			 "group", b->group, "arm", b->arm, "per", b->per, "blocks",
			 (json_int_t)b->blocks, "varies", (int)b->varies, "s_d", number(b->sd),
			 "median_a", number(b->median_a), "best_batches", number(b->best_batches),
			 "sizes", list);
}

/**
 * report_pilot_json() - a pilot for programs
 * @p: the pilot
 *
 * Return: the object, the caller's to json_decref(); NULL without memory, or where a text of it is
 * not UTF-8.
 * Context: any thread.
 */
json_t *report_pilot_json(const struct report_pilot *p)
{
	json_t *benches = json_array();

	for (size_t i = 0; benches && i < p->n; i++) {
		if (json_array_append_new(benches, bench_to_json(p, &p->benches[i])) < 0) {
			json_decref(benches);
			return NULL;
		}
	}
	return json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:o}",
			 "schema_version", REPORT_SCHEMA_VERSION, "type", "pilot", "class",
			 exec_class_name(p->class), "unit", exec_class_unit(p->class), "boots",
			 (json_int_t)p->boots, "blocks", (json_int_t)p->blocks, "jobs",
			 (json_int_t)p->jobs, "seconds_a_boot", number(p->boot_ns / 1e9),
			 "seconds_to_user_space", number(p->start_ns / 1e9), "seconds_a_block",
			 number(p->block_ns / 1e9), "varies", (int)report_pilot_varies(p),
			 "benchmarks", benches);
}
