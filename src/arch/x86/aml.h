/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes ACPI Machine Language: just what a description of fixed devices takes. Bytes go into the
 * caller's memory; what does not fit sets "full", and everything after it is dropped. Pure.
 * Source: ACPI 6.5, chapters 20 (encoding) and 6.4 (resources).
 */
#ifndef ARCH_X86_AML_H
#define ARCH_X86_AML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aml {
	uint8_t *bytes;
	size_t used, room;
	bool full; /* something did not fit: the bytes are of no use */
};

void aml_init(struct aml *a, void *bytes, size_t room);

/* What holds others: begin gives a mark that its end takes. */
size_t aml_scope_begin(struct aml *a, const char name[4]);
size_t aml_device_begin(struct aml *a, const char name[4]);
size_t aml_package_begin(struct aml *a, uint8_t elements);
void aml_end(struct aml *a, size_t begun);
size_t aml_resources_begin(struct aml *a);
void aml_resources_end(struct aml *a, size_t begun);

/* A name, behind which its value follows, and values. */
void aml_name(struct aml *a, const char name[4]);
void aml_integer(struct aml *a, uint32_t value);
void aml_string(struct aml *a, const char *text);
void aml_eisa_id(struct aml *a, const char id[7]);

/* Resources, between aml_resources_begin() and its end. */
void aml_ports(struct aml *a, uint16_t base, uint8_t count);
void aml_isa_irq(struct aml *a, unsigned int irq);
void aml_memory(struct aml *a, uint32_t base, uint32_t bytes);
void aml_interrupt(struct aml *a, uint32_t gsi);

#endif
