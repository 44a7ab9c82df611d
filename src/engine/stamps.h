/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time stamps in front of the lines of a console: "[    1.234567] ", seconds since the start. A
 * line has the time at which its first byte came, however its bytes are split over writes; it ends
 * with a newline and nothing else. All bytes pass as they are, carriage returns and zeros too.
 */
#ifndef ENGINE_STAMPS_H
#define ENGINE_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAMP_MAX 32 /* room for one, with its zero byte */

struct stamps {
	bool in_line; /* its stamp was given */
};

typedef void (*stamps_fn)(void *ctx, const void *data, size_t len);

void stamps_feed(struct stamps *s, uint64_t since_start_ns, const void *data, size_t len,
		 stamps_fn fn, void *ctx);

#endif
