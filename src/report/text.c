/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for people: what was compared and where, a section a benchmark, and a table of all
 * verdicts at the end. 80 columns; what an experiment of this size can see stands before what it
 * says.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "report/filter.h"
#include "report/report_priv.h"

#define COLUMNS   REPORT_COLUMNS
#define LABEL     22 /* of a line in a section */
#define CELL      28 /* of an arm in a section */
#define NAME      20 /* in the table; a longer one has a line of its own */
#define HASH_SHOW 12

/**
 * report_wants_colour() - may what goes to this descriptor be coloured?
 * @fd: an open descriptor
 *
 * Return: true for a terminal that is not dumb, unless NO_COLOR is set to anything (no-color.org).
 * Context: any thread.
 */
bool report_wants_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static const char *verdict_colour(enum stats_verdict v)
{
	switch (v) {
	case VERDICT_BETTER:
		return "\033[32m";
	case VERDICT_WORSE:
		return "\033[31m";
	case VERDICT_INCONCLUSIVE:
		return "\033[33m";
	case VERDICT_EQUIVALENT:
		break;
	}
	return "\033[36m";
}

static void put_verdict(FILE *out, enum stats_verdict v, bool colour)
{
	if (colour) {
		fprintf(out, "%s%s\033[0m", verdict_colour(v), stats_verdict_name(v));
	} else {
		fputs(stats_verdict_name(v), out);
	}
}

/**
 * report_wrap() - words over as many lines as it takes
 * @out: where to
 * @at: the column that the first one begins at
 * @indent: of the later lines
 * @text: the words; what would move the cursor becomes '?'
 *
 * Context: any thread that owns @out.
 */
void report_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
	bool first = true;

	while (*text) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0) {
			break;
		}
		if (!first && at + 1 + len > COLUMNS) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', out);
			at++;
		}
		report_put_clean(out, text, len);
		at += len;
		text += len;
		first = false;
	}
	fputc('\n', out);
}

/**
 * report_line() - a line of a report's head
 * @out: where to
 * @label: what it is, of at most eight letters
 * @text: what it says
 *
 * Context: any thread that owns @out.
 */
void report_line(FILE *out, const char *label, const char *text)
{
	report_wrap(out, (size_t)fprintf(out, "  %-*s", 9, label), 11, text);
}

/**
 * report_put_arm() - what an arm boots
 * @out: where to
 * @r: the report
 * @arm: STATS_A or STATS_B
 *
 * Context: any thread that owns @out.
 */
void report_put_arm(FILE *out, const struct report *r, int arm)
{
	const struct report_arm *a = &r->arms[arm];
	char letter[2] = {report_letter(r, arm), '\0'};
	char text[ERR_TEXT_MAX];
	int at;

	report_line(out, letter, a->label);
	at = snprintf(text, sizeof(text), "kernel %.300s", a->kernel);
	if (a->kernel_version) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", %.100s", a->kernel_version);
	}
	if (a->kernel_sha256) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", sha256 %.*s", HASH_SHOW,
			       a->kernel_sha256);
	}
	if (a->append && *a->append) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", append \"%.300s\"",
			       a->append);
	}
	if (a->task) {
		snprintf(text + at, sizeof(text) - (size_t)at, ", task %s", a->task);
	}
	report_line(out, "", text);
}

static void put_kind(FILE *out, const struct report *r)
{
	report_line(out, "arms",
		    r->same_arm ? "one and the same: any difference found would be a false alarm"
		    : r->same_image
			    ? "one kernel image, told apart by parameters only"
			    : "two kernel images: where code lies differs too, and that alone can "
			      "move a result");
}

/* Linux's clock sources that are the time-stamp counter, read at once or through a hypervisor's
 * page. */
static bool is_counter(const char *clock)
{
	return strcmp(clock, "tsc") == 0 || strcmp(clock, "kvm-clock") == 0 ||
	       strcmp(clock, "hyperv_clocksource_tsc_page") == 0;
}

/**
 * report_put_machine() - class, unit, backend and host
 * @out: where to
 * @r: the report
 *
 * Context: any thread that owns @out.
 */
