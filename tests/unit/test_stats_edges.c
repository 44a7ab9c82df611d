/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every estimator at its edges, in one table: nothing, one value, two, all equal, ties, values that
 * are none, values whose sum or square is none, and very many. The answer is an error of order.h or
 * finite numbers, but for the infinite ends of an interval that has none.
 */
#include "support.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "stats/binomial.h"
#include "stats/bootstrap.h"
#include "stats/compare.h"
#include "stats/levels.h"
#include "stats/mannwhitney.h"
#include "stats/multiple.h"
#include "stats/plan.h"
#include "stats/quantile.h"
#include "stats/shape.h"
#include "stats/signflip.h"
#include "stats/signrank.h"
#include "stats/special.h"
#include "stats/tdist.h"
#include "stats/verdict.h"

#define OUT_MAX 32
#define MANY    3000

/* What an estimator answers: the code, and every number that it set. */
struct answer {
	double x[OUT_MAX];
	size_t n;
};

static void put(struct answer *a, double x)
{
	a->x[a->n++] = x;
}

static void put_interval(struct answer *a, const struct stats_interval *iv)
{
	/* An end that is not to be had is infinite, on purpose. */
	put(a, isinf(iv->lo) && iv->lo < 0 ? 0 : iv->lo);
	put(a, isinf(iv->hi) && iv->hi > 0 ? 0 : iv->hi);
	put(a, iv->level);
}

static int median(const double *x, size_t n, struct answer *a)
{
	return stats_median(x, n, &a->x[a->n++]);
}

static int median_interval(const double *x, size_t n, struct answer *a)
{
	struct stats_interval iv = {0};
	int r = stats_median_interval(x, n, .95, &iv);

	put_interval(a, &iv);
	return r;
}

static int hodges_lehmann(const double *x, size_t n, struct answer *a)
{
	struct stats_interval iv = {0};
	int r = stats_hodges_lehmann(x, n, .95, &a->x[a->n++], &iv);

	put_interval(a, &iv);
	return r;
}

static int sign_flip(const double *x, size_t n, struct answer *a)
{
	return stats_sign_flip(x, n, 1, &a->x[a->n++]);
}

static int mde(const double *x, size_t n, struct answer *a)
{
	return stats_mde(x, n, &a->x[a->n++]);
}

static int percentile(const double *x, size_t n, struct answer *a)
{
	return stats_percentile(x, n, .95, &a->x[a->n++]);
}

static int harrell_davis(const double *x, size_t n, struct answer *a)
{
	return stats_harrell_davis(x, n, .5, &a->x[a->n++]);
}

static int bca(const double *x, size_t n, struct answer *a)
{
	struct stats_bca b = {0};
	int r = stats_bca(x, n, stats_statistic_median, .95, 1, &b);

	put_interval(a, &b.interval);
	return r;
}

static int split(const double *x, size_t n, struct answer *a)
{
	struct stats_split s = {0};
	int r = stats_split(x, n, &s);

	put(a, s.at[0]);
	put(a, s.at[1]);
	return r;
}

static int trend(const double *x, size_t n, struct answer *a)
{
	a->n = 2;
	return stats_trend(x, n, &a->x[0], &a->x[1]);
}

static int change(const double *x, size_t n, struct answer *a)
{
	struct stats_change c = {0};
	int r = stats_change(x, n, &c);

	put(a, c.p);
	put(a, c.step);
	return r;
}

static int levels(const double *x, size_t n, struct answer *a)
{
	struct stats_levels l = {0};
	int r = stats_levels(x, (size_t[]){n / 2, 2}, 2, &l);

	put(a, l.mean);
	for (int i = 0; i < 2; i++) {
		put(a, l.s2[i]);
		put(a, l.t2[i]);
	}
	return r;
}

static int mann_whitney(const double *x, size_t n, struct answer *a)
{
	struct stats_mann_whitney w = {0};
	int r = stats_mann_whitney(x, n / 2, x + n / 2, n - n / 2, &w);

	put(a, w.p);
	return r;
}

static int shift(const double *x, size_t n, struct answer *a)
{
	struct stats_interval iv = {0};
	int r = stats_shift(x, n / 2, x + n / 2, n - n / 2, .95, &a->x[a->n++], &iv);

	put_interval(a, &iv);
	return r;
}

static int ks(const double *x, size_t n, struct answer *a)
{
	a->n = 2;
	return stats_ks(x, n / 2, x + n / 2, n - n / 2, &a->x[0], &a->x[1]);
}

static int quantile_shift(const double *x, size_t n, struct answer *a)
{
	struct stats_shift_point p[STATS_SHIFT_QUANTILES] = {0};
	int r = stats_quantile_shift(x, n / 2, x + n / 2, n - n / 2, p);

	for (int i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		put(a, p[i].a);
		put(a, p[i].b);
		put(a, p[i].diff);
	}
	return r;
}

