/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "vmm/gdb_packet.h"

static struct gdb_parser parser;

/* What the last byte came to. */
static enum gdb_event feed(const char *bytes, size_t len)
{
	enum gdb_event last = GDB_NOTHING;

	for (size_t i = 0; i < len; i++) {
		last = gdb_parser_feed(&parser, (uint8_t)bytes[i]);
	}
	return last;
}

static int setup(void **state)
{
	memset(&parser, 0, sizeof(parser));
	return 0;
}

static void a_frame_is_a_packet_when_its_sum_is_right(void **state)
{
	assert_int_equal(feed("$g#67", 5), GDB_PACKET);
	assert_int_equal(parser.len, 1);
	assert_string_equal((char *)parser.data, "g");
	assert_int_equal(feed("$g#68", 5), GDB_BAD);
	assert_int_equal(feed("$g#6x", 5), GDB_BAD);
	assert_int_equal(feed("$#00", 4), GDB_PACKET);
	assert_int_equal(parser.len, 0);
	assert_int_equal(feed("+", 1), GDB_ACK);
	assert_int_equal(feed("-", 1), GDB_NAK);
	assert_int_equal(feed("\003", 1), GDB_INTERRUPT);
}

static void ctrl_c_inside_a_packet_is_data(void **state)
{
	assert_int_equal(feed("$X\003#5b", 6), GDB_PACKET);
	assert_int_equal(parser.len, 2);
}

static void a_frame_that_begins_anew_replaces_the_one_before(void **state)
{
	assert_int_equal(feed("$m1234$g#67", 11), GDB_PACKET);
	assert_string_equal((char *)parser.data, "g");
}

static void each_byte_comes_through_a_frame_as_it_was(void **state)
{
	uint8_t all[256];
	char frame[GDB_FRAME_MAX];
	size_t n;

	for (int i = 0; i < 256; i++) {
		all[i] = (uint8_t)i;
	}
	n = gdb_frame(all, sizeof(all), frame);
	assert_int_equal(feed(frame, n), GDB_PACKET);
	assert_int_equal(parser.len, sizeof(all));
	assert_memory_equal(parser.data, all, sizeof(all));
}

static void the_longest_packet_is_taken_and_a_longer_one_refused(void **state)
{
	static char data[GDB_PACKET_MAX + 1], frame[2 * sizeof(data) + 4];
	size_t n;

	memset(data, '}', sizeof(data));
	n = gdb_frame(data, GDB_PACKET_MAX, frame);
	assert_int_equal(n, 2 * GDB_PACKET_MAX + 4);
	assert_int_equal(feed(frame, n), GDB_PACKET);
	assert_int_equal(parser.len, GDB_PACKET_MAX);
	n = gdb_frame(data, GDB_PACKET_MAX + 1, frame);
	assert_int_equal(feed(frame, n), GDB_BAD);
	/* And the next one is understood again. */
	assert_int_equal(feed("$g#67", 5), GDB_PACKET);
}

static void any_bytes_at_all_keep_within_bounds(void **state)
{
	static const char likely[] = "$#}+-\003abc0123456789fmMXgGvCont;:,";
	struct rng rng;

	rng_init(&rng, 11);
	for (int i = 0; i < 2000000; i++) {
		uint8_t byte = rng_below(&rng, 3) ? (uint8_t)likely[rng_below(&rng, sizeof(likely))]
						  : (uint8_t)rng_next(&rng);

		(void)gdb_parser_feed(&parser, byte);
		assert_true(parser.len <= GDB_PACKET_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_frame_is_a_packet_when_its_sum_is_right, setup),
		cmocka_unit_test_setup(ctrl_c_inside_a_packet_is_data, setup),
		cmocka_unit_test_setup(a_frame_that_begins_anew_replaces_the_one_before, setup),
		cmocka_unit_test_setup(each_byte_comes_through_a_frame_as_it_was, setup),
		cmocka_unit_test_setup(the_longest_packet_is_taken_and_a_longer_one_refused, setup),
		cmocka_unit_test_setup(any_bytes_at_all_keep_within_bounds, setup),
	};

	return cmocka_run_group_tests_name("vmm_gdb_packet", tests, NULL, NULL);
}
