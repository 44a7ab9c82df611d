/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See acpi.h. Chapters are those of ACPI 6.5. */
#include "arch/x86/acpi.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/x86/aml.h"
#include "arch/x86/table_priv.h"

#define OEM_ID                               \
	{                                    \
		'R', 'I', 'N', 'G', 'S', 'I' \
	}
#define OEM_TABLE_ID                                   \
	{                                              \
		'R', 'I', 'N', 'G', 'S', 'I', 'D', 'E' \
	}
#define CREATOR                    \
	{                          \
		'R', 'N', 'G', 'S' \
	}

#define LAPIC_GPA  0xfee00000u
#define IOAPIC_GPA 0xfec00000u
#define ALL_CPUS   0xff
#define NMI_LINT   1
#define ISA_LINES  16

/* Each table starts on a paragraph, as tables in this part of memory do. */
#define PARAGRAPH 16

struct __attribute__((packed)) rsdp {
	char signature[8];
	uint8_t checksum; /* of the first 20 bytes */
	char oem[6];
	uint8_t revision;
	uint32_t rsdt_gpa;
	uint32_t length;
	uint64_t xsdt_gpa;
	uint8_t extended_checksum;
	uint8_t reserved[3];
};

struct __attribute__((packed)) header {
	char signature[4];
	uint32_t length;
	uint8_t revision;
	uint8_t checksum;
	char oem[6];
	char oem_table[8];
	uint32_t oem_revision;
	char creator[4];
	uint32_t creator_revision;
};

/* 5.2.3.2: where a register is. */
struct __attribute__((packed)) address {
	uint8_t space, bits, offset, access;
	uint64_t at;
};

#define SPACE_PORT  1
#define ACCESS_BYTE 1

struct __attribute__((packed)) fadt {
	struct header head;
	uint32_t facs_gpa, dsdt_gpa;
	uint8_t reserved0, profile;
	uint8_t hardware[63]; /* registers and latencies that there are none of */
	uint16_t boot_arch;
	uint8_t reserved1;
	uint32_t flags;
	struct address reset;
	uint8_t reset_value;
	uint16_t arm_boot_arch;
	uint8_t minor;
	uint64_t x_facs_gpa, x_dsdt_gpa;
	struct address x_hardware[8];
	struct address sleep_control, sleep_status;
	char hypervisor[8];
};

#define FADT_REVISION            6
#define FADT_MINOR               5
#define FADT_BOOT_LEGACY_DEVICES 0x1
#define FADT_BOOT_NO_VGA         0x4
#define FADT_WBINVD              0x1
#define FADT_NO_POWER_BUTTON     0x10 /* among the registers, nor as a device */
#define FADT_NO_SLEEP_BUTTON     0x20
#define FADT_RESET               0x400
#define FADT_HEADLESS            0x1000
#define FADT_REDUCED             0x100000

struct __attribute__((packed)) madt {
	struct header head;
	uint32_t lapic_gpa, flags;
};

#define MADT_REVISION 6
#define MADT_HAS_PICS 1

enum { MADT_LAPIC = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2, MADT_LAPIC_NMI = 4 };

struct __attribute__((packed)) madt_lapic {
	uint8_t type, length, uid, apic_id;
	uint32_t flags; /* 1: enabled */
};

struct __attribute__((packed)) madt_ioapic {
	uint8_t type, length, id, reserved;
	uint32_t gpa, first_gsi;
};

#define ACTIVE_HIGH_EDGE 0x5

struct __attribute__((packed)) madt_override {
	uint8_t type, length, bus, irq;
	uint32_t gsi;
	uint16_t flags;
};

struct __attribute__((packed)) madt_lapic_nmi {
	uint8_t type, length, uid;
	uint16_t flags; /* 0: as NMIs are */
	uint8_t lint;
};

static_assert(sizeof(struct rsdp) == 36, "5.2.5.3");
static_assert(sizeof(struct header) == 36, "5.2.6");
static_assert(offsetof(struct fadt, boot_arch) == 109, "5.2.9");
static_assert(offsetof(struct fadt, flags) == 112, "5.2.9");
static_assert(offsetof(struct fadt, x_dsdt_gpa) == 140, "5.2.9");
static_assert(offsetof(struct fadt, sleep_control) == 244, "5.2.9");
static_assert(sizeof(struct fadt) == 276, "5.2.9");
static_assert(sizeof(struct madt) == 44, "5.2.12");

/* The tables one behind the other, as they will stand in guest RAM. */
struct tables {
	uint8_t bytes[16384];
	size_t used;
};

static uint64_t gpa_of(size_t at)
{
	return X86_ACPI_RSDP + at;
}

static struct header header(const char *signature, uint8_t revision)
{
	struct header h = {.revision = revision,
			   .oem = OEM_ID,
			   .oem_table = OEM_TABLE_ID,
			   .oem_revision = 1,
			   .creator = CREATOR,
			   .creator_revision = 1};

