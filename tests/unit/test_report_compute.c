/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results and exit status of a whole report. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "near.h"
#include "report/report.h"

#define BLOCKS 8

/* A report of up to three benchmarks, each with one difference in all blocks. */
struct fixture {
	struct stats_block blocks[3][BLOCKS];
	struct report_bench benches[3];
	struct report report;
};

static void make(struct fixture *f, size_t n, const double *diffs)
{
	static const char *const names[] = {"syscall.null", "ctxsw.pipe.fs", "ctxsw.pipe.fsgs"};

	*f = (struct fixture){.report = REPORT_INIT};
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < BLOCKS; k++) {
			double a = 1000 + (double)(k % 3);

			f->blocks[i][k] =
				(struct stats_block){{a, a}, {a + diffs[i], a + diffs[i]}};
		}
		f->benches[i].name = names[i];
		f->benches[i].per = "call";
		f->benches[i].blocks = f->blocks[i];
		f->benches[i].n_blocks = BLOCKS;
	}
	f->report.class = EXEC_ICOUNT;
	f->report.benches = f->benches;
	f->report.n_benches = n;
}

static int status_of(size_t n, const double *diffs, enum exec_class class)
{
	struct fixture f;
	struct err e = ERR_INIT;
	int status;

	make(&f, n, diffs);
	f.report.class = class;
	assert_int_equal(report_compute(&f.report, &e), 0);
	status = report_exit_status(&f.report);
	report_fini(&f.report);
	return status;
}

static void worst_verdict_makes_the_exit_status(void **state)
{
	const double better[] = {-5};
	const double same[] = {0, -5, 0};
	const double worse[] = {-5, 0, 5};

	assert_int_equal(status_of(1, better, EXEC_ICOUNT), 0);
	assert_int_equal(status_of(3, same, EXEC_ICOUNT), 0);
	assert_int_equal(status_of(3, worse, EXEC_ICOUNT), 1);
	assert_int_equal(status_of(3, worse, EXEC_NATIVE), 1);
	/* ticks decide nothing */
	assert_int_equal(status_of(3, worse, EXEC_TCG), 3);
	assert_int_equal(status_of(3, worse, EXEC_EMULATED), 3);
	/* nothing was compared */
	assert_int_equal(status_of(0, NULL, EXEC_ICOUNT), 3);
}

static void one_inconclusive_benchmark_makes_3_unless_another_is_worse(void **state)
{
	const double diffs[] = {5, 0};
	struct fixture f;
	struct err e = ERR_INIT;

	make(&f, 2, diffs);
	f.benches[1].n_blocks = 5;
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_int_equal(report_exit_status(&f.report), 1);
	report_fini(&f.report);
	f.benches[0].blocks = f.blocks[1];
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_int_equal(report_exit_status(&f.report), 3);
	report_fini(&f.report);
}

static void an_arm_compared_with_itself_is_never_worse(void **state)
{
	const double diffs[] = {5};
	struct fixture f;
	struct err e = ERR_INIT;

	make(&f, 1, diffs);
	f.report.same_arm = true;
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_int_equal(f.benches[0].result.verdict, VERDICT_INCONCLUSIVE);
	assert_true(f.benches[0].result.significant);
	assert_int_equal(report_exit_status(&f.report), 3);
	report_fini(&f.report);
}

static void p_values_are_adjusted_over_all_benchmarks(void **state)
{
	const double diffs[] = {-5, 5, 0};
	struct fixture f;
	struct err e = ERR_INIT;

	make(&f, 3, diffs);
	f.report.class = EXEC_NATIVE; /* by an instruction counter they would be exact */
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_near(f.benches[0].result.p, 1 / 128., 0);
	assert_near(f.benches[0].result.p_holm, 3 / 128., 1e-15);
	assert_near(f.benches[1].result.p_holm, 3 / 128., 1e-15);
	assert_near(f.benches[0].result.p_bh, 1.5 / 128., 1e-15);
	assert_near(f.benches[2].result.p_holm, 1, 0);
	report_fini(&f.report);
}

static void margin_of_the_report_is_used(void **state)
{
	const double diffs[] = {-5};
	struct fixture f;
	struct err e = ERR_INIT;

	make(&f, 1, diffs);
	f.report.margin_abs = 6;
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_int_equal(f.benches[0].result.verdict, VERDICT_EQUIVALENT);
	report_fini(&f.report);
	f.report.margin_abs = .1;
	f.report.margin_rel = .01;
	assert_int_equal(report_compute(&f.report, &e), 0);
	assert_near(f.benches[0].result.margin, 10.01, 1e-9);
	assert_int_equal(f.benches[0].result.verdict, VERDICT_EQUIVALENT);
	report_fini(&f.report);
}

static void a_bad_value_names_its_benchmark(void **state)
{
	const double diffs[] = {-5, NAN};
	struct fixture f;
	struct err e = ERR_INIT;

	make(&f, 2, diffs);
	assert_int_equal(report_compute(&f.report, &e), -EDOM);
	assert_string_equal(e.text, "ctxsw.pipe.fs: a value is not a finite number");
}

static void missing_boots_leave_no_verdict(void **state)
{
	const double diffs[] = {-5, 5, 0};
	struct fixture f;
	struct err e = ERR_INIT;

	for (int failed = 0; failed < 2; failed++) {
		make(&f, 3, diffs);
		f.report.boots_planned = 4 * BLOCKS;
		f.report.boots_recorded = f.report.boots_planned - !failed;
		f.report.boots_failed = failed ? 3 : 0;
		assert_int_equal(report_compute(&f.report, &e), 0);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(f.benches[i].result.verdict, VERDICT_INCONCLUSIVE);
			assert_int_equal(f.benches[i].result.reason, REASON_INCOMPLETE);
			assert_int_equal(f.benches[i].decided_by, -1);
		}
		assert_int_equal(report_exit_status(&f.report), 3);
		report_fini(&f.report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_verdict_makes_the_exit_status),
		cmocka_unit_test(one_inconclusive_benchmark_makes_3_unless_another_is_worse),
		cmocka_unit_test(an_arm_compared_with_itself_is_never_worse),
		cmocka_unit_test(p_values_are_adjusted_over_all_benchmarks),
		cmocka_unit_test(margin_of_the_report_is_used),
		cmocka_unit_test(a_bad_value_names_its_benchmark),
		cmocka_unit_test(missing_boots_leave_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
