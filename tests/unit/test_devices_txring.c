/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "devices/txring.h"

#define STREAM_BYTES 300000

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void sizes_that_are_no_power_of_two_are_refused(void **state)
{
	struct txring r;

	assert_int_equal(txring_init(&r, 0), -EINVAL);
	assert_int_equal(txring_init(&r, 1), -EINVAL);
	assert_int_equal(txring_init(&r, 24), -EINVAL);
	assert_int_equal(txring_init(&r, 2 * TXRING_BYTES_MAX), -EINVAL);
	assert_int_equal(txring_init(&r, TXRING_BYTES_MAX), 0);
	txring_fini(&r);
}

static void the_descriptor_tells_of_bytes_in_an_empty_ring_only(void **state)
{
	const uint8_t *p;
	struct txring r;

	assert_int_equal(txring_init(&r, 4), 0);
	assert_false(readable(txring_fd(&r)));
	assert_true(txring_put(&r, 'a'));
	assert_true(readable(txring_fd(&r)));
	txring_clear_fd(&r);
	assert_true(txring_put(&r, 'b'));
	assert_false(readable(txring_fd(&r)));
	assert_int_equal(txring_peek(&r, &p), 2);
	assert_memory_equal(p, "ab", 2);
	txring_consume(&r, 2);
	assert_true(txring_put(&r, 'c'));
	assert_true(readable(txring_fd(&r)));
	txring_fini(&r);
}

static void a_full_ring_takes_nothing_and_is_read_in_two_pieces_where_it_wraps(void **state)
{
	const uint8_t *p;
	struct txring r;

	assert_int_equal(txring_init(&r, 4), 0);
	for (const char *c = "abcd"; *c; c++) {
		assert_true(txring_put(&r, (uint8_t)*c));
	}
	assert_false(txring_put(&r, 'x'));
	txring_consume(&r, 3);
	assert_true(txring_put(&r, 'e'));
	assert_true(txring_put(&r, 'f'));
	assert_int_equal(txring_peek(&r, &p), 1);
	assert_int_equal(*p, 'd');
	txring_consume(&r, 1);
	assert_int_equal(txring_peek(&r, &p), 2);
	assert_memory_equal(p, "ef", 2);
	txring_consume(&r, 2);
	assert_int_equal(txring_peek(&r, &p), 0);
	txring_fini(&r);
}

static void *produce(void *arg)
{
	struct txring *r = arg;

	for (uint32_t i = 0; i < STREAM_BYTES; i++) {
		while (!txring_put(r, (uint8_t)(i % 251))) {
			if (txring_wait(r) < 0) {
				return NULL;
			}
		}
	}
	return r;
}

static void a_stream_through_a_small_ring_arrives_whole_and_in_order(void **state)
{
	pthread_t thread;
	struct txring r;
	uint32_t got = 0;
	void *ended;

	assert_int_equal(txring_init(&r, 64), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &r), 0);
	while (got < STREAM_BYTES) {
		struct pollfd pfd = {.fd = txring_fd(&r), .events = POLLIN};
		const uint8_t *p;
		size_t n;

		/* A lost wake-up shows as a time-out here. */
		assert_int_equal(poll(&pfd, 1, 10000), 1);
		txring_clear_fd(&r);
		while ((n = txring_peek(&r, &p)) > 0) {
			for (size_t i = 0; i < n; i++) {
				assert_int_equal(p[i], (got + i) % 251);
			}
			txring_consume(&r, n);
			got += (uint32_t)n;
		}
	}
	pthread_join(thread, &ended);
	assert_ptr_equal(ended, &r);
	txring_fini(&r);
}

static void a_producer_that_waits_is_let_go_when_the_machine_ends(void **state)
{
	struct txring r;
	pthread_t thread;
	void *ended;

	assert_int_equal(txring_init(&r, 16), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &r), 0);
	while (atomic_load(&r.waiters) == 0) {
		usleep(100);
	}
	txring_abort(&r);
	pthread_join(thread, &ended);
	assert_null(ended);
	assert_int_equal(txring_wait(&r), -ECANCELED);
	txring_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_that_are_no_power_of_two_are_refused),
		cmocka_unit_test(the_descriptor_tells_of_bytes_in_an_empty_ring_only),
		cmocka_unit_test(
			a_full_ring_takes_nothing_and_is_read_in_two_pieces_where_it_wraps),
		cmocka_unit_test(a_stream_through_a_small_ring_arrives_whole_and_in_order),
		cmocka_unit_test(a_producer_that_waits_is_let_go_when_the_machine_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
