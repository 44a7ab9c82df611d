/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated experiments through all that makes a report's verdicts, with known truth: batches in
 * boots in blocks, each level with a spread of its own, skewed batches, and a drift from block to
 * block and inside each. The seeds are fixed, so that these count and time nothing.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "bell.h"
#include "report/report.h"
#include "stats/plan.h"

#define BLOCKS  12 /* the most */
#define BATCHES 9

struct experiment {
	size_t n; /* blocks */
	struct stats_block blocks[BLOCKS];
	struct report_boot boots[4 * BLOCKS];
	double clean[2][2 * BLOCKS * BATCHES];
	struct report_bench bench;
	struct report report;
};

/* The median of a boot's batches: boots differ by 1, batches by 2, and one in ten takes 5 more. */
static double boot(struct rng *rng, double mean, double *batches)
{
	double at = mean + bell(rng);
	double median;

	for (int i = 0; i < BATCHES; i++) {
		batches[i] = at + 2 * bell(rng) + (rng_below(rng, 10) == 0 ? 5 : 0);
	}
	assert_int_equal(stats_median(batches, BATCHES, &median), 0);
	return median;
}

/* ABBA or BAAB, B being larger by @shift; each boot is 2 more than the one before. */
static void run(struct rng *rng, double shift, struct experiment *x)
{
	for (size_t k = 0; k < x->n; k++) {
		bool baab = rng_next(rng) & 1;
		double at = 1000 + 3 * bell(rng);
		size_t n[2] = {0};

		for (size_t i = 0; i < 4; i++) {
			int side = (i == 1 || i == 2) != baab ? STATS_B : STATS_A;
			double *batches = &x->clean[side][(2 * k + n[side]) * BATCHES];
			double v = boot(rng, at + 2 * (double)i + (side == STATS_B ? shift : 0),
					batches);

			(side == STATS_A ? x->blocks[k].a : x->blocks[k].b)[n[side]++] = v;
			x->boots[4 * k + i] = (struct report_boot){
				.slot = 4 * k + i, .side = side, .counts = true, .value = v};
		}
	}
}

