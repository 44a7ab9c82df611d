/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See text.h. Pure; any thread. */
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * text_parse_u64() - read a whole number, decimal or 0x-hexadecimal
 * @s: the text; nothing may stand before or behind the number
 * @ret: set on success
 *
 * Return: 0, -EINVAL when it is no number, -ERANGE when it does not fit.
 * Context: any thread.
 */
int text_parse_u64(const char *s, uint64_t *ret)
{
	int base = text_starts_with(s, "0x") ? 16 : 10;
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9') {
		return -EINVAL;
	}
	errno = 0;
	v = strtoull(s, &end, base);
	if (*end || (base == 16 && end == s + 2)) {
		return -EINVAL;
	}
	if (errno == ERANGE) {
		return -ERANGE;
	}
	*ret = v;
	return 0;
}

/**
 * text_parse_bytes() - read a size: a number and one of K, M, G, T (1024 each; "MiB" too)
 * @s: the text, such as "512M"; a bare number counts MiB, as in every other VMM
 * @ret_bytes: set on success
 *
 * Return: 0, -EINVAL when it is no size, -ERANGE when it does not fit into 64 bits.
 * Context: any thread.
 */
int text_parse_bytes(const char *s, uint64_t *ret_bytes)
{
	static const char units[] = "BKMGT";
	size_t digits = strspn(s, "0123456789");
	char number[24];
	unsigned int shift = 20;
	uint64_t v;
	int r;

	if (digits == 0 || digits >= sizeof(number)) {
		return digits ? -ERANGE : -EINVAL;
	}
	memcpy(number, s, digits);
	number[digits] = '\0';
	r = text_parse_u64(number, &v);
	if (r < 0) {
		return r;
	}
	s += digits;
	if (*s) {
		const char *u = strchr(units, *s >= 'a' ? *s - ('a' - 'A') : *s);

		if (!u) {
			return -EINVAL;
		}
		shift = 10 * (unsigned int)(u - units);
		s++;
		if (strcmp(s, "") != 0 && strcmp(s, "iB") != 0) {
			return -EINVAL;
		}
	}
	if (v > (UINT64_MAX >> shift)) {
		return -ERANGE;
	}
	*ret_bytes = v << shift;
	return 0;
}

/**
 * text_parse_seconds() - read a time: seconds with an optional fraction, or with "ms", "s", "m"
 * @s: the text, such as "5", "0.5", "250ms"
 * @ret_ns: set on success, nanoseconds
 *
 * Return: 0, -EINVAL when it is no time, -ERANGE when it is above 10^9 seconds.
 * Context: any thread.
 */
int text_parse_seconds(const char *s, uint64_t *ret_ns)
{
	char *end;
	double v;

	if (!((*s >= '0' && *s <= '9') || *s == '.')) {
		return -EINVAL;
	}
	v = strtod(s, &end);
	if (end == s) {
		return -EINVAL;
	}
	if (strcmp(end, "ms") == 0) {
		v /= 1000;
	} else if (strcmp(end, "m") == 0) {
		v *= 60;
	} else if (*end && strcmp(end, "s") != 0) {
		return -EINVAL;
	}
	if (!isfinite(v) || v > 1e9) {
		return -ERANGE;
	}
	*ret_ns = (uint64_t)(v * 1e9);
	return 0;
}

/**
 * text_starts_with() - whether a text begins with another
 * @s: the text
 * @prefix: what it should begin with
 *
 * Return: true when it does.
 * Context: any thread.
 */
bool text_starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The length of the UTF-8 sequence that begins here, or 0 when none does (RFC 3629, section 4). */
static size_t utf8_sequence(const unsigned char *p)
{
	unsigned char low = 0x80, high = 0xbf; /* of the second byte */
	size_t len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] < 0x80) {
		return 1;
	}
	if (p[0] < 0xc2 || p[0] > 0xf4) {
		return 0;
	}
	switch (p[0]) {
	case 0xe0: /* longer than it need be */
		low = 0xa0;
		break;
	case 0xed: /* surrogates */
		high = 0x9f;
		break;
	case 0xf0:
		low = 0x90;
		break;
	case 0xf4: /* past U+10FFFF */
		high = 0x8f;
		break;
	}
	if (p[1] < low || p[1] > high) {
		return 0;
	}
	for (size_t i = 2; i < len; i++) {
		if (p[i] < 0x80 || p[i] > 0xbf) {
			return 0;
		}
	}
	return len;
}

