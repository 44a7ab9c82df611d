/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the boot values in a report to its results and its exit status. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>

/**
 * report_compute() - compute every benchmark's result
 * @r: filled by the engine; the results in it are set
 * @e: why it failed
 *
 * A report that was computed is done with report_fini(). After a failure it needs none.
 *
 * Return: 0, or an error of stats_compare(), with the benchmark's name in the text.
 */
int report_compute(struct report *r, struct err *e)
{
	_cleanup_free_ struct stats_comparison *family = NULL;
	struct stats_options opt = STATS_OPTIONS_INIT;
	int ret;

	opt.seed = r->seed;
	opt.margin_abs = r->margin_abs;
	opt.margin_rel = r->margin_rel;
	opt.judges_speed = exec_class_judges_speed(r->class);
	opt.deterministic = r->class == EXEC_ICOUNT;
	opt.same_arm = r->same_arm;
	family = calloc(r->n_benches + 1, sizeof(*family));
	if (!family) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < r->n_benches; i++) {
		const struct report_bench *b = &r->benches[i];

		ret = stats_compare(b->blocks, b->n_blocks, &opt, &family[i]);
		if (ret < 0) {
			err_set(e, ret, "%s: %s", b->name, stats_error_text(ret));
			goto fail;
		}
	}
	ret = stats_compare_family(family, r->n_benches);
	if (ret < 0) {
		err_set(e, ret, "%s", stats_error_text(ret));
		goto fail;
	}
	for (size_t i = 0; i < r->n_benches; i++) {
		r->benches[i].result = family[i];
	}
	return 0;
fail:
	for (size_t i = 0; i < r->n_benches; i++) {
		stats_comparison_fini(&family[i]);
	}
	return ret;
}

/**
 * report_fini() - free the results
 * @r: a report that was computed; what the engine put in stays
 */
void report_fini(struct report *r)
{
	for (size_t i = 0; i < r->n_benches; i++) {
		stats_comparison_fini(&r->benches[i].result);
	}
}

/**
 * report_exit_status() - what the verdicts come to
 * @r: a report that was computed
 *
 * Return: 1 where B is worse anywhere, else 3 where anything is inconclusive or nothing was
 * compared, else 0.
 */
int report_exit_status(const struct report *r)
{
	int status = r->n_benches ? 0 : 3;

	for (size_t i = 0; i < r->n_benches; i++) {
		switch (r->benches[i].result.verdict) {
		case VERDICT_WORSE:
			return 1;
		case VERDICT_INCONCLUSIVE:
			status = 3;
			break;
		case VERDICT_BETTER:
		case VERDICT_EQUIVALENT:
			break;
		}
	}
	return status;
}
