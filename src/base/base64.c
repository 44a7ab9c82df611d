/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base64.h. Pure; any thread. */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * base64_encode() - write bytes as text
 * @data: the bytes
 * @len: how many
 * @ret_text: set; room for BASE64_LEN(@len) characters and a NUL
 *
 * Context: any thread.
 */
void base64_encode(const void *data, size_t len, char *ret_text)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (have > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (have > 2 ? p[i + 2] : 0);

		*ret_text++ = digits[v >> 18];
		*ret_text++ = digits[v >> 12 & 63];
		*ret_text++ = have > 1 ? digits[v >> 6 & 63] : '=';
		*ret_text++ = have > 2 ? digits[v & 63] : '=';
	}
	*ret_text = '\0';
}

/**
 * base64_decode() - read bytes from text
 * @text: the text
 * @len: its characters
 * @ret_data: set on success; room for @len / 4 * 3 bytes
 * @ret_len: set on success: bytes
 *
 * Return: 0, or -EBADMSG for what base64_encode() would not have written.
 * Context: any thread.
 */
int base64_decode(const char *text, size_t len, void *ret_data, size_t *ret_len)
{
	uint8_t *out = ret_data;

	if (len % 4) {
		return -EBADMSG;
	}
	for (size_t i = 0; i < len; i += 4) {
		size_t pad = i + 4 < len ? 0 : (size_t)(text[i + 3] == '=') + (text[i + 2] == '=');
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++) {
			const char *d = k < 4 - pad ? memchr(digits, text[i + k], 64) : digits;

			if (!d) {
				return -EBADMSG;
			}
			v = v << 6 | (uint32_t)(d - digits);
		}
		/* "A=B=", and bits that belong to no byte. */
		if ((pad == 2 && text[i + 3] != '=') || (v & (((uint32_t)1 << (8 * pad)) - 1))) {
			return -EBADMSG;
		}
		*out++ = (uint8_t)(v >> 16);
		if (pad < 2) {
			*out++ = (uint8_t)(v >> 8);
		}
		if (pad < 1) {
			*out++ = (uint8_t)v;
		}
	}
	*ret_len = (size_t)(out - (uint8_t *)ret_data);
	return 0;
}
