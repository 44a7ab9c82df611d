/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See summary.h. Main thread. */
#include "engine/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/summary_priv.h"

/* What a claim of the report points into. */
struct held {
	struct summary_pair within; /* where it compares two benchmarks of the same boots */
	char why[160];
};

struct summary {
	const struct comparison *c;
	struct report_set set;
	struct summary_pair *pairs; /* one for each report of the set and of its matrix */
	size_t n_pairs;
	struct report **reports;
	struct held *held; /* one for each claim of the set */
	size_t claims_room;
};

/* One report for each arm but the baselines, and room for the claims. */
static int allocate(struct summary *s)
{
	const struct plan *p = &s->c->plan;
	size_t pairs = 0, claims = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		size_t arms = p->groups[i].arm_count;

		pairs += p->matrix ? arms * (arms - 1) / 2 : arms - 1;
		claims += p->groups[i].claim_count;
	}
	s->pairs = calloc(pairs + 1, sizeof(*s->pairs));
	s->reports = calloc(pairs + 1, sizeof(struct report *));
	s->held = calloc(claims + 1, sizeof(*s->held));
	s->set.claims = calloc(claims + 1, sizeof(*s->set.claims));
	s->set.reports = s->reports;
	return s->pairs && s->reports && s->held && s->set.claims ? 0 : -ENOMEM;
}

/* The comparisons of a group's later arms with one of them. */
static int add_pairs(struct summary *s, unsigned int group, unsigned int base, struct err *e)
{
	const struct plan_group *g = &s->c->plan.groups[group];
	int r = 0;

	for (unsigned int arm = base + 1; r == 0 && arm < g->arm_count; arm++) {
		struct summary_pair *pair = &s->pairs[s->n_pairs];

		*pair = (struct summary_pair){.c = s->c, .group = group, .arm = arm, .base = base};
		s->reports[s->n_pairs++] = &pair->report;
		r = summary_pair_init(pair, e);
	}
	return r;
}

/*
 * The reports: of each arm against the baseline of its group, and, where the plan has a matrix,
 * behind them of all others against each other.
 */
static int add_reports(struct summary *s, struct err *e)
{
	const struct plan *p = &s->c->plan;
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < p->group_count; i++) {
		r = add_pairs(s, i, ARM_A, e);
	}
	s->set.n_reports = s->n_pairs;
	for (unsigned int i = 0; r == 0 && p->matrix && i < p->group_count; i++) {
		for (unsigned int base = 1; r == 0 && base < p->groups[i].arm_count; base++) {
			r = add_pairs(s, i, base, e);
		}
	}
	s->set.matrix = s->reports + s->set.n_reports;
	s->set.n_matrix = s->n_pairs - s->set.n_reports;
	s->set.has_matrix = p->matrix;
	return r;
}

static const struct report_bench *find_row(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_benches; i++) {
		if (strcmp(r->benches[i].name, name) == 0) {
			return &r->benches[i];
		}
	}
	return NULL;
}

/* What the change can save at best on this host, or why that is not known. */
static void fill_floor(const struct comparison *c, const struct claim *claim,
		       struct report_floor *ret)
{
	const struct calibration_floor *f =
		claim->floor && c->calibration ? calibration_floor(c->calibration, claim->floor)
					       : NULL;

	*ret = (struct report_floor){.id = claim->floor, .value = NAN, .low = NAN, .high = NAN};
	if (!claim->floor) {
		ret->reason = claim->no_floor ? claim->no_floor
					      : "it is not made of primitives that are timed";
	} else if (!c->calibration) {
		ret->reason =
			c->no_calibration ? c->no_calibration : "this host was not calibrated";
	} else if (!f) {
		ret->reason = "the calibration has none of this name";
	} else if (isnan(f->value)) {
		ret->reason = f->reason;
		ret->formula = f->formula;
	} else {
		ret->unit = f->unit;
		ret->formula = f->formula;
		ret->value = f->value;
		ret->low = f->low;
		ret->high = f->high;
		ret->n = f->n;
	}
}

