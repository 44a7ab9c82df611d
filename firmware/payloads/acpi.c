/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * acpi.elf: an operating system's way through the ACPI tables: finds the RSDP where a kernel that
 * was not told looks, walks all tables, checks every sum and length, and looks for each device that
 * answers at a virtio address in the DSDT's bytes. Then, by "acpi=1" on the command line, it
 * switches the machine off by the registers of the FADT, by "acpi=2" it resets it; else what it
 * returns leaves by the exit port.
 */
#include "fw.h"

#define BIOS_START    0xe0000
#define BIOS_END      0x100000
#define HEADER_BYTES  36
#define RSDP_BYTES    36
#define FADT_BYTES    276
#define MADT_ENTRIES  44

#define SPACE_PORT    1
#define SLEEP_GO      0x20
#define TYPE_SHIFT    2

#define VIRTIO_GPA    0xfeb00000u
#define VIRTIO_STRIDE 4096
#define VIRTIO_SLOTS  32
#define VIRTIO_MAGIC  0x74726976u

enum { SWITCH_OFF = 1, RESET };

static uint64_t number(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static bool sums_to_zero(const uint8_t *p, uint64_t bytes)
{
	uint8_t sum = 0;

	while (bytes--) {
		sum = (uint8_t)(sum + *p++);
	}
	return sum == 0;
}

static const uint8_t *find_rsdp(void)
{
	for (uintptr_t at = BIOS_START; at < BIOS_END; at += 16) {
		const uint8_t *p = (const uint8_t *)at;

		if (memcmp(p, "RSD PTR ", 8) == 0 && sums_to_zero(p, 20)) {
			return p;
		}
	}
	return NULL;
}

/* A table with all that every table has; NULL when it is not one. */
static const uint8_t *table(uint64_t gpa, const char *signature)
{
	const uint8_t *t = (const uint8_t *)(uintptr_t)gpa;
	uint64_t length;

	if (!report(gpa >= BIOS_START && gpa < BIOS_END - HEADER_BYTES,
		    "%s is in the BIOS's memory", signature)) {
		return NULL;
	}
	length = number(t + 4, 4);
	return report(memcmp(t, signature, 4) == 0, "%s has its signature", signature) &&
			       report(length >= HEADER_BYTES && length <= BIOS_END - gpa,
				      "%s has a length that it can have", signature) &&
			       report(sums_to_zero(t, length), "%s sums to zero", signature)
		       ? t
		       : NULL;
}

static bool holds(const uint8_t *t, const void *what, size_t bytes)
{
	uint64_t length = number(t + 4, 4);

	for (uint64_t at = HEADER_BYTES; at + bytes <= length; at++) {
		if (memcmp(t + at, what, bytes) == 0) {
			return true;
		}
	}
	return false;
}

/* Each device that is there is named by its window, and nothing else is. */
static void check_devices(const uint8_t *dsdt)
{
	for (uint32_t i = 0; i < VIRTIO_SLOTS; i++) {
		const uint32_t window[] = {VIRTIO_GPA + i * VIRTIO_STRIDE, VIRTIO_STRIDE};
		bool there;

		if (!fw_map_mmio(window[0])) {
			report_skip("devices cannot be reached here");
			return;
		}
		there = *(volatile uint32_t *)(uintptr_t)window[0] == VIRTIO_MAGIC;
		report(holds(dsdt, window, sizeof(window)) == there, "slot %u: %s", i,
		       there ? "a device, and named" : "no device, and not named");
	}
}

static void check_madt(const uint8_t *madt)
{
	uint64_t length = number(madt + 4, 4), at = MADT_ENTRIES;
	unsigned int cpus = 0, ioapics = 0;

	while (at + 2 <= length && madt[at + 1] >= 2) {
		cpus += madt[at] == 0;
		ioapics += madt[at] == 1;
		at += madt[at + 1];
	}
	report(at == length, "its entries fill the MADT to its end");
	report(cpus == fw_cmdline_number("cpus=", 1), "the MADT has %u CPUs", cpus);
	report(ioapics == 1, "the MADT has an I/O APIC");
}

/* A register of the FADT: the port that it is at, or 0. */
static uint16_t port_of(const uint8_t *fadt, unsigned int at, const char *name)
{
	bool good = fadt[at] == SPACE_PORT && number(fadt + at + 4, 8) <= UINT16_MAX;

	return report(good, "the %s register is a port", name) ? (uint16_t)number(fadt + at + 4, 8)
							       : 0;
}

/* The sleep type of S5: the first number of the package _S5_ (op, length, count, byte prefix). */
static uint8_t type_of_s5(const uint8_t *dsdt)
{
	uint64_t length = number(dsdt + 4, 4);

	for (uint64_t at = HEADER_BYTES; at + 12 <= length; at++) {
		const uint8_t *p = dsdt + at;

		if (memcmp(p, "\x08_S5_\x12", 6) == 0) {
			p += 6 + 1 + (p[6] >> 6) + 1;
			return *p == 0x0a ? p[1] : *p;
		}
	}
	return 0xff;
}

static void end_by_registers(const uint8_t *fadt, const uint8_t *dsdt, uint64_t how)
{
	uint16_t reset = port_of(fadt, 116, "reset");
	uint16_t control = port_of(fadt, 244, "sleep control");
	uint16_t status = port_of(fadt, 256, "sleep status");
	uint8_t type = type_of_s5(dsdt);

	report(type < 8, "the sleep type of S5 is %u", type);
	report(inb(status) == 0, "the sleep status register reads zero");
	for (uint8_t t = 0; t < 8; t++) {
		if (t != type) {
			outb(control, (uint8_t)(t << TYPE_SHIFT | SLEEP_GO));
		}
	}
	outb(control, (uint8_t)(type << TYPE_SHIFT));
	outb(reset, (uint8_t)(fadt[128] + 1));
	report(true, "other sleep types and values change nothing");
	if (how == SWITCH_OFF) {
		outb(control, (uint8_t)(type << TYPE_SHIFT | SLEEP_GO));
	} else if (how == RESET) {
		outb(reset, fadt[128]);
	}
}

uint64_t payload_main(void)
{
	const uint8_t *rsdp = find_rsdp(), *xsdt, *fadt = NULL, *madt = NULL, *dsdt;

	report_group("acpi");
	if (!rsdp) {
		report_skip("there is no RSDP");
		return report_summary();
	}
	report(rsdp[15] >= 2 && number(rsdp + 20, 4) == RSDP_BYTES &&
		       sums_to_zero(rsdp, RSDP_BYTES),
	       "the RSDP is one of ACPI 2 or newer and sums to zero");
	xsdt = table(number(rsdp + 24, 8), "XSDT");
	for (uint64_t at = HEADER_BYTES; xsdt && at + 8 <= number(xsdt + 4, 4); at += 8) {
		const uint8_t *t = (const uint8_t *)(uintptr_t)number(xsdt + at, 8);

		if (memcmp(t, "FACP", 4) == 0) {
			fadt = table(number(xsdt + at, 8), "FACP");
		} else if (memcmp(t, "APIC", 4) == 0) {
			madt = table(number(xsdt + at, 8), "APIC");
		} else {
			report(false, "a table that is not expected");
		}
	}
	if (!report(fadt && madt && number(fadt + 4, 4) == FADT_BYTES,
		    "there are a MADT and a FADT of its length")) {
		return report_summary();
	}
	check_madt(madt);
	dsdt = table(number(fadt + 140, 8), "DSDT");
	if (dsdt) {
		check_devices(dsdt);
		end_by_registers(fadt, dsdt, fw_cmdline_number("acpi=", 0));
	}
	return report_summary();
}