/* With @batches the warnings that look at them do so, too. */
static void judge(struct experiment *x, bool same_arm, bool batches)
{
	struct err e = ERR_INIT;

	x->bench = (struct report_bench){
		.name = "syscall.null",
		.per = "call",
		.blocks = x->blocks,
		.n_blocks = x->n,
		.boots = x->boots,
		.n_boots = 4 * x->n,
	};
	for (int side = 0; batches && side < 2; side++) {
		x->bench.clean[side] = x->clean[side];
		x->bench.n_clean[side] = 2 * x->n * BATCHES;
		x->bench.batches[side].total = 2 * x->n * BATCHES;
	}
	x->report = (struct report)REPORT_INIT;
	x->report.class = EXEC_NATIVE;
	x->report.same_arm = same_arm;
	x->report.margin_abs = 1e-6;
	x->report.margin_rel = 0;
	x->report.benches = &x->bench;
	x->report.n_benches = 1;
	if (report_compute(&x->report, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static bool rejects(const struct experiment *x)
{
	return x->bench.result.verdict == VERDICT_BETTER ||
	       x->bench.result.verdict == VERDICT_WORSE;
}

static void of_200_runs_without_a_difference_4_to_16_find_one(void **state)
{
	static struct experiment x = {.n = BLOCKS};
	int rejected = 0, alarms = 0;
	struct rng rng;

	rng_init(&rng, 20260301);
	for (int i = 0; i < 200; i++) {
		run(&rng, 0, &x);
		judge(&x, false, true);
		rejected += rejects(&x);
		report_fini(&x.report);
		/* The same boots as those of one arm under two names. */
		judge(&x, true, true);
		assert_false(rejects(&x));
		alarms += x.bench.result.reason == REASON_FALSE_ALARM;
		report_fini(&x.report);
	}
	print_message("200 runs without a difference: %d found one, %d false alarms\n", rejected,
		      alarms);
	assert_in_range(rejected, 4, 16);
	assert_in_range(alarms, rejected, 16);
}

/* The spread of a block difference, from 20,000 of them. */
static double true_sd(struct rng *rng)
{
	static struct experiment x = {.n = BLOCKS};
	double sum = 0, squares = 0, n = 0;

	while (n < 20000) {
		run(rng, 0, &x);
		for (size_t k = 0; k < BLOCKS; k++, n++) {
			const struct stats_block *b = &x.blocks[k];
			double d = (b->b[0] + b->b[1] - b->a[0] - b->a[1]) / 2;

			sum += d;
			squares += d * d;
		}
	}
	return sqrt(squares / n - sum * sum / n / n);
}

struct found {
	int by_p, by_verdict; /* of 2,000 */
	int covered;
	double printed; /* over the true one */
};

/* Experiments of an effect that is the smallest detectable one of so many blocks. */
static struct found look_for_it(size_t blocks, uint64_t seed)
{
	static struct experiment x;
	struct found f = {0};
	double effect;
	struct rng rng;

	x.n = blocks;
	rng_init(&rng, seed);
	assert_int_equal(stats_mde_factor(blocks, &effect), 0);
	effect *= true_sd(&rng);
	for (int i = 0; i < 2000; i++) {
		const struct stats_comparison *c = &x.bench.result;
		double sign = i % 2 ? 1 : -1;

		run(&rng, sign * effect, &x);
		judge(&x, false, false);
		f.by_p += c->p <= .05 && c->effect * sign > 0;
		f.by_verdict += c->verdict == (sign > 0 ? VERDICT_WORSE : VERDICT_BETTER);
		f.covered += c->interval.lo <= sign * effect && sign * effect <= c->interval.hi;
		f.printed += c->mde / effect / 2000;
		report_fini(&x.report);
	}
	print_message("2,000 experiments of %zu blocks: %d find it by p, %d by their verdict, %d "
		      "intervals cover it, it is printed as %.2f of what it is\n",
		      blocks, f.by_p, f.by_verdict, f.covered, f.printed);
	return f;
}

static void the_smallest_detectable_effect_is_found_in_four_of_five(void **state)
{
	struct found f = look_for_it(12, 20260302);

	assert_in_range(f.by_p, 1500, 1700);
	/* A verdict wants the interval to leave out zero as well. */
	assert_in_range(f.by_verdict, 1400, f.by_p);
	assert_in_range(f.covered, 1860, 1940);
	assert_true(fabs(f.printed - 1) < .05);
}

static void six_blocks_find_it_in_three_of_five_alone(void **state)
{
	/* All six must have one sign: .924^6 where the effect is 1.43 spreads. */
	struct found f = look_for_it(6, 20260304);

	assert_in_range(f.by_p, 1150, 1320);
	assert_in_range(f.by_verdict, 1150, f.by_p);
}

/*
 * The number of blocks that a pilot of six chooses is right in the mean: its s_d is uncertain, so
 * the power is not 80 % in each single case.
 */
static void a_number_chosen_from_a_pilot_is_as_good_as_its_spread(void **state)
{
	static struct experiment x = {.n = BLOCKS};
	double needed = 0;
	size_t right, chosen;
	double sd, factor;
	struct rng rng;

	rng_init(&rng, 20260303);
	sd = true_sd(&rng);
	assert_int_equal(stats_blocks_for(sd, 1.2, 512, &right), 0);
	assert_int_equal(stats_mde_factor(6, &factor), 0);
	for (int i = 0; i < 500; i++) {
		double d[6], mde;

		run(&rng, 0, &x);
		for (size_t k = 0; k < 6; k++) {
			d[k] = (x.blocks[k].b[0] + x.blocks[k].b[1] - x.blocks[k].a[0] -
				x.blocks[k].a[1]) /
			       2;
		}
		assert_int_equal(stats_mde(d, 6, &mde), 0);
		assert_int_equal(stats_blocks_for(mde / factor, 1.2, 512, &chosen), 0);
		needed += (double)chosen / 500;
	}
	print_message("%zu blocks are needed, a pilot chooses %.1f in the mean\n", right, needed);
	assert_true(fabs(needed / (double)right - 1) < .25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_200_runs_without_a_difference_4_to_16_find_one),
		cmocka_unit_test(the_smallest_detectable_effect_is_found_in_four_of_five),
		cmocka_unit_test(six_blocks_find_it_in_three_of_five_alone),
		cmocka_unit_test(a_number_chosen_from_a_pilot_is_as_good_as_its_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
