/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_selftest.elf: the library on itself. One check fails on purpose, so the right status is 1
 * and the right output is fixed: whoever runs payloads can show with it that a failure is noticed.
 */
#include "fw.h"

static void raise_invalid_opcode(void *arg)
{
	(void)arg;
	__asm__ volatile("ud2");
}

static void touch_unmapped(void *arg)
{
	(void)*(volatile uint8_t *)arg;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void check_traps(void)
{
	struct trap t = {0};

	report_group("trap");
	if (fw_ring() != 0) {
		report_skip("no exceptions in ring 3");
		report_skip("no exceptions in ring 3");
		report_skip("no exceptions in ring 3");
		return;
	}
	report(!trap_try(do_nothing, NULL, &t), "none where there is none");
	report(trap_try(raise_invalid_opcode, NULL, &t) && t.vector == 6 && t.error == 0,
	       "invalid opcode");
	report(trap_try(touch_unmapped, (void *)UINT64_C(0x700000000000), &t) && t.vector == 14 &&
		       (t.error & 1) == 0,
	       "page fault on what is not present");
}

static void check_strings(void)
{
	char a[8], b[8];

	report_group("string");
	memset(a, 'x', sizeof(a));
	memcpy(b, a, sizeof(b));
	report(memcmp(a, b, sizeof(a)) == 0 && b[7] == 'x', "copies are equal");
	b[7] = 'y';
	report(memcmp(a, b, sizeof(a)) < 0 && strlen("four") == 4, "differences are seen");
}

uint64_t payload_main(void)
{
	check_strings();
	check_traps();
	report_group(NULL);
	report(true, "numbers: %d %u %x %05u %lx %s%c %%", -7, 42u, 0xbeefu, 12u,
	       UINT64_C(0x123456789abcdef0), "st", 'r');
	report(false, "this one fails on purpose");
	report_skip("this one is skipped on purpose");
	return report_summary();
}
