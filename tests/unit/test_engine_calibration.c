/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/calibration.h"
#include "near.h"

#define OPS 100

/* A batch in which one operation takes @ticks, and a core cycle two. */
static struct calibration_batch batch(double ticks, uint8_t dirty)
{
	return (struct calibration_batch){
		.ticks = {40, 40 + 2 * CALIBRATE_CHAIN_ADDS, 1000, 1000 + (uint64_t)(ticks * OPS)},
		.dirty = dirty,
	};
}

static void a_point_is_the_median_of_its_clean_batches(void **state)
{
	struct calibration_batch b[8];
	struct calibration_point p;

	for (int i = 0; i < 7; i++) {
		b[i] = batch(10 + i, 0);
	}
	b[7] = batch(500, 1 << DISTURBED_IRQ | 1 << DISTURBED_KVM);
	calibration_point_make(b, 8, OPS, &p);
	assert_true(p.measured);
	assert_near(p.ticks, 13, 1e-9);
	assert_near(p.ticks_per_cycle, 2, 1e-9);
	assert_near(p.core_cycles, 6.5, 1e-9);
	assert_int_equal(p.batches, 8);
	assert_int_equal(p.dirty, 1);
	assert_int_equal(p.by_cause[DISTURBED_IRQ], 1);
	assert_int_equal(p.by_cause[DISTURBED_EXIT], 0);
}

static void a_large_value_of_a_clean_batch_is_kept(void **state)
{
	struct calibration_batch b[5] = {batch(10, 0), batch(10, 0), batch(99, 0), batch(99, 0),
					 batch(99, 0)};
	struct calibration_point p;

	calibration_point_make(b, 5, OPS, &p);
	assert_near(p.ticks, 99, 1e-9);
}

static void too_few_clean_batches_are_no_point_and_it_says_so(void **state)
{
	struct calibration_batch b[6];
	struct calibration_point p;

	for (int i = 0; i < 6; i++) {
		b[i] = batch(10, i < 2 ? 1 << DISTURBED_STEAL : 0);
	}
	calibration_point_make(b, 6, OPS, &p);
	assert_false(p.measured);
	assert_string_equal(p.reason, "4 of 6 batches were undisturbed, at least 5 are needed");
	calibration_point_make(b, 0, OPS, &p);
	assert_false(p.measured);
}

static void an_empty_loop_that_took_longer_makes_a_small_negative_number(void **state)
{
	struct calibration_batch b[5];
	struct calibration_point p;

	for (int i = 0; i < 5; i++) {
		b[i] = batch(0, 0);
		b[i].ticks[3] = b[i].ticks[2] - OPS;
	}
	calibration_point_make(b, 5, OPS, &p);
	assert_near(p.ticks, -1, 1e-9);
}

static void a_chain_that_took_no_time_gives_no_core_cycles(void **state)
{
	struct calibration_batch b[5];
	struct calibration_point p;

	for (int i = 0; i < 5; i++) {
		b[i] = batch(10, 0);
		b[i].ticks[1] = b[i].ticks[0];
	}
	calibration_point_make(b, 5, OPS, &p);
	assert_true(p.measured);
	assert_true(isnan(p.core_cycles));
}

/* Every primitive takes its number plus one ticks, in replicate i that many plus i tenths. */
static void fill(struct calibration_replicate *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (unsigned int k = 0; k < CALIBRATE_PRIMITIVE_COUNT; k++) {
			r[i].points[k] = (struct calibration_point){
				.measured = true,
				.ticks = k + 1 + (double)i / 10,
				.core_cycles = (k + 1 + (double)i / 10) / 2,
				.ticks_per_cycle = 2,
				.batches = 50,
				.dirty = 3,
			};
		}
	}
}

static void lose(struct calibration_replicate *r, size_t count, enum calibrate_primitive which,
		 const char *why)
{
	for (size_t i = 0; i < count; i++) {
		r[i].points[which] = (struct calibration_point){.core_cycles = NAN};
		snprintf(r[i].points[which].reason, sizeof(r[i].points[which].reason), "%s", why);
	}
}