void report_put_machine(FILE *out, const struct report *r)
{
	char text[ERR_TEXT_MAX];
	int at;

	snprintf(text, sizeof(text), "%s: %s", exec_class_name(r->class),
		 exec_class_about(r->class));
	report_line(out, "class", text);
	at = snprintf(text, sizeof(text), "%s", exec_class_unit(r->class));
	if (r->ticks_per_unit > 1) {
		snprintf(text + at, sizeof(text) - (size_t)at,
			 "; %u ticks of the guest's TSC make one", r->ticks_per_unit);
	}
	report_line(out, "unit", text);
	at = snprintf(text, sizeof(text), "%s", r->backend);
	if (r->ringside_version) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", ringside %.50s",
			       r->ringside_version);
	}
	if (r->qemu_version) {
		snprintf(text + at, sizeof(text) - (size_t)at, ", QEMU %.100s", r->qemu_version);
	}
	report_line(out, "backend", text);
	if (r->host_cpu || r->host_kernel) {
		snprintf(text, sizeof(text), "%.200s%s%.200s", r->host_cpu ? r->host_cpu : "",
			 r->host_cpu && r->host_kernel ? ", Linux "
			 : r->host_kernel              ? "Linux "
						       : "",
			 r->host_kernel ? r->host_kernel : "");
		report_line(out, "host", text);
	}
	if (r->hosts) {
		snprintf(text, sizeof(text), "%.300s: each block was booted on one of them",
			 r->hosts);
		report_line(out, "hosts", text);
	}
	/* A host that has given its counter up as a clock has seen it go wrong. */
	if ((r->class == EXEC_NATIVE || r->class == EXEC_NESTED) && r->host_clock &&
	    !is_counter(r->host_clock)) {
		snprintf(text, sizeof(text),
			 "warning: the host keeps time by %.50s and not by its time-stamp counter, "
			 "which it holds for unstable: cycles are not to be trusted",
			 r->host_clock);
		report_line(out, "clock", text);
	}
}

/**
 * report_put_margin() - what difference is taken for no change
 * @out: where to
 * @r: the report
 *
 * Context: any thread that owns @out.
 */
void report_put_margin(FILE *out, const struct report *r)
{
	char text[REPORT_SENTENCE_MAX];

	report_margin_words(r, r->margin_abs, r->margin_rel, text, sizeof(text));
	report_line(out, "margin", text);
}

/**
 * report_put_sizing() - where the number of blocks comes from, unless it was given
 * @out: where to
 * @r: the report
 *
 * Context: any thread that owns @out.
 */
void report_put_sizing(FILE *out, const struct report *r)
{
	char text[ERR_TEXT_MAX];

	if (r->blocks_by) {
		snprintf(text, sizeof(text),
			 "the number of blocks was chosen by %.100s, from a pilot of %zu blocks "
			 "(plan %s) whose boots are no part of this",
			 r->blocks_by, r->pilot_blocks, r->pilot);
		report_line(out, "", text);
	}
}

static void put_head(FILE *out, const struct report *r)
{
	char text[ERR_TEXT_MAX];

	if (r->title) {
		report_wrap(out, 0, 0, r->title);
	} else {
		snprintf(text, sizeof(text), "Comparison of %c (%.200s) with %c (%.200s)",
			 report_letter(r, STATS_A), r->arms[STATS_A].label,
			 report_letter(r, STATS_B), r->arms[STATS_B].label);
		report_wrap(out, 0, 0, text);
	}
	fputc('\n', out);
	report_put_arm(out, r, STATS_A);
	report_put_arm(out, r, STATS_B);
	put_kind(out, r);
	report_put_machine(out, r);
	snprintf(text, sizeof(text),
		 "%zu of %zu blocks complete, four boots each (ABBA or BAAB), seed %llu; one boot "
		 "is one sample",
		 r->blocks_complete, r->blocks_planned, (unsigned long long)r->seed);
	report_line(out, "plan", text);
	report_put_sizing(out, r);
	report_put_margin(out, r);
	report_put_shown(out, r);
}

static void cells(FILE *out, const char *label, const char *a, const char *b)
{
	fprintf(out, "  %-*s%*s%*s\n", LABEL, label, CELL, a, CELL, b);
}

