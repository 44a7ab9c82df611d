/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word of --shard. */
#ifndef CLI_SHARD_H
#define CLI_SHARD_H

#include "base/cleanup.h"
#include "base/err.h"

int shard_parse(const char *text, unsigned int *ret_shard, unsigned int *ret_shards,
		struct err *e) __must_check;

#endif
