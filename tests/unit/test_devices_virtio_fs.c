/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "virtio_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/virtio/fs.h"
#include "fake_vhost.h"

#define SET_FEATURES  2
#define SET_MEM_TABLE 5
#define GET_BASE      11
#define SET_KICK      12
#define SET_ENABLE    18

struct fixture {
	struct virtio_driver d;
	struct fake_vhost back;
	struct virtio_fs fs;
	int memory;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	driver_init(&f->d);
	f->memory = memfd_create("memory", MFD_CLOEXEC);
	assert_true(f->memory >= 0);
	fake_vhost_init(&f->back);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->memory);
	driver_fini(&f->d);
	free(f);
	return 0;
}

static int make(struct fixture *f)
{
	const struct vhost_user_region memory = {.gpa = 0x1000, .bytes = 0x40000, .fd = f->memory};
	struct virtio_place place = driver_place(&f->d);

	fake_vhost_start(&f->back);
	f->d.dev = &f->fs.v;
	return virtio_fs_init(&f->fs, &place, f->back.fd, &memory, 1, "share0");
}

static void end(struct fixture *f)
{
	virtio_fs_fini(&f->fs);
	fake_vhost_stop(&f->back);
}

static void start(struct fixture *f)
{
	driver_start(&f->d, &f->fs.v, VIRTIO_FS_QUEUES, driver_offered(&f->d));
	while (driver_rung(&f->d)) {
		driver_turn(&f->d);
	}
}

static void a_driver_finds_the_tag_and_two_queues(void **state)
{
	struct fixture *f = *state;
	char tag[8] = "";

	assert_int_equal(make(f), 0);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_DEVICE_ID), 26);
	for (unsigned int i = 0; i < sizeof(tag); i++) {
		tag[i] = (char)f->fs.v.dev.ops->read(&f->fs.v.dev, VIRTIO_MMIO_CONFIG + i, 1);
	}
	assert_string_equal(tag, "share0");
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_CONFIG + 36), 1);
	driver_set(&f->d, VIRTIO_MMIO_QUEUE_SEL, 1);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_QUEUE_NUM_MAX), VIRTQ_SIZE_MAX);
	driver_set(&f->d, VIRTIO_MMIO_QUEUE_SEL, 2);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_QUEUE_NUM_MAX), 0);
	end(f);
}

static void what_the_other_side_lacks_is_not_offered(void **state)
{
	struct fixture *f = *state;

	f->back.features = UINT64_C(1) << VIRTIO_F_VERSION_1 | UINT64_C(1) << 30;
	assert_int_equal(make(f), 0);
	assert_int_equal(driver_offered(&f->d), UINT64_C(1) << VIRTIO_F_VERSION_1);
	end(f);
}

static void guest_memory_is_handed_over_by_guest_addresses(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	assert_int_equal(f->back.regions, 1);
	assert_int_equal(f->back.gpa, 0x1000);
	assert_int_equal(f->back.user_address, 0x1000);
	assert_int_equal(f->back.bytes, 0x40000);
	assert_true(fcntl(f->back.memory_fd, F_GETFD) >= 0);
	end(f);
}

static void queues_are_handed_over_when_the_driver_is_ready(void **state)
{
	struct fixture *f = *state;
	eventfd_t n;

	assert_int_equal(make(f), 0);
	assert_int_equal(fake_vhost_times(&f->back, SET_ENABLE), 0);
	start(f);
	assert_int_equal(f->back.accepted, f->fs.v.accepted | UINT64_C(1) << 30);
	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES; i++) {
		assert_true(f->back.queue[i].enabled);
		assert_int_equal(f->back.queue[i].num, DRIVER_SIZE);
		assert_int_equal(f->back.queue[i].desc, f->d.queue[i].desc);
		assert_int_equal(f->back.queue[i].avail, f->d.queue[i].avail);
		assert_int_equal(f->back.queue[i].used, f->d.queue[i].used);
		/* The doorbell that KVM signals is the one that the other side waits for. */
		assert_int_equal(eventfd_write(f->d.kick_fd[i], 1 + i), 0);
		assert_int_equal(eventfd_read(f->back.queue[i].kick_fd, &n), 0);
		assert_int_equal(n, 1 + i);
	}
	end(f);
}

