/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for addresses of the guest kernel, from the symbol table of the very file that was booted.
 */
#ifndef ENGINE_SYMBOLS_H
#define ENGINE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SYMBOLS_MAX 64 /* addresses that are looked up at once */

struct symbol_query {
	uint64_t address;
	char text[160]; /* "name+0x12", or empty when no symbol covers the address */
};

struct symbol_range {
	uint64_t address, bytes;
};

size_t symbols_code(int fd, struct symbol_range *ret, size_t max);
int symbols_lookup(int fd, struct symbol_query *queries, size_t count) __must_check;

#endif
