/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calltime_fixture.h"

#define GPA           FIXTURE_GPA
#define BANKS         8U
#define CPUS          2U
#define PROBES        FIXTURE_PROBES
#define BLOCKS        (BANKS * CPUS * PROBES)
#define BYTES         (CALLTIME_PAGE_BYTES * (1 + BLOCKS))
#define AREA_GPA(cpu) fixture_area_gpa(&g->f, cpu)

/* A guest's memory, and what goes wrong with it while it is read. */
struct guest {
	struct calltime_fixture f;
	unsigned int reads;
	unsigned int fail_at;    /* the read that fails, from 1; 0: none */
	unsigned int busy_reads; /* so many reads of block 1's seq find it changed */
};

static struct calltime_block *guest_block(struct guest *g, uint32_t bank, uint32_t cpu,
					  uint32_t probe)
{
	return fixture_block(&g->f, bank, cpu, probe);
}

static void guest_record(struct guest *g, uint32_t bank, uint32_t cpu, uint32_t probe,
			 uint64_t ticks)
{
	fixture_record(guest_block(g, bank, cpu, probe), ticks);
}

static int guest_read(void *ctx, uint64_t gpa, void *buf, size_t len)
{
	struct guest *g = ctx;
	const uint8_t *at;

	g->reads++;
	if (g->reads == g->fail_at) {
		return -EFAULT;
	}
	assert_true(len <= CALLTIME_PAGE_BYTES);
	at = fixture_at(&g->f, gpa, len);
	if (!at) {
		return -ERANGE;
	}
	if (g->busy_reads > 0 && len == sizeof(uint32_t) && at == (uint8_t *)&g->f.block[1].seq) {
		g->busy_reads--;
		g->f.block[1].seq++;
	}
	memcpy(buf, at, len);
	return 0;
}

static int setup(void **state)
{
	struct guest *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	fixture_init(&g->f, CPUS, BANKS);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct calltime *load(struct guest *g)
{
	struct err e = ERR_INIT;
	struct calltime *c = NULL;
	int r = calltime_load(guest_read, g, GPA, BYTES, &c, &e);

	if (r != 0) {
		fail_msg("%s", e.text);
	}
	return c;
}

static void refused(struct guest *g, uint64_t gpa, uint64_t bytes, int code, const char *text)
{
	struct err e = ERR_INIT;
	struct calltime *c = (void *)1;

	assert_int_equal(calltime_load(guest_read, g, gpa, bytes, &c, &e), code);
	assert_ptr_equal(c, (void *)1);
	if (!strstr(e.text, text)) {
		fail_msg("'%s' is not in: %s", text, e.text);
	}
}

static void buckets_cover_32_bits_without_gap_within_one_part_in_32(void **state)
{
	for (uint32_t i = 0; i < CALLTIME_HIST_BUCKETS; i++) {
		uint32_t low = calltime_bucket_low(i);

		assert_int_equal(calltime_bucket(low), i);
		if (i > 0) {
			uint32_t before = calltime_bucket_low(i - 1);

			assert_int_equal(calltime_bucket(low - 1), i - 1);
			assert_true(low - before <= 1 || (uint64_t)(low - before) * 32 <= before);
		}
	}
	assert_int_equal(calltime_bucket(UINT32_MAX), CALLTIME_HIST_BUCKETS - 1);
}

static void samples_of_all_cpus_are_merged_and_kept_apart_too(void **state)
{
	struct calltime_stats s;
	struct calltime *c;

	guest_record(*state, 3, 0, 1, 100);
	guest_record(*state, 3, 0, 1, 40);
	guest_record(*state, 3, 1, 1, 7000);
	c = load(*state);
	calltime_merged_stats(c, 3, 1, &s);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.sum, 7140);
	assert_int_equal(s.min, 40);
	assert_int_equal(s.max, 7000);
	assert_int_equal(s.hist[calltime_bucket(7000)], 1);
	assert_false(s.torn);
	calltime_cpu_stats(c, 3, 1, 1, &s);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.min, 7000);
	calltime_merged_stats(c, 2, 1, &s);
	assert_int_equal(s.count, 0);
	assert_int_equal(calltime_banks(c), BANKS);
	assert_int_equal(calltime_cpus(c), CPUS);
	assert_int_equal(calltime_probes(c), PROBES);
	assert_int_equal(calltime_tsc_khz(c), 2000000);
	calltime_destroy(c);
}

