/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the boots of a comparison to its report: one value a boot and benchmark, the blocks that are
 * complete, the batches that were left out; one report for each arm that is compared with the
 * baseline of its group, and the rows that the plan's claims are held against. It depends on the
 * results file alone, so that a comparison that was interrupted and resumed reports the same as one
 * that was not.
 */
#ifndef ENGINE_SUMMARY_H
#define ENGINE_SUMMARY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/comparison.h"
#include "report/report.h"

struct summary;

int summary_create(const struct comparison *c, struct summary **ret, struct err *e) __must_check;
void summary_destroy(struct summary *s);
DEFINE_CLEANUP(struct summary *, summary_destroy)

const struct report_set *summary_set(const struct summary *s);

#endif
