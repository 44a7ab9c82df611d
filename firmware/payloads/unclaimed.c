/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unclaimed.elf: ports and addresses that no device has read as all ones at every width, and writes
 * to them go nowhere, as on a bus that nobody drives.
 */
#include "fw.h"

#define HOLE_GPA UINT64_C(0xd0000000) /* in the 3 GiB hole, far from every device's place */

static const uint16_t ports[] = {0x0f0f, 0x5658, 0xfff0};

static void check_ports(void)
{
	report_group("port");
	for (unsigned int i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		uint16_t p = ports[i];

		report(inb(p) == 0xff, "0x%x read by 1", p);
		report(inw(p) == 0xffff, "0x%x read by 2", p);
		report(inl(p) == 0xffffffff, "0x%x read by 4", p);
		outb(p, 0);
		outl(p, 0);
		report(inl(p) == 0xffffffff, "0x%x read by 4 after writes", p);
	}
}

static void check_memory(void)
{
	uintptr_t at = HOLE_GPA;

	report_group("memory");
	if (!fw_map_mmio(HOLE_GPA)) {
		report_skip("0x%lx cannot be mapped", HOLE_GPA);
		return;
	}
	report(*(volatile uint8_t *)(at + 1) == 0xff, "read by 1");
	report(*(volatile uint16_t *)(at + 2) == 0xffff, "read by 2");
	report(*(volatile uint32_t *)(at + 4) == 0xffffffff, "read by 4");
	report(*(volatile uint64_t *)(at + 8) == UINT64_MAX, "read by 8");
	report(*(volatile uint32_t *)(at + 0xffd) == 0xffffffff, "read over the end of a page");
	*(volatile uint32_t *)at = 0;
	report(*(volatile uint32_t *)at == 0xffffffff, "read after a write");
}

uint64_t payload_main(void)
{
	check_ports();
	check_memory();
	return report_summary();
}
