/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ACPI tables of a machine without ACPI hardware but three registers ("hardware-reduced", ACPI 6.5,
 * 4.1): RSDP, XSDT, FADT, MADT and a DSDT that names each device with its addresses and its line.
 * They stand in the BIOS's part of the first megabyte, which no memory map calls RAM; the RSDP is
 * where a kernel looks that was not told. Pure, but for the tables written into guest RAM.
 */
#ifndef ARCH_X86_ACPI_H
#define ARCH_X86_ACPI_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "hw/gmem.h"

#define X86_ACPI_RSDP     UINT64_C(0xe0000)
#define X86_ACPI_END      UINT64_C(0x100000)
#define X86_ACPI_CPUS_MAX 254 /* APIC ids of 8 bits: 255 means all, one is the I/O APIC's */

#define X86_ACPI_SLEEP_S5 5 /* the sleep type that switches off */

#define X86_ACPI_NO_IRQ   0xff

/* On the ISA bus: ports and a line of their own. */
struct x86_acpi_isa {
	const char *name; /* four characters, unique */
	const char *hid;  /* "PNP0501" */
	uint16_t port;
	uint8_t ports;
	uint8_t irq; /* 0 to 15, or X86_ACPI_NO_IRQ */
	uint8_t uid;
};

struct x86_acpi_virtio {
	uint32_t gpa, bytes, gsi;
};

struct x86_acpi {
	uint32_t cpus; /* 1 to X86_ACPI_CPUS_MAX; the APIC ids are 0 and up */
	uint16_t sleep_control_port, sleep_status_port, reset_port;
	uint8_t reset_value;
	const struct x86_acpi_isa *isa;
	size_t isa_count;
	const struct x86_acpi_virtio *virtio;
	size_t virtio_count;
};

int x86_acpi_write(const struct gmem *mem, const struct x86_acpi *what) __must_check;

#endif