static void the_empty_cost_is_the_fastest_pair_of_that_bank_times_the_pairs(void **state)
{
	struct calltime *c;
	uint64_t ticks = 0;

	guest_record(*state, 0, 0, 0, 31);
	guest_record(*state, 0, 1, 0, 29);
	guest_record(*state, 1, 0, 0, 50);
	c = load(*state);
	assert_true(calltime_empty_ticks(c, 0, 1, &ticks));
	assert_int_equal(ticks, 58);
	assert_true(calltime_empty_ticks(c, 0, 0, &ticks));
	assert_int_equal(ticks, 29);
	assert_true(calltime_empty_ticks(c, 1, 1, &ticks));
	assert_int_equal(ticks, 100);
	assert_false(calltime_empty_ticks(c, 2, 1, &ticks));
	calltime_destroy(c);
}

static void quantiles_are_within_one_part_in_64(void **state)
{
	static const double qs[] = {0.01, 0.25, 0.5, 0.9, 0.99};
	struct calltime_stats s;
	struct calltime *c;

	for (uint64_t i = 1; i <= 1000; i++) {
		guest_record(*state, 0, i % CPUS, 1, i * 1000);
	}
	c = load(*state);
	calltime_merged_stats(c, 0, 1, &s);
	for (size_t i = 0; i < ARRAY_SIZE(qs); i++) {
		double exact = qs[i] * 1000 * 1000;

		assert_true((double)calltime_quantile(&s, qs[i]) >= exact * (1 - 1.0 / 64));
		assert_true((double)calltime_quantile(&s, qs[i]) <= exact * (1 + 1.0 / 64));
	}
	assert_true(calltime_quantile(&s, 0) >= 1000 && calltime_quantile(&s, 0) <= 1016);
	assert_true(calltime_quantile(&s, 1) >= 984375 && calltime_quantile(&s, 1) <= 1000000);
	calltime_merged_stats(c, 1, 1, &s);
	assert_int_equal(calltime_quantile(&s, 0.5), 0);
	calltime_destroy(c);
}

static void a_sample_over_32_bits_is_in_the_last_bucket_and_the_sums_are_exact(void **state)
{
	struct calltime_stats s;
	struct calltime *c;

	guest_record(*state, 0, 0, 1, UINT64_C(1) << 40);
	c = load(*state);
	calltime_merged_stats(c, 0, 1, &s);
	assert_int_equal(s.hist[CALLTIME_HIST_BUCKETS - 1], 1);
	assert_int_equal(s.sum, UINT64_C(1) << 40);
	assert_int_equal(calltime_quantile(&s, 0.5), UINT64_C(1) << 40);
	calltime_destroy(c);
}

static void json_has_the_probes_that_counted_and_nothing_else(void **state)
{
	struct calltime *c;
	json_t *json;
	char *text;

	guest_record(*state, 0, 0, 0, 20);
	guest_record(*state, 0, 0, 1, 64);
	guest_record(*state, 0, 1, 1, 65);
	guest_record(*state, 5, 1, 1, 10);
	c = load(*state);
	assert_int_equal(calltime_to_json(c, &json), 0);
	text = json_dumps(json, JSON_COMPACT);
	assert_string_equal(
		text,
		"[{\"bank\":0,\"probe\":\"calltime.empty\",\"count\":1,\"sum\":20,\"min\":20,"
		"\"max\":20,\"pairs\":1,\"empty_min\":20,\"torn\":false,\"hist\":[[20,1]]},"
		"{\"bank\":0,\"probe\":\"switch_to.fsgs\",\"count\":2,\"sum\":129,\"min\":64,"
		"\"max\":65,\"pairs\":2,\"empty_min\":40,\"torn\":false,\"hist\":[[64,2]]},"
		"{\"bank\":5,\"probe\":\"switch_to.fsgs\",\"count\":1,\"sum\":10,\"min\":10,"
		"\"max\":10,\"pairs\":2,\"empty_min\":null,\"torn\":false,\"hist\":[[10,1]]}]");
	free(text);
	json_decref(json);
	calltime_destroy(c);
}

static void a_block_that_settles_is_read_whole(void **state)
{
	struct guest *g = *state;
	struct calltime_stats s;
	struct calltime *c;

	guest_record(g, 0, 0, 1, 5);
	g->busy_reads = CALLTIME_READ_TRIES;
	c = load(g);
	calltime_merged_stats(c, 0, 1, &s);
	assert_int_equal(s.count, 1);
	assert_false(s.torn);
	calltime_destroy(c);
}

