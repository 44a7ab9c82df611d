/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for programs: the same content as the text, in full precision. A number that cannot
 * be had, or is infinite, is null.
 */
#include <math.h>

#include "report/report_priv.h"

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *interval(const struct stats_interval *iv)
{
	return json_pack("{s:o, s:o, s:o}", "low", number(iv->lo), "high", number(iv->hi), "level",
			 number(iv->level));
}

static json_t *arm(const struct report_arm *a)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "label", text_or_null(a->label),
			 "kernel", text_or_null(a->kernel), "kernel_version",
			 text_or_null(a->kernel_version), "kernel_sha256",
			 text_or_null(a->kernel_sha256), "append", text_or_null(a->append), "task",
			 text_or_null(a->task));
}

/* NULL where it is not recorded how the samples of a counter are spread. */
static json_t *sample_quantiles(const struct report_bench *b, int side)
{
	const struct histogram *h = &b->histogram[side];
	json_t *o = h->n > 0 ? json_object() : NULL;

	for (size_t i = 0; o && i < REPORT_SPREADS; i++) {
		json_object_set_new(o, report_spreads[i].key,
				    number(histogram_quantile(h, report_spreads[i].q)));
	}
	return o;
}

static json_t *bench_arm(const struct report_bench *b, int side)
{
	const struct report_batches *n = &b->batches[side];
	json_t *causes = json_object();
	json_t *values = json_array();

	for (int i = 0; i < DISTURBANCE_COUNT; i++) {
		json_object_set_new(causes, disturbance_name((enum disturbance)i),
				    json_integer((json_int_t)n->by_cause[i]));
	}
	for (size_t k = 0; k < b->n_blocks; k++) {
		const double *boots = side == STATS_A ? b->blocks[k].a : b->blocks[k].b;

		json_array_append_new(values, number(boots[0]));
		json_array_append_new(values, number(boots[1]));
	}
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:o*, s:o}", "median",
			 number(b->result.median[side]), "interval",
			 interval(&b->result.median_interval[side]), "boots",
			 (json_int_t)report_boots(b), "boots_lost", (json_int_t)b->boots_lost[side],
			 "batches", (json_int_t)n->total, "dirty", (json_int_t)n->dirty,
			 "dirty_by_cause", causes, "samples", (json_int_t)b->samples[side],
			 "sample_quantiles", sample_quantiles(b, side), "boot_values", values);
}

static json_t *effect(const struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;
	json_t *diffs = json_array();

	for (size_t k = 0; k < c->blocks; k++) {
		json_array_append_new(diffs, number(c->diffs[k]));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:[o, o], s:o}", "value", number(c->effect),
			 "interval", interval(&c->interval), "interval90", interval(&c->interval90),
			 "percent_of_a", number(report_percent_of_a(b, c->effect)),
			 "percent_of_a_interval", number(report_percent_of_a(b, c->interval.lo)),
			 number(report_percent_of_a(b, c->interval.hi)), "block_differences",
			 diffs);
}

/* NULL where there are no batches. */
static json_t *quantile_shift(const struct report_bench *b)
{
	json_t *points = b->shift_known ? json_array() : NULL;

	for (size_t i = 0; points && i < STATS_SHIFT_QUANTILES; i++) {
		const struct stats_shift_point *p = &b->shift[i];

		json_array_append_new(points,
				      json_pack("{s:o, s:o, s:o, s:o}", "quantile", number(p->q),
						"a", number(p->a), "b", number(p->b), "difference",
						number(p->diff)));
	}
	return points;
}

static json_t *warnings(const struct report_bench *b)
{
	json_t *list = json_array();

	for (int w = 0; w < REPORT_WARNINGS; w++) {
		if (*b->warnings[w]) {
			json_array_append_new(
				list, json_pack("{s:s, s:s, s:b}", "kind",
						report_warning_name((enum report_warning)w), "text",
						b->warnings[w], "decides", w == b->decided_by));
		}
	}
	return list;
}

/* NULL where none is shown. */
static json_t *rate(const struct report_bench *b)
{
	const double *median = b->result.median;

	return b->units_hz > 0
		       ? json_pack("{s:o, s:o, s:o}", "units_per_second", number(b->units_hz), "a",
				   number(b->units_hz / median[STATS_A]), "b",
				   number(b->units_hz / median[STATS_B]))
		       : NULL;
}

/* NULL where it is not known. */
static json_t *noise(const struct report_bench *b)
{
	return b->noise_of > 0 ? json_pack("{s:o, s:I, s:I, s:I}", "value", number(b->noise),
					   "comparisons", (json_int_t)b->noise_of, "blocks_least",
					   (json_int_t)b->noise_blocks[0], "blocks_most",
					   (json_int_t)b->noise_blocks[1])
			       : NULL;
}