	memcpy(h.signature, signature, sizeof(h.signature));
	return h;
}

/* Put a table's header in front of what was written behind "at", up to "end"; the next follows. */
static void close_table(struct tables *t, size_t at, size_t end, const struct header *with)
{
	struct header h = *with;

	h.length = (uint32_t)(end - at);
	memcpy(t->bytes + at, &h, sizeof(h));
	h.checksum = table_checksum(t->bytes + at, h.length);
	memcpy(t->bytes + at, &h, sizeof(h));
	t->used = (end + PARAGRAPH - 1) / PARAGRAPH * PARAGRAPH;
}

static void add_isa_device(struct aml *a, const struct x86_acpi_isa *d)
{
	size_t device = aml_device_begin(a, d->name), resources;

	aml_name(a, "_HID");
	aml_eisa_id(a, d->hid);
	aml_name(a, "_UID");
	aml_integer(a, d->uid);
	aml_name(a, "_CRS");
	resources = aml_resources_begin(a);
	aml_ports(a, d->port, d->ports);
	if (d->irq != X86_ACPI_NO_IRQ) {
		aml_isa_irq(a, d->irq);
	}
	aml_resources_end(a, resources);
	aml_end(a, device);
}

/* "LNRO0005" is what QEMU and Linux have agreed on for virtio-mmio. */
static void add_virtio_device(struct aml *a, const struct x86_acpi_virtio *d, unsigned int number)
{
	size_t device, resources;
	char name[8];

	snprintf(name, sizeof(name), "V%03X", number & 0xfff);
	device = aml_device_begin(a, name);
	aml_name(a, "_HID");
	aml_string(a, "LNRO0005");
	aml_name(a, "_UID");
	aml_integer(a, number);
	aml_name(a, "_CCA"); /* its accesses are coherent */
	aml_integer(a, 1);
	aml_name(a, "_CRS");
	resources = aml_resources_begin(a);
	aml_memory(a, d->gpa, d->bytes);
	aml_interrupt(a, d->gsi);
	aml_resources_end(a, resources);
	aml_end(a, device);
}

static int add_dsdt(struct tables *t, const struct x86_acpi *what, uint64_t *ret_gpa)
{
	const struct header head = header("DSDT", 2);
	size_t at = t->used, scope, package;
	struct aml a;

	aml_init(&a, t->bytes, sizeof(t->bytes));
	a.used = at + sizeof(head);
	aml_name(&a, "_S5_");
	package = aml_package_begin(&a, 4);
	aml_integer(&a, X86_ACPI_SLEEP_S5);
	for (unsigned int i = 1; i < 4; i++) {
		aml_integer(&a, 0);
	}
	aml_end(&a, package);
	scope = aml_scope_begin(&a, "_SB_");
	for (size_t i = 0; i < what->isa_count; i++) {
		add_isa_device(&a, &what->isa[i]);
	}
	for (size_t i = 0; i < what->virtio_count; i++) {
		add_virtio_device(&a, &what->virtio[i], (unsigned int)i);
	}
	aml_end(&a, scope);
	if (a.full) {
		return -ENOSPC;
	}
	close_table(t, at, a.used, &head);
	*ret_gpa = gpa_of(at);
	return 0;
}

static struct address port_register(uint16_t port)
{
	return (struct address){.space = SPACE_PORT, .bits = 8, .access = ACCESS_BYTE, .at = port};
}

/* Appends to the table that is being written. */
static int add(struct tables *t, size_t *at, const void *bytes, size_t size)
{
	if (size > sizeof(t->bytes) - *at) {
		return -ENOSPC;
	}
	memcpy(t->bytes + *at, bytes, size);
	*at += size;
	return 0;
}

static int add_fadt(struct tables *t, const struct x86_acpi *what, uint64_t dsdt_gpa,
		    uint64_t *ret_gpa)
{
	const struct fadt f = {
		.head = header("FACP", FADT_REVISION),
		.dsdt_gpa = (uint32_t)dsdt_gpa,
		.x_dsdt_gpa = dsdt_gpa,
		.boot_arch = FADT_BOOT_LEGACY_DEVICES | FADT_BOOT_NO_VGA,
		.flags = FADT_WBINVD | FADT_NO_POWER_BUTTON | FADT_NO_SLEEP_BUTTON | FADT_RESET |
			 FADT_HEADLESS | FADT_REDUCED,
		.reset = port_register(what->reset_port),
		.reset_value = what->reset_value,
		.minor = FADT_MINOR,
		.sleep_control = port_register(what->sleep_control_port),
		.sleep_status = port_register(what->sleep_status_port),
		.hypervisor = {'R', 'i', 'n', 'g', 's', 'i', 'd', 'e'},
	};
	size_t at = t->used, end = at;
	int r = add(t, &end, &f, sizeof(f));

	if (r == 0) {
		close_table(t, at, end, &f.head);
		*ret_gpa = gpa_of(at);
	}
	return r;
}

