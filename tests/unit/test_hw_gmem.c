/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "hw/gmem.h"

#define P GMEM_PAGE_BYTES

static uint8_t low[2 * 4096];
static uint8_t high[2 * 4096];

/* Two pages at 0, two at 4 GiB. */
static void two_regions(struct gmem *g)
{
	memset(low, 0x11, sizeof(low));
	memset(high, 0x22, sizeof(high));
	gmem_init(g);
	assert_int_equal(gmem_add(g, GMEM_HIGH, sizeof(high), high), 0);
	assert_int_equal(gmem_add(g, 0, sizeof(low), low), 0);
}

static void bytes_go_in_and_out_at_a_regions_edges(void **state)
{
	struct gmem g;
	char buf[4];

	two_regions(&g);
	assert_int_equal(gmem_write(&g, 2 * P - 4, "abcd", 4), 0);
	assert_memory_equal(low + 2 * P - 4, "abcd", 4);
	assert_int_equal(gmem_write(&g, GMEM_HIGH, "efgh", 4), 0);
	assert_int_equal(gmem_read(&g, GMEM_HIGH, buf, 4), 0);
	assert_memory_equal(buf, "efgh", 4);
	assert_int_equal(gmem_fill(&g, GMEM_HIGH + P, 0x55, P), 0);
	assert_int_equal(high[P - 1], 0x22);
	assert_int_equal(high[P], 0x55);
	assert_int_equal(high[2 * P - 1], 0x55);
	gmem_fini(&g);
	assert_int_equal(gmem_read(&g, 0, buf, 1), -EFAULT);
}

static void a_range_with_a_byte_outside_ram_fails_and_changes_nothing(void **state)
{
	static const struct {
		uint64_t gpa;
		uint64_t len;
	} bad[] = {
		{2 * P - 3, 4},         {2 * P, 1},
		{GMEM_HIGH - 1, 2},     {GMEM_HIGH + 2 * P - 1, 2},
		{UINT64_MAX, 1},        {UINT64_MAX - 1, 4},     /* wraps into the first region */
		{0, UINT64_MAX},        {P, UINT64_MAX - P + 2}, /* ends at 1 after wrapping */
		{0, GMEM_HIGH + 2 * P},                          /* across the hole */
	};
	struct gmem g;
	uint8_t buf[8] = {0};
	void *host;

	two_regions(&g);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(gmem_read(&g, bad[i].gpa, buf, bad[i].len), -EFAULT);
		assert_int_equal(gmem_write(&g, bad[i].gpa, buf, bad[i].len), -EFAULT);
		assert_int_equal(gmem_fill(&g, bad[i].gpa, 0, bad[i].len), -EFAULT);
		assert_int_equal(gmem_host_range(&g, bad[i].gpa, bad[i].len, &host), -EFAULT);
	}
	assert_int_equal(low[2 * P - 1], 0x11);
	assert_int_equal(high[0], 0x22);
	assert_int_equal(buf[0], 0);
	assert_int_equal(gmem_read(&g, UINT64_MAX, buf, 0), 0);
}

static void regions_that_touch_are_read_as_one_but_have_no_common_pointer(void **state)
{
	struct gmem g;
	char buf[4];
	void *host;

	gmem_init(&g);
	assert_int_equal(gmem_add(&g, P, P, high), 0);
	assert_int_equal(gmem_add(&g, 0, P, low), 0);
	assert_int_equal(gmem_write(&g, P - 2, "wxyz", 4), 0);
	assert_memory_equal(low + P - 2, "wx", 2);
	assert_memory_equal(high, "yz", 2);
	assert_int_equal(gmem_read(&g, P - 2, buf, 4), 0);
	assert_memory_equal(buf, "wxyz", 4);
	assert_int_equal(gmem_host_range(&g, P - 2, 4, &host), -EFAULT);
	assert_int_equal(gmem_host_range(&g, P - 2, 2, &host), 0);
	assert_ptr_equal(host, low + P - 2);
	assert_int_equal(gmem_host_range(&g, P, 0, &host), -EINVAL);
}

static void overlapping_empty_and_wrapping_regions_are_refused(void **state)
{
	struct gmem g;

	gmem_init(&g);
	assert_int_equal(gmem_add(&g, 0x1000, 0x1000, low), 0);
	assert_int_equal(gmem_add(&g, 0x1fff, 1, low), -EEXIST);
	assert_int_equal(gmem_add(&g, 0x1000, 1, low), -EEXIST);
	assert_int_equal(gmem_add(&g, 0, 0x1001, low), -EEXIST);
	assert_int_equal(gmem_add(&g, 0, 0, low), -EINVAL);
	assert_int_equal(gmem_add(&g, UINT64_MAX, 2, low), -EINVAL);
	assert_int_equal(gmem_add(&g, 0, 1, NULL), -EINVAL);
	assert_int_equal(gmem_add(&g, UINT64_MAX, 1, low), 0);
	assert_int_equal(g.count, 2);
}

