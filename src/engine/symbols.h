/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for addresses of the guest kernel, from the symbol table of the very file that was booted.
 */
#ifndef ENGINE_SYMBOLS_H
#define ENGINE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct symbol_query {
	uint64_t address;
	char text[160]; /* "name+0x12", or empty when no symbol covers the address */
};

int symbols_lookup(int fd, struct symbol_query *queries, size_t count) __must_check;

#endif