/* Blocks of four values; what one block cannot have is NaN, as compare.h says. */
static int compare(const double *x, size_t n, struct answer *a)
{
	struct stats_options opt = STATS_OPTIONS_INIT;
	struct stats_comparison c = {0};
	int r = stats_compare((const struct stats_block *)x, n / 4, &opt, &c);

	if (r == 0 && n >= 8) {
		put(a, c.effect);
		put(a, c.p);
		put(a, c.mde);
		put(a, c.margin);
		put(a, c.shift);
		put_interval(a, &c.interval);
		put_interval(a, &c.interval90);
		put_interval(a, &c.shift_interval);
	}
	stats_comparison_fini(&c);
	return r;
}

/* What is asked, in the order of the columns below. */
enum input {
	NONE,
	ONE,
	TWO,
	THREE,
	FOUR,
	EQUAL,
	ZEROS,
	TIES,
	TINY,
	WITH_NAN,
	WITH_INF,
	WITH_MINUS_INF,
	LARGEST,
	TWO_LARGEST,
	VERY_MANY,
	INPUTS,
};

/*
 * The codes: 0, N -ENODATA, D -EDOM, U -ENOTUNIQ, B -E2BIG. All equal values have a median, a p of
 * 1 and a spread of 0, but nothing to rank; the largest doubles have ranks, but no sum.
 */
static const struct {
	const char *name;
	int (*of)(const double *x, size_t n, struct answer *a);
	const char *codes;
} estimators[] = {
	{"median", median, "N00000000DDD000"},
	{"median_interval", median_interval, "N00000000DDD000"},
	{"hodges_lehmann", hodges_lehmann, "N00000000DDD00B"},
	{"sign_flip", sign_flip, "N00000000DDDDD0"},
	{"mde", mde, "NN0000000DDDDD0"},
	{"percentile", percentile, "N00000000DDD000"},
	{"harrell_davis", harrell_davis, "N00000000DDD000"},
	{"bca", bca, "NNNNNUU00DDD0N0"},
	{"split", split, "NNNNN0000DDDDN0"},
	{"trend", trend, "NNNNNUU00DDD0N0"},
	{"change", change, "NNNNNUU00DDDDN0"},
	{"levels", levels, "NNNN00000DDDDN0"},
	{"mann_whitney", mann_whitney, "NN000UU00DDD00B"},
	{"shift", shift, "NN0000000DDDDDB"},
	{"ks", ks, "NN0000000DDD000"},
	{"quantile_shift", quantile_shift, "NN0000000DDD0D0"},
	{"compare", compare, "000000000DDDD0B"},
};

static double few[INPUTS][16];
static double many[MANY];

static int setup(void **state)
{
	for (size_t i = 0; i < 16; i++) {
		for (size_t k = 0; k < INPUTS; k++) {
			few[k][i] = (double)(i % 3);
		}
		few[EQUAL][i] = 7;
		few[ZEROS][i] = 0;
		few[TINY][i] = (double)i * DBL_TRUE_MIN;
		few[LARGEST][i] = few[TWO_LARGEST][i] = i % 2 ? -DBL_MAX : DBL_MAX;
	}
	few[WITH_NAN][3] = NAN;
	few[WITH_INF][3] = INFINITY;
	few[WITH_MINUS_INF][3] = -INFINITY;
	for (size_t i = 0; i < MANY; i++) {
		many[i] = (double)(i % 97) + (double)i / 1000;
	}
	return 0;
}

static char letter(int code)
{
	return code == 0           ? '0'
	       : code == -ENODATA  ? 'N'
	       : code == -EDOM     ? 'D'
	       : code == -ENOTUNIQ ? 'U'
	       : code == -E2BIG    ? 'B'
				   : '?';
}

static void each_edge_has_its_answer(void **state)
{
	static const size_t lengths[INPUTS] = {
		[NONE] = 0, [ONE] = 1, [TWO] = 2, [THREE] = 3, [FOUR] = 4, [TWO_LARGEST] = 2,
	};

	for (size_t k = 0; k < ARRAY_SIZE(estimators); k++) {
		char codes[INPUTS + 1] = {0};

		for (int i = 0; i < INPUTS; i++) {
			size_t n = i == NONE || lengths[i] ? lengths[i] : 16;
			struct answer a = {0};
			int r = i == VERY_MANY ? estimators[k].of(many, MANY, &a)
					       : estimators[k].of(few[i], n, &a);

			codes[i] = letter(r);
			for (size_t v = 0; r == 0 && v < a.n; v++) {
				if (!isfinite(a.x[v])) {
					fail_msg("%s: number %zu of input %d is %g",
						 estimators[k].name, v, i, a.x[v]);
				}
			}
		}
		if (strcmp(codes, estimators[k].codes) != 0) {
			fail_msg("%s: %s, not %s", estimators[k].name, codes, estimators[k].codes);
		}
	}
}