/*
 * Line n of the ISA bus is input n of the I/O APIC, so nothing is overridden but how the lines of
 * our own devices behave: what an operating system believes of line 9, for one, is another thing.
 */
static int add_overrides(struct tables *t, size_t *end, const struct x86_acpi *what)
{
	int r = 0;

	for (size_t i = 0; i < what->virtio_count && r == 0; i++) {
		const struct madt_override o = {
			.type = MADT_OVERRIDE,
			.length = sizeof(o),
			.irq = (uint8_t)what->virtio[i].gsi,
			.gsi = what->virtio[i].gsi,
			.flags = ACTIVE_HIGH_EDGE,
		};

		if (o.gsi < ISA_LINES) {
			r = add(t, end, &o, sizeof(o));
		}
	}
	return r;
}

static int add_madt(struct tables *t, const struct x86_acpi *what, uint64_t *ret_gpa)
{
	const struct madt m = {
		.head = header("APIC", MADT_REVISION),
		.lapic_gpa = LAPIC_GPA,
		.flags = MADT_HAS_PICS,
	};
	const struct madt_ioapic ioapic = {.type = MADT_IOAPIC,
					   .length = sizeof(ioapic),
					   .id = (uint8_t)what->cpus,
					   .gpa = IOAPIC_GPA};
	const struct madt_lapic_nmi nmi = {
		.type = MADT_LAPIC_NMI, .length = sizeof(nmi), .uid = ALL_CPUS, .lint = NMI_LINT};
	size_t at = t->used, end = at;
	int r = add(t, &end, &m, sizeof(m));

	for (uint32_t i = 0; i < what->cpus && r == 0; i++) {
		const struct madt_lapic cpu = {.type = MADT_LAPIC,
					       .length = sizeof(cpu),
					       .uid = (uint8_t)i,
					       .apic_id = (uint8_t)i,
					       .flags = 1};

		r = add(t, &end, &cpu, sizeof(cpu));
	}
	r = r < 0 ? r : add(t, &end, &ioapic, sizeof(ioapic));
	r = r < 0 ? r : add_overrides(t, &end, what);
	r = r < 0 ? r : add(t, &end, &nmi, sizeof(nmi));
	if (r == 0) {
		close_table(t, at, end, &m.head);
		*ret_gpa = gpa_of(at);
	}
	return r;
}

static int add_xsdt(struct tables *t, const uint64_t *tables, size_t count, uint64_t *ret_gpa)
{
	const struct header head = header("XSDT", 1);
	size_t at = t->used, end = at;
	int r = add(t, &end, &head, sizeof(head));

	r = r < 0 ? r : add(t, &end, tables, count * sizeof(*tables));
	if (r == 0) {
		close_table(t, at, end, &head);
		*ret_gpa = gpa_of(at);
	}
	return r;
}

static void put_rsdp(struct tables *t, uint64_t xsdt_gpa)
{
	struct rsdp p = {
		.signature = {'R', 'S', 'D', ' ', 'P', 'T', 'R', ' '},
		.oem = OEM_ID,
		.revision = 2,
		.length = sizeof(p),
		.xsdt_gpa = xsdt_gpa,
	};

	p.checksum = table_checksum(&p, offsetof(struct rsdp, length));
	p.extended_checksum = table_checksum(&p, sizeof(p));
	memcpy(t->bytes, &p, sizeof(p));
}

/**
 * x86_acpi_write() - write the tables
 * @mem: guest RAM, at least the first megabyte
 * @what: the machine; only needed during the call
 *
 * Return: 0; -EINVAL for another number of CPUs; -ENOSPC for more devices than there is room for;
 * -errno of gmem_write(). Context: before the guest runs.
 */
int x86_acpi_write(const struct gmem *mem, const struct x86_acpi *what)
{
	struct tables t = {.used = sizeof(struct rsdp) + PARAGRAPH -
				   sizeof(struct rsdp) % PARAGRAPH};
	uint64_t dsdt, xsdt, tables[2]; /* FADT and MADT */
	int r;

	static_assert(sizeof(t.bytes) <= X86_ACPI_END - X86_ACPI_RSDP, "they are below 1 MiB");
	if (what->cpus == 0 || what->cpus > X86_ACPI_CPUS_MAX) {
		return -EINVAL;
	}
	r = add_dsdt(&t, what, &dsdt);
	r = r < 0 ? r : add_fadt(&t, what, dsdt, &tables[0]);
	r = r < 0 ? r : add_madt(&t, what, &tables[1]);
	r = r < 0 ? r : add_xsdt(&t, tables, ARRAY_SIZE(tables), &xsdt);
	if (r < 0) {
		return r;
	}
	put_rsdp(&t, xsdt);
	return gmem_write(mem, X86_ACPI_RSDP, t.bytes, t.used);
}
