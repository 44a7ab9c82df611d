/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of GDB's remote protocol ("Debugging with GDB", appendix E.1): $data#checksum, a byte that
 * is special escaped by '}'. Pure; what is kept of a frame is bounded.
 */
#ifndef VMM_GDB_PACKET_H
#define VMM_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define GDB_PACKET_MAX 4096 /* bytes of a packet's data, unescaped */
#define GDB_FRAME_MAX  (2 * GDB_PACKET_MAX + 4)

enum gdb_event {
	GDB_NOTHING,   /* go on */
	GDB_PACKET,    /* data holds one; it is valid until the next byte is fed */
	GDB_BAD,       /* a wrong checksum, or too long: to be answered by '-' */
	GDB_ACK,       /* '+' */
	GDB_NAK,       /* '-': the last frame is to be sent again */
	GDB_INTERRUPT, /* Ctrl-C */
};

struct gdb_parser {
	uint8_t data[GDB_PACKET_MAX + 1]; /* a NUL is put behind a packet */
	size_t len;
	int state;
	uint8_t sum, wanted;
	bool escaped, bad;
};

enum gdb_event gdb_parser_feed(struct gdb_parser *p, uint8_t byte);
size_t gdb_frame(const void *data, size_t len, char *buf);
int gdb_hex_digit(char c);

#endif
