/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stamps.h. Any thread. */
#include "engine/stamps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/**
 * stamps_feed() - pass bytes on, with a stamp before the first of each line
 * @s: zeroed before the first call
 * @since_start_ns: now
 * @data: the bytes
 * @len: how many
 * @fn: called in order with what is to be written
 * @ctx: its first argument
 */
void stamps_feed(struct stamps *s, uint64_t since_start_ns, const void *data, size_t len,
		 stamps_fn fn, void *ctx)
{
	const char *p = data;
	char stamp[STAMP_MAX];
	int stamp_len = snprintf(stamp, sizeof(stamp), "[%5" PRIu64 ".%06" PRIu64 "] ",
				 since_start_ns / NS_PER_SEC, since_start_ns % NS_PER_SEC / 1000);

	while (len > 0) {
		const char *end = memchr(p, '\n', len);
		size_t n = end ? (size_t)(end - p) + 1 : len;

		if (!s->in_line) {
			fn(ctx, stamp, (size_t)stamp_len);
		}
		fn(ctx, p, n);
		s->in_line = !end;
		p += n;
		len -= n;
	}
}
