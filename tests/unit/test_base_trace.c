/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/trace.h"

static int fd;
static struct trace *t;
static struct trace_ring *ring;
static uint32_t track;

static int setup(void **state)
{
	fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(trace_create(fd, 1000000, &t), 0);
	assert_int_equal(trace_add_track(t, "vcpu0", &track), 0);
	assert_int_equal(trace_add_ring(t, &ring), 0);
	return 0;
}

static int teardown(void **state)
{
	trace_destroy(t);
	close(fd);
	return 0;
}

static json_t *finish(void)
{
	json_error_t je;
	json_t *all;

	assert_int_equal(trace_finish(t), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	all = json_loadfd(fd, JSON_REJECT_DUPLICATES, &je);
	if (!all) {
		fail_msg("line %d: %s", je.line, je.text);
	}
	assert_true(json_is_array(all));
	return all;
}

static const char *word(const json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

static double number(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key));
}

static uint64_t dropped(const json_t *all)
{
	const json_t *last = json_array_get(all, json_array_size(all) - 1);

	assert_string_equal(word(last, "name"), "trace_dropped");
	return (uint64_t)number(json_object_get(last, "args"), "events");
}

static void a_trace_of_nothing_is_an_array_with_the_names_of_its_tracks(void **state)
{
	json_t *all = finish();
	const json_t *first = json_array_get(all, 0);

	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(word(first, "ph"), "M");
	assert_string_equal(word(json_object_get(first, "args"), "name"), "vcpu0");
	assert_int_equal(dropped(all), 0);
	json_decref(all);
}

static void spans_instants_and_counters_have_their_times_and_values(void **state)
{
	const struct trace_record records[] = {
		{.kind = TRACE_SPAN,
		 .name = "exit",
		 .track = track,
		 .start_ns = 2234567,
		 .end_ns = 2235568,
		 .keys = {"port", "bytes"},
		 .values = {0x3f8, UINT32_MAX}},
		{.kind = TRACE_INSTANT, .name = "mark", .track = track, .start_ns = 3000000},
		{.kind = TRACE_COUNTER,
		 .name = "exits",
		 .track = track,
		 .start_ns = 999999, /* before the start: counts as it */
		 .keys = {"all"},
		 .values = {7}},
	};
	const json_t *x;
	json_t *all;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		trace_put(ring, &records[i]);
	}
	all = finish();
	assert_int_equal(json_array_size(all), 5);
	x = json_array_get(all, 1);
	assert_string_equal(word(x, "ph"), "X");
	assert_true(number(x, "ts") == 1234.567);
	assert_true(number(x, "dur") == 1.001);
	assert_int_equal(number(json_object_get(x, "args"), "port"), 0x3f8);
	assert_true(number(json_object_get(x, "args"), "bytes") == UINT32_MAX);
	x = json_array_get(all, 2);
	assert_string_equal(word(x, "ph"), "i");
	assert_true(number(x, "ts") == 2000.0);
	x = json_array_get(all, 3);
	assert_string_equal(word(x, "ph"), "C");
	assert_string_equal(word(x, "id"), "0");
	assert_true(number(x, "ts") == 0);
	json_decref(all);
}

static void a_full_ring_drops_what_is_new_and_says_how_much(void **state)
{
	struct trace_record r = {.kind = TRACE_INSTANT, .name = "x", .track = track};
	json_t *all;

	for (unsigned int i = 0; i < TRACE_RECORDS + 5; i++) {
		r.start_ns = 1000000 + i * 1000;
		trace_put(ring, &r);
	}
	all = finish();
	assert_int_equal(dropped(all), 5);
	assert_int_equal(json_array_size(all), TRACE_RECORDS + 2);
	assert_true(number(json_array_get(all, TRACE_RECORDS), "ts") == TRACE_RECORDS - 1);
	json_decref(all);
}

static void draining_makes_room(void **state)
{
	const struct trace_record r = {.kind = TRACE_INSTANT, .name = "x", .track = track};
	json_t *all;

	for (unsigned int i = 0; i < 3 * TRACE_RECORDS; i++) {
		if (i % TRACE_RECORDS == 0) {
			assert_int_equal(trace_drain(t), 0);
		}
		trace_put(ring, &r);
	}
	all = finish();
	assert_int_equal(dropped(all), 0);
	assert_int_equal(json_array_size(all), 3 * TRACE_RECORDS + 2);
	json_decref(all);
}

#define TOLD 200000

static void *tell(void *arg)
{
	struct trace_record r = {.kind = TRACE_INSTANT, .name = "x", .track = track};

	for (unsigned int i = 0; i < TOLD; i++) {
		r.start_ns = 1000000 + UINT64_C(1000) * i;
		trace_put(ring, &r);
	}
	return NULL;
}

static void what_is_told_while_it_is_drained_comes_in_order_or_is_counted(void **state)
{
	pthread_t thread;
	double before = -1;
	json_t *all;
	size_t n;

	assert_int_equal(pthread_create(&thread, NULL, tell, NULL), 0);
	for (unsigned int i = 0; i < 50; i++) {
		assert_int_equal(trace_drain(t), 0);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	all = finish();
	n = json_array_size(all);
	assert_int_equal(n - 2 + dropped(all), TOLD);
	for (size_t i = 1; i < n - 1; i++) {
		double ts = number(json_array_get(all, i), "ts");

		assert_true(ts > before);
		before = ts;
	}
	json_decref(all);
}

static void a_disk_that_is_full_is_told_and_ends_the_writing(void **state)
{
	const struct trace_record r = {.kind = TRACE_INSTANT, .name = "x", .track = track};
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	trace_destroy(t);
	assert_int_equal(trace_create(full, 0, &t), 0);
	assert_int_equal(trace_add_ring(t, &ring), 0);
	trace_put(ring, &r);
	assert_int_equal(trace_drain(t), -ENOSPC);
	trace_put(ring, &r);
	assert_int_equal(trace_finish(t), -ENOSPC);
	close(full);
}

static void tracks_and_rings_have_a_limit(void **state)
{
	struct trace_ring *more;
	uint32_t n;

	for (unsigned int i = 1; i < TRACE_TRACKS_MAX; i++) {
		assert_int_equal(trace_add_track(t, "x", &n), 0);
	}
	assert_int_equal(trace_add_track(t, "x", &n), -ENOSPC);
	for (unsigned int i = 1; i < TRACE_RINGS_MAX; i++) {
		assert_int_equal(trace_add_ring(t, &more), 0);
	}
	assert_int_equal(trace_add_ring(t, &more), -ENOSPC);
	json_decref(finish());
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_trace_of_nothing_is_an_array_with_the_names_of_its_tracks),
		T(spans_instants_and_counters_have_their_times_and_values),
		T(a_full_ring_drops_what_is_new_and_says_how_much),
		T(draining_makes_room),
		T(what_is_told_while_it_is_drained_comes_in_order_or_is_counted),
		T(a_disk_that_is_full_is_told_and_ends_the_writing),
		T(tracks_and_rings_have_a_limit),
	};

	return cmocka_run_group_tests_name("base_trace", tests, NULL, NULL);
}
