/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COM1 without interrupts, and a printf for it. A host that never says "ready" is not waited for
 * without end: the byte goes out anyway.
 */
#include "fw.h"

#include <stdarg.h>

#include "console_priv.h"

#define COM1            0x3f8
#define COM_FCR         2
#define COM_MCR         4
#define COM_LSR         5
#define FCR_ENABLE      0x01
#define MCR_DTR_RTS     0x03
#define LSR_DATA_READY  0x01
#define LSR_THR_EMPTY   0x20
#define READY_POLLS_MAX 1000

/**
 * fw_putc() - one byte to COM1
 * @c: sent as it is
 */
void fw_putc(char c)
{
	for (int i = 0; i < READY_POLLS_MAX && !(inb(COM1 + COM_LSR) & LSR_THR_EMPTY); i++) {
		__asm__ volatile("pause");
	}
	outb(COM1, (uint8_t)c);
}

/**
 * fw_listen() - tell the other end of COM1 that it may send, and keep what it sends in the FIFO
 */
void fw_listen(void)
{
	outb(COM1 + COM_FCR, FCR_ENABLE);
	outb(COM1 + COM_MCR, MCR_DTR_RTS);
}

/**
 * fw_getc() - one byte from COM1, if there is one
 *
 * fw_listen() comes first: without RTS nothing is sent to us.
 *
 * Return: 0 to 255, or -1.
 */
int fw_getc(void)
{
	if (!(inb(COM1 + COM_LSR) & LSR_DATA_READY)) {
		return -1;
	}
	return inb(COM1);
}

static void put_string(const char *s)
{
	for (; *s; s++) {
		fw_putc(*s);
	}
}

static void put_number(uint64_t v, unsigned int base, unsigned int width, char pad)
{
	char digits[24];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	for (; width > n; width--) {
		fw_putc(pad);
	}
	while (n) {
		fw_putc(digits[--n]);
	}
}

static uint64_t take_unsigned(va_list *ap, int longs)
{
	return longs ? va_arg(*ap, unsigned long) : va_arg(*ap, unsigned int);
}

static int64_t take_signed(va_list *ap, int longs)
{
	return longs ? va_arg(*ap, long) : va_arg(*ap, int);
}

/**
 * fw_vprintf() - printf() to COM1 with %s %c %d %u %x %%, a width, zero padding and l
 * @fmt: the format; anything else in it is printed as it stands
 * @ap: its arguments
 */
void fw_vprintf(const char *fmt, va_list ap)
{
	va_list args;

	va_copy(args, ap);
	for (; *fmt; fmt++) {
		unsigned int width = 0;
		char pad = ' ';
		int longs = 0;

		if (*fmt != '%') {
			fw_putc(*fmt);
			continue;
		}
		fmt++;
		if (*fmt == '0') {
			pad = '0';
		}
		for (; *fmt >= '0' && *fmt <= '9'; fmt++) {
			width = width * 10 + (unsigned int)(*fmt - '0');
		}
		for (; *fmt == 'l'; fmt++) {
			longs++;
		}
		switch (*fmt) {
		case 's':
			put_string(va_arg(args, const char *));
			break;
		case 'c':
			fw_putc((char)va_arg(args, int));
			break;
		case 'd': {
			int64_t v = take_signed(&args, longs);

			if (v < 0) {
				fw_putc('-');
			}
			put_number(v < 0 ? -(uint64_t)v : (uint64_t)v, 10, width, pad);
			break;
		}
		case 'u':
			put_number(take_unsigned(&args, longs), 10, width, pad);
			break;
		case 'x':
			put_number(take_unsigned(&args, longs), 16, width, pad);
			break;
		case '\0':
			va_end(args);
			return;
		default:
			fw_putc(*fmt);
			break;
		}
	}
	va_end(args);
}

/**
 * fw_printf() - fw_vprintf() with its arguments in place
 * @fmt: the format
 */
void fw_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fw_vprintf(fmt, ap);
	va_end(ap);
}
