/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF notes, found by name and type in bytes that may be anything. */
#ifndef LOADER_NOTES_H
#define LOADER_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define NOTE_XEN       "Xen"
#define NOTE_PVH_ENTRY 18 /* XEN_ELFNOTE_PHYS32_ENTRY */

int notes_find(const uint8_t *notes, size_t len, size_t align, const char *name, uint32_t type,
	       const uint8_t **ret_desc, size_t *ret_len) __must_check;

#endif
