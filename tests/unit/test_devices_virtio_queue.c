/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a driver may put into a ring, good and bad: virtio 1.2, 2.7. */
#include "support.h"

#include "vring.h"

#include <errno.h>
#include <string.h>

#include "devices/virtio/queue.h"

#define N     8
#define NEXT  VRING_DESC_F_NEXT
#define WRITE VRING_DESC_F_WRITE
#define TABLE VRING_DESC_F_INDIRECT
#define A     VRING_HEAP
#define B     (VRING_HEAP + 0x1000)

static struct guest_ram ram;
static struct vring_driver drv;
static struct virtq q;
static struct virtq_chain chain;

static void make(unsigned int size, bool event_idx, bool indirect)
{
	vring_driver_init(&drv, ram.bytes, size);
	virtq_init(&q, &ram.mem);
	q.size = (uint16_t)size;
	q.desc = drv.desc;
	q.avail = drv.avail;
	q.used = drv.used;
	q.event_idx = event_idx;
	q.indirect = indirect;
	assert_int_equal(virtq_make_ready(&q), 0);
}

static int setup(void **state)
{
	guest_ram_init(&ram, VRING_RAM_BYTES);
	make(N, false, true);
	return 0;
}

static int teardown(void **state)
{
	guest_ram_fini(&ram);
	return 0;
}

static void assert_used(uint32_t head, uint32_t bytes)
{
	uint32_t found_head = ~0u, found_bytes = ~0u;

	assert_true(vring_take_used(&drv, &found_head, &found_bytes));
	assert_int_equal(found_head, head);
	assert_int_equal(found_bytes, bytes);
}

static void a_request_comes_out_as_the_driver_put_it_in(void **state)
{
	char text[8] = "";

	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
	memcpy(ram.bytes + A, "abcd", 4);
	memcpy(ram.bytes + B, "ef", 2);
	vring_desc(&drv, 3, A, 4, NEXT, 5);
	vring_desc(&drv, 5, B, 2, NEXT, 0);
	vring_desc(&drv, 0, A + 0x100, 3, NEXT | WRITE, 1);
	vring_desc(&drv, 1, B + 0x100, 4, WRITE, 7);
	vring_offer(&drv, 3);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	assert_int_equal(chain.head, 3);
	assert_int_equal(chain.out_segs, 2);
	assert_int_equal(chain.in_segs, 2);
	assert_int_equal(chain.out_bytes, 6);
	assert_int_equal(chain.in_bytes, 7);
	assert_int_equal(virtq_read(&q, &chain, 1, text, 5), 0);
	assert_string_equal(text, "bcdef");
	assert_int_equal(virtq_read(&q, &chain, 2, text, 5), -EINVAL);
	assert_int_equal(virtq_write(&q, &chain, 2, "XYZ", 3), 0);
	assert_memory_equal(ram.bytes + A + 0x100, "\0\0X", 3);
	assert_memory_equal(ram.bytes + B + 0x100, "YZ\0\0", 4);
	assert_int_equal(virtq_write(&q, &chain, 7, "X", 1), -EINVAL);
	assert_int_equal(virtq_write(&q, &chain, UINT32_MAX, "X", 2), -EINVAL);
	virtq_push(&q, chain.head, 5);
	assert_used(3, 5);
	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
}