static void the_other_side_interrupts_and_the_driver_reads_that_a_queue_was_used(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	start(f);
	assert_int_equal(driver_interrupts(&f->d), 0);
	assert_int_equal(eventfd_write(f->back.queue[1].call_fd, 1), 0);
	assert_int_equal(driver_interrupts(&f->d), 1);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_INTERRUPT_STATUS), VIRTIO_MMIO_INT_VRING);
	driver_set(&f->d, VIRTIO_MMIO_INTERRUPT_ACK, VIRTIO_MMIO_INT_VRING);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_INTERRUPT_STATUS), VIRTIO_MMIO_INT_VRING);
	end(f);
}

static void a_queue_that_is_not_ready_is_not_handed_over(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	driver_start(&f->d, &f->fs.v, 1, driver_offered(&f->d));
	driver_turn(&f->d);
	assert_true(f->back.queue[0].enabled);
	assert_false(f->back.queue[1].enabled);
	end(f);
}

static void a_reset_takes_the_queues_back_before_it_returns(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		start(f); /* its first act is a reset */
		assert_int_equal(fake_vhost_times(&f->back, GET_BASE), 2 * (i - 1));
		assert_true(f->back.queue[0].enabled && f->back.queue[1].enabled);
	}
	driver_set(&f->d, VIRTIO_MMIO_STATUS, 0);
	assert_false(f->back.queue[0].enabled || f->back.queue[1].enabled);
	assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_STATUS), 0);
	/* Again, and there is nothing to take. */
	driver_set(&f->d, VIRTIO_MMIO_STATUS, 0);
	assert_int_equal(fake_vhost_times(&f->back, GET_BASE), 6);
	end(f);
}

