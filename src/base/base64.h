/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as text (RFC 4648, section 4), with padding and without line breaks. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/cleanup.h"

/* Characters for so many bytes, without a NUL. */
#define BASE64_LEN(bytes) (((bytes) + 2) / 3 * 4)

void base64_encode(const void *data, size_t len, char *ret_text);
int base64_decode(const char *text, size_t len, void *ret_data, size_t *ret_len) __must_check;

#endif
