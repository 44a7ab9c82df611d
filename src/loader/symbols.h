/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses, for crash reports: symbol and offset from the symbol table of a vmlinux.
 * Nothing is read until the first look-up.
 */
#ifndef LOADER_SYMBOLS_H
#define LOADER_SYMBOLS_H

#include <stdint.h>

#include "base/cleanup.h"

struct symbols;

int symbols_open(int fd, struct symbols **ret) __must_check;
void symbols_close(struct symbols *s);
DEFINE_CLEANUP(struct symbols *, symbols_close)
int symbols_find(struct symbols *s, uint64_t addr, const char **ret_name,
		 uint64_t *ret_offset) __must_check;

#endif
