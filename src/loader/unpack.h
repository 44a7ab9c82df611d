/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel or its configuration is packed with, undone. For bytes that may be anything. */
#ifndef LOADER_UNPACK_H
#define LOADER_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

int unpack(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
	   struct err *e) __must_check;

#endif
