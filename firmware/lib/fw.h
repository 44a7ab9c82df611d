/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload library. A payload is one file with payload_main(); it runs alone on one CPU, with
 * interrupts off, in ring 0 or in ring 3 (fw_ring() tells), and what payload_main() returns leaves
 * through the exit port.
 */
#ifndef FW_H
#define FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/payload.h"

uint64_t payload_main(void);

extern struct payload_block fw_block;
unsigned int fw_ring(void);
uint64_t fw_arg(unsigned int i, uint64_t default_value);
uint64_t fw_cmdline_number(const char *parameter, uint64_t default_value);
_Noreturn void fw_exit(uint64_t status);

/* io.h of the machine */
static inline void outb(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void outl(uint16_t port, uint32_t v)
{
	__asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline uint16_t inw(uint16_t port)
{
	uint16_t v;

	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline uint32_t inl(uint16_t port)
{
	uint32_t v;

	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

/* strings, and what compilers call on their own */
void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

/* COM1, polled */
void fw_putc(char c);
void fw_listen(void);
int fw_getc(void);
void fw_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* memory */
bool fw_map_mmio(uint64_t gpa);

/* exceptions, ring 0 only */
struct trap {
	uint64_t vector;
	uint64_t error;
	uint64_t rip;
};

void trap_setup(void);
bool trap_try(void (*fn)(void *arg), void *arg, struct trap *ret_trap);

/* named checks, counted */
bool report(bool pass, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void report_group(const char *name);
uint64_t report_summary(void);

#endif