/**
 * text_make_utf8() - put '?' for every byte that keeps a text from being UTF-8
 * @s: the text, changed in place; its length stays
 *
 * What a guest writes and what files are called may be any bytes; JSON takes UTF-8 only.
 *
 * Context: any thread.
 */
void text_make_utf8(char *s)
{
	while (*s) {
		size_t len = utf8_sequence((const unsigned char *)s);

		if (len == 0) {
			*s = '?';
			len = 1;
		}
		s += len;
	}
}

/**
 * text_next_char() - take the next character off a text of any bytes
 * @s: the text; moved behind the character, or not at all at its end
 *
 * Return: its code point, 0 at the end, TEXT_BAD_BYTE for a byte that is no part of UTF-8.
 * Context: any thread.
 */
uint32_t text_next_char(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	size_t len = utf8_sequence(p);
	uint32_t c = p[0];

	if (c == 0) {
		return 0;
	}
	*s += len ? len : 1;
	if (len == 0) {
		return TEXT_BAD_BYTE;
	}
	c = len == 1 ? c : c & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		c = c << 6 | (p[i] & 0x3f);
	}
	return c;
}

/**
 * text_real() - write a number in as few digits as read back to it: 0.1 as 0.1
 * @x: the number
 * @buf: room for the text
 * @len: size of @buf, TEXT_REAL_MAX
 *
 * Return: @buf.
 * Context: any thread.
 */
const char *text_real(double x, char *buf, size_t len)
{
	snprintf(buf, len, "%.15g", x);
	if (strtod(buf, NULL) != x) {
		snprintf(buf, len, "%.17g", x);
	}
	return buf;
}

/**
 * text_bytes() - write a size for people, exactly: the largest unit that leaves no fraction
 * @bytes: the size
 * @buf: room for the text
 * @len: size of @buf, 32 is always enough
 *
 * Return: @buf.
 * Context: any thread.
 */
const char *text_bytes(uint64_t bytes, char *buf, size_t len)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t u = 0;

	while (u + 1 < ARRAY_SIZE(units) && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		u++;
	}
	snprintf(buf, len, "%" PRIu64 " %s", bytes, units[u]);
	return buf;
}

/**
 * text_seconds() - write a time for people, exactly: the largest unit that leaves no fraction
 * @ns: the time, nanoseconds
 * @buf: room for the text
 * @len: size of @buf, 32 is always enough
 *
 * Return: @buf.
 * Context: any thread.
 */
const char *text_seconds(uint64_t ns, char *buf, size_t len)
{
	static const struct {
		uint64_t factor; /* of the unit before */
		const char *name;
	} units[] = {{1, "ns"},   {1000, "us"}, {1000, "ms"}, {1000, "s"},
		     {60, "min"}, {60, "h"},    {24, "days"}};
	size_t u = 0;

	/* A single day is 24 h. */
	while (u + 1 < ARRAY_SIZE(units) && ns && ns % units[u + 1].factor == 0 &&
	       !(u + 2 == ARRAY_SIZE(units) && ns == units[u + 1].factor)) {
		ns /= units[++u].factor;
	}
	snprintf(buf, len, "%" PRIu64 " %s", ns, ns || u ? units[u].name : "s");
	return buf;
}

/**
 * text_control_len() - what a terminal obeys and does not show
 * @s: a text
 *
 * C0 and C1 controls, what turns the direction of writing round (Unicode Standard Annex 9: U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), what ends a line (U+2028, U+2029), and
 * U+FEFF.
 *
 * Return: the bytes of the one that @s begins with, 0 where it begins with none.
 * Context: any thread.
 */
size_t text_control_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if ((*u && *u < 0x20) || *u == 0x7f) {
		return 1;
	}
	if (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0) {
		return 2;
	}
	if (u[0] == 0xd8 && u[1] == 0x9c) {
		return 2;
	}
	if (u[0] == 0xef) {
		return u[1] == 0xbb && u[2] == 0xbf ? 3 : 0;
	}
	if (u[0] != 0xe2) {
		return 0;
	}
	return (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
			       (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9)
		       ? 3
		       : 0;
}

/**
 * text_host_len() - where the host's part ends in a file that is put into a guest
 * @s: HOST[:GUEST]; the last ":/" parts them, so that HOST may have a colon in it
 *
 * Return: the bytes of HOST; what stands there is ':' or the end.
 * Context: any thread.
 */
size_t text_host_len(const char *s)
{
	const char *at = NULL;

	for (const char *p = strstr(s, ":/"); p; p = strstr(p + 1, ":/")) {
		at = p;
	}
	return at ? (size_t)(at - s) : strlen(s);
}
