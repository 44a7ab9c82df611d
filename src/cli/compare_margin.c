/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_margin.h. Main thread, before anything is started. */
#include "cli/compare_margin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * compare_margin_set() - let every group of a plan say what its margin is
 * @text: what --margin says, which counts for all of them; NULL: what they have, or the default
 * @p: the plan, with its groups
 * @e: set on failure
 *
 * Return: 0, -EINVAL for what is no margin, -ENOMEM.
 * Context: any thread.
 */
int compare_margin_set(const char *text, struct plan *p, struct err *e)
{
	struct margin m = margin_of(NULL, 0, 0);
	int r = text ? margin_parse(text, &m, e) : 0;

	if (r < 0) {
		return err_prefix(e, "--margin");
	}
	for (size_t i = 0; i < p->group_count; i++) {
		struct plan_group *g = &p->groups[i];
		bool has_own = g->margin_count > 0 && g->margins[0].benches == MARGIN_BENCHES_ALL;
		size_t kept = text ? 0 : g->margin_count;
		struct margin *more;

		if (has_own && !text) {
			continue;
		}
		more = calloc(kept + 1, sizeof(*more));
		if (!more) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		more[0] = m;
		if (kept > 0) {
			memcpy(more + 1, g->margins, kept * sizeof(*more));
		}
		free(g->margins);
		g->margins = more;
		g->margin_count = kept + 1;
	}
	return 0;
}

/**
 * compare_margin_check() - whether the units of a plan's margins are those that will be counted
 * @p: the plan
 * @class: of the machine that it is for
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int compare_margin_check(const struct plan *p, enum exec_class class, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->group_count; i++) {
		const struct plan_group *g = &p->groups[i];

		for (size_t k = 0; r == 0 && k < g->margin_count; k++) {
			r = margin_check_class(&g->margins[k], class, e);
		}
	}
	return r;
}
