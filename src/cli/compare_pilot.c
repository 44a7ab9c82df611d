/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_pilot.h. Main thread. */
#include "cli/compare_pilot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "cli/class_detect.h"
#include "cli/helpers.h"

/**
 * compare_pilot_options() - the options of the pilot that a comparison's options ask for
 * @o: the comparison's; has_goal is set
 * @ret: set on success
 * @e: set on failure
 *
 * Its results stand beside the comparison's own.
 *
 * Return: 0 or -ENAMETOOLONG.
 * Context: any thread.
 */
int compare_pilot_options(const struct compare_options *o, struct compare_pilot *ret, struct err *e)
{
	ret->options = *o;
	ret->options.pilot = o->pilot ? o->pilot : PILOT_BLOCKS_DEFAULT;
	ret->options.json = false;
	ret->options.html = NULL;
	ret->options.gate = NULL;
	if (o->results) {
		int n = snprintf(ret->results, sizeof(ret->results), "%s.pilot", o->results);

		if (n >= (int)sizeof(ret->results)) {
			return err_set(e, -ENAMETOOLONG, "%s: the path is too long", o->results);
		}
		ret->options.results = ret->results;
	}
	return 0;
}

/* Whether the class is known without a boot, and which it is. */
static bool class_of(const struct plan *p, enum exec_class *ret)
{
	struct class_facts facts;
	struct class_result class;

	if (strcmp(p->backend, "qemu") == 0) {
		*ret = p->icount == PLAN_NO_ICOUNT ? EXEC_TCG : EXEC_ICOUNT;
		return true;
	}
	if (p->runner) {
		return false;
	}
	class_collect(&facts);
	class_judge(&facts, &class);
	*ret = class.class;
	return class.known;
}

/**
 * compare_pilot_check() - whether what is to be found can be found here, before a boot is spent on
 * it
 * @o: options
 * @p: the plan that they make
 * @e: set on failure
 *
 * Return: 0; -EINVAL for another class's unit; -ENODEV for a class that judges no speed. Where the
 * class is not known yet it is 0.
 * Context: main thread; may measure this machine, which takes some ten milliseconds.
 */
int compare_pilot_check(const struct compare_options *o, const struct plan *p, struct err *e)
{
	enum exec_class class;

	return o->has_goal && class_of(p, &class) ? pilot_goal_check(&o->goal, class, e) : 0;
}

/**
 * compare_pilot_choose() - the number of blocks
 * @pilot: the pilot, complete
 * @jobs: boots that will run at a time
 * @o: the comparison's options; set on success: the number of blocks, and a seed of its own
 * @ret_size: set on success: where that comes from; its text is the goal's
 * @e: set on failure
 *
 * The boots of the pilot are no part of the comparison, and it draws nothing that the pilot drew.
 *
 * Return: 0, or as pilot_choose() and pilot_create().
 * Context: main thread.
 */
int compare_pilot_choose(const struct comparison *pilot, unsigned int jobs,
			 struct compare_options *o, struct plan_sizing *ret_size, struct err *e)
{
	_cleanup_(pilot_destroy_p) struct pilot *p = NULL;
	const char *which = NULL;
	unsigned int blocks = 0;
	struct rng rng;
	int r = pilot_create(pilot, jobs, &p, e);

	if (r == 0) {
		r = pilot_choose(p, &o->goal, &blocks, &which, e);
	}
	if (r < 0) {
		return r;
	}
	*ret_size = (struct plan_sizing){
		.by = o->goal.words,
		.pilot_blocks = pilot->plan.groups[0].blocks,
	};
	plan_key(pilot->plan_text, ret_size->pilot, sizeof(ret_size->pilot));
	rng_init(&rng, pilot->plan.seed);
	o->seed = rng_next(&rng) & UINT32_MAX;
	o->blocks = blocks;
	o->pilot = 0;
	o->has_goal = false;
	o->size = ret_size;
	log_info("%s: %u blocks%s%s%s; the pilot's boots are no part of them", ret_size->by, blocks,
		 which ? ", which " : "", which ? which : "", which ? " needs" : "");
	if (isfinite(pilot_report(p)->block_ns)) {
		log_info("they take about %.0f s", blocks * pilot_report(p)->block_ns / 1e9);
	}
	return 0;
}
