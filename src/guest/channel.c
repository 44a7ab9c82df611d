/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See channel.h. What the parser holds is either empty or starts like a frame; as soon as it cannot
 * be one any more, its first byte is dropped as garbage and the rest is looked at again, so that a
 * good frame behind a broken one is never lost. A guest can make it count, never grow or fail.
 * A parser belongs to one thread.
 */
#include "guest/channel.h"

#include <assert.h>
#include <string.h>

#include "guest/crc32.h"

static void put_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static uint32_t get_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t frame_crc(const uint8_t *frame, size_t len)
{
	uint32_t crc = crc32_update(0, frame, CHANNEL_CRC_OFFSET);

	return crc32_update(crc, frame + CHANNEL_HEADER_BYTES, len);
}

/**
 * channel_encode() - make one frame
 * @frame: room for CHANNEL_HEADER_BYTES + @len bytes
 * @stream: CHANNEL_STREAM_*
 * @payload: the bytes; may already be at @frame + CHANNEL_HEADER_BYTES, then nothing is copied
 * @len: how many, at most CHANNEL_PAYLOAD_MAX
 *
 * Return: the frame's length in bytes.
 * Context: any thread.
 */
size_t channel_encode(uint8_t *frame, uint8_t stream, const void *payload, size_t len)
{
	assert(len <= CHANNEL_PAYLOAD_MAX);
	if (payload != frame + CHANNEL_HEADER_BYTES) {
		memmove(frame + CHANNEL_HEADER_BYTES, payload, len);
	}
	frame[0] = CHANNEL_MAGIC_0;
	frame[1] = CHANNEL_MAGIC_1;
	frame[2] = stream;
	frame[3] = 0;
	put_le32(frame + 4, (uint32_t)len);
	put_le32(frame + CHANNEL_CRC_OFFSET, frame_crc(frame, len));
	return CHANNEL_HEADER_BYTES + len;
}

/**
 * channel_parser_init() - start with an empty stream
 * @p: the caller's memory
 * @fn: called for each good frame, from within channel_parser_feed()
 * @ctx: handed to @fn
 *
 * Context: the thread that owns @p.
 */
void channel_parser_init(struct channel_parser *p, channel_frame_fn fn, void *ctx)
{
	p->fn = fn;
	p->ctx = ctx;
	p->counts = (struct channel_counts){0};
	p->have = 0;
}

/* Drop @n bytes that belong to no frame, and everything behind them up to the next possible magic.
 */
static void skip_garbage(struct channel_parser *p, size_t n)
{
	const uint8_t *next = memchr(p->buf + n, CHANNEL_MAGIC_0, p->have - n);
	size_t drop = next ? (size_t)(next - p->buf) : p->have;

	p->counts.garbage_bytes += drop;
	p->have -= drop;
	memmove(p->buf, p->buf + drop, p->have);
}

/*
 * Look at what is held. Return how many more bytes are needed before it can be told what it is; 0
 * when a frame or garbage was taken out and the rest is worth another look.
 */
static size_t examine(struct channel_parser *p)
{
	const uint8_t *b = p->buf;
	size_t len;

	if (p->have == 0) {
		return 1;
	}
	if (b[0] != CHANNEL_MAGIC_0 || (p->have > 1 && b[1] != CHANNEL_MAGIC_1)) {
		skip_garbage(p, 1);
		return 0;
	}
	if (p->have < CHANNEL_HEADER_BYTES) {
		return CHANNEL_HEADER_BYTES - p->have;
	}
	len = get_le32(b + 4);
	if (b[2] < CHANNEL_STREAM_RESULTS || b[2] > CHANNEL_STREAM_LAST || b[3] != 0 ||
	    len > CHANNEL_PAYLOAD_MAX) {
		p->counts.bad_header++;
		skip_garbage(p, 1);
		return 0;
	}
	if (p->have < CHANNEL_HEADER_BYTES + len) {
		return CHANNEL_HEADER_BYTES + len - p->have;
	}
	if (get_le32(b + CHANNEL_CRC_OFFSET) != frame_crc(b, len)) {
		p->counts.bad_crc++;
		skip_garbage(p, 1);
		return 0;
	}
	p->counts.frames++;
	p->counts.payload_bytes += len;
	p->fn(p->ctx, b[2], b + CHANNEL_HEADER_BYTES, len);
	p->have -= CHANNEL_HEADER_BYTES + len;
	memmove(p->buf, b + CHANNEL_HEADER_BYTES + len, p->have);
	return 0;
}

/**
 * channel_parser_feed() - take bytes as they come from the guest
 * @p: a parser
 * @data: the bytes, cut anywhere
 * @len: how many
 *
 * Context: the thread that owns @p; calls its callback, which must not feed @p.
 */
void channel_parser_feed(struct channel_parser *p, const void *data, size_t len)
{
	const uint8_t *in = data;

	for (;;) {
		size_t want = examine(p);

		if (want == 0) {
			continue;
		}
		if (len == 0) {
			return;
		}
		if (want > len) {
			want = len;
		}
		/* Never more than the present frame needs, so buf is always large enough. */
		memcpy(p->buf + p->have, in, want);
		p->have += want;
		in += want;
		len -= want;
	}
}

/**
 * channel_parser_finish() - the stream has ended
 * @p: a parser; it may be fed again afterwards, as from the start
 *
 * A frame that has not come whole is garbage now; whole ones that stand inside it are still taken
 * (its length may be what was damaged).
 *
 * Return: how many bytes were left over, 0 for a stream that ended with a whole frame.
 * Context: the thread that owns @p.
 */
uint64_t channel_parser_finish(struct channel_parser *p)
{
	uint64_t before = p->counts.garbage_bytes;

	while (p->have > 0) {
		if (examine(p) != 0) {
			skip_garbage(p, 1);
		}
	}
	return p->counts.garbage_bytes - before;
}
