/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decision rule of verdict.h, and the names. */
#include "stats/verdict.h"

#include <math.h>

/* A difference of just the margin is within it, whatever its last bits say. */
#define SLACK 1e-9

/**
 * stats_significant() - do p and interval both say that there is a difference?
 * @e: the evidence
 *
 * Return: true where p <= alpha and the 95 % interval excludes 0.
 */
bool stats_significant(const struct stats_evidence *e)
{
	return e->p <= e->alpha && (e->interval.lo > 0 || e->interval.hi < 0);
}

/* Beyond the margin; by its sign, but that an arm is neither better nor worse than itself. */
static enum stats_verdict beyond(const struct stats_evidence *e, enum stats_reason reason,
				 enum stats_reason *ret_reason)
{
	*ret_reason = e->same_arm ? REASON_FALSE_ALARM : reason;
	return e->same_arm ? VERDICT_INCONCLUSIVE : e->effect < 0 ? VERDICT_BETTER : VERDICT_WORSE;
}

/**
 * stats_verdict() - apply the rule of verdict.h
 * @e: the evidence; with no blocks only @e->blocks is read
 * @ret_reason: which part of the rule decided
 *
 * Return: the verdict on B.
 */
enum stats_verdict stats_verdict(const struct stats_evidence *e, enum stats_reason *ret_reason)
{
	bool found;

	if (e->blocks == 0) {
		*ret_reason = REASON_NO_BLOCKS;
		return VERDICT_INCONCLUSIVE;
	}
	if (!e->judges_speed) {
		*ret_reason = REASON_NO_SPEED;
		return VERDICT_INCONCLUSIVE;
	}
	if (e->blocks < STATS_BLOCKS_MIN) {
		*ret_reason = REASON_FEW_BLOCKS;
		return VERDICT_INCONCLUSIVE;
	}
	if (e->deterministic && e->boots_identical) {
		*ret_reason = REASON_IDENTICAL;
		return VERDICT_EQUIVALENT;
	}
	if (e->deterministic && e->diffs_identical) {
		if (fabs(e->effect) > e->margin * (1 + SLACK)) {
			return beyond(e, REASON_SAME_DIFFERENCE, ret_reason);
		}
		*ret_reason = REASON_WITHIN_MARGIN;
		return VERDICT_EQUIVALENT;
	}
	found = stats_significant(e);
	if (found && fabs(e->effect) > e->margin) {
		return beyond(e, REASON_SIGNIFICANT, ret_reason);
	}
	if (e->interval90.lo > -e->margin && e->interval90.hi < e->margin) {
		*ret_reason = REASON_WITHIN_MARGIN;
		return VERDICT_EQUIVALENT;
	}
	*ret_reason = found ? REASON_BELOW_MARGIN : REASON_UNDECIDED;
	return VERDICT_INCONCLUSIVE;
}

/**
 * stats_verdict_name() - the word for a verdict, the same in every format
 * @v: a verdict
 *
 * Return: a static text.
 */
const char *stats_verdict_name(enum stats_verdict v)
{
	static const char *const names[] = {
		[VERDICT_BETTER] = "better",
		[VERDICT_WORSE] = "worse",
		[VERDICT_EQUIVALENT] = "equivalent",
		[VERDICT_INCONCLUSIVE] = "inconclusive",
	};

	return names[v];
}

/**
 * stats_reason_name() - the id of a reason, for programs
 * @r: a reason
 *
 * Return: a static text of lower-case words and hyphens.
 */
const char *stats_reason_name(enum stats_reason r)
{
	static const char *const names[STATS_REASON_COUNT] = {
		[REASON_NO_BLOCKS] = "no-blocks",
		[REASON_NO_SPEED] = "no-speed-class",
		[REASON_FEW_BLOCKS] = "few-blocks",
		[REASON_IDENTICAL] = "identical",
		[REASON_SAME_DIFFERENCE] = "same-difference",
		[REASON_SIGNIFICANT] = "significant",
		[REASON_FALSE_ALARM] = "false-alarm",
		[REASON_WITHIN_MARGIN] = "within-margin",
		[REASON_BELOW_MARGIN] = "below-margin",
		[REASON_UNDECIDED] = "undecided",
		[REASON_WARNED] = "warned",
		[REASON_INCOMPLETE] = "incomplete",
	};

	return names[r];
}