static void one_region_more_than_the_limit_is_refused(void **state)
{
	struct gmem g;

	gmem_init(&g);
	for (uint64_t i = 0; i < GMEM_REGIONS_MAX; i++) {
		assert_int_equal(gmem_add(&g, i * P, P, low), 0);
	}
	assert_int_equal(gmem_add(&g, GMEM_REGIONS_MAX * P, P, low), -ENOSPC);
	assert_int_equal(g.count, GMEM_REGIONS_MAX);
}

static void words_are_read_and_written_whole_and_only_in_ram(void **state)
{
	struct gmem g;
	uint8_t *page = calloc(1, P);
	uint16_t v = 7;

	assert_non_null(page);
	gmem_init(&g);
	assert_int_equal(gmem_add(&g, P, P, page), 0);
	assert_int_equal(gmem_store16(&g, P + 2, 0x1234), 0);
	assert_int_equal(page[2], 0x34);
	assert_int_equal(page[3], 0x12);
	assert_int_equal(gmem_load16(&g, P + 2, &v), 0);
	assert_int_equal(v, 0x1234);
	assert_int_equal(gmem_store16(&g, 2 * P - 2, 0xffff), 0);
	assert_int_equal(gmem_load16(&g, P + 1, &v), -EINVAL);
	assert_int_equal(gmem_load16(&g, P - 2, &v), -EFAULT);
	assert_int_equal(gmem_load16(&g, 2 * P, &v), -EFAULT);
	assert_int_equal(gmem_store16(&g, P + 1, 1), -EINVAL);
	assert_int_equal(gmem_store16(&g, UINT64_MAX - 1, 1), -EFAULT);
	assert_int_equal(v, 0x1234);
	assert_int_equal(gmem_check(&g, P, P), 0);
	assert_int_equal(gmem_check(&g, P, P + 1), -EFAULT);
	assert_int_equal(gmem_check(&g, P + 1, UINT64_MAX), -EFAULT);
	free(page);
}

static void ram_is_split_at_the_three_gigabyte_hole(void **state)
{
	static const struct {
		uint64_t bytes;
		uint64_t low;
		uint64_t high;
	} good[] = {
		{P, P, 0},
		{UINT64_C(1073) << 20, UINT64_C(1073) << 20, 0},
		{UINT64_C(3071) << 20, UINT64_C(3071) << 20, 0},
		{UINT64_C(3072) << 20, GMEM_HOLE, 0},
		{UINT64_C(3073) << 20, GMEM_HOLE, UINT64_C(1) << 20},
		{GMEM_HIGH - P, GMEM_HOLE, (UINT64_C(1) << 30) - P},
		{GMEM_HIGH + P, GMEM_HOLE, (UINT64_C(1) << 30) + P},
		{GMEM_BYTES_MAX, GMEM_HOLE, GMEM_BYTES_MAX - GMEM_HOLE},
	};
	struct gmem_region r[GMEM_LAYOUT_REGIONS];
	unsigned int n;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(gmem_layout(good[i].bytes, r, &n), 0);
		assert_int_equal(n, good[i].high ? 2 : 1);
		assert_int_equal(r[0].gpa, 0);
		assert_int_equal(r[0].size, good[i].low);
		assert_int_equal(r[1].gpa, GMEM_HIGH);
		assert_int_equal(r[1].size, good[i].high);
	}
}

static void memory_sizes_that_are_no_layout_are_refused(void **state)
{
	struct gmem_region r[GMEM_LAYOUT_REGIONS];
	unsigned int n;

	assert_int_equal(gmem_layout(0, r, &n), -EINVAL);
	assert_int_equal(gmem_layout(P + 1, r, &n), -EINVAL);
	assert_int_equal(gmem_layout(GMEM_BYTES_MAX + P, r, &n), -E2BIG);
	assert_int_equal(gmem_layout(UINT64_MAX - P + 1, r, &n), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_in_and_out_at_a_regions_edges),
		cmocka_unit_test(a_range_with_a_byte_outside_ram_fails_and_changes_nothing),
		cmocka_unit_test(regions_that_touch_are_read_as_one_but_have_no_common_pointer),
		cmocka_unit_test(overlapping_empty_and_wrapping_regions_are_refused),
		cmocka_unit_test(one_region_more_than_the_limit_is_refused),
		cmocka_unit_test(words_are_read_and_written_whole_and_only_in_ram),
		cmocka_unit_test(ram_is_split_at_the_three_gigabyte_hole),
		cmocka_unit_test(memory_sizes_that_are_no_layout_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
