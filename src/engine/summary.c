/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See summary.h. Main thread. */
#include "engine/summary.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "stats/order.h"

_Static_assert((int)ARM_A == (int)STATS_A && (int)ARM_B == (int)STATS_B, "one order of arms");

/* What a report's benchmark points into. */
struct row {
	struct stats_block *blocks; /* room for all that are planned */
	char error[256];
	size_t mostly_dirty[ARM_COUNT]; /* boots of which fewer than half of the batches are left */
};

struct summary {
	const struct comparison *c;
	struct report report;
	bool computed;
	struct report_bench *benches;
	struct row *rows;
	size_t room;
	double *scratch; /* one boot's clean batches */
	size_t scratch_room;
	char labels[ARM_COUNT][128];
};

/* A boot that counts: recorded, and its guest gave all that the plan asks for. */
static const struct boot_record *whole_boot(const struct comparison *c, size_t slot)
{
	char why[COMPARISON_WHY_MAX];
	const struct boot_record *r = c->boots[slot];

	return r && comparison_judge(c, r, why, sizeof(why)) == BOOT_WHOLE ? r : NULL;
}

static int add_row(struct summary *s, const struct boot_bench *b)
{
	struct report_bench *bench = &s->benches[s->report.n_benches];
	struct row *row = &s->rows[s->report.n_benches];

	assert(s->report.n_benches < s->room);
	row->blocks = calloc(s->c->plan.blocks, sizeof(*row->blocks));
	if (!row->blocks) {
		return -ENOMEM;
	}
	*bench = (struct report_bench){
		.name = b->name,
		.per = b->per_call,
		.calls = b->calls,
		.is_probe = b->is_probe,
		.blocks = row->blocks,
	};
	s->report.n_benches++;
	return 0;
}

