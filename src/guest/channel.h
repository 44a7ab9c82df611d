/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The framing of firmware/abi/channel.h: the encoder that the agent uses, and the host's parser.
 * The parser is pure: it is fed bytes as they come and calls back for each whole, good frame.
 */
#ifndef GUEST_CHANNEL_H
#define GUEST_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"
#include "base/cleanup.h"

size_t channel_encode(uint8_t *frame, uint8_t stream, const void *payload, size_t len);

/* @stream is CHANNEL_STREAM_RESULTS to _LAST; @payload lives for the call. */
typedef void (*channel_frame_fn)(void *ctx, uint8_t stream, const uint8_t *payload, size_t len);

struct channel_counts {
	uint64_t frames;
	uint64_t payload_bytes;
	uint64_t garbage_bytes; /* skipped while looking for a frame's start */
	uint64_t bad_crc;       /* frames that looked whole but were not */
	uint64_t bad_header;    /* magic followed by an unknown stream, flag or length */
};

struct channel_parser {
	channel_frame_fn fn;
	void *ctx;
	struct channel_counts counts;
	size_t have; /* bytes in buf */
	uint8_t buf[CHANNEL_FRAME_MAX];
};

void channel_parser_init(struct channel_parser *p, channel_frame_fn fn, void *ctx);
void channel_parser_feed(struct channel_parser *p, const void *data, size_t len);
uint64_t channel_parser_finish(struct channel_parser *p);

#endif