/* Finds the row that a claim is held against; a claim between two benchmarks makes its own. */
static int hold_claim(struct summary *s, unsigned int group, size_t first_report,
		      const struct claim *claim, struct err *e)
{
	struct report_claim *row = &s->set.claims[s->set.n_claims];
	struct held *held = &s->held[s->set.n_claims++];
	struct report *rep;
	int r;

	*row = (struct report_claim){
		.claim = claim,
		.group = s->c->plan.groups[group].name,
	};
	if (claim->against) {
		held->within = (struct summary_pair){
			.c = s->c,
			.group = group,
			.arm = claim->arm,
			.bench = claim->bench,
			.against = claim->against,
		};
		rep = &held->within.report;
		r = summary_pair_init(&held->within, e);
		if (r == 0) {
			r = report_compute(rep, e);
		}
		if (r < 0) {
			return r;
		}
	} else {
		rep = s->reports[first_report + claim->arm - 1];
	}
	fill_floor(s->c, claim, &row->floor);
	row->report = rep;
	row->bench = find_row(rep, claim->bench);
	if (!row->bench) {
		snprintf(held->why, sizeof(held->why), "no boot has given a value for %.100s",
			 claim->bench);
		row->why = held->why;
	}
	return 0;
}

static int add_claims(struct summary *s, struct err *e)
{
	const struct plan *p = &s->c->plan;
	size_t first_report = 0;

	for (unsigned int group = 0; group < p->group_count; group++) {
		const struct plan_group *g = &p->groups[group];

		for (size_t i = 0; i < g->claim_count; i++) {
			int r = hold_claim(s, group, first_report, &g->claims[i], e);

			if (r < 0) {
				return r;
			}
		}
		first_report += g->arm_count - 1;
	}
	return 0;
}

static bool has_numbers(const struct summary *s)
{
	for (size_t i = 0; i < s->set.n_reports; i++) {
		if (s->set.reports[i]->n_benches > 0) {
			return true;
		}
	}
	return false;
}

/**
 * summary_create() - make and compute the report of a comparison
 * @c: the comparison, complete or not; must outlive the summary
 * @ret: set on success; end it with summary_destroy()
 * @e: set on failure
 *
 * Return: 0, -ENODATA when no boot has given numbers, -ENOMEM, or as report_compute().
 * Context: main thread.
 */
int summary_create(const struct comparison *c, struct summary **ret, struct err *e)
{
	_cleanup_(summary_destroy_p) struct summary *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->c = c;
	if (allocate(s) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->set.title = c->plan.title;
	s->set.aa = c->plan.aa && c->plan.group_count > 1;
	s->set.boots_planned = c->plan.boot_count;
	s->set.boots_recorded = c->done;
	r = add_reports(s, e);
	/* The p-values of a run are adjusted together: a gate has one chance in twenty, not a
	 * group. */
	if (r == 0) {
		r = report_compute_family(s->reports, s->n_pairs, e);
	}
	if (r < 0) {
		return r;
	}
	if (!has_numbers(s)) {
		return err_set(e, -ENODATA,
			       "no boot has given numbers: there is nothing to report");
	}
	r = add_claims(s, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

/**
 * summary_destroy() - free a summary
 * @s: the summary, or NULL, or one that is half built
 *
 * Context: main thread.
 */
void summary_destroy(struct summary *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n_pairs; i++) {
		report_fini(s->reports[i]);
		summary_pair_fini(&s->pairs[i]);
	}
	for (size_t i = 0; i < s->set.n_claims; i++) {
		report_fini(&s->held[i].within.report);
		summary_pair_fini(&s->held[i].within);
	}
	free(s->pairs);
	free(s->reports);
	free(s->held);
	free(s->set.claims);
	free(s);
}

/**
 * summary_set() - the reports
 * @s: the summary
 *
 * Return: them, computed; valid until summary_destroy().
 * Context: any thread.
 */
const struct report_set *summary_set(const struct summary *s)
{
	return &s->set;
}