static json_t *bench(const struct report *r, const struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;
	char sentence[REPORT_SENTENCE_MAX];
	json_t *p;
	json_t *unpaired;

	report_sentence(r, b, sentence, sizeof(sentence));
	p = json_pack("{s:o, s:s, s:o, s:o}", "value", number(c->p), "method",
		      c->reason == REASON_INCOMPLETE ? "none: boots are missing"
		      : c->exact                     ? "none: nothing varies"
		      : c->p_exact                   ? "sign-flip, exact"
						     : "sign-flip, drawn",
		      "holm", number(c->p_holm), "benjamini_hochberg", number(c->p_bh));
	unpaired = json_pack("{s:o, s:o, s:o}", "p", number(c->p_unpaired), "shift",
			     number(c->shift), "interval", interval(&c->shift_interval));
	return json_pack(
		"{s:s, s:s, s:s, s:b, s:I, s:o, s:{s:o, s:o}, s:I, s:o, s:o, s:o, s:o, s:o, "
		"s:b, s:b, s:s, s:s, s:s*, s:s, s:o, s:o*, s:o*, s:o*}",
		"name", b->name, "per", b->per, "unit", exec_class_unit(r->class), "probe",
		b->is_probe, "calls_per_batch", (json_int_t)b->calls, "error",
		text_or_null(b->error), "arms", "a", bench_arm(b, STATS_A), "b",
		bench_arm(b, STATS_B), "blocks", (json_int_t)c->blocks,
		"smallest_detectable_effect", number(c->mde), "effect", effect(b), "p", p,
		"unpaired", unpaired, "margin", number(c->margin), "significant", c->significant,
		"exact", c->exact, "verdict", stats_verdict_name(c->verdict), "reason",
		stats_reason_name(c->reason), "gate",
		b->gate == REPORT_GATE_NONE ? NULL : report_gate_name(b->gate), "text", sentence,
		"warnings", warnings(b), "quantile_shift", quantile_shift(b), "rate", rate(b),
		"noise_floor", noise(b));
}

/* NULL where the number of blocks was given. */
static json_t *sizing(const struct report *r)
{
	return r->blocks_by ? json_pack("{s:s, s:s, s:I}", "by", r->blocks_by, "pilot", r->pilot,
					"pilot_blocks", (json_int_t)r->pilot_blocks)
			    : NULL;
}

/**
 * report_json() - the report as one JSON object
 * @r: computed
 *
 * Return: the object, the caller's to json_decref(); NULL without memory, or where a text of the
 * report is not UTF-8.
 * Context: any thread.
 */
json_t *report_json(const struct report *r)
{
	json_t *benches = json_array();

	for (size_t i = 0; i < r->n_benches; i++) {
		if (json_array_append_new(benches, bench(r, &r->benches[i])) < 0) {
			json_decref(benches);
			return NULL;
		}
	}
	return json_pack(
		"{s:i, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:b, s:b, s:s, s:s, s:o, s:I, s:{s:o, s:o, s:o, s:o, s:o}, "
		"s:I, s:{s:I, s:I}, s:I, s:I, s:o*, s:{s:o, s:o}, s:o, s:I, s:s*, s:i}",
		"schema_version", REPORT_SCHEMA_VERSION, "type", "report", "title",
		text_or_null(r->title), "group", text_or_null(r->group), "ringside",
		text_or_null(r->ringside_version), "arms", "a", arm(&r->arms[STATS_A]), "b",
		arm(&r->arms[STATS_B]), "same_image", r->same_image, "same_arm", r->same_arm,
		"class", exec_class_name(r->class), "unit", exec_class_unit(r->class), "backend",
		text_or_null(r->backend), "ticks_per_unit", (json_int_t)r->ticks_per_unit, "host",
		"cpu", text_or_null(r->host_cpu), "kernel", text_or_null(r->host_kernel),
		"clocksource", text_or_null(r->host_clock), "qemu", text_or_null(r->qemu_version),
		"names", text_or_null(r->hosts), "seed", (json_int_t)r->seed, "blocks", "planned",
		(json_int_t)r->blocks_planned, "complete", (json_int_t)r->blocks_complete,
		"boots_planned", (json_int_t)r->boots_planned, "boots_recorded",
		(json_int_t)r->boots_recorded, "sizing", sizing(r), "margin", "absolute",
		number(r->margin_abs), "of_a", number(r->margin_rel), "benchmarks", benches,
		"family", (json_int_t)r->family, "filtered", r->filtered, "exit_status",
		report_exit_status(r));
}
