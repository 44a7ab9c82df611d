/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/evloop.h"

struct watch {
	struct evloop *loop;
	struct evloop_source *source, *other;
	unsigned int calls, stop_at;
};

static void count_fd(void *ctx, int fd, uint32_t events)
{
	struct watch *w = ctx;
	char c;

	if (read(fd, &c, 1) == 0) {
		evloop_remove(w->source);
		evloop_stop(w->loop);
		return;
	}
	w->calls++;
}

static void count_timer(void *ctx)
{
	struct watch *w = ctx;

	if (++w->calls == w->stop_at) {
		evloop_stop(w->loop);
	}
}

static void remove_other_and_stop_later(void *ctx, int fd, uint32_t events)
{
	struct watch *w = ctx;

	w->calls++;
	evloop_remove(w->other);
	w->other = NULL;
	evloop_remove(w->source);
	evloop_stop(w->loop);
}

static void must_not_be_called(void *ctx, int fd, uint32_t events)
{
	fail_msg("a removed source was called");
}

static void a_ready_descriptor_is_served_until_its_end(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct watch w = {0};
	int p[2];

	assert_int_equal(evloop_create(&l), 0);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(write(p[1], "abc", 3), 3);
	close(p[1]);
	w.loop = l;
	assert_int_equal(evloop_add_fd(l, p[0], EPOLLIN, count_fd, &w, &w.source), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_int_equal(w.calls, 3);
	close(p[0]);
}

static void a_regular_file_which_epoll_refuses_is_served_too(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	_cleanup_close_ int small = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct watch w = {0};

	if (small < 0) {
		small = memfd_create("small", MFD_CLOEXEC);
	}
	assert_int_equal(write(small, "hello", 5), 5);
	assert_int_equal(lseek(small, 0, SEEK_SET), 0);
	assert_int_equal(evloop_create(&l), 0);
	w.loop = l;
	assert_int_equal(evloop_add_fd(l, small, EPOLLIN, count_fd, &w, &w.source), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_int_equal(w.calls, 5);
}

static void a_source_removed_by_another_callback_is_not_called(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct evloop_source *a, *b;
	struct watch w = {0};
	int p[2];

	/* Both ends of the answer are ready in one round; whichever runs first removes both. */
	assert_int_equal(evloop_create(&l), 0);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(write(p[1], "a", 1), 1);
	w.loop = l;
	assert_int_equal(evloop_add_fd(l, p[0], EPOLLIN, remove_other_and_stop_later, &w, &a), 0);
	assert_int_equal(evloop_add_fd(l, p[1], EPOLLIN, must_not_be_called, NULL, &b), 0);
	w.source = a;
	w.other = b;
	assert_int_equal(evloop_run(l), 0);
	assert_int_equal(w.calls, 1);
	close(p[0]);
	close(p[1]);
}

static void a_timer_expires_as_often_as_it_is_armed_for(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct watch w = {.stop_at = 3};

	assert_int_equal(evloop_create(&l), 0);
	w.loop = l;
	assert_int_equal(evloop_add_timer(l, count_timer, &w, &w.source), 0);
	assert_int_equal(evloop_arm_timer(w.source, clock_now_ns(&clock_monotonic), 1000), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_int_equal(w.calls, 3);
	evloop_remove(w.source);
}

static void a_closed_descriptor_is_refused(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct evloop_source *s;

	assert_int_equal(evloop_create(&l), 0);
	assert_int_equal(evloop_add_fd(l, 9999, EPOLLIN, must_not_be_called, NULL, &s), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ready_descriptor_is_served_until_its_end),
		cmocka_unit_test(a_regular_file_which_epoll_refuses_is_served_too),
		cmocka_unit_test(a_source_removed_by_another_callback_is_not_called),
		cmocka_unit_test(a_timer_expires_as_often_as_it_is_armed_for),
		cmocka_unit_test(a_closed_descriptor_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