static bool has_row(const struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->report.n_benches; i++) {
		if (strcmp(s->benches[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* The rows: each benchmark of the plan, and behind it the probes that counted while it ran. */
static int make_rows(struct summary *s)
{
	const struct comparison *c = s->c;

	for (size_t slot = 0; slot < c->plan.boot_count; slot++) {
		s->room += c->boots[slot] ? c->boots[slot]->bench_count : 0;
	}
	s->benches = calloc(s->room + 1, sizeof(*s->benches));
	s->rows = calloc(s->room + 1, sizeof(*s->rows));
	if (!s->benches || !s->rows) {
		return -ENOMEM;
	}
	s->report.benches = s->benches;
	for (size_t i = 0; i < benchmark_count(); i++) {
		const char *name = benchmark_name(i);

		for (size_t slot = 0; slot < c->plan.boot_count; slot++) {
			const struct boot_record *r = whole_boot(c, slot);

			for (size_t k = 0; r && k < r->bench_count; k++) {
				const struct boot_bench *b = &r->benches[k];
				const char *at = b->is_probe ? strchr(b->name, '@') : NULL;

				if ((c->plan.benches & benchmark_bit(i)) && !has_row(s, b->name) &&
				    strcmp(at ? at + 1 : b->name, name) == 0 && add_row(s, b) < 0) {
					return -ENOMEM;
				}
			}
		}
	}
	return 0;
}

static void count_batches(const struct boot_bench *b, struct report_batches *counts)
{
	for (size_t i = 0; i < b->batch_count; i++) {
		counts->total++;
		counts->dirty += b->dirty[i] != 0;
		for (unsigned int cause = 0; cause < DISTURBANCE_COUNT; cause++) {
			counts->by_cause[cause] += b->dirty[i] >> cause & 1;
		}
	}
}

static void no_value(struct summary *s, size_t row, size_t slot, const char *why)
{
	char *error = s->rows[row].error;
	enum arm_id arm = s->c->plan.boots[slot].arm;

	s->benches[row].boots_lost[arm]++;
	if (!*error) {
		snprintf(error, sizeof(s->rows[row].error), "boot %zu (arm %c): %s", slot + 1,
			 arm == ARM_A ? 'A' : 'B', why);
		s->benches[row].error = error;
	}
}

/*
 * A boot's value: the median of its clean batches. Where fewer than half are clean it still counts,
 * but is told of: what disturbs so often may well have disturbed the rest unseen.
 */
static int boot_value(struct summary *s, size_t row, size_t slot, const struct boot_record *r,
		      double *ret, bool *ret_has)
{
	struct report_bench *bench = &s->benches[row];
	const struct boot_bench *b = boot_record_find(r, bench->name);
	enum arm_id arm = s->c->plan.boots[slot].arm;
	char why[64];
	size_t n = 0;

	*ret_has = false;
	if (!b || b->error) {
		no_value(s, row, slot, b ? b->error : "the probe counted nothing");
		return 0;
	}
	if (b->is_probe) {
		bench->samples[arm] += b->samples;
		*ret = b->units[0];
		*ret_has = true;
		return 0;
	}
	count_batches(b, &bench->batches[arm]);
	if (b->calls != bench->calls) {
		bench->calls = 0;
	}
	if (b->batch_count > s->scratch_room) {
		double *more = realloc(s->scratch, b->batch_count * sizeof(*more));

		if (!more) {
			return -ENOMEM;
		}
		s->scratch = more;
		s->scratch_room = b->batch_count;
	}
	for (size_t i = 0; i < b->batch_count; i++) {
		if (!b->dirty[i]) {
			s->scratch[n++] = b->units[i];
		}
	}
	if (n == 0) {
		snprintf(why, sizeof(why), "all %zu batches were disturbed", b->batch_count);
		no_value(s, row, slot, why);
		return 0;
	}
	s->rows[row].mostly_dirty[arm] += 2 * n < b->batch_count;
	*ret_has = true;
	return stats_median(s->scratch, n, ret);
}

/* Puts a benchmark's boots together into blocks; a block counts when it has all four. */
static int fill_row(struct summary *s, size_t row)
{
	const struct comparison *c = s->c;
	struct report_bench *bench = &s->benches[row];

	for (unsigned int k = 0; k < c->plan.blocks; k++) {
		struct stats_block block = {0};
		size_t n[ARM_COUNT] = {0};

		for (size_t i = 0; i < SCHEDULE_BLOCK_BOOTS; i++) {
			size_t slot = (size_t)k * SCHEDULE_BLOCK_BOOTS + i;
			const struct boot_record *r = whole_boot(c, slot);
			enum arm_id arm = c->plan.boots[slot].arm;
			double value;
			bool has;
			int code;

			if (!r) {
				bench->boots_lost[arm] += c->boots[slot] != NULL;
				continue;
			}
			code = boot_value(s, row, slot, r, &value, &has);
			if (code < 0) {
				return code;
			}
			if (has) {
				(arm == ARM_A ? block.a : block.b)[n[arm]++] = value;
			}
		}
		if (n[ARM_A] == 2 && n[ARM_B] == 2) {
			s->rows[row].blocks[bench->n_blocks++] = block;
		}
	}
	for (int arm = 0; arm < ARM_COUNT; arm++) {
		if (s->rows[row].mostly_dirty[arm]) {
			log_warn("%s, arm %c: in %zu boots more than half of the batches were "
				 "disturbed; their values are of the rest",
				 bench->name, arm == ARM_A ? 'A' : 'B',
				 s->rows[row].mostly_dirty[arm]);
		}
	}
	return 0;
}

/* Arms of one kernel are told apart by their parameters, others by the kernel first. */
static void make_label(const struct plan *p, enum arm_id arm, char *buf, size_t len)
{
	const struct arm *a = &p->arms[arm].arm;
	bool same = strcmp(p->arms[ARM_A].arm.kernel, p->arms[ARM_B].arm.kernel) == 0;
	const char *task = arm_task_name(a->task);

	snprintf(buf, len, "%s%s%s%s%s", same && *a->append ? "" : a->kernel,
		 !same && *a->append ? " " : "", a->append, task ? ", task " : "",
		 task ? task : "");
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static void fill_head(struct summary *s)
{
	const struct comparison *c = s->c;
	const struct plan *p = &c->plan;
	struct report *rep = &s->report;

	rep->ringside_version = p->ringside_version;
	rep->seed = p->seed;
	rep->backend = p->backend;
	rep->blocks_planned = p->blocks;
	rep->same_image = strcmp(p->arms[ARM_A].sha256, p->arms[ARM_B].sha256) == 0;
	rep->same_arm = rep->same_image &&
			strcmp(p->arms[ARM_A].arm.append, p->arms[ARM_B].arm.append) == 0 &&
			p->arms[ARM_A].arm.task == p->arms[ARM_B].arm.task;
	for (int arm = 0; arm < ARM_COUNT; arm++) {
		make_label(p, (enum arm_id)arm, s->labels[arm], sizeof(s->labels[arm]));
		rep->arms[arm] = (struct report_arm){
			.label = s->labels[arm],
			.kernel = p->arms[arm].arm.kernel,
			.kernel_sha256 = p->arms[arm].sha256,
			.append = p->arms[arm].arm.append,
			.task = arm_task_name(p->arms[arm].arm.task),
		};
	}
	if (c->first) {
		rep->class = c->first->exec_class;
		rep->ticks_per_unit = (unsigned int)c->first->ticks_per_unit;
		rep->host_cpu = or_null(c->first->host_cpu);
		rep->host_kernel = or_null(c->first->host_kernel);
		rep->qemu_version = or_null(c->first->qemu_version);
	}
	for (unsigned int k = 0; k < p->blocks; k++) {
		size_t whole = 0;

		for (size_t i = 0; i < SCHEDULE_BLOCK_BOOTS; i++) {
			size_t slot = (size_t)k * SCHEDULE_BLOCK_BOOTS + i;
			const struct boot_record *r = whole_boot(c, slot);
			struct report_arm *arm = &rep->arms[p->boots[slot].arm];

			whole += r != NULL;
			if (r && !arm->kernel_version) {
				arm->kernel_version = or_null(r->kernel_version);
			}
		}
		rep->blocks_complete += whole == SCHEDULE_BLOCK_BOOTS;
	}
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
	s->report = (struct report)REPORT_INIT;
	r = make_rows(s);
	for (size_t i = 0; r == 0 && i < s->report.n_benches; i++) {
		r = fill_row(s, i);
	}
	if (r < 0) {
		return err_set(e, r, "making the report: %s", strerror(-r));
	}
	if (s->report.n_benches == 0) {
		return err_set(e, -ENODATA,
			       "no boot has given numbers: there is nothing to report");
	}
	fill_head(s);
	r = report_compute(&s->report, e);
	if (r < 0) {
		return r;
	}
	s->computed = true;
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
	if (s->computed) {
		report_fini(&s->report);
	}
	for (size_t i = 0; i < s->report.n_benches; i++) {
		free(s->rows[i].blocks);
	}
	free(s->rows);
	free(s->benches);
	free(s->scratch);
	free(s);
}

/**
 * summary_report() - the report
 * @s: the summary
 *
 * Return: it, computed; valid until summary_destroy().
 * Context: any thread.
 */
const struct report *summary_report(const struct summary *s)
{
	return &s->report;
}
