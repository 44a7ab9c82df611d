/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page: the verdicts first, then what was claimed, then each comparison with its numbers and
 * charts, and at the end all that is needed to make it again. Every text of the records goes
 * through report_html_text(): nothing that a guest or a scenario says is markup here.
 */
#include "report/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/html_priv.h"
#include "report/matrix.h"

/**
 * report_html_text() - write a text as text
 * @out: where to
 * @s: any bytes, or NULL for nothing; control characters (text_control_len()) become '?'
 *
 * Context: any thread that owns @out.
 */
void report_html_text(FILE *out, const char *s)
{
	for (; s && *s; s++) {
		size_t control = *s == '\n' || *s == '\t' ? 0 : text_control_len(s);

		if (control) {
			fputc('?', out);
			s += control - 1;
			continue;
		}
		switch (*s) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*s, out);
		}
	}
}

/* A verdict as word and sign: the colour only repeats it. */
static void put_verdict(FILE *out, enum stats_verdict v)
{
	static const char *const signs[] = {
		[VERDICT_BETTER] = "\u25bc",
		[VERDICT_WORSE] = "\u25b2",
		[VERDICT_EQUIVALENT] = "=",
		[VERDICT_INCONCLUSIVE] = "?",
	};
	const char *name = stats_verdict_name(v);

	fprintf(out, "<span class=\"v %s\"><span aria-hidden=\"true\">%s</span> %s</span>", name,
		signs[v], name);
}

static void put_id(FILE *out, size_t report, size_t bench)
{
	fprintf(out, "c%zu-b%zu", report + 1, bench + 1);
}

/* @label: its column, said beside it where the table is too narrow for columns. */
static void put_cell(FILE *out, const char *label, struct report_number n, const char *behind)
{
	fprintf(out, "<td class=\"n\" data-l=\"%s\">%s%s</td>", label, n.text, behind);
}

/* One row of the table that comes first. */
static void put_row(FILE *out, const struct report *r, size_t at, size_t k)
{
	const struct report_bench *b = &r->benches[k];
	const struct stats_comparison *c = &b->result;
	int d = report_bench_decimals(b);
	double half = report_percent_of_a(b, c->interval.hi - c->interval.lo) / 2;
	const char letters[2] = {report_letter(r, STATS_A), report_letter(r, STATS_B)};
	const char a[] = {letters[STATS_A], '\0'}, b_side[] = {letters[STATS_B], '\0'};
	const char diff[] = {letters[STATS_B], ' ', '-', ' ', letters[STATS_A], '\0'};
	const char share[] = {'o', 'f', ' ', letters[STATS_A], '\0'};
	bool any = c->blocks > 0;
	char interval[REPORT_INTERVAL_MAX];
	bool warned = false;

	for (int w = 0; w < REPORT_WARNINGS; w++) {
		warned |= *b->warnings[w] != '\0';
	}
	fputs("<tr><th scope=\"row\"><a href=\"#", out);
	put_id(out, at, k);
	fputs("\">", out);
	report_html_text(out, b->name);
	fputs("</a></th>", out);
	put_cell(out, a, report_number(c->median[STATS_A], d), "");
	put_cell(out, b_side, report_number(c->median[STATS_B], d), "");
	put_cell(out, diff, report_number_signed(c->effect, d), "");
	fprintf(out, "<td class=\"n\" data-l=\"95 %% interval\">%s</td>",
		report_interval(c, d, interval, sizeof(interval)));
	put_cell(out, share,
		 report_number_signed(report_percent_of_a(b, c->effect),
				      report_decimals(half, 2, 3)),
		 any ? " %" : "");
	fputs("<td data-l=\"verdict\"><span>", out);
	put_verdict(out, c->verdict);
	fprintf(out, "%s</span></td></tr>\n",
		warned ? " <span class=\"v\">! see warning</span>" : "");
}

static void put_comparison(FILE *out, const struct report *r)
{
	if (r->group) {
		report_html_text(out, r->group);
		fputs(": ", out);
	}
	fprintf(out, "%c (", report_letter(r, STATS_A));
	report_html_text(out, r->arms[STATS_A].label);
	fprintf(out, ") against %c (", report_letter(r, STATS_B));
	report_html_text(out, r->arms[STATS_B].label);
	fputc(')', out);
}