static void a_block_that_never_settles_is_taken_and_marked_torn(void **state)
{
	struct guest *g = *state;
	struct calltime_stats s;
	struct calltime *c;

	guest_record(g, 0, 0, 1, 5);
	g->busy_reads = UINT32_MAX;
	c = load(g);
	calltime_merged_stats(c, 0, 1, &s);
	assert_int_equal(s.count, 1);
	assert_true(s.torn);
	calltime_merged_stats(c, 0, 0, &s);
	assert_false(s.torn);
	calltime_destroy(c);
	/* The reads are bounded: header, the busy block, three reads for each other one. */
	assert_int_equal(g->reads, 1 + 3 * CALLTIME_READ_TRIES + 3 * (BLOCKS - 1));
}

static void a_guest_that_died_while_it_wrote_is_torn_even_if_it_disagrees_with_itself(void **state)
{
	struct guest *g = *state;
	struct calltime_block *b = guest_block(g, 0, 0, 1);
	struct calltime_stats s;
	struct calltime *c;

	guest_record(g, 0, 0, 1, 5);
	b->seq++;
	b->hist[9]++;
	c = load(g);
	calltime_merged_stats(c, 0, 1, &s);
	assert_true(s.torn);
	assert_int_equal(s.count, 1);
	calltime_destroy(c);
}

static void a_whole_block_that_disagrees_with_itself_is_refused(void **state)
{
	struct guest *g = *state;

	guest_record(g, 0, 1, 1, 5);
	guest_block(g, 0, 1, 1)->hist[9]++;
	refused(g, GPA, BYTES, -EBADMSG, "bank 0, cpu 1, probe 1 is damaged: count 1, histogram 2");
}

static void a_block_in_the_wrong_place_is_refused(void **state)
{
	struct guest *g = *state;

	guest_block(g, 7, 1, 0)->bank = 6;
	refused(g, GPA, BYTES, -EBADMSG, "bank 7, cpu 1, probe 0 says that it is 6, 1, 0");
}

static void places_that_cannot_be_are_refused_before_any_read(void **state)
{
	struct guest *g = *state;

	refused(g, GPA + 8, BYTES, -EINVAL, "not on a page boundary");
	refused(g, GPA, 0, -EINVAL, "calltime region of 0 bytes");
	refused(g, GPA, BYTES + 1, -EINVAL, "expected pages");
	refused(g, GPA, CALLTIME_MAX_REGION_BYTES + 4096, -EINVAL,
		"expected pages, 4096 to 67108864");
	refused(g, UINT64_MAX - 4095, BYTES, -EINVAL, "past the address space");
	assert_int_equal(g->reads, 0);
	refused(g, GPA, CALLTIME_MAX_REGION_BYTES, -EBADMSG,
		"region_bytes is 135168, expected 67108864");
}