static void count_cells(FILE *out, const char *label, uint64_t a, uint64_t b)
{
	char text[2][24];

	snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)a);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)b);
	cells(out, label, text[0], text[1]);
}

/* Where an arm's boots are all alike it has no interval, and where both are the line is left out.
 */
static void put_medians(FILE *out, const struct stats_comparison *c, int d)
{
	char text[2][2 * REPORT_NUMBER_MAX + 8];

	cells(out, "median of boots", report_number(c->median[STATS_A], d).text,
	      report_number(c->median[STATS_B], d).text);
	for (int arm = 0; arm < 2; arm++) {
		const struct stats_interval *iv = &c->median_interval[arm];

		if (isfinite(iv->lo) && isfinite(iv->hi)) {
			snprintf(text[arm], sizeof(text[arm]), "[%s, %s]",
				 report_number(iv->lo, d).text, report_number(iv->hi, d).text);
		} else {
			snprintf(text[arm], sizeof(text[arm]),
				 isnan(iv->lo) ? "all are equal" : "unbounded");
		}
	}
	if (isnan(c->median_interval[STATS_A].lo) && isnan(c->median_interval[STATS_B].lo)) {
		cells(out, "boots of an arm", text[STATS_A], text[STATS_B]);
	} else {
		cells(out, "its 95 % interval", text[STATS_A], text[STATS_B]);
	}
}

/* What a mean of samples hides: where their middle and their ends are. */
static void put_histogram(FILE *out, const struct report_bench *b)
{
	int d = report_bench_decimals(b);

	if (b->histogram[STATS_A].n == 0 || b->histogram[STATS_B].n == 0) {
		return;
	}
	for (size_t i = 0; i < REPORT_SPREADS; i++) {
		struct report_number n[2];
		char label[LABEL];

		snprintf(label, sizeof(label), "  %s", report_spreads[i].label);
		for (int side = 0; side < 2; side++) {
			n[side] = report_number(
				histogram_quantile(&b->histogram[side], report_spreads[i].q), d);
		}
		cells(out, label, n[STATS_A].text, n[STATS_B].text);
	}
}

static void put_batches(FILE *out, const struct report_bench *b)
{
	const struct report_batches *n = b->batches;

	count_cells(out, "boots", report_boots(b), report_boots(b));
	if (b->boots_lost[STATS_A] || b->boots_lost[STATS_B]) {
		count_cells(out, "boots without value", b->boots_lost[STATS_A],
			    b->boots_lost[STATS_B]);
	}
	if (b->is_probe) {
		count_cells(out, "samples", b->samples[STATS_A], b->samples[STATS_B]);
		put_histogram(out, b);
		return;
	}
	count_cells(out, "batches", n[STATS_A].total, n[STATS_B].total);
	count_cells(out, "dirty, left out", n[STATS_A].dirty, n[STATS_B].dirty);
	for (int i = 0; i < DISTURBANCE_COUNT; i++) {
		if (n[STATS_A].by_cause[i] || n[STATS_B].by_cause[i]) {
			char label[LABEL];

			snprintf(label, sizeof(label), "  by %s",
				 disturbance_name((enum disturbance)i));
			count_cells(out, label, n[STATS_A].by_cause[i], n[STATS_B].by_cause[i]);
		}
	}
}

__printf(3, 4) static void value(FILE *out, const char *label, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_wrap(out, (size_t)fprintf(out, "  %-*s", LABEL, label), 2 + LABEL, text);
}

/* How often in a second: what some people know such work by. */
static void put_rate(FILE *out, const struct report *r, const struct report_bench *b)
{
	const double *median = b->result.median;
	char label[LABEL], text[2][REPORT_NUMBER_MAX];

	if (!(b->units_hz > 0) || !(median[STATS_A] > 0) || !(median[STATS_B] > 0)) {
		return;
	}
	for (int arm = 0; arm < 2; arm++) {
		double rate = b->units_hz / median[arm];

		snprintf(text[arm], sizeof(text[arm]), "%s",
			 report_number(rate, rate < 100 ? 1 : 0).text);
	}
	snprintf(label, sizeof(label), "%ss/s", b->per);
	cells(out, label, text[STATS_A], text[STATS_B]);
	if (r->class == EXEC_ICOUNT) {
		value(out, "", "of the guest's time: an instruction is %s ns there, whatever it is",
		      report_number(1e9 / b->units_hz, 0).text);
	}
}

