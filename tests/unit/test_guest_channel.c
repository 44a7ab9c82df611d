/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "base/rng.h"
#include "guest/channel.h"
#include "guest/crc32.h"

/* What came out of the parser: every stream's bytes, one behind the other. */
struct seen {
	size_t frames;
	size_t len[CHANNEL_STREAM_LAST + 1];
	uint8_t data[CHANNEL_STREAM_LAST + 1][1 << 16];
};

static struct seen seen;
static struct channel_parser parser;

static void on_frame(void *ctx, uint8_t stream, const uint8_t *payload, size_t len)
{
	struct seen *s = ctx;

	assert_in_range(stream, CHANNEL_STREAM_RESULTS, CHANNEL_STREAM_LAST);
	assert_true(s->len[stream] + len <= sizeof(s->data[0]));
	memcpy(s->data[stream] + s->len[stream], payload, len);
	s->len[stream] += len;
	s->frames++;
}

static int fresh(void **state)
{
	memset(&seen, 0, sizeof(seen));
	channel_parser_init(&parser, on_frame, &seen);
	return 0;
}

static void assert_seen(uint8_t stream, const char *text)
{
	assert_int_equal(seen.len[stream], strlen(text));
	assert_memory_equal(seen.data[stream], text, strlen(text));
}

static void the_crc_is_that_of_ieee_802_3(void **state)
{
	assert_int_equal(crc32_update(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_update(crc32_update(0, "1234", 4), "56789", 5), 0xcbf43926);
	assert_int_equal(crc32_update(0, "", 0), 0);
}

static void a_frame_has_exactly_the_documented_bytes(void **state)
{
	/* CRC from zlib: crc32(b"R\xb5\x02\x00\x03\x00\x00\x00" + b"hi\n") */
	static const uint8_t want[] = {'R',  0xb5, 2,    0,    3,   0,   0,   0,
				       0x07, 0x04, 0xba, 0x2e, 'h', 'i', '\n'};
	uint8_t frame[CHANNEL_FRAME_MAX];

	assert_int_equal(channel_encode(frame, CHANNEL_STREAM_STDOUT, "hi\n", 3), sizeof(want));
	assert_memory_equal(frame, want, sizeof(want));
}

static void frames_arrive_whole_however_the_bytes_are_cut(void **state)
{
	uint8_t bytes[3 * CHANNEL_FRAME_MAX];
	size_t len;

	len = channel_encode(bytes, CHANNEL_STREAM_STDOUT, "out", 3);
	len += channel_encode(bytes + len, CHANNEL_STREAM_STDERR, "err", 3);
	len += channel_encode(bytes + len, CHANNEL_STREAM_LOG, "", 0);
	len += channel_encode(bytes + len, CHANNEL_STREAM_STDOUT, "RR\xb5R", 4);
	for (size_t step = 1; step <= len; step++) {
		fresh(state);
		for (size_t at = 0; at < len; at += step) {
			channel_parser_feed(&parser, bytes + at, len - at < step ? len - at : step);
		}
		assert_int_equal(seen.frames, 4);
		assert_seen(CHANNEL_STREAM_STDOUT, "outRR\xb5R");
		assert_seen(CHANNEL_STREAM_STDERR, "err");
		assert_int_equal(channel_parser_finish(&parser), 0);
		assert_int_equal(parser.counts.garbage_bytes, 0);
		assert_int_equal(parser.counts.payload_bytes, 10);
	}
}

static void the_longest_payload_passes_and_a_longer_length_is_no_frame(void **state)
{
	static uint8_t payload[CHANNEL_PAYLOAD_MAX];
	static uint8_t frame[CHANNEL_FRAME_MAX];
	size_t len;

	memset(payload, 'x', sizeof(payload));
	len = channel_encode(frame, CHANNEL_STREAM_STDOUT, payload, sizeof(payload));
	channel_parser_feed(&parser, frame, len);
	assert_int_equal(seen.frames, 1);
	assert_int_equal(seen.len[CHANNEL_STREAM_STDOUT], CHANNEL_PAYLOAD_MAX);

	frame[4]++; /* 4097 */
	channel_parser_feed(&parser, frame, len);
	assert_int_equal(seen.frames, 1);
	assert_int_equal(parser.counts.bad_header, 1);
	assert_int_equal(parser.counts.garbage_bytes, len);
}

static void garbage_between_frames_is_counted_and_loses_no_frame(void **state)
{
	uint8_t frame[CHANNEL_FRAME_MAX];
	size_t len = channel_encode(frame, CHANNEL_STREAM_RESULTS, "{}\n", 3);

	channel_parser_feed(&parser, "noise RR", 8);
	channel_parser_feed(&parser, frame, len);
	channel_parser_feed(&parser, "R\xb5R", 3); /* as if a frame began here */
	channel_parser_feed(&parser, frame, len);
	channel_parser_feed(&parser, frame, len);
	channel_parser_finish(&parser);
	assert_int_equal(seen.frames, 3);
	assert_seen(CHANNEL_STREAM_RESULTS, "{}\n{}\n{}\n");
	assert_int_equal(parser.counts.garbage_bytes, 11);
}

static void a_damaged_frame_is_dropped_and_the_next_one_taken(void **state)
{
	uint8_t bytes[256];
	size_t first = channel_encode(bytes, CHANNEL_STREAM_STDOUT, "abcdef", 6);
	size_t both = first + channel_encode(bytes + first, CHANNEL_STREAM_STDOUT, "ghi", 3);

	for (size_t i = 0; i < first; i++) {
		for (int bit = 0; bit < 8; bit++) {
			fresh(state);
			bytes[i] ^= (uint8_t)(1 << bit);
			channel_parser_feed(&parser, bytes, both);
			channel_parser_finish(&parser);
			assert_int_equal(seen.frames, 1);
			assert_seen(CHANNEL_STREAM_STDOUT, "ghi");
			assert_int_equal(parser.counts.garbage_bytes, first);
			bytes[i] ^= (uint8_t)(1 << bit);
		}
	}
}

static void a_stream_that_ends_within_a_frame_says_how_much_was_left(void **state)
{
	uint8_t frame[64];
	size_t len = channel_encode(frame, CHANNEL_STREAM_STDOUT, "abc", 3);

	channel_parser_feed(&parser, frame, len - 1);
	assert_int_equal(channel_parser_finish(&parser), len - 1);
	channel_parser_feed(&parser, frame, len);
	assert_int_equal(seen.frames, 1);
}

static void random_bytes_never_break_it_and_every_byte_is_accounted_for(void **state)
{
	static const uint8_t likely[] = {'R', 0xb5, 0, 1, 2, 3, 4, 12};
	uint8_t buf[512];
	struct rng rng;
	uint64_t fed = 0;

	rng_init(&rng, 7);
	for (int round = 0; round < 20000; round++) {
		size_t len = rng_below(&rng, sizeof(buf));

		if (rng_below(&rng, 4) == 0) {
			for (size_t i = 0; i < len; i++) {
				buf[i] = (uint8_t)rng_next(&rng);
			}
			len = channel_encode(buf, (uint8_t)(1 + rng_below(&rng, 4)), buf,
					     len % 100);
			if (rng_below(&rng, 3) == 0) {
				buf[rng_below(&rng, len)] ^= 0x10;
			}
		} else {
			for (size_t i = 0; i < len; i++) {
				buf[i] = likely[rng_below(&rng, sizeof(likely))];
			}
		}
		memset(seen.len, 0, sizeof(seen.len));
		channel_parser_feed(&parser, buf, len);
		fed += len;
	}
	channel_parser_finish(&parser);
	assert_int_equal(fed, parser.counts.garbage_bytes + parser.counts.payload_bytes +
				      parser.counts.frames * CHANNEL_HEADER_BYTES);
	assert_true(parser.counts.frames > 1000);
	assert_true(parser.counts.bad_crc > 100);
	assert_true(parser.counts.bad_header > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_crc_is_that_of_ieee_802_3),
		cmocka_unit_test(a_frame_has_exactly_the_documented_bytes),
		cmocka_unit_test_setup(frames_arrive_whole_however_the_bytes_are_cut, fresh),
		cmocka_unit_test_setup(the_longest_payload_passes_and_a_longer_length_is_no_frame,
				       fresh),
		cmocka_unit_test_setup(garbage_between_frames_is_counted_and_loses_no_frame, fresh),
		cmocka_unit_test_setup(a_damaged_frame_is_dropped_and_the_next_one_taken, fresh),
		cmocka_unit_test_setup(a_stream_that_ends_within_a_frame_says_how_much_was_left,
				       fresh),
		cmocka_unit_test_setup(random_bytes_never_break_it_and_every_byte_is_accounted_for,
				       fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