static void without_the_other_side_the_device_needs_a_reset_which_does_not_help(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	start(f);
	fake_vhost_stop(&f->back);
	virtio_fs_lost(&f->fs);
	for (int i = 0; i < 2; i++) {
		assert_true(driver_get(&f->d, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
		assert_int_equal(driver_interrupts(&f->d), 1);
		assert_true(driver_get(&f->d, VIRTIO_MMIO_INTERRUPT_STATUS) &
			    VIRTIO_MMIO_INT_CONFIG);
		start(f);
	}
	virtio_fs_fini(&f->fs);
}

/* Each lie at each request that has an answer before the guest runs. */
static void a_wrong_answer_at_the_start_is_refused(void **state)
{
	static const struct {
		uint32_t request;
		enum fake_vhost_lie lie;
		int expected;
	} cases[] = {
		{1, FAKE_OTHER_REQUEST, -EPROTO},
		{1, FAKE_TOO_LONG, -EPROTO},
		{1, FAKE_TOO_SHORT, -EPROTO},
		{1, FAKE_HUGE, -EPROTO},
		{1, FAKE_NO_REPLY, -EPROTO},
		{1, FAKE_VERSION, -EPROTO},
		{1, FAKE_HANGS_UP, -EPIPE},
		{1, FAKE_HALF, -EPIPE},
		{1, FAKE_WITH_FILE, 0},
		{15, FAKE_OTHER_REQUEST, -EPROTO},
		{15, FAKE_HUGE, -EPROTO},
		{15, FAKE_HANGS_UP, -EPIPE},
		{3, FAKE_REFUSES, -EREMOTEIO},
		{3, FAKE_TOO_SHORT, -EPROTO},
		{SET_MEM_TABLE, FAKE_REFUSES, -EREMOTEIO},
		{SET_MEM_TABLE, FAKE_TOO_LONG, -EPROTO},
		{SET_MEM_TABLE, FAKE_HALF, -EPIPE},
		{SET_MEM_TABLE, FAKE_WITH_FILE, 0},
	};
	struct fixture *f = *state;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->back.lie_at = cases[i].request;
		f->back.lie = cases[i].lie;
		r = make(f);
		if (r != cases[i].expected) {
			fail_msg("request %u, lie %d: %d, expected %d", cases[i].request,
				 cases[i].lie, r, cases[i].expected);
		}
		if (r == 0) {
			virtio_fs_fini(&f->fs);
		}
		fake_vhost_stop(&f->back);
		fake_vhost_init(&f->back);
		assert_int_equal(f->d.opened, 0);
	}
	close(f->back.fd);
	close(f->back.own_fd);
}

static void a_back_end_without_protocol_features_is_refused(void **state)
{
	struct fixture *f = *state;

	f->back.features = UINT64_C(1) << VIRTIO_F_VERSION_1;
	assert_int_equal(make(f), -EPROTONOSUPPORT);
	fake_vhost_stop(&f->back);
}

static void one_that_confirms_nothing_is_taken_at_its_word(void **state)
{
	struct fixture *f = *state;

	f->back.protocol = 0;
	assert_int_equal(make(f), 0);
	start(f);
	/* An answer to this follows all that came before it. */
	driver_set(&f->d, VIRTIO_MMIO_STATUS, 0);
	assert_int_equal(fake_vhost_times(&f->back, SET_ENABLE), 2);
	assert_int_equal(fake_vhost_times(&f->back, GET_BASE), 2);
	end(f);
}

static void a_wrong_answer_while_it_runs_breaks_the_device_and_nothing_else(void **state)
{
	static const uint32_t at_start[] = {SET_FEATURES, SET_KICK, SET_ENABLE};
	struct fixture *f = *state;

	for (int lie = FAKE_OTHER_REQUEST; lie < FAKE_OTHER_QUEUE; lie++) {
		if (lie == FAKE_WITH_FILE) {
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(at_start); i++) {
			f->back.lie_at = at_start[i];
			f->back.lie = (enum fake_vhost_lie)lie;
			assert_int_equal(make(f), 0);
			start(f);
			assert_true(driver_get(&f->d, VIRTIO_MMIO_STATUS) &
				    VIRTIO_CONFIG_S_NEEDS_RESET);
			assert_int_equal(driver_interrupts(&f->d), 1);
			end(f);
			fake_vhost_init(&f->back);
		}
	}
	close(f->back.fd);
	close(f->back.own_fd);
}

static void a_wrong_answer_to_a_reset_cuts_the_other_side_off(void **state)
{
	static const enum fake_vhost_lie lies[] = {FAKE_OTHER_QUEUE, FAKE_HUGE, FAKE_HANGS_UP,
						   FAKE_TOO_SHORT};
	struct fixture *f = *state;
	char byte;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		f->back.lie_at = GET_BASE;
		f->back.lie = lies[i];
		assert_int_equal(make(f), 0);
		start(f);
		driver_set(&f->d, VIRTIO_MMIO_STATUS, 0);
		assert_int_equal(driver_get(&f->d, VIRTIO_MMIO_STATUS), 0);
		/* Who watches the socket finds its end. */
		while (read(virtio_fs_fd(&f->fs), &byte, 1) > 0) {
		}
		start(f);
		assert_true(driver_get(&f->d, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
		driver_interrupts(&f->d);
		end(f);
		fake_vhost_init(&f->back);
	}
	close(f->back.fd);
	close(f->back.own_fd);
}

static void whatever_fails_while_it_is_made_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	int failed = 0, r;

	for (f->d.fail_at = 1;; f->d.fail_at++) {
		f->d.calls = 0;
		r = make(f);
		if (r == 0) {
			break;
		}
		assert_int_equal(r, -EMFILE);
		assert_int_equal(f->d.opened, 0);
		fake_vhost_stop(&f->back);
		fake_vhost_init(&f->back);
		failed++;
	}
	assert_int_equal(failed, 7); /* doorbell, interrupt, its tie, two kicks and their ties */
	end(f);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_driver_finds_the_tag_and_two_queues),
		T(what_the_other_side_lacks_is_not_offered),
		T(guest_memory_is_handed_over_by_guest_addresses),
		T(queues_are_handed_over_when_the_driver_is_ready),
		T(the_other_side_interrupts_and_the_driver_reads_that_a_queue_was_used),
		T(a_queue_that_is_not_ready_is_not_handed_over),
		T(a_reset_takes_the_queues_back_before_it_returns),
		T(without_the_other_side_the_device_needs_a_reset_which_does_not_help),
		T(a_wrong_answer_at_the_start_is_refused),
		T(a_back_end_without_protocol_features_is_refused),
		T(one_that_confirms_nothing_is_taken_at_its_word),
		T(a_wrong_answer_while_it_runs_breaks_the_device_and_nothing_else),
		T(a_wrong_answer_to_a_reset_cuts_the_other_side_off),
		T(whatever_fails_while_it_is_made_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