static void put_p(FILE *out, const struct report *r, const struct stats_comparison *c)
{
	const char *how = c->p_exact ? "exact" : "drawn";
	size_t family = r->family;

	if (family > 1) {
		value(out, "p",
		      "%s, %s sign-flip over %zu block%s; %s by Holm among %zu benchmarks",
		      report_p(c->p).text, how, c->blocks, c->blocks == 1 ? "" : "s",
		      report_p(c->p_holm).text, family);
	} else {
		value(out, "p", "%s, %s sign-flip over %zu block%s", report_p(c->p).text, how,
		      c->blocks, c->blocks == 1 ? "" : "s");
	}
}

static void put_noise(FILE *out, const struct report_bench *b, int d)
{
	char text[REPORT_SENTENCE_MAX];

	if (report_noise_words(b, d, text, sizeof(text))) {
		value(out, "noise floor", "%s", text);
	}
}

/* Nothing varies: there is a number, and nothing to say of its chance. */
static void put_exact(FILE *out, const struct report *r, const struct report_bench *b, int d)
{
	const struct stats_comparison *c = &b->result;
	char a_side = report_letter(r, STATS_A);
	char label[LABEL];
	char where[REPORT_SENTENCE_MAX];

	report_exact_where(b, where, sizeof(where));
	snprintf(label, sizeof(label), "effect, %c - %c", report_letter(r, STATS_B), a_side);
	value(out, label, "%s exactly, %s", report_number_signed(c->effect, d).text, where);
	snprintf(label, sizeof(label), "  of %c's median", a_side);
	value(out, label, "%s %%", report_number_signed(report_percent_of_a(b, c->effect), 3).text);
	put_noise(out, b, d);
}

static void put_effect(FILE *out, const struct report *r, const struct report_bench *b, int d)
{
	const struct stats_comparison *c = &b->result;
	char a_side = report_letter(r, STATS_A);
	char label[LABEL];
	int pd = report_decimals(report_percent_of_a(b, c->interval.hi - c->interval.lo) / 2, 2, 3);

	if (b->margin_abs > 0) {
		char text[REPORT_SENTENCE_MAX];

		report_margin_words(r, b->margin_abs, b->margin_rel, text, sizeof(text));
		value(out, "margin", "%s", text);
	}
	if (c->exact) {
		put_exact(out, r, b, d);
		return;
	}
	value(out, "smallest detectable", "%s (found in 4 experiments of 5)",
	      report_number(c->mde, d).text);
	snprintf(label, sizeof(label), "effect, %c - %c", report_letter(r, STATS_B), a_side);
	value(out, label, "%s, 95 %% interval [%s, %s] (%.1f %% achieved)",
	      report_number_signed(c->effect, d).text, report_number_signed(c->interval.lo, d).text,
	      report_number_signed(c->interval.hi, d).text, 100 * c->interval.level);
	snprintf(label, sizeof(label), "  of %c's median", a_side);
	value(out, label, "%s %%, [%s, %s]",
	      report_number_signed(report_percent_of_a(b, c->effect), pd).text,
	      report_number_signed(report_percent_of_a(b, c->interval.lo), pd).text,
	      report_number_signed(report_percent_of_a(b, c->interval.hi), pd).text);
	put_noise(out, b, d);
	if (c->reason == REASON_INCOMPLETE) {
		return;
	}
	put_p(out, r, c);
	if (isnan(c->p_unpaired)) {
		value(out, "blocks ignored", "all values are equal");
	} else {
		value(out, "blocks ignored", "shift %s, [%s, %s], p %s (Mann-Whitney)",
		      report_number_signed(c->shift, d).text,
		      report_number_signed(c->shift_interval.lo, d).text,
		      report_number_signed(c->shift_interval.hi, d).text,
		      report_p(c->p_unpaired).text);
	}
}

