/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gdb_packet.h. */
#include "vmm/gdb_packet.h"

#include <stdio.h>

#define ESCAPE       '}'
#define ESCAPE_FLIPS 0x20

enum { OUTSIDE, INSIDE, SUM_HIGH, SUM_LOW };

/**
 * gdb_hex_digit() - value of a hexadecimal digit
 * @c: any character
 *
 * Return: 0 to 15, or −1.
 */
int gdb_hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum gdb_event outside(struct gdb_parser *p, uint8_t byte)
{
	switch (byte) {
	case '$':
		p->state = INSIDE;
		p->len = 0;
		p->sum = 0;
		p->escaped = p->bad = false;
		return GDB_NOTHING;
	case '+':
		return GDB_ACK;
	case '-':
		return GDB_NAK;
	case 0x03:
		return GDB_INTERRUPT;
	default:
		return GDB_NOTHING;
	}
}

static void inside(struct gdb_parser *p, uint8_t byte)
{
	if (byte == '#') {
		p->bad |= p->escaped;
		p->state = SUM_HIGH;
		return;
	}
	if (byte == '$') {
		/* The rest of the frame before was lost. */
		(void)outside(p, byte);
		return;
	}
	p->sum += byte;
	if (byte == ESCAPE && !p->escaped) {
		p->escaped = true;
		return;
	}
	if (p->escaped) {
		byte ^= ESCAPE_FLIPS;
		p->escaped = false;
	}
	if (p->len == GDB_PACKET_MAX) {
		p->bad = true;
		return;
	}
	p->data[p->len++] = byte;
}

/**
 * gdb_parser_feed() - take one byte that GDB sent
 * @p: zeroed at first
 * @byte: any
 *
 * Return: what that came to.
 */
enum gdb_event gdb_parser_feed(struct gdb_parser *p, uint8_t byte)
{
	int digit = gdb_hex_digit((char)byte);

	switch (p->state) {
	case OUTSIDE:
		return outside(p, byte);
	case INSIDE:
		inside(p, byte);
		return GDB_NOTHING;
	case SUM_HIGH:
		p->bad |= digit < 0;
		p->wanted = digit < 0 ? 0 : (uint8_t)(digit << 4);
		p->state = SUM_LOW;
		return GDB_NOTHING;
	default:
		p->state = OUTSIDE;
		p->data[p->len] = '\0';
		return p->bad || digit < 0 || (p->wanted | digit) != p->sum ? GDB_BAD : GDB_PACKET;
	}
}

/**
 * gdb_frame() - put data into a frame
 * @data: @len bytes, any
 * @len: at most GDB_PACKET_MAX
 * @buf: gets the frame; has GDB_FRAME_MAX bytes
 *
 * Return: length of the frame.
 */
size_t gdb_frame(const void *data, size_t len, char *buf)
{
	const uint8_t *from = data;
	uint8_t sum = 0;
	size_t n = 0;
	static const char digits[] = "0123456789abcdef";

	buf[n++] = '$';
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = from[i];

		if (byte == '$' || byte == '#' || byte == '*' || byte == ESCAPE) {
			buf[n++] = ESCAPE;
			sum += ESCAPE;
			byte ^= ESCAPE_FLIPS;
		}
		buf[n++] = (char)byte;
		sum += byte;
	}
	buf[n++] = '#';
	buf[n++] = digits[sum >> 4];
	buf[n++] = digits[sum & 15];
	return n;
}
