/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mptable.h. MultiProcessor Specification 1.4, chapter 4. */
#include "arch/x86/mptable.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "arch/x86/table_priv.h"

#define SPEC_1_4       4
#define LAPIC_VERSION  0x14
#define IOAPIC_VERSION 0x11
#define LAPIC_GPA      0xfee00000u
#define IOAPIC_GPA     0xfec00000u
#define CPUS_MAX       254 /* an APIC id must be left for the I/O APIC, and 255 means all */
#define ISA_BUS        0
#define ALL_LAPICS     255

enum { ENTRY_CPU, ENTRY_BUS, ENTRY_IOAPIC, ENTRY_IRQ, ENTRY_LOCAL_IRQ };
enum { IRQ_INT, IRQ_NMI, IRQ_SMI, IRQ_EXTINT };

#define CPU_ENABLED 1
#define CPU_BOOT    2

struct floating_pointer {
	char signature[4];
	uint32_t table_gpa;
	uint8_t length; /* in units of 16 bytes */
	uint8_t spec;
	uint8_t checksum;
	uint8_t features[5];
};

struct header {
	char signature[4];
	uint16_t length;
	uint8_t spec;
	uint8_t checksum;
	char oem[8];
	char product[12];
	uint32_t oem_table;
	uint16_t oem_size;
	uint16_t entries;
	uint32_t lapic_gpa;
	uint16_t extended_length;
	uint8_t extended_checksum;
	uint8_t reserved;
};

struct cpu_entry {
	uint8_t type;
	uint8_t apic_id;
	uint8_t apic_version;
	uint8_t flags;
	uint32_t signature;
	uint32_t features;
	uint32_t reserved[2];
};

struct bus_entry {
	uint8_t type;
	uint8_t id;
	char name[6];
};

struct ioapic_entry {
	uint8_t type;
	uint8_t id;
	uint8_t version;
	uint8_t flags;
	uint32_t gpa;
};

struct irq_entry {
	uint8_t type;
	uint8_t irq_type;
	uint16_t flags; /* 0: as the bus has it, for ISA rising edge */
	uint8_t source_bus;
	uint8_t source_irq;
	uint8_t apic_id;
	uint8_t apic_pin;
};

static_assert(sizeof(struct floating_pointer) == 16, "MP 1.4, 4.1");
static_assert(sizeof(struct header) == 44, "MP 1.4, 4.2");
static_assert(sizeof(struct cpu_entry) == 20, "MP 1.4, 4.3.1");
static_assert(sizeof(struct irq_entry) == 8, "MP 1.4, 4.3.4");

struct table {
	uint8_t bytes[8192];
	size_t used;
	struct header head;
};

static void add(struct table *t, const void *entry, size_t size)
{
	memcpy(t->bytes + t->used, entry, size);
	t->used += size;
	t->head.entries++;
}

static void add_cpus(struct table *t, uint32_t cpus)
{
	for (uint32_t i = 0; i < cpus; i++) {
		const struct cpu_entry cpu = {
			.type = ENTRY_CPU,
			.apic_id = (uint8_t)i,
			.apic_version = LAPIC_VERSION,
			.flags = i == 0 ? CPU_ENABLED | CPU_BOOT : CPU_ENABLED,
		};

		add(t, &cpu, sizeof(cpu));
	}
}

static void add_interrupts(struct table *t, uint8_t ioapic_id)
{
	for (uint8_t pin = 0; pin < X86_IOAPIC_PINS; pin++) {
		const struct irq_entry irq = {
			.type = ENTRY_IRQ,
			.irq_type = IRQ_INT,
			.source_bus = ISA_BUS,
			.source_irq = pin,
			.apic_id = ioapic_id,
			.apic_pin = pin,
		};

		add(t, &irq, sizeof(irq));
	}
	add(t,
	    &(struct irq_entry){.type = ENTRY_LOCAL_IRQ,
				.irq_type = IRQ_EXTINT,
				.source_bus = ISA_BUS,
				.apic_id = 0,
				.apic_pin = 0},
	    sizeof(struct irq_entry));
	add(t,
	    &(struct irq_entry){.type = ENTRY_LOCAL_IRQ,
				.irq_type = IRQ_NMI,
				.source_bus = ISA_BUS,
				.apic_id = ALL_LAPICS,
				.apic_pin = 1},
	    sizeof(struct irq_entry));
}

/**
 * x86_mptable_write() - write the table
 * @mem: guest RAM, at least the first megabyte
 * @cpus: their number, 1 to 254; the APIC ids are 0 and up, the first boots
 *
 * Return: 0; −EINVAL for another number of CPUs; −errno of gmem_write().
 * Context: before the guest runs.
 */
int x86_mptable_write(const struct gmem *mem, uint32_t cpus)
{
	const struct bus_entry isa = {ENTRY_BUS, ISA_BUS, {'I', 'S', 'A', ' ', ' ', ' '}};
	struct floating_pointer pointer = {
		.signature = {'_', 'M', 'P', '_'},
		.table_gpa = X86_MPTABLE + sizeof(pointer),
		.length = 1,
		.spec = SPEC_1_4,
	};
	struct table t = {
		.used = sizeof(struct header),
		.head = {.signature = {'P', 'C', 'M', 'P'},
			 .spec = SPEC_1_4,
			 .oem = {'R', 'I', 'N', 'G', 'S', 'I', 'D', 'E'},
			 .product = {'m', 'i', 'c', 'r', 'o', 'V', 'M', ' ', ' ', ' ', ' ', ' '},
			 .lapic_gpa = LAPIC_GPA},
	};
	struct ioapic_entry ioapic = {
		.type = ENTRY_IOAPIC, .version = IOAPIC_VERSION, .flags = 1, .gpa = IOAPIC_GPA};
	int r;

	if (cpus == 0 || cpus > CPUS_MAX) {
		return -EINVAL;
	}
	ioapic.id = (uint8_t)cpus;
	add_cpus(&t, cpus);
	add(&t, &isa, sizeof(isa));
	add(&t, &ioapic, sizeof(ioapic));
	add_interrupts(&t, ioapic.id);
	t.head.length = (uint16_t)t.used;
	memcpy(t.bytes, &t.head, sizeof(t.head));
	((struct header *)t.bytes)->checksum = table_checksum(t.bytes, t.used);
	pointer.checksum = table_checksum(&pointer, sizeof(pointer));
	r = gmem_write(mem, X86_MPTABLE, &pointer, sizeof(pointer));
	return r < 0 ? r : gmem_write(mem, pointer.table_gpa, t.bytes, t.used);
}