static void each_wrong_header_field_is_named(void **state)
{
	struct guest *g = *state;
	struct calltime_header good = g->f.header;
	const struct {
		uint32_t *field;
		uint32_t value;
		const char *text;
	} rows[] = {
		{&g->f.header.version, 1, "version is 1, expected 2"},
		{&g->f.header.version, 3, "version is 3, expected 2"},
		{&g->f.header.header_bytes, 8192, "header_bytes is 8192, expected 4096"},
		{&g->f.header.block_bytes, 0, "block_bytes is 0, expected 4096"},
		{&g->f.header.hist_buckets, 895, "hist_buckets is 895, expected 896"},
		{&g->f.header.ring_entries, 113, "ring_entries is 113, expected 112"},
		{&g->f.header.probe_info_offset, 0, "probe_info_offset is 0, expected 120"},
		{&g->f.header.probe_info_bytes, 39, "probe_info_bytes is 39, expected 40"},
		{&g->f.header.area_gpa_offset, 0, "area_gpa_offset is 0, expected 2680"},
		{&g->f.header.cpus, 0, "cpus is 0, expected 1 to 128"},
		{&g->f.header.cpus, CALLTIME_MAX_CPUS + 1, "cpus is 129, expected 1 to 128"},
		{&g->f.header.cpus, CALLTIME_MAX_CPUS, "region_bytes is 135168, expected 8392704"},
		{&g->f.header.cpus, 1, "region_bytes is 135168, expected 69632"},
		{&g->f.header.probes, 0, "probes is 0, expected 1 to 64"},
		{&g->f.header.probes, CALLTIME_MAX_PROBES + 1, "probes is 65, expected 1 to 64"},
		{&g->f.header.banks, UINT32_MAX, "banks is 4294967295, expected 1 to 64"},
		{&g->f.header.probe[1].pairs, 0, "a probe's pairs is 0, expected 1 to 16"},
		{&g->f.header.probe[1].pairs, 17, "a probe's pairs is 17, expected 1 to 16"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		*rows[i].field = rows[i].value;
		refused(g, GPA, BYTES, -EBADMSG, rows[i].text);
		g->f.header = good;
	}
	g->f.header.magic = 0;
	refused(g, GPA, BYTES, -EBADMSG, "no calltime region there: magic is 0x0");
	g->f.header = good;
	g->f.header.region_gpa = GPA - 4096;
	refused(g, GPA, BYTES, -EBADMSG, "region_gpa is");
	g->f.header = good;
	memset(g->f.header.probe[0].name, 'x', CALLTIME_NAME_BYTES);
	refused(g, GPA, BYTES, -EBADMSG, "the name of probe 0 is not 1 to 31 printable");
	strcpy(g->f.header.probe[0].name, "two words");
	refused(g, GPA, BYTES, -EBADMSG, "the name of probe 0");
	g->f.header.probe[0].name[0] = '\0';
	refused(g, GPA, BYTES, -EBADMSG, "the name of probe 0");
}

static void an_area_that_cannot_be_is_refused_and_one_outside_memory_cannot_be_read(void **state)
{
	struct guest *g = *state;

	g->f.header.area_gpa[1] = AREA_GPA(1) + 8;
	refused(g, GPA, BYTES, -EBADMSG, "the area of cpu 1 is at 0x1000008: not on a page");
	/* The last page of the address space is there, the area's end is not. */
	g->f.header.area_gpa[1] = UINT64_MAX - 4095;
	refused(g, GPA, BYTES, -EBADMSG, "past the address space");
	assert_int_equal(g->reads, 2);
	g->f.header.area_gpa[1] = UINT64_C(0x7f000000);
	refused(g, GPA, BYTES, -ERANGE, "reading the calltime block at 0x7f000000");
	/* An area that is another CPU's is found out by the blocks' own coordinates. */
	g->f.header.area_gpa[1] = AREA_GPA(0);
	refused(g, GPA, BYTES, -EBADMSG, "bank 0, cpu 1, probe 0 says that it is 0, 0, 0");
}

static void the_areas_of_sixteen_cpus_and_all_probes_are_within_what_the_host_reads(void **state)
{
	assert_true(CALLTIME_PAGE_BYTES + UINT64_C(16) * CALLTIME_BANKS * CALLTIME_MAX_PROBES *
						  sizeof(struct calltime_block) <=
		    CALLTIME_MAX_REGION_BYTES);
}

static void random_bytes_are_refused(void **state)
{
	struct guest *g = *state;
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(g->f.page); i++) {
		x = x * 1664525 + 1013904223;
		g->f.page[i] = (uint8_t)(x >> 24);
	}
	refused(g, GPA, BYTES, -EBADMSG, "no calltime region there");
}

static void each_read_that_fails_ends_the_loading_with_its_error(void **state)
{
	struct guest *g = *state;
	unsigned int all;

	guest_record(g, 0, 0, 1, 5);
	calltime_destroy(load(g));
	all = g->reads;
	for (unsigned int i = 1; i <= all; i++) {
		g->reads = 0;
		g->fail_at = i;
		refused(g, GPA, BYTES, -EFAULT, "reading the calltime");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(buckets_cover_32_bits_without_gap_within_one_part_in_32),
		TEST(samples_of_all_cpus_are_merged_and_kept_apart_too),
		TEST(the_empty_cost_is_the_fastest_pair_of_that_bank_times_the_pairs),
		TEST(quantiles_are_within_one_part_in_64),
		TEST(a_sample_over_32_bits_is_in_the_last_bucket_and_the_sums_are_exact),
		TEST(json_has_the_probes_that_counted_and_nothing_else),
		TEST(a_block_that_settles_is_read_whole),
		TEST(a_block_that_never_settles_is_taken_and_marked_torn),
		TEST(a_guest_that_died_while_it_wrote_is_torn_even_if_it_disagrees_with_itself),
		TEST(a_whole_block_that_disagrees_with_itself_is_refused),
		TEST(a_block_in_the_wrong_place_is_refused),
		TEST(places_that_cannot_be_are_refused_before_any_read),
		TEST(each_wrong_header_field_is_named),
		TEST(an_area_that_cannot_be_is_refused_and_one_outside_memory_cannot_be_read),
		TEST(the_areas_of_sixteen_cpus_and_all_probes_are_within_what_the_host_reads),
		TEST(random_bytes_are_refused),
		TEST(each_read_that_fails_ends_the_loading_with_its_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
