/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and sizes as people write them. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define TEXT_BAD_BYTE UINT32_MAX /* where a character of UTF-8 was due */

int text_parse_u64(const char *s, uint64_t *ret) __must_check;
int text_parse_bytes(const char *s, uint64_t *ret_bytes) __must_check;
int text_parse_seconds(const char *s, uint64_t *ret_ns) __must_check;
bool text_starts_with(const char *s, const char *prefix);
void text_make_utf8(char *s);
uint32_t text_next_char(const char **s);
size_t text_control_len(const char *s);
size_t text_host_len(const char *s);
#define TEXT_REAL_MAX 32
const char *text_real(double x, char *buf, size_t len);
const char *text_bytes(uint64_t bytes, char *buf, size_t len);
const char *text_seconds(uint64_t ns, char *buf, size_t len);

#endif