static void lose_ring0(struct calibration_replicate *r, size_t count)
{
	static const unsigned int rings[] = {
#define ROW(id, name, ring, copies, loops, about) ring,
		CALIBRATE_PRIMITIVES(ROW)
#undef ROW
	};

	for (unsigned int k = 0; k < CALIBRATE_PRIMITIVE_COUNT; k++) {
		if (rings[k] == 0) {
			lose(r, count, (enum calibrate_primitive)k, "ring 0 is interpreted here");
		}
	}
}

static struct calibration *make(const struct calibration_replicate *r, size_t count,
				enum exec_class class, unsigned int shift)
{
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	if (calibration_make(r, count, class, shift, &c, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return c;
}

static void the_number_is_the_median_over_replicates_with_its_interval(void **state)
{
	struct calibration_replicate r[11];
	struct calibration *c;
	const struct calibration_primitive *p;

	fill(r, 11);
	c = make(r, 11, EXEC_NATIVE, 0);
	p = calibration_primitive(c, "lfence");
	assert_non_null(p);
	assert_near(p->number.median, CALIBRATE_LFENCE + 1.5, 1e-9);
	/* 11 values: the second to the tenth, 98.8 %. */
	assert_near(p->number.low, CALIBRATE_LFENCE + 1.1, 1e-9);
	assert_near(p->number.high, CALIBRATE_LFENCE + 1.9, 1e-9);
	assert_near(p->number.level, 0.98828125, 1e-9);
	assert_near(p->core_cycles.median, (CALIBRATE_LFENCE + 1.5) / 2, 1e-9);
	assert_near(c->ticks_per_cycle.median, 2, 1e-9);
	assert_int_equal(p->n, 11);
	assert_int_equal(p->batches, 550);
	assert_int_equal(p->dirty, 33);
	assert_string_equal(p->unit, "cycles");
	assert_true(p->native);
	free(c);
}

static void five_replicates_have_no_finite_interval(void **state)
{
	struct calibration_replicate r[5];
	struct calibration *c;

	fill(r, 5);
	c = make(r, 5, EXEC_NATIVE, 0);
	assert_true(isinf(c->primitives[0].number.low));
	assert_true(isinf(c->primitives[0].number.high));
	free(c);
}

static void every_floor_is_its_formula_in_each_replicate(void **state)
{
	static const struct {
		const char *id;
		double at_zero; /* in the replicate whose primitives take their number plus one */
		int terms;      /* sum of the factors: what a tenth more of each adds */
		const char *formula;
	} expected[] = {
		{"fsgsbase.fs",
		 (CALIBRATE_WRMSR_FS_BASE + 1) - (CALIBRATE_RDFSBASE + 1) -
			 (CALIBRATE_WRFSBASE + 1) - (CALIBRATE_RDGSBASE + 1) -
			 (CALIBRATE_WRGSBASE + 1) - 4 * (CALIBRATE_SWAPGS + 1),
		 -7, "wrmsr.fs_base - rdfsbase - wrfsbase - rdgsbase - wrgsbase - 4 × swapgs"},
		{"fsgsbase.fsgs",
		 (CALIBRATE_WRMSR_FS_BASE + 1) + (CALIBRATE_WRMSR_KERNEL_GS_BASE + 1) -
			 (CALIBRATE_RDFSBASE + 1) - (CALIBRATE_WRFSBASE + 1) -
			 (CALIBRATE_RDGSBASE + 1) - (CALIBRATE_WRGSBASE + 1) -
			 4 * (CALIBRATE_SWAPGS + 1),
		 -6,
		 "wrmsr.fs_base + wrmsr.kernel_gs_base - rdfsbase - wrfsbase - rdgsbase - "
		 "wrgsbase - 4 × swapgs"},
		{"uaccess.get", (CALIBRATE_LOAD_FENCED + 1) - (CALIBRATE_LOAD_MASKED + 1), 0,
		 "load.fenced - load.masked"},
		{"uaccess.put", (CALIBRATE_STORE_PLAIN + 1) - (CALIBRATE_STORE_CHECKED + 1), 0,
		 "store.plain - store.checked"},
		{"nopti.syscall",
		 2 * (CALIBRATE_CR3_WRITE_NOFLUSH + 1) - (CALIBRATE_TEST_CR3 + 1) -
			 (CALIBRATE_TEST_FLAG + 1),
		 0, "2 × cr3.write.noflush - test.cr3 - test.flag"},
	};
	struct calibration_replicate r[7];
	struct calibration *c;

	fill(r, 7);
	c = make(r, 7, EXEC_NATIVE, 0);
	assert_int_equal(c->floor_count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct calibration_floor *f = calibration_floor(c, expected[i].id);

		assert_non_null(f);
		assert_near(f->value, expected[i].at_zero + 0.3 * expected[i].terms, 1e-9);
		assert_string_equal(f->formula, expected[i].formula);
		assert_string_equal(f->reason, "");
		assert_int_equal(f->n, 7);
		assert_true(f->low <= f->value && f->value <= f->high);
	}
	assert_null(calibration_floor(c, "uaccess"));
	free(c);
}

static void without_pcid_the_floor_of_nopti_takes_the_write_that_flushes(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;

	fill(r, 6);
	lose(r, 6, CALIBRATE_CR3_WRITE_NOFLUSH, "no PCID");
	c = make(r, 6, EXEC_TCG, 0);
	assert_string_equal(calibration_floor(c, "nopti.syscall")->formula,
			    "2 × cr3.write - test.cr3 - test.flag");
	assert_int_equal(calibration_floor(c, "nopti.syscall")->n, 6);
	free(c);
}

static void where_ring_0_is_interpreted_ring_3_has_cycles_and_the_rest_reasons(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;
	const struct calibration_floor *f;

	fill(r, 6);
	lose_ring0(r, 6);
	c = make(r, 6, EXEC_EMULATED, 0);
	assert_string_equal(calibration_primitive(c, "lfence")->unit, "cycles");
	assert_true(calibration_primitive(c, "lfence")->native);
	assert_string_equal(calibration_primitive(c, "swapgs")->unit, "ticks");
	assert_false(calibration_primitive(c, "swapgs")->native);
	assert_true(isnan(calibration_primitive(c, "swapgs")->number.median));
	assert_string_equal(calibration_primitive(c, "swapgs")->reason,
			    "ring 0 is interpreted here");
	f = calibration_floor(c, "uaccess.get");
	assert_near(f->value, CALIBRATE_LOAD_FENCED - CALIBRATE_LOAD_MASKED, 1e-9);
	assert_string_equal(f->unit, "cycles");
	f = calibration_floor(c, "fsgsbase.fs");
	assert_true(isnan(f->value));
	assert_string_equal(f->reason, "not measured: wrmsr.fs_base, swapgs (ring 0 is "
				       "interpreted here)");
	f = calibration_floor(c, "nopti.syscall");
	assert_string_equal(f->reason,
			    "not measured: cr3.write.noflush (ring 0 is interpreted here)");
	free(c);
}

static void under_icount_ticks_become_instructions_and_there_are_no_core_cycles(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;

	fill(r, 6);
	c = make(r, 6, EXEC_ICOUNT, 3);
	assert_near(calibration_primitive(c, "swapgs")->number.median,
		    (CALIBRATE_SWAPGS + 1.25) / 8, 1e-9);
	assert_true(isnan(calibration_primitive(c, "lfence")->core_cycles.median));
	assert_true(isnan(c->ticks_per_cycle.median));
	assert_string_equal(calibration_floor(c, "uaccess.get")->unit, "instructions");
	free(c);
}

static void a_replicate_that_lost_a_primitive_only_takes_itself_away(void **state)
{
	struct calibration_replicate r[7];
	struct calibration *c;

	fill(r, 7);
	lose(r, 1, CALIBRATE_LOAD_MASKED, "disturbed");
	c = make(r, 7, EXEC_NATIVE, 0);
	assert_int_equal(calibration_primitive(c, "load.masked")->n, 6);
	assert_string_equal(calibration_primitive(c, "load.masked")->reason, "");
	assert_int_equal(calibration_floor(c, "uaccess.get")->n, 6);
	assert_int_equal(calibration_floor(c, "uaccess.put")->n, 7);
	free(c);
}

static void replicates_out_of_range_are_an_error(void **state)
{
	struct calibration_replicate r[1];
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	fill(r, 1);
	assert_int_equal(calibration_make(r, 0, EXEC_NATIVE, 0, &c, &e), -EINVAL);
	assert_int_equal(calibration_make(r, CALIBRATION_REPLICATES_MAX + 1, EXEC_NATIVE, 0, &c,
					  &e),
			 -EINVAL);
	assert_null(c);
}

static struct calibration *there_and_back(const struct calibration *c)
{
	json_t *j = calibration_json(c);
	char *text = json_dumps(j, 0);
	struct calibration *back = NULL;
	struct err e = ERR_INIT;

	assert_non_null(text);
	if (calibration_parse(text, strlen(text), "test", &back, &e) < 0) {
		fail_msg("%s", e.text);
	}
	free(text);
	json_decref(j);
	return back;
}

static void same_number(double a, double b)
{
	if (isfinite(a) || isfinite(b)) {
		assert_near(a, b, 0);
	} else {
		assert_int_equal(isnan(a), isnan(b));
	}
}

static void what_is_written_is_read_back_the_same(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c, *back;

	fill(r, 6);
	lose_ring0(r, 6);
	c = make(r, 6, EXEC_ICOUNT, 3);
	snprintf(c->host_cpu, sizeof(c->host_cpu), "a processor");
	back = there_and_back(c);
	assert_int_equal(back->class, EXEC_ICOUNT);
	assert_int_equal(back->icount_shift, 3);
	assert_int_equal(back->replicates, 6);
	assert_string_equal(back->host_cpu, "a processor");
	assert_int_equal(back->primitive_count, c->primitive_count);
	assert_int_equal(back->floor_count, c->floor_count);
	for (size_t i = 0; i < c->primitive_count; i++) {
		const struct calibration_primitive *a = &c->primitives[i];
		const struct calibration_primitive *b = &back->primitives[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->about, b->about);
		assert_string_equal(a->unit, b->unit);
		assert_string_equal(a->reason, b->reason);
		assert_int_equal(a->ring, b->ring);
		assert_int_equal(a->native, b->native);
		assert_int_equal(a->n, b->n);
		assert_int_equal(a->dirty, b->dirty);
		same_number(a->number.median, b->number.median);
		same_number(a->number.low, b->number.low);
		same_number(a->number.level, b->number.level);
		same_number(a->core_cycles.median, b->core_cycles.median);
	}
	for (size_t i = 0; i < c->floor_count; i++) {
		assert_string_equal(c->floors[i].id, back->floors[i].id);
		assert_string_equal(c->floors[i].formula, back->floors[i].formula);
		assert_string_equal(c->floors[i].reason, back->floors[i].reason);
		same_number(c->floors[i].value, back->floors[i].value);
		same_number(c->floors[i].high, back->floors[i].high);
	}
	free(back);
	free(c);
}

static void an_infinite_interval_is_null_in_json_and_infinite_again(void **state)
{
	struct calibration_replicate r[2];
	struct calibration *c, *back;

	fill(r, 2);
	c = make(r, 2, EXEC_NATIVE, 0);
	back = there_and_back(c);
	assert_true(isfinite(back->floors[0].value));
	assert_true(isinf(back->floors[0].low) && back->floors[0].low < 0);
	assert_true(isinf(back->primitives[0].number.high));
	free(back);
	free(c);
}

static void the_json_has_the_keys_that_others_read(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;
	json_t *j;
	const json_t *floor;

	fill(r, 6);
	lose_ring0(r, 6);
	c = make(r, 6, EXEC_EMULATED, 0);
	j = calibration_json(c);
	assert_int_equal(json_integer_value(json_object_get(j, "schema_version")), 1);
	assert_string_equal(json_string_value(json_object_get(j, "type")), "calibration");
	assert_string_equal(json_string_value(json_object_get(j, "class")), "emulated");
	floor = json_array_get(json_object_get(j, "floors"), 0);
	assert_string_equal(json_string_value(json_object_get(floor, "id")), "fsgsbase.fs");
	assert_true(json_is_null(json_object_get(floor, "value")));
	assert_true(json_is_null(json_object_get(floor, "low")));
	assert_true(json_is_string(json_object_get(floor, "reason")));
	assert_true(json_is_string(json_object_get(floor, "formula")));
	assert_true(json_is_string(json_object_get(floor, "unit")));
	json_decref(j);
	free(c);
}

static void what_is_no_calibration_is_refused_and_named(void **state)
{
#define HEAD "{\"schema_version\":1,\"type\":\"calibration\",\"class\":\"native\","
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{"", "f:1:0: '[' or '{' expected near end of file"},
		{"[]", "f: 'type' is not \"calibration\""},
		{"{\"type\":\"boot\"}", "f: 'type' is not \"calibration\""},
		{"{\"type\":\"calibration\",\"schema_version\":2}",
		 "f: schema version 2, this ringside reads 1"},
		{"{\"type\":\"calibration\",\"schema_version\":1,\"class\":\"fast\"}",
		 "f: 'class' is no execution class"},
		{HEAD "\"primitives\":[]}", "f: 'floors' is not a list"},
		{HEAD "\"floors\":[],\"primitives\":{}}", "f: 'primitives' is not a list"},
		{HEAD "\"primitives\":[],\"floors\":[3]}", "f: floors[0]: 'id' is not a text"},
		{HEAD "\"primitives\":[],\"floors\":[{\"id\":\"a\",\"unit\":\"u\","
		      "\"formula\":\"f\",\"value\":\"1\"}]}",
		 "f: floors[0]: 'value' is not a number"},
		{HEAD "\"primitives\":[],\"floors\":[{\"id\":\"a\",\"unit\":\"u\","
		      "\"formula\":\"f\",\"value\":null}]}",
		 "f: floors[0]: 'value' is null, and no 'reason' says why"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":\"u\",\"ring\":4,"
		      "\"class\":\"tcg\"}]}",
		 "f: primitives[0]: 'ring' is above 3"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":"
		      "\"a unit whose name is longer than any\"}]}",
		 "f: primitives[0]: 'unit' is too long"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":\"u\",\"n\":-1,"
		      "\"class\":\"tcg\"}]}",
		 "f: primitives[0]: 'n' is not a whole number of 0 or more"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct calibration *c = NULL;
		struct err e = ERR_INIT;

		assert_int_equal(calibration_parse(cases[i].text, strlen(cases[i].text), "f", &c,
						   &e),
				 -EBADMSG);
		assert_string_equal(e.text, cases[i].says);
		assert_null(c);
	}
#undef HEAD
}

static void a_list_is_read_up_to_its_limit_and_refused_past_it(void **state)
{
	for (size_t n = CALIBRATION_FLOORS_MAX; n <= CALIBRATION_FLOORS_MAX + 1; n++) {
		json_t *floors = json_array();
		json_t *j =
			json_pack("{s:i, s:s, s:s, s:[], s:o}", "schema_version", 1, "type",
				  "calibration", "class", "tcg", "primitives", "floors", floors);
		struct calibration *c = NULL;
		struct err e = ERR_INIT;
		char *text;
		int r;

		for (size_t i = 0; i < n; i++) {
			json_array_append_new(floors,
					      json_pack("{s:s, s:s, s:s, s:f}", "id", "x", "unit",
							"u", "formula", "f", "value", 1.0));
		}
		text = json_dumps(j, 0);
		r = calibration_parse(text, strlen(text), "f", &c, &e);
		if (n == CALIBRATION_FLOORS_MAX) {
			assert_int_equal(r, 0);
			assert_int_equal(c->floor_count, n);
		} else {
			assert_int_equal(r, -EBADMSG);
			assert_string_equal(e.text, "f: 'floors' is too long");
		}
		free(c);
		free(text);
		json_decref(j);
	}
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(calibration_read("/nonexistent/calibration.json", &c, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent/calibration.json: No such file or directory");
}

static void a_replicate_goes_to_its_starter_and_arrives_the_same(void **state)
{
	struct calibration_replicate r[1], back;
	struct err e = ERR_INIT;
	json_t *j;
	char *text;

	fill(r, 1);
	r[0].points[0].by_cause[DISTURBED_STEAL] = 2;
	lose(r, 1, CALIBRATE_SYSCALL, "because");
	j = calibration_replicate_json(r);
	text = json_dumps(j, JSON_COMPACT);
	assert_int_equal(calibration_replicate_parse(text, strlen(text), &back, &e), 0);
	assert_near(back.points[3].ticks, r[0].points[3].ticks, 0);
	assert_near(back.points[3].core_cycles, r[0].points[3].core_cycles, 0);
	assert_int_equal(back.points[3].batches, 50);
	assert_int_equal(back.points[0].by_cause[DISTURBED_STEAL], 2);
	assert_true(back.points[3].measured);
	assert_false(back.points[CALIBRATE_SYSCALL].measured);
	assert_string_equal(back.points[CALIBRATE_SYSCALL].reason, "because");
	json_object_del(json_object_get(j, "points"), "swapgs");
	free(text);
	text = json_dumps(j, JSON_COMPACT);
	assert_int_equal(calibration_replicate_parse(text, strlen(text), &back, &e), -EBADMSG);
	assert_string_equal(e.text, "swapgs: 'swapgs' is missing");
	free(text);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_is_the_median_of_its_clean_batches),
		cmocka_unit_test(a_large_value_of_a_clean_batch_is_kept),
		cmocka_unit_test(too_few_clean_batches_are_no_point_and_it_says_so),
		cmocka_unit_test(an_empty_loop_that_took_longer_makes_a_small_negative_number),
		cmocka_unit_test(a_chain_that_took_no_time_gives_no_core_cycles),
		cmocka_unit_test(the_number_is_the_median_over_replicates_with_its_interval),
		cmocka_unit_test(five_replicates_have_no_finite_interval),
		cmocka_unit_test(every_floor_is_its_formula_in_each_replicate),
		cmocka_unit_test(without_pcid_the_floor_of_nopti_takes_the_write_that_flushes),
		cmocka_unit_test(
			where_ring_0_is_interpreted_ring_3_has_cycles_and_the_rest_reasons),
		cmocka_unit_test(
			under_icount_ticks_become_instructions_and_there_are_no_core_cycles),
		cmocka_unit_test(a_replicate_that_lost_a_primitive_only_takes_itself_away),
		cmocka_unit_test(replicates_out_of_range_are_an_error),
		cmocka_unit_test(what_is_written_is_read_back_the_same),
		cmocka_unit_test(an_infinite_interval_is_null_in_json_and_infinite_again),
		cmocka_unit_test(the_json_has_the_keys_that_others_read),
		cmocka_unit_test(what_is_no_calibration_is_refused_and_named),
		cmocka_unit_test(a_list_is_read_up_to_its_limit_and_refused_past_it),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		cmocka_unit_test(a_replicate_goes_to_its_starter_and_arrives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
