/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See aml.h. */
#include "arch/x86/aml.h"

#include <assert.h>
#include <string.h>

enum {
	OP_ZERO = 0x00,
	OP_ONE = 0x01,
	OP_NAME = 0x08,
	PREFIX_BYTE = 0x0a,
	PREFIX_WORD = 0x0b,
	PREFIX_DWORD = 0x0c,
	PREFIX_STRING = 0x0d,
	OP_SCOPE = 0x10,
	OP_BUFFER = 0x11,
	OP_PACKAGE = 0x12,
	PREFIX_EXTENDED = 0x5b,
	OP_DEVICE = 0x82, /* behind PREFIX_EXTENDED */
};

/*
 * A length of three bytes, whatever its value: four bits in the first, which says that two follow.
 * That is enough for a megabyte, and nothing has to be moved when the length is known.
 */
#define LENGTH_BYTES    3
#define LENGTH_TWO_MORE 0x80

#define NAME_BYTES      4

enum {
	RESOURCE_IRQ = 0x22, /* without flags: edge, active high, exclusive */
	RESOURCE_PORTS = 0x47,
	RESOURCE_END = 0x79,
	RESOURCE_MEMORY = 0x86,
	RESOURCE_INTERRUPT = 0x89,
};

#define PORTS_16_BITS      1
#define MEMORY_WRITABLE    1
#define INTERRUPT_CONSUMER 1
#define INTERRUPT_EDGE     2

/**
 * aml_init() - begin
 * @a: the caller's memory
 * @bytes: gets the code; borrowed
 * @room: its size, bytes
 *
 * Context: any thread.
 */
void aml_init(struct aml *a, void *bytes, size_t room)
{
	*a = (struct aml){.bytes = bytes, .room = room};
}

static void put(struct aml *a, const void *bytes, size_t count)
{
	if (a->full || count > a->room - a->used) {
		a->full = true;
		return;
	}
	memcpy(a->bytes + a->used, bytes, count);
	a->used += count;
}

static void put8(struct aml *a, uint8_t v)
{
	put(a, &v, sizeof(v));
}

static void put16(struct aml *a, uint16_t v)
{
	put(a, &v, sizeof(v));
}

static void put32(struct aml *a, uint32_t v)
{
	put(a, &v, sizeof(v));
}

/* The length counts itself and all that follows it. */
static size_t begin(struct aml *a)
{
	const uint8_t later[LENGTH_BYTES] = {0};
	size_t at = a->used;

	put(a, later, sizeof(later));
	return at;
}

/**
 * aml_end() - end a scope, a device or a package
 * @a: the code
 * @begun: what its begin gave
 *
 * Context: any thread.
 */
void aml_end(struct aml *a, size_t begun)
{
	size_t length = a->used - begun;

	if (a->full) {
		return;
	}
	assert(length < 1 << 20);
	a->bytes[begun] = (uint8_t)(LENGTH_TWO_MORE | (length & 0xf));
	a->bytes[begun + 1] = (uint8_t)(length >> 4);
	a->bytes[begun + 2] = (uint8_t)(length >> 12);
}

/**
 * aml_scope_begin() - what follows is inside of a name that the system has
 * @a: the code
 * @name: of the root's, "_SB_"
 *
 * Return: for aml_end().
 * Context: any thread.
 */
size_t aml_scope_begin(struct aml *a, const char name[4])
{
	size_t begun;

	put8(a, OP_SCOPE);
	begun = begin(a);
	put8(a, '\\');
	put(a, name, NAME_BYTES);
	return begun;
}

/**
 * aml_device_begin() - a device, whose objects follow
 * @a: the code
 * @name: its name, unique in its scope
 *
 * Return: for aml_end().
 * Context: any thread.
 */
size_t aml_device_begin(struct aml *a, const char name[4])
{
	size_t begun;

	put8(a, PREFIX_EXTENDED);
	put8(a, OP_DEVICE);
	begun = begin(a);
	put(a, name, NAME_BYTES);
	return begun;
}

/**
 * aml_package_begin() - a list of values, which follow
 * @a: the code
 * @elements: how many
 *
 * Return: for aml_end().
 * Context: any thread.
 */
size_t aml_package_begin(struct aml *a, uint8_t elements)
{
	size_t begun;

	put8(a, OP_PACKAGE);
	begun = begin(a);
	put8(a, elements);
	return begun;
}

/**
 * aml_name() - name the value that follows
 * @a: the code
 * @name: "_HID"
 *
 * Context: any thread.
 */
void aml_name(struct aml *a, const char name[4])
{
	put8(a, OP_NAME);
	put(a, name, NAME_BYTES);
}

