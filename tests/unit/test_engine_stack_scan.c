/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks in memory without paging, and this program as the kernel whose code they point into. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "engine/stack_scan.h"
#include "engine/symbols.h"

#define RAM_BYTES 65536u

static uint64_t ram[RAM_BYTES / 8];
static uint64_t code; /* an address in the file's code */
static int self_fd;

static size_t memory(struct backend *b, struct backend_memory *pieces, size_t max)
{
	pieces[0] = (struct backend_memory){.fd = -1, .bytes = RAM_BYTES};
	return 1;
}

static int read_ram(struct backend *b, uint64_t gpa, void *buf, size_t len)
{
	if (gpa >= RAM_BYTES || len > RAM_BYTES - gpa) {
		return -EFAULT;
	}
	memcpy(buf, (const char *)ram + gpa, len);
	return 0;
}

static const struct backend_ops ops = {.memory = memory, .read_gpa = read_ram};
static struct backend backend = {.ops = &ops};

static int setup(void **state)
{
	struct symbol_range range;

	memset(ram, 0, sizeof(ram));
	self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (symbols_code(self_fd, &range, 1) != 1) {
		return -1;
	}
	code = range.address + 8;
	return 0;
}

static int teardown(void **state)
{
	return close(self_fd);
}

static struct stack_scan scan(uint64_t rsp, uint64_t cs, int fd)
{
	const struct backend_cpu_state cpu = {.regs = {.rsp = rsp, .cs = cs}};
	struct stack_scan ret;

	assert_int_equal(stack_scan_all(&backend, &cpu, 1, fd, &ret), 0);
	return ret;
}

static void words_that_point_into_code_are_calls_up_to_the_stacks_end(void **state)
{
	struct stack_scan found;

	ram[0x4000 / 8 - 1] = code + 9; /* below the stack pointer's stack: of another */
	ram[0x4ff8 / 8] = code + 1;     /* below the stack pointer */
	ram[0x5000 / 8] = code + 2;
	ram[0x5008 / 8] = 5;
	ram[0x6010 / 8] = code + 3; /* on the next page */
	ram[0x7ff8 / 8] = code + 4; /* the stack's last word */
	ram[0x8000 / 8] = code + 5; /* and behind it */
	found = scan(0x5003, 0x10, self_fd);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.calls[0], code + 2);
	assert_int_equal(found.calls[1], code + 3);
	assert_int_equal(found.calls[2], code + 4);
}

static void a_stack_full_of_calls_is_bounded(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(ram); i++) {
		ram[i] = code;
	}
	assert_int_equal(scan(0x5000, 0x10, self_fd).count, STACK_SCAN_MAX);
}

static void what_is_no_stack_of_the_kernels_has_none(void **state)
{
	memset(ram, 0xff, sizeof(ram));
	ram[0x5000 / 8] = code;
	assert_int_equal(scan(0x5000, 0x33, self_fd).count, 0); /* user mode */
	assert_int_equal(scan(0x5000, 0x10, -1).count, 0);
	assert_int_equal(scan(RAM_BYTES, 0x10, self_fd).count, 0);
	assert_int_equal(scan(UINT64_MAX, 0x10, self_fd).count, 0);
	assert_int_equal(scan(0, 0x10, self_fd).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			words_that_point_into_code_are_calls_up_to_the_stacks_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stack_full_of_calls_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_stack_of_the_kernels_has_none, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
