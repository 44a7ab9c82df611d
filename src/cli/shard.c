/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See shard.h. Any thread. */
#include "cli/shard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define SHARDS_MAX 10000

/**
 * shard_parse() - read "I/N", the I-th of N parts
 * @text: the word of --shard
 * @ret_shard: set on success: I, from 1 to N
 * @ret_shards: set on success: N, at most 10000
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int shard_parse(const char *text, unsigned int *ret_shard, unsigned int *ret_shards, struct err *e)
{
	const char *slash = strchr(text, '/');
	char first[16];
	uint64_t i = 0, n = 0;

	if (slash && (size_t)(slash - text) < sizeof(first)) {
		snprintf(first, sizeof(first), "%.*s", (int)(slash - text), text);
		if (text_parse_u64(first, &i) < 0 || text_parse_u64(slash + 1, &n) < 0) {
			i = 0;
		}
	}
	if (i < 1 || i > n || n > SHARDS_MAX) {
		return err_set(e, -EINVAL,
			       "--shard: expected I/N, the I-th of N parts: I from 1 to N, and N "
			       "at most %d, got '%s'",
			       SHARDS_MAX, text);
	}
	*ret_shard = (unsigned int)i;
	*ret_shards = (unsigned int)n;
	return 0;
}