/**
 * aml_integer() - a number
 * @a: the code
 * @value: it
 *
 * Context: any thread.
 */
void aml_integer(struct aml *a, uint32_t value)
{
	if (value <= 1) {
		put8(a, value ? OP_ONE : OP_ZERO);
	} else if (value <= UINT8_MAX) {
		put8(a, PREFIX_BYTE);
		put8(a, (uint8_t)value);
	} else if (value <= UINT16_MAX) {
		put8(a, PREFIX_WORD);
		put16(a, (uint16_t)value);
	} else {
		put8(a, PREFIX_DWORD);
		put32(a, value);
	}
}

/**
 * aml_string() - a text
 * @a: the code
 * @text: ASCII
 *
 * Context: any thread.
 */
void aml_string(struct aml *a, const char *text)
{
	put8(a, PREFIX_STRING);
	put(a, text, strlen(text) + 1);
}

static uint32_t hex_digit(char c)
{
	return (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/**
 * aml_eisa_id() - an identifier as a number, as EISAID() of the source language gives it
 * @a: the code
 * @id: three capitals and four hexadecimal digits in capitals, "PNP0501"
 *
 * Context: any thread. ACPI 6.5, 19.3.4.
 */
void aml_eisa_id(struct aml *a, const char id[7])
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < 3; i++) {
		v = v << 5 | (uint32_t)(id[i] - '@');
	}
	for (unsigned int i = 3; i < 7; i++) {
		v = v << 4 | hex_digit(id[i]);
	}
	put8(a, PREFIX_DWORD);
	put32(a, __builtin_bswap32(v));
}

/**
 * aml_resources_begin() - the value of _CRS: a buffer of resources, which follow
 * @a: the code
 *
 * Return: for aml_resources_end().
 * Context: any thread.
 */
size_t aml_resources_begin(struct aml *a)
{
	size_t begun;

	put8(a, OP_BUFFER);
	begun = begin(a);
	put8(a, PREFIX_WORD);
	put16(a, 0); /* its size, when it is known */
	return begun;
}

/**
 * aml_resources_end() - end them
 * @a: the code
 * @begun: what aml_resources_begin() gave
 *
 * Context: any thread.
 */
void aml_resources_end(struct aml *a, size_t begun)
{
	const size_t size_at = begun + LENGTH_BYTES + 1;
	uint16_t size;

	put8(a, RESOURCE_END);
	put8(a, 0); /* no checksum: it is taken as good */
	if (!a->full) {
		size = (uint16_t)(a->used - size_at - sizeof(size));
		memcpy(a->bytes + size_at, &size, sizeof(size));
	}
	aml_end(a, begun);
}

/**
 * aml_ports() - I/O ports
 * @a: the code, in resources
 * @base: the first
 * @count: how many
 *
 * Context: any thread.
 */
void aml_ports(struct aml *a, uint16_t base, uint8_t count)
{
	put8(a, RESOURCE_PORTS);
	put8(a, PORTS_16_BITS);
	put16(a, base); /* lowest and highest base */
	put16(a, base);
	put8(a, 1); /* alignment */
	put8(a, count);
}

/**
 * aml_isa_irq() - an interrupt line of the ISA bus: edge, active high, not shared
 * @a: the code, in resources
 * @irq: 0 to 15
 *
 * Context: any thread.
 */
void aml_isa_irq(struct aml *a, unsigned int irq)
{
	assert(irq < 16);
	put8(a, RESOURCE_IRQ);
	put16(a, (uint16_t)(1u << irq));
}

/**
 * aml_memory() - addresses below 4 GiB, for reading and writing
 * @a: the code, in resources
 * @base: the first
 * @bytes: how many
 *
 * Context: any thread.
 */
void aml_memory(struct aml *a, uint32_t base, uint32_t bytes)
{
	put8(a, RESOURCE_MEMORY);
	put16(a, 1 + sizeof(base) + sizeof(bytes));
	put8(a, MEMORY_WRITABLE);
	put32(a, base);
	put32(a, bytes);
}

/**
 * aml_interrupt() - an input of the interrupt controllers: edge, active high, not shared
 * @a: the code, in resources
 * @gsi: its number
 *
 * Context: any thread.
 */
void aml_interrupt(struct aml *a, uint32_t gsi)
{
	put8(a, RESOURCE_INTERRUPT);
	put16(a, 2 + sizeof(gsi));
	put8(a, INTERRUPT_CONSUMER | INTERRUPT_EDGE);
	put8(a, 1); /* so many follow */
	put32(a, gsi);
}
