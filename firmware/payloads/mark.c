/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark.elf: every kind of mark once, in the order of a boot. args[0] = 1 leaves out the port's mark
 * of user space, so that the boot-timer byte must stand in for it; values[] are the TSC before
 * each.
 */
#include "fw.h"

#include "abi/marks.h"

static void mark(uint8_t code)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	fw_block.values[fw_block.value_count++] = (uint64_t)hi << 32 | lo;
	outb(MARK_PORT, code);
}

uint64_t payload_main(void)
{
	mark(MARK_KERNEL_START);
	if (fw_arg(0, 0) != 1) {
		mark(MARK_USER_START);
	}
	if (fw_map_mmio(BOOT_TIMER_GPA)) {
		*(volatile uint8_t *)BOOT_TIMER_GPA = BOOT_TIMER_VALUE;
	}
	mark(MARK_WINDOW_OPEN);
	mark(MARK_WINDOW_CLOSE);
	mark(MARK_CUSTOM_FIRST);
	mark(0xff);
	return 0;
}
