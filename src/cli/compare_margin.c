/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_margin.h. Main thread, before anything is started. */
#include "cli/compare_margin.h"

#include <errno.h>
#include <stdlib.h>

/**
 * compare_margin_set() - let one margin count for all groups of a plan
 * @text: what --margin says; NULL changes nothing
 * @p: the plan, with its groups
 * @e: set on failure
 *
 * Return: 0, -EINVAL for what is no margin, -ENOMEM.
 * Context: any thread.
 */
int compare_margin_set(const char *text, struct plan *p, struct err *e)
{
	struct margin m;
	int r = text ? margin_parse(text, &m, e) : 0;

	if (r < 0) {
		return err_prefix(e, "--margin");
	}
	for (size_t i = 0; text && i < p->group_count; i++) {
		struct plan_group *g = &p->groups[i];

		free(g->margins);
		g->margin_count = 0;
		g->margins = malloc(sizeof(m));
		if (!g->margins) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		g->margins[g->margin_count++] = m;
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
