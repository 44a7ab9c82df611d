/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the boot values in a report to its results and its exit status. */
#include "report/report_priv.h"

#include <errno.h>
#include <stdlib.h>

static int compute_one(const struct report *r, struct stats_comparison *ret, struct err *e)
{
	struct stats_options opt = STATS_OPTIONS_INIT;

	opt.seed = r->seed;
	opt.judges_speed = exec_class_judges_speed(r->class);
	opt.deterministic = r->class == EXEC_ICOUNT;
	opt.same_arm = r->same_arm;
	for (size_t i = 0; i < r->n_benches; i++) {
		const struct report_bench *b = &r->benches[i];
		bool own = b->margin_abs > 0;
		int ret_code;

		opt.margin_abs = own ? b->margin_abs : r->margin_abs;
		opt.margin_rel = own ? b->margin_rel : r->margin_rel;
		ret_code = stats_compare(b->blocks, b->n_blocks, &opt, &ret[i]);

		if (ret_code < 0) {
			return err_set(e, ret_code, "%s: %s", b->name, stats_error_text(ret_code));
		}
	}
	return 0;
}

static int warn_all(struct report *const *family, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < family[i]->n_benches; k++) {
			struct report_bench *b = &family[i]->benches[k];
			int ret = report_warn(family[i], b);

			if (ret < 0) {
				return err_set(e, ret, "%s: %s", b->name, stats_error_text(ret));
			}
		}
	}
	return 0;
}

/**
 * report_compute_family() - compute every benchmark's result of several comparisons
 * @family: reports that were filled by the engine; the results in them are set. Their p-values are
 *          adjusted for the number of benchmarks in all of them together
 * @n: how many reports
 * @e: why it failed
 *
 * A report that was computed is done with report_fini(), which does no harm after a failure.
 *
 * Return: 0, or an error of stats_compare(), with the benchmark's name in the text.
 * Context: any thread.
 */
int report_compute_family(struct report *const *family, size_t n, struct err *e)
{
	_cleanup_free_ struct stats_comparison *all = NULL;
	size_t count = 0, at = 0;
	int ret = 0;

	for (size_t i = 0; i < n; i++) {
		count += family[i]->n_benches;
	}
	all = calloc(count + 1, sizeof(*all));
	if (!all) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; ret == 0 && i < n; i++) {
		ret = compute_one(family[i], &all[at], e);
		at += family[i]->n_benches;
	}
	if (ret == 0) {
		ret = stats_compare_family(all, count);
		if (ret < 0) {
			err_set(e, ret, "%s", stats_error_text(ret));
		}
	}
	if (ret < 0) {
		for (size_t i = 0; i < count; i++) {
			stats_comparison_fini(&all[i]);
		}
		return ret;
	}
	at = 0;
	for (size_t i = 0; i < n; i++) {
		family[i]->family = count;
		for (size_t k = 0; k < family[i]->n_benches; k++) {
			family[i]->benches[k].result = all[at++];
		}
	}
	return warn_all(family, n, e);
}

/**
 * report_compute() - the same for one comparison by itself
 * @r: filled by the engine; the results in it are set
 * @e: why it failed
 *
 * Return: as report_compute_family().
 * Context: any thread.
 */
int report_compute(struct report *r, struct err *e)
{
	return report_compute_family(&r, 1, e);
}

/**
 * report_fini() - free the results
 * @r: a report that was computed; what the engine put in stays
 *
 * Context: any thread.
 */
void report_fini(struct report *r)
{
	for (size_t i = 0; i < r->n_benches; i++) {
		stats_comparison_fini(&r->benches[i].result);
	}
}

/**
 * report_is_incomplete() - is a report of boots that were not all to be had?
 * @r: the report
 *
 * Return: whether it decides nothing, whatever its boots say.
 * Context: any thread.
 */
bool report_is_incomplete(const struct report *r)
{
	return r->boots_recorded < r->boots_planned || r->boots_failed > 0;
}

/**
 * report_set_is_incomplete() - the same for all comparisons
 * @s: the set
 *
 * Return: whether boots of any of them are missing.
 * Context: any thread.
 */
bool report_set_is_incomplete(const struct report_set *s)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		if (report_is_incomplete(s->reports[i])) {
			return true;
		}
	}
	return s->boots_recorded < s->boots_planned;
}

/**
 * report_exit_status() - what the verdicts come to
 * @r: a report that was computed
 *
 * Return: 1 where B is worse anywhere, else 3 where anything is inconclusive or nothing was
 * compared, else 0.
 * Context: any thread.
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