static void a_part_of_a_request_is_handed_to_system_calls_in_pieces(void **state)
{
	struct iovec iov[VIRTQ_SIZE_MAX];
	unsigned int n;

	vring_desc(&drv, 0, A, 16, NEXT, 1);
	vring_desc(&drv, 1, B, 100, NEXT | WRITE, 2);
	vring_desc(&drv, 2, A + 16, 1, WRITE, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	assert_int_equal(virtq_iov(&q, &chain, VIRTQ_IN, 90, 11, iov, &n), 0);
	assert_int_equal(n, 2);
	assert_ptr_equal(iov[0].iov_base, ram.bytes + B + 90);
	assert_int_equal(iov[0].iov_len, 10);
	assert_ptr_equal(iov[1].iov_base, ram.bytes + A + 16);
	assert_int_equal(iov[1].iov_len, 1);
	assert_int_equal(virtq_iov(&q, &chain, VIRTQ_OUT, 0, 16, iov, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(virtq_iov(&q, &chain, VIRTQ_OUT, 8, 9, iov, &n), -EINVAL);
	assert_int_equal(virtq_iov(&q, &chain, VIRTQ_IN, 0, 0, iov, &n), 0);
	assert_int_equal(n, 0);
}

/* A row of faults: the descriptors of one chain that must fail alone. */
struct fault {
	const char *what;
	struct vring_desc d[4]; /* of the queue's table, from 0 */
	struct vring_desc t[4]; /* of the indirect table */
};

#define PAST  (VRING_RAM_BYTES - 4)
#define AT(i) (VRING_TABLE + (i)*16)

static const struct fault faults[] = {
	{"a loop of one", {{A, 4, NEXT, 0}}, {{0}}},
	{"a loop of two", {{A, 4, NEXT, 1}, {B, 4, NEXT, 0}}, {{0}}},
	{"a next outside of the table", {{A, 4, NEXT, N}}, {{0}}},
	{"a next far outside of the table", {{A, 4, NEXT, 0xffff}}, {{0}}},
	{"an empty buffer", {{A, 0, 0, 0}}, {{0}}},
	{"an empty buffer to write", {{A, 4, NEXT, 1}, {A, 0, WRITE, 0}}, {{0}}},
	{"a buffer past RAM", {{VRING_RAM_BYTES, 4, 0, 0}}, {{0}}},
	{"a buffer over the end of RAM", {{PAST, 5, 0, 0}}, {{0}}},
	{"a buffer over the end of RAM, to write", {{PAST, 5, WRITE, 0}}, {{0}}},
	{"an address and length that wrap", {{UINT64_MAX - 2, 4, 0, 0}}, {{0}}},
	{"a buffer of 4 GiB less a byte", {{0, UINT32_MAX, 0, 0}}, {{0}}},
	{"a buffer to read behind one to write", {{A, 4, WRITE | NEXT, 1}, {B, 4, 0, 0}}, {{0}}},
	{"a table of no bytes", {{VRING_TABLE, 0, TABLE, 0}}, {{0}}},
	{"a table of half a descriptor", {{VRING_TABLE, 24, TABLE, 0}}, {{A, 4, 0, 0}}},
	{"a table past RAM", {{VRING_RAM_BYTES, 16, TABLE, 0}}, {{0}}},
	{"a table that wraps", {{UINT64_MAX - 15, 32, TABLE, 0}}, {{0}}},
	{"a table with something behind it", {{VRING_TABLE, 16, TABLE | NEXT, 1}}, {{A, 4, 0, 0}}},
	{"a table in a table", {{VRING_TABLE, 16, TABLE, 0}}, {{VRING_TABLE + 64, 16, TABLE, 0}}},
	{"a table in itself", {{VRING_TABLE, 16, TABLE, 0}}, {{VRING_TABLE, 16, TABLE, 0}}},
	{"a next outside of the indirect table",
	 {{VRING_TABLE, 32, TABLE, 0}},
	 {{A, 4, NEXT, 1}, {A, 4, NEXT, 2}, {A, 4, 0, 0}}},
	{"a loop in an indirect table",
	 {{VRING_TABLE, 32, TABLE, 0}},
	 {{A, 4, NEXT, 1}, {A, 4, NEXT, 0}}},
	{"an empty buffer in an indirect table", {{VRING_TABLE, 16, TABLE, 0}}, {{A, 0, 0, 0}}},
	{"a buffer past RAM in an indirect table",
	 {{VRING_TABLE, 16, TABLE, 0}},
	 {{VRING_RAM_BYTES, 1, 0, 0}}},
};

static void offer_fault(const struct fault *f)
{
	memcpy(ram.bytes + drv.desc, f->d, sizeof(f->d));
	memcpy(ram.bytes + VRING_TABLE, f->t, sizeof(f->t));
	vring_offer(&drv, 0);
}

static void each_broken_chain_fails_alone_and_the_next_request_is_served(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		make(N, i % 2, true);
		offer_fault(&faults[i]);
		vring_desc(&drv, 6, B, 9, WRITE, 0);
		vring_offer(&drv, 6);
		if (virtq_pop(&q, &chain) != 0 || chain.head != 6 || chain.in_bytes != 9) {
			fail_msg("%s: the request behind it was not served", faults[i].what);
		}
		if (q.bad_chains != 1 || q.broken) {
			fail_msg("%s: %d bad chains", faults[i].what, (int)q.bad_chains);
		}
		assert_used(0, 0);
		virtq_push(&q, 6, 9);
		assert_used(6, 9);
	}
}

static void a_ring_full_of_broken_chains_is_given_back_in_one_bounded_walk(void **state)
{
	vring_desc(&drv, 0, A, 4, NEXT, 0);
	for (unsigned int i = 0; i < N; i++) {
		vring_offer(&drv, 0);
	}
	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
	assert_int_equal(q.bad_chains, N);
	assert_int_equal(vring_used_idx(&drv), N);
}

static void a_chain_is_as_long_as_the_queue_and_no_longer(void **state)
{
	for (unsigned int i = 0; i < N; i++) {
		vring_desc(&drv, i, A + i, 1, i + 1 < N ? NEXT : 0, (uint16_t)(i + 1));
	}
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	assert_int_equal(chain.out_segs, N);

	/* 2.7.5.3.1 counts the entries of an indirect table alike. */
	for (unsigned int n = N; n <= N + 1; n++) {
		make(N, false, true);
		for (unsigned int i = 0; i < n; i++) {
			vring_set_desc(&drv, VRING_TABLE, i, A + i, 1, i + 1 < n ? NEXT : 0,
				       (uint16_t)(i + 1));
		}
		vring_desc(&drv, 2, VRING_TABLE, n * 16, TABLE, 0);
		vring_offer(&drv, 2);
		assert_int_equal(virtq_pop(&q, &chain), n == N ? 0 : -ENODATA);
		assert_int_equal(q.bad_chains, n == N ? 0 : 1);
	}
}

static void a_table_may_end_a_chain_that_began_directly(void **state)
{
	vring_desc(&drv, 1, A, 4, NEXT, 2);
	vring_desc(&drv, 2, VRING_TABLE, 32, TABLE, 0);
	vring_set_desc(&drv, VRING_TABLE, 0, B, 5, NEXT | WRITE, 1);
	vring_set_desc(&drv, VRING_TABLE, 1, B + 5, 6, WRITE, 0);
	vring_offer(&drv, 1);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	assert_int_equal(chain.out_bytes, 4);
	assert_int_equal(chain.in_bytes, 11);
	assert_int_equal(chain.in_segs, 2);
}

static void a_table_that_was_not_negotiated_is_a_broken_chain(void **state)
{
	make(N, false, false);
	vring_desc(&drv, 0, VRING_TABLE, 16, TABLE, 0);
	vring_set_desc(&drv, VRING_TABLE, 0, A, 4, 0, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
	assert_int_equal(q.bad_chains, 1);
}

static void chains_of_more_than_4_gib_in_total_fail(void **state)
{
	struct gmem big;
	static unsigned char *bytes; /* named for much more memory than is there: never touched */

	bytes = ram.bytes;
	gmem_init(&big);
	assert_int_equal(gmem_add(&big, 0, UINT64_C(8) << 30, bytes), 0);
	q.mem = &big;
	vring_desc(&drv, 0, 0, UINT32_MAX, NEXT | WRITE, 1);
	vring_desc(&drv, 1, 0, 1, WRITE, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
	assert_int_equal(q.bad_chains, 1);
}

static void an_index_that_ran_too_far_breaks_the_queue_until_reset(void **state)
{
	static const struct {
		uint16_t taken, idx;
		int result;
	} rows[] = {
		{0, N, 0},
		{0, N + 1, -EPROTO},
		{0, 0xffff, -EPROTO},
		{0xfffe, 6, 0}, /* over the end of 16 bits: 8 requests */
		{0xfffe, 7, -EPROTO},
		{5, 4, -EPROTO}, /* backwards */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make(N, false, false);
		vring_desc(&drv, 0, A, 1, 0, 0);
		q.next_avail = rows[i].taken;
		vring_set_avail_idx(&drv, rows[i].idx);
		assert_int_equal(virtq_pop(&q, &chain), rows[i].result);
		if (rows[i].result == 0) {
			continue;
		}
		assert_true(q.broken);
		/* Not served again when the driver repairs its index, only after a reset. */
		vring_set_avail_idx(&drv, (uint16_t)(rows[i].taken + 1));
		assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
		virtq_push(&q, 0, 0);
		assert_int_equal(vring_used_idx(&drv), 0);
		assert_false(virtq_listen(&q));
		virtq_reset(&q);
		assert_false(q.broken);
		assert_false(q.ready);
	}
}

static void a_head_outside_of_the_table_breaks_the_queue(void **state)
{
	vring_offer(&drv, N);
	assert_int_equal(virtq_pop(&q, &chain), -EPROTO);
	assert_true(q.broken);
}

static void indices_go_round_at_16_bits_and_at_the_size(void **state)
{
	for (unsigned int i = 0; i < 70000; i++) {
		uint16_t head = (uint16_t)(i % N);

		vring_desc(&drv, head, A + head, 1 + head, WRITE, 0);
		vring_offer(&drv, head);
		assert_int_equal(virtq_pop(&q, &chain), 0);
		assert_int_equal(chain.head, head);
		virtq_push(&q, head, 1 + head);
		assert_used(head, 1 + head);
	}
	assert_false(q.broken);
}

static void rings_that_cannot_be_are_not_made_ready(void **state)
{
	static const struct {
		uint16_t size;
		uint64_t desc, avail, used;
		int result;
	} rows[] = {
		{0, 0x1000, 0x3000, 0x4000, -EINVAL},
		{3, 0x1000, 0x3000, 0x4000, -EINVAL},
		{VIRTQ_SIZE_MAX * 2, 0x1000, 0x3000, 0x4000, -EINVAL},
		{0xffff, 0x1000, 0x3000, 0x4000, -EINVAL},
		{N, 0x1008, 0x3000, 0x4000, -EINVAL},
		{N, 0x1000, 0x3001, 0x4000, -EINVAL},
		{N, 0x1000, 0x3000, 0x4002, -EINVAL},
		{N, VRING_RAM_BYTES - 16 * N + 16, 0x3000, 0x4000, -EFAULT},
		{N, 0x1000, VRING_RAM_BYTES - 2 * N - 2, 0x4000, -EFAULT},
		{N, 0x1000, 0x3000, VRING_RAM_BYTES - 8 * N, -EFAULT},
		{N, UINT64_MAX - 15, 0x3000, 0x4000, -EFAULT},
		{N, 0x1000, UINT64_MAX - 1, 0x4000, -EFAULT},
		{N, 0x1000, 0x3000, UINT64_MAX - 3, -EFAULT},
		{1, 0x1000, 0x3000, 0x4000, 0},
		{VIRTQ_SIZE_MAX, 0x1000, 0x3000, 0x4000, 0},
		{N, VRING_RAM_BYTES - 16 * N, 0x3000, 0x4000, 0},
		/* Without event index there is nothing behind the rings. */
		{N, 0x1000, VRING_RAM_BYTES - 2 * N - 4, 0x4000, 0},
		{N, 0x1000, 0x3000, VRING_RAM_BYTES - 8 * N - 4, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		virtq_reset(&q);
		q.size = rows[i].size;
		q.desc = rows[i].desc;
		q.avail = rows[i].avail;
		q.used = rows[i].used;
		assert_int_equal(virtq_make_ready(&q), rows[i].result);
		assert_int_equal(q.ready, rows[i].result == 0);
	}
	/* With it there is. */
	q.ready = false;
	q.event_idx = true;
	assert_int_equal(virtq_make_ready(&q), -EFAULT);
	/* A queue may be shorter than others, also after a reset. */
	make(N, false, false);
	q.max = N / 2;
	virtq_reset(&q);
	assert_int_equal(q.size, N / 2);
	q.size = N;
	assert_int_equal(virtq_make_ready(&q), -EINVAL);
}

static void a_queue_that_is_not_ready_gives_and_takes_nothing(void **state)
{
	virtq_reset(&q);
	vring_desc(&drv, 0, A, 4, 0, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), -ENODATA);
	virtq_push(&q, 0, 0);
	virtq_quiet(&q);
	assert_false(virtq_listen(&q));
	assert_false(virtq_has_next(&q));
	assert_false(virtq_must_tell(&q));
	assert_int_equal(vring_used_idx(&drv), 0);
}

static void serve_one(void)
{
	vring_desc(&drv, 0, A, 4, WRITE, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	virtq_push(&q, 0, 4);
}

static void the_driver_is_told_once_for_what_is_new_unless_it_does_not_want_it(void **state)
{
	assert_false(virtq_must_tell(&q));
	serve_one();
	serve_one();
	assert_true(virtq_must_tell(&q));
	assert_false(virtq_must_tell(&q));
	vring_set_avail_flags(&drv, VRING_AVAIL_F_NO_INTERRUPT);
	serve_one();
	assert_false(virtq_must_tell(&q));
	vring_set_avail_flags(&drv, 0);
	serve_one();
	assert_true(virtq_must_tell(&q));
}

static void with_event_index_the_driver_is_told_when_its_mark_is_passed(void **state)
{
	make(N, true, false);
	vring_set_used_event(&drv, 2); /* tell me when the third is there */
	serve_one();
	assert_false(virtq_must_tell(&q));
	serve_one();
	assert_false(virtq_must_tell(&q));
	serve_one();
	assert_true(virtq_must_tell(&q));
	serve_one();
	assert_false(virtq_must_tell(&q));
	/* Flags mean nothing then. */
	vring_set_avail_flags(&drv, VRING_AVAIL_F_NO_INTERRUPT);
	vring_set_used_event(&drv, 4);
	serve_one();
	assert_true(virtq_must_tell(&q));
}

static void a_request_that_comes_while_the_device_starts_to_listen_is_not_missed(void **state)
{
	for (unsigned int event = 0; event < 2; event++) {
		make(N, event, false);
		virtq_quiet(&q);
		assert_int_equal(vring_used_flags(&drv), event ? 0 : VRING_USED_F_NO_NOTIFY);
		serve_one();
		assert_false(virtq_listen(&q));
		assert_int_equal(vring_used_flags(&drv), 0);
		assert_int_equal(vring_found_avail_event(&drv), event ? 1 : 0);
		vring_offer(&drv, 0);
		assert_true(virtq_listen(&q));
	}
}

/* The driver scribbles over a descriptor while the request is served. */
static void a_value_that_changes_after_it_was_checked_is_not_read_again(void **state)
{
	char text[4];

	memcpy(ram.bytes + A, "good", 4);
	vring_desc(&drv, 0, A, 4, 0, 0);
	vring_offer(&drv, 0);
	assert_int_equal(virtq_pop(&q, &chain), 0);
	vring_desc(&drv, 0, UINT64_MAX - 1, UINT32_MAX, NEXT | WRITE, 0xffff);
	assert_int_equal(virtq_read(&q, &chain, 0, text, 4), 0);
	assert_memory_equal(text, "good", 4);
	virtq_push(&q, chain.head, 0);
	assert_used(0, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_request_comes_out_as_the_driver_put_it_in),
		T(a_part_of_a_request_is_handed_to_system_calls_in_pieces),
		T(each_broken_chain_fails_alone_and_the_next_request_is_served),
		T(a_ring_full_of_broken_chains_is_given_back_in_one_bounded_walk),
		T(a_chain_is_as_long_as_the_queue_and_no_longer),
		T(a_table_may_end_a_chain_that_began_directly),
		T(a_table_that_was_not_negotiated_is_a_broken_chain),
		T(chains_of_more_than_4_gib_in_total_fail),
		T(an_index_that_ran_too_far_breaks_the_queue_until_reset),
		T(a_head_outside_of_the_table_breaks_the_queue),
		T(indices_go_round_at_16_bits_and_at_the_size),
		T(rings_that_cannot_be_are_not_made_ready),
		T(a_queue_that_is_not_ready_gives_and_takes_nothing),
		T(the_driver_is_told_once_for_what_is_new_unless_it_does_not_want_it),
		T(with_event_index_the_driver_is_told_when_its_mark_is_passed),
		T(a_request_that_comes_while_the_device_starts_to_listen_is_not_missed),
		T(a_value_that_changes_after_it_was_checked_is_not_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
