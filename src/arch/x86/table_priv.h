/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tables that a guest finds in its memory have in common. */
#ifndef ARCH_X86_TABLE_PRIV_H
#define ARCH_X86_TABLE_PRIV_H

#include <stddef.h>
#include <stdint.h>

/* What makes the sum of all bytes zero. */
static inline uint8_t table_checksum(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++) {
		sum = (uint8_t)(sum + bytes[i]);
	}
	return (uint8_t)-sum;
}

#endif
