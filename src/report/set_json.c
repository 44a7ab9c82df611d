/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of reports for programs. One plain comparison is written as report_json() writes it. */
#include <math.h>

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
	json_t *comparisons, *claims;
	int r = 0;

	if (report_set_is_plain(s)) {
		return report_json(s->reports[0]);
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
	return json_pack("{s:i, s:s, s:s?, s:s, s:s, s:s?, s:I, s:I, s:o, s:o, s:i}",
			 "schema_version", REPORT_SCHEMA_VERSION, "type", "scenario", "title",
			 s->title, "class", exec_class_name(s->reports[0]->class), "unit",
			 exec_class_unit(s->reports[0]->class), "reading",
			 report_reading(s->reports[0]->class), "boots_planned",
			 (json_int_t)s->boots_planned, "boots_recorded",
			 (json_int_t)s->boots_recorded, "claims", claims, "comparisons",
			 comparisons, "exit_status", report_set_exit_status(s));
}