static void put_table(FILE *out, const struct report *r, size_t at)
{
	char a = report_letter(r, STATS_A), b = report_letter(r, STATS_B);

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"verdicts\"><table class=\"r\">"
	      "<caption>",
	      out);
	put_comparison(out, r);
	fprintf(out,
		"; %s, lower is better; %zu of %zu blocks complete</caption><thead><tr><th "
		"scope=\"col\">benchmark</th><th scope=\"col\" class=\"n\">%c</th><th scope=\"col\" "
		"class=\"n\">%c</th><th scope=\"col\" class=\"n\">%c - %c</th><th scope=\"col\" "
		"class=\"n\">95 %% interval</th><th scope=\"col\" class=\"n\">of %c</th><th "
		"scope=\"col\">verdict</th></tr></thead><tbody>\n",
		exec_class_unit(r->class), r->blocks_complete, r->blocks_planned, a, b, b, a, a);
	for (size_t k = 0; k < r->n_benches; k++) {
		put_row(out, r, at, k);
	}
	if (r->n_benches == 0) {
		fputs("<tr><td colspan=\"7\">no boot has given numbers</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_claims(FILE *out, const struct report_set *s)
{
	fputs("<h2 id=\"claims\">Claimed, measured, at best</h2>\n<div class=\"scroll\" tabindex=\"0\" "
	      "role=\"region\" aria-label=\"claims\"><table class=\"r\"><thead><tr><th "
	      "scope=\"col\">claimed</th><th scope=\"col\">measured here</th><th "
	      "scope=\"col\">floor: at best here</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < s->n_claims; i++) {
		static const char *const heads[] = {"claimed", "measured here", "at best here"};
		struct report_cell cells[3] = {0};

		report_claim_words(&cells[0], s->claims[i].claim);
		report_measured_words(&cells[1], &s->claims[i]);
		report_floor_words(&cells[2], &s->claims[i].floor);
		fputs("<tr>", out);
		for (int k = 0; k < 3; k++) {
			fprintf(out, "<td class=\"w\" data-l=\"%s\">", heads[k]);
			report_html_text(out, cells[k].text);
			if (k == 1) {
				report_html_claim(out, &s->claims[i]);
			}
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_fact(FILE *out, const char *what, const char *text)
{
	if (text) {
		fprintf(out, "<dt>%s</dt><dd>", what);
		report_html_text(out, text);
		fputs("</dd>\n", out);
	}
}

static void put_samples(FILE *out, const struct report *r, const struct report_bench *b, int side)
{
	const struct histogram *h = &b->histogram[side];

	fprintf(out, "<dt>samples of %c</dt><dd>%llu", report_letter(r, side),
		(unsigned long long)b->samples[side]);
	for (size_t i = 0; h->n > 0 && i < REPORT_SPREADS; i++) {
		fprintf(out, ", %s %s", report_spreads[i].label,
			report_number(histogram_quantile(h, report_spreads[i].q),
				      report_bench_decimals(b))
				.text);
	}
	fputs("</dd>\n", out);
}

static void put_batches(FILE *out, const struct report *r, const struct report_bench *b)
{
	for (int side = 0; side < 2; side++) {
		const struct report_batches *n = &b->batches[side];

		if (b->is_probe) {
			put_samples(out, r, b, side);
			continue;
		}
		fprintf(out, "<dt>batches of %c</dt><dd>%llu, %llu disturbed and left out",
			report_letter(r, side), (unsigned long long)n->total,
			(unsigned long long)n->dirty);
		for (int i = 0; i < DISTURBANCE_COUNT; i++) {
			if (n->by_cause[i]) {
				fprintf(out, ", %s %llu", disturbance_name((enum disturbance)i),
					(unsigned long long)n->by_cause[i]);
			}
		}
		fputs("</dd>\n", out);
	}
}

/* Every boot's value, for who wants the numbers behind the dots. */
static void put_values(FILE *out, const struct report *r, const struct report_bench *b)
{
	int d = report_bench_decimals(b);

	if (b->n_boots == 0) {
		return;
	}
	fputs("<details><summary>Values of all boots</summary><div class=\"scroll\" tabindex=\"0\" "
	      "role=\"region\" aria-label=\"values of all boots\"><table><thead><tr><th scope=\"col\" "
	      "class=\"n\">boot</th><th scope=\"col\">arm</th><th scope=\"col\" "
	      "class=\"n\">value</th><th scope=\"col\">counts</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < b->n_boots; i++) {
		const struct report_boot *boot = &b->boots[i];

		fprintf(out,
			"<tr><td class=\"n\">%zu</td><td>%c</td><td class=\"n\">%s</td><td>%s</td></tr>\n",
			boot->slot + 1, report_letter(r, boot->side),
			report_number(boot->value, d + 1).text, boot->counts ? "yes" : "no");
	}
	fputs("</tbody></table></div></details>\n", out);
}

static void put_bench(FILE *out, const struct report *r, size_t at, size_t k)
{
	const struct report_bench *b = &r->benches[k];
	const struct stats_comparison *c = &b->result;
	char text[REPORT_SENTENCE_MAX];
	int d = report_bench_decimals(b);

	fputs("<section aria-labelledby=\"", out);
	put_id(out, at, k);
	fputs("\"><h3 id=\"", out);
	put_id(out, at, k);
	fputs("\">", out);
	report_html_text(out, b->name);
	fprintf(out, ": %s per ", exec_class_unit(r->class));
	report_html_text(out, b->per);
	fputs("</h3>\n<p>", out);
	put_verdict(out, c->verdict);
	fputs(": ", out);
	report_sentence(r, b, text, sizeof(text));
	report_html_text(out, text);
	fputs("</p>\n", out);
	for (int w = 0; w < REPORT_WARNINGS; w++) {
		if (*b->warnings[w]) {
			fprintf(out, "<p class=\"warn\"><strong>Warning (%s):</strong> ",
				report_warning_name((enum report_warning)w));
			report_html_text(out, b->warnings[w]);
			fprintf(out, ".%s</p>\n",
				w == b->decided_by ? " It took the verdict back." : "");
		}
	}
	fputs("<div class=\"charts\">\n", out);
	report_html_differences(out, r, b);
	report_html_boots(out, r, b);
	report_html_batches(out, r, b);
	report_html_samples(out, r, b);
	report_html_shift(out, r, b);
	fputs("</div>\n<dl>\n", out);
	put_batches(out, r, b);
	if (b->margin_abs > 0) {
		report_margin_words(r, b->margin_abs, b->margin_rel, text, sizeof(text));
		put_fact(out, "margin", text);
	}
	if (c->exact) {
		report_exact_where(b, text, sizeof(text));
		put_fact(out, "exact", text);
	} else if (c->blocks > 0) {
		fprintf(out,
			"<dt>smallest detectable</dt><dd>%s, found in 4 experiments of 5</dd>\n",
			report_number(c->mde, d).text);
	}
	if (!c->exact && c->blocks > 0 && c->reason != REASON_INCOMPLETE) {
		fprintf(out,
			"<dt>p</dt><dd>%s, %s sign-flip over %zu blocks; %s by Holm among %zu</dd>\n",
			report_p(c->p).text, c->p_exact ? "exact" : "drawn", c->blocks,
			report_p(c->p_holm).text, r->family);
	}
	if (report_noise_words(b, d, text, sizeof(text))) {
		put_fact(out, "noise floor", text);
	}
	put_fact(out, "error", b->error);
	fputs("</dl>\n", out);
	put_values(out, r, b);
	fputs("</section>\n", out);
}

static void put_arm(FILE *out, const struct report *r, int side)
{
	const struct report_arm *a = &r->arms[side];

	fprintf(out, "<dt>%c</dt><dd>", report_letter(r, side));
	report_html_text(out, a->label);
	fputs("; kernel ", out);
	report_html_text(out, a->kernel);
	if (a->kernel_version) {
		fputs(", ", out);
		report_html_text(out, a->kernel_version);
	}
	if (a->append && *a->append) {
		fputs("; append <code>", out);
		report_html_text(out, a->append);
		fputs("</code>", out);
	}
	if (a->task) {
		fputs("; task ", out);
		report_html_text(out, a->task);
	}
	if (a->kernel_sha256) {
		fputs("<br>sha256 <code>", out);
		report_html_text(out, a->kernel_sha256);
		fputs("</code>", out);
	}
	fputs("</dd>\n", out);
}

static void put_margin(FILE *out, const struct report *r)
{
	char text[160];

	report_margin_words(r, r->margin_abs, r->margin_rel, text, sizeof(text));
	put_fact(out, "margin", text);
}

static void put_provenance(FILE *out, const struct report_set *s, const struct report_html *h)
{
	const struct report *r = s->reports[0];
	char text[160];

	fputs("<h2 id=\"provenance\">Where the numbers are from</h2>\n<dl>\n", out);
	snprintf(text, sizeof(text), "%s: %s", exec_class_name(r->class),
		 exec_class_about(r->class));
	put_fact(out, "class", text);
	put_fact(out, "ringside", r->ringside_version);
	put_fact(out, "backend", r->backend);
	put_fact(out, "host", r->host_cpu);
	put_fact(out, "host's kernel", r->host_kernel);
	put_fact(out, "host's clock", r->host_clock);
	put_fact(out, "QEMU", r->qemu_version);
	snprintf(text, sizeof(text), "%zu of %zu boots recorded, seed %llu; one boot is one sample",
		 s->boots_recorded, s->boots_planned, (unsigned long long)r->seed);
	put_fact(out, "plan", text);
	put_fact(out, "shown", r->filtered);
	if (report_set_has_one_margin(s)) {
		put_margin(out, r);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		if (report_set_begins_group(s, i)) {
			put_fact(out, "group", s->reports[i]->group);
			if (!report_set_has_one_margin(s)) {
				put_margin(out, s->reports[i]);
			}
			put_arm(out, s->reports[i], STATS_A);
		}
		put_arm(out, s->reports[i], STATS_B);
	}
	put_fact(out, "records", h->file);
	if (h->sha256) {
		fputs("<dt>their sha256</dt><dd><code>", out);
		report_html_text(out, h->sha256);
		fputs("</code></dd>\n", out);
	}
	fputs("</dl>\n", out);
}

/**
 * report_set_html() - write all comparisons as one page
 * @s: of computed reports, at least one
 * @h: what only the caller knows
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_html(const struct report_set *s, const struct report_html *h, FILE *out)
{
	const char *title = s->title ? s->title : "Comparison of guest kernels";
	const char *reading = report_reading(s->reports[0]->class);

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
	      "name=\"viewport\" content=\"width=device-width,initial-scale=1\"><meta "
	      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	      "'unsafe-inline'\"><title>",
	      out);
	report_html_text(out, title);
	fprintf(out, "</title><style>%s</style></head><body>\n", report_html_style);
	fputs("<a class=\"skip\" href=\"#provenance\">To where the numbers are from</a>\n<main><h1>",
	      out);
	report_html_text(out, title);
	fputs("</h1>\n", out);
	if (reading) {
		fputs("<p>", out);
		report_html_text(out, reading);
		fputs("</p>\n", out);
	}
	if (s->boots_recorded < s->boots_planned) {
		fprintf(out,
			"<p class=\"warn\"><strong>Not complete:</strong> %zu of %zu boots are "
			"recorded; what they say so far is no verdict.</p>\n",
			s->boots_recorded, s->boots_planned);
	}
	if (s->aa) {
		report_aa_html(s, out);
	}
	fputs("<h2 id=\"verdicts\">Verdicts</h2>\n", out);
	if (s->gate) {
		fputs("<p class=\"gate\">", out);
		report_html_text(out, s->gate->text);
		fputs("</p>\n", out);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		put_table(out, s->reports[i], i);
	}
	report_matrix_html(s, out);
	if (s->n_claims > 0) {
		put_claims(out, s);
	}
	for (size_t i = 0; i < s->n_reports; i++) {
		if (s->reports[i]->n_benches == 0) {
			continue;
		}
		fputs("<h2>", out);
		put_comparison(out, s->reports[i]);
		fputs("</h2>\n", out);
		for (size_t k = 0; k < s->reports[i]->n_benches; k++) {
			put_bench(out, s->reports[i], i, k);
		}
	}
	put_provenance(out, s, h);
	fputs("</main></body></html>\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