/**
 * report_put_bench() - the section of one benchmark
 * @out: where to
 * @r: computed
 * @b: one of its benchmarks
 * @colour: colour the verdict
 *
 * Context: any thread that owns @out.
 */
void report_put_bench(FILE *out, const struct report *r, const struct report_bench *b, bool colour)
{
	char letters[2][2] = {{report_letter(r, STATS_A)}, {report_letter(r, STATS_B)}};
	char text[REPORT_SENTENCE_MAX];
	int d = report_bench_decimals(b);
	size_t at;

	fprintf(out, "\n%s: %s per %s, lower is better\n", b->name, exec_class_unit(r->class),
		b->per);
	cells(out, "", letters[STATS_A], letters[STATS_B]);
	if (b->result.blocks > 0) {
		put_medians(out, &b->result, d);
		put_rate(out, r, b);
	}
	put_batches(out, b);
	if (b->result.blocks > 0) {
		put_effect(out, r, b, d);
	}
	if (b->error) {
		value(out, "error", "%s", b->error);
	}
	fprintf(out, "  %-*s", LABEL, "verdict");
	put_verdict(out, b->result.verdict, colour);
	fputs(": ", out);
	report_sentence(r, b, text, sizeof(text));
	at = 2 + LABEL + strlen(stats_verdict_name(b->result.verdict)) + 2;
	report_wrap(out, at, 2 + LABEL, text);
	for (int w = 0; w < REPORT_WARNINGS; w++) {
		if (*b->warnings[w] && w != b->decided_by) {
			snprintf(text, sizeof(text), "(%s) %s.",
				 report_warning_name((enum report_warning)w), b->warnings[w]);
			fprintf(out, "  %-*s", LABEL, "warning");
			report_wrap(out, 2 + LABEL, 2 + LABEL, text);
		}
	}
}

/**
 * report_put_table() - a row for each benchmark
 * @out: where to
 * @r: computed
 * @colour: colour the verdicts
 *
 * Context: any thread that owns @out.
 */
void report_put_table(FILE *out, const struct report *r, bool colour)
{
	char a = report_letter(r, STATS_A), b_side = report_letter(r, STATS_B);

	fprintf(out, "\n  %-*s %10c %10c %6c - %c %8s %c  %s\n", NAME, exec_class_unit(r->class), a,
		b_side, b_side, a, "of", a, "verdict");
	for (size_t i = 0; i < r->n_benches; i++) {
		const struct report_bench *b = &r->benches[i];
		const struct stats_comparison *c = &b->result;
		int d = report_bench_decimals(b);
		double percent = report_percent_of_a(b, c->interval.hi - c->interval.lo) / 2;
		struct report_number share = report_number_signed(report_percent_of_a(b, c->effect),
								  report_decimals(percent, 2, 3));
		char of_a[REPORT_NUMBER_MAX + 4];

		snprintf(of_a, sizeof(of_a), "%s%s", share.text, c->blocks ? " %" : "");
		fputs("  ", out);
		report_put_clean(out, b->name, strlen(b->name));
		if (strlen(b->name) > NAME) {
			fprintf(out, "\n  %-*s", NAME, "");
		} else {
			fprintf(out, "%*s", (int)(NAME - strlen(b->name)), "");
		}
		fprintf(out, " %10s %10s %10s %10s  ", report_number(c->median[STATS_A], d).text,
			report_number(c->median[STATS_B], d).text,
			report_number_signed(c->effect, d).text, of_a);
		put_verdict(out, c->verdict, colour);
		fputc('\n', out);
		if (b->noise_of > 0) {
			fprintf(out, "  %-*s %10s %10s %10s\n", NAME, "  noise floor", "", "",
				report_number(b->noise, d).text);
		}
	}
}

/**
 * report_text() - write the report for people
 * @r: computed
 * @out: where to
 * @colour: colour the verdicts; see report_wants_colour()
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_text(const struct report *r, FILE *out, bool colour)
{
	put_head(out, r);
	for (size_t i = 0; i < r->n_benches; i++) {
		report_put_bench(out, r, &r->benches[i], colour);
	}
	report_put_table(out, r, colour);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