static void an_estimator_leaves_its_input_alone(void **state)
{
	double copy[16];

	memcpy(copy, few[TIES], sizeof(copy));
	for (size_t k = 0; k < ARRAY_SIZE(estimators); k++) {
		struct answer a = {0};

		assert_int_equal(estimators[k].of(few[TIES], 16, &a), 0);
		assert_memory_equal(copy, few[TIES], sizeof(copy));
	}
}

/* Each parameter at what is no number, and at what is none of its kind. */
static void each_parameter_is_held_to_its_range(void **state)
{
	static const double no_share[] = {NAN, INFINITY, -INFINITY, -1, 0, 1.5};
	struct stats_interval iv;
	size_t q, hi;
	double x;

	for (size_t i = 0; i < ARRAY_SIZE(no_share); i++) {
		double p = no_share[i];

		assert_int_equal(stats_median_interval(few[TIES], 16, p, &iv), -ERANGE);
		assert_int_equal(stats_hodges_lehmann(few[TIES], 16, p, &x, &iv), -ERANGE);
		assert_int_equal(stats_shift(few[TIES], 8, few[TIES], 8, p, &x, &iv), -ERANGE);
		assert_int_equal(stats_percentile(few[TIES], 16, p, &x), -ERANGE);
		assert_int_equal(stats_harrell_davis(few[TIES], 16, p, &x), -ERANGE);
		assert_int_equal(stats_normal_quantile(p, &x), -ERANGE);
		assert_int_equal(stats_t_quantile(p, 5, &x), -ERANGE);
		assert_int_equal(stats_signrank_quantile(p, 5, &q, &x), -ERANGE);
		assert_int_equal(stats_binomial_range(20, p, .95, &q, &hi), -ERANGE);
		if (p != 0) {
			assert_int_equal(stats_holm(&p, 1, &x), p == 1 ? 0 : -ERANGE);
			assert_int_equal(stats_bh(&p, 1, &x), p == 1 ? 0 : -ERANGE);
		}
	}
}

static void a_variance_that_is_none_chooses_nothing(void **state)
{
	size_t n;
	double x;

	assert_int_equal(stats_blocks_for(-1, 1, 100, &n), -ERANGE);
	assert_int_equal(stats_blocks_for(NAN, 1, 100, &n), -EDOM);
	assert_int_equal(stats_blocks_for(INFINITY, 1, 100, &n), -EDOM);
	assert_int_equal(stats_blocks_for(1, 0, 100, &n), -ERANGE);
	assert_int_equal(stats_blocks_for(1, NAN, 100, &n), -EDOM);
	assert_int_equal(stats_blocks_for(1, 1, 5, &n), -E2BIG);
	assert_int_equal(stats_best_count(1, 1, -1, 1, &x), -ERANGE);
	assert_int_equal(stats_best_count(0, 1, 1, 1, &x), -ERANGE);
	assert_int_equal(stats_best_count(NAN, 1, 1, 1, &x), -ERANGE);
	assert_int_equal(stats_best_count(1, 1, NAN, 1, &x), -EDOM);
	assert_int_equal(stats_best_count(1, 1, 1, INFINITY, &x), -EDOM);
	/* Kalibera and Jones's T^2 may be below 0 by chance: that counts as 0. */
	assert_int_equal(stats_best_count(1, 1, 1, -1, &x), 0);
	assert_true(isinf(x));
	assert_int_equal(stats_best_count(1, 1, 0, -1, &x), 0);
	assert_true(x == 1);
}

static void evidence_that_is_none_decides_nothing(void **state)
{
	struct stats_evidence e = {
		.blocks = 12,
		.effect = NAN,
		.interval = {NAN, NAN, NAN},
		.interval90 = {NAN, NAN, NAN},
		.p = NAN,
		.alpha = .05,
		.margin = .1,
		.judges_speed = true,
	};
	enum stats_reason why;

	assert_false(stats_significant(&e));
	assert_int_equal(stats_verdict(&e, &why), VERDICT_INCONCLUSIVE);
	e.p = 0;
	assert_int_equal(stats_verdict(&e, &why), VERDICT_INCONCLUSIVE);
	e.interval = (struct stats_interval){-INFINITY, INFINITY, 1};
	e.interval90 = e.interval;
	assert_int_equal(stats_verdict(&e, &why), VERDICT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_edge_has_its_answer),
		cmocka_unit_test(an_estimator_leaves_its_input_alone),
		cmocka_unit_test(each_parameter_is_held_to_its_range),
		cmocka_unit_test(a_variance_that_is_none_chooses_nothing),
		cmocka_unit_test(evidence_that_is_none_decides_nothing),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
