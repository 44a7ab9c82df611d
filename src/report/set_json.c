/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of reports for programs. One plain comparison is written as report_json() writes it. */
#include <math.h>

#include "report/matrix.h"
#include "report/report_priv.h"

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *floor_to_json(const struct report_floor *f)
{
	if (!f->unit) {
		return json_pack("{s:s?, s:n, s:s?, s:s?}", "id", f->id, "value", "reason",
				 f->reason, "formula", f->formula);
	}
	return json_pack("{s:s?, s:s, s:o, s:o, s:o, s:s?, s:I}", "id", f->id, "unit", f->unit,
			 "value", number(f->value), "low", number(f->low), "high", number(f->high),
			 "formula", f->formula, "replicates", (json_int_t)f->n);
}

/* What the claim says, what was measured, and the floor. */
static json_t *claim_row(const struct report_claim *c)
{
	json_t *measured = json_null();

	if (c->bench) {
		const struct stats_comparison *s = &c->bench->result;

		measured = json_pack(
			"{s:s, s:s, s:s, s:s, s:o, s:{s:o, s:o, s:o}, s:o, s:s, s:I, s:s}", "class",
			exec_class_name(c->report->class), "unit",
			exec_class_unit(c->report->class), "per", c->bench->per, "row",
			c->bench->name, "effect", number(s->effect), "interval", "low",
			number(s->interval.lo), "high", number(s->interval.hi), "level",
			number(s->interval.level), "percent",
			number(report_percent_of_a(c->bench, s->effect)), "percent_of",
			c->claim->against ? c->claim->against : c->report->arms[STATS_A].label,
			"boots_of_each_side", (json_int_t)report_boots(c->bench), "verdict",
			stats_verdict_name(s->verdict));
	}
	return json_pack("{s:s?, s:s, s:o, s:o, s:s?, s:o}", "group", c->group, "arm",
			 c->report->arms[STATS_B].label, "claim", claim_to_json(c->claim),
			 "measured", measured, "why_not", c->why, "floor",
			 floor_to_json(&c->floor));
}

/* Adds what the gate says, where there is one. */
static json_t *with_gate(json_t *root, const struct report_set *s)
{
	const struct report_gate *g = s->gate;

	if (!root || !g) {
		return root;
	}
	if (json_object_set_new(root, "gate",
				json_pack("{s:s, s:s, s:s, s:I, s:{s:I, s:I, s:I}}", "result",
					  report_gate_name(g->result), "fails_on",
					  report_gate_on_name(g->on), "text", g->text, "family",
					  (json_int_t)s->reports[0]->family, "rows", "passed",
					  (json_int_t)g->rows[REPORT_GATE_PASSED], "failed",
					  (json_int_t)g->rows[REPORT_GATE_FAILED], "inconclusive",
					  (json_int_t)g->rows[REPORT_GATE_OPEN])) < 0 ||
	    json_object_set_new(root, "exit_status", json_integer(report_gate_status(g))) < 0) {
		json_decref(root);
		return NULL;
	}
	return root;
}

/**
 * report_set_json() - all comparisons as one JSON object
 * @s: of computed reports
 *
 * Return: the object, the caller's to json_decref(); NULL without memory, or where a text of the
 * report is not UTF-8.
 * Context: any thread.
 */
json_t *report_set_json(const struct report_set *s)
{
	json_t *comparisons, *claims, *root;
	int r = 0;

	if (report_set_is_plain(s)) {
		return with_gate(report_json(s->reports[0]), s);
	}
	comparisons = json_array();
	claims = json_array();
	for (size_t i = 0; i < s->n_reports; i++) {
		r |= json_array_append_new(comparisons, report_json(s->reports[i]));
	}
	for (size_t i = 0; i < s->n_claims; i++) {
		r |= json_array_append_new(claims, claim_row(&s->claims[i]));
	}
	if (r < 0) {
		json_decref(comparisons);
		json_decref(claims);
		return NULL;
	}
	root = json_pack("{s:i, s:s, s:s?, s:s, s:s, s:s?, s:I, s:I, s:o, s:o*, s:o*, s:o, s:i}",
			 "schema_version", REPORT_SCHEMA_VERSION, "type", "scenario", "title",
			 s->title, "class", exec_class_name(s->reports[0]->class), "unit",
			 exec_class_unit(s->reports[0]->class), "reading",
			 report_reading(s->reports[0]->class), "boots_planned",
			 (json_int_t)s->boots_planned, "boots_recorded",
			 (json_int_t)s->boots_recorded, "claims", claims, "aa",
			 s->aa ? report_aa_json(s) : NULL, "matrix", report_matrix_json(s),
			 "comparisons", comparisons, "exit_status", report_set_exit_status(s));
	return with_gate(root, s);
}
