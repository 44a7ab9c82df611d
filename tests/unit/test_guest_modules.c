/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.dep as depmod writes it; what the kernel makes of a module is tests/lab's. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guest/agent/agent.h"

#define DEP                                                                                    \
	"kernel/drivers/virtio/virtio_ring.ko:\n"                                              \
	"kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko\n"              \
	"kernel/drivers/virtio/virtio_mmio.ko: kernel/drivers/virtio/virtio.ko "               \
	"kernel/drivers/virtio/virtio_ring.ko\n"                                               \
	"kernel/drivers/char/hw_random/virtio-rng.ko.xz: kernel/drivers/virtio/virtio.ko.xz\n" \
	"kernel/drivers/net/virtio_net.ko"

static struct modules_chain c;

static void expect(size_t i, const char *path)
{
	assert_true(i < c.count);
	assert_int_equal(c.len[i], strlen(path));
	assert_memory_equal(c.path[i], path, c.len[i]);
}

static void what_a_module_needs_comes_before_it_deepest_first(void **state)
{
	assert_int_equal(modules_chain(DEP, "virtio_mmio", &c), 0);
	assert_int_equal(c.count, 3);
	expect(0, "kernel/drivers/virtio/virtio_ring.ko");
	expect(1, "kernel/drivers/virtio/virtio.ko");
	expect(2, "kernel/drivers/virtio/virtio_mmio.ko");
}

static void a_module_that_needs_none_is_alone(void **state)
{
	assert_int_equal(modules_chain(DEP, "virtio_ring", &c), 0);
	assert_int_equal(c.count, 1);
	expect(0, "kernel/drivers/virtio/virtio_ring.ko");
}

static void dashes_and_underscores_are_one_and_files_may_be_packed(void **state)
{
	assert_int_equal(modules_chain(DEP, "virtio_rng", &c), 0);
	assert_int_equal(c.count, 2);
	expect(1, "kernel/drivers/char/hw_random/virtio-rng.ko.xz");
}

static void a_name_that_is_a_part_of_anothers_is_not_taken_for_it(void **state)
{
	assert_int_equal(modules_chain(DEP, "virtio_mm", &c), -ENOENT);
	assert_int_equal(modules_chain(DEP, "mmio", &c), -ENOENT);
	assert_int_equal(modules_chain(DEP, "", &c), -ENOENT);
	assert_int_equal(modules_chain("", "virtio", &c), -ENOENT);
}

static void a_line_without_a_colon_is_passed_over(void **state)
{
	assert_int_equal(modules_chain(DEP, "virtio_net", &c), -ENOENT);
	assert_int_equal(modules_chain("\n\n:\nx.ko:  y.ko  \n", "x", &c), 0);
	assert_int_equal(c.count, 2);
	expect(0, "y.ko");
	expect(1, "x.ko");
}

static void a_chain_of_any_length_up_to_the_limit_is_taken(void **state)
{
	for (size_t n = 0; n < 2 * MODULES_CHAIN_MAX; n++) {
		char text[1024] = "a.ko:";
		int r;

		for (size_t i = 0; i < n; i++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " b%zu.ko", i);
		}
		r = modules_chain(text, "a", &c);
		assert_int_equal(r, n < MODULES_CHAIN_MAX ? 0 : -E2BIG);
		if (r == 0) {
			assert_int_equal(c.count, n + 1);
			expect(n, "a.ko");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_module_needs_comes_before_it_deepest_first),
		cmocka_unit_test(a_module_that_needs_none_is_alone),
		cmocka_unit_test(dashes_and_underscores_are_one_and_files_may_be_packed),
		cmocka_unit_test(a_name_that_is_a_part_of_anothers_is_not_taken_for_it),
		cmocka_unit_test(a_line_without_a_colon_is_passed_over),
		cmocka_unit_test(a_chain_of_any_length_up_to_the_limit_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
