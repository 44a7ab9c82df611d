/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
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

/* What timers of one loop did, one letter a call. */
struct score {
	struct evloop *loop;
	struct evloop_source *a, *b;
	char text[16];
	size_t len;
	int fd; /* written to by again() */
};

static void note(struct score *s, char c)
{
	if (s->len < sizeof(s->text) - 1) {
		s->text[s->len++] = c;
	}
}

static void note_a(void *ctx)
{
	note(ctx, 'a');
}

static void note_b(void *ctx)
{
	note(ctx, 'b');
}

static void note_c_and_stop(void *ctx)
{
	struct score *s = ctx;

	note(s, 'c');
	evloop_stop(s->loop);
}

static void disarm_a_and_remove_b(void *ctx)
{
	struct score *s = ctx;

	note(s, 'd');
	assert_int_equal(evloop_arm_timer(s->a, 0, 0), 0);
	evloop_remove(s->b);
}

static void timers_expire_in_the_order_of_their_times(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	const uint64_t now = clock_now_ns(&clock_monotonic);
	struct evloop_source *c;
	struct score s = {0};

	assert_int_equal(evloop_create(&l), 0);
	s.loop = l;
	assert_int_equal(evloop_add_timer(l, note_a, &s, &s.a), 0);
	assert_int_equal(evloop_add_timer(l, note_b, &s, &s.b), 0);
	assert_int_equal(evloop_add_timer(l, note_c_and_stop, &s, &c), 0);
	assert_int_equal(evloop_arm_timer(c, now + 30 * NS_PER_MSEC, 0), 0);
	assert_int_equal(evloop_arm_timer(s.b, now + 1, 0), 0);
	/* Armed again it has its last time only. */
	assert_int_equal(evloop_arm_timer(s.a, 1, 0), 0);
	assert_int_equal(evloop_arm_timer(s.a, now + 20 * NS_PER_MSEC, 0), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_string_equal(s.text, "bac");
	assert_true(clock_now_ns(&clock_monotonic) >= now + 30 * NS_PER_MSEC);
}

static void a_timer_that_another_disarms_or_removes_does_not_expire(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct evloop_source *c, *d;
	struct score s = {0};

	assert_int_equal(evloop_create(&l), 0);
	s.loop = l;
	assert_int_equal(evloop_add_timer(l, note_a, &s, &s.a), 0);
	assert_int_equal(evloop_add_timer(l, note_b, &s, &s.b), 0);
	assert_int_equal(evloop_add_timer(l, note_c_and_stop, &s, &c), 0);
	assert_int_equal(evloop_add_timer(l, disarm_a_and_remove_b, &s, &d), 0);
	assert_int_equal(evloop_arm_timer(d, 1, 0), 0);
	assert_int_equal(evloop_arm_timer(s.a, 2, 1000), 0);
	assert_int_equal(evloop_arm_timer(s.b, 3, 0), 0);
	assert_int_equal(evloop_arm_timer(c, 4, 0), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_string_equal(s.text, "dc");
}

static void again(void *ctx)
{
	struct score *s = ctx;

	if (s->len == 0) {
		assert_int_equal(write(s->fd, "x", 1), 1);
	}
	note(s, 'a');
	assert_int_equal(evloop_arm_timer(s->a, 1, 0), 0);
}

static void stop_on_input(void *ctx, int fd, uint32_t events)
{
	evloop_stop(((struct score *)ctx)->loop);
}

static void a_timer_that_arms_itself_at_once_lets_others_have_their_turn(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	struct evloop_source *in;
	struct score s = {0};
	int p[2];

	assert_int_equal(evloop_create(&l), 0);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	s.loop = l;
	s.fd = p[1];
	assert_int_equal(evloop_add_fd(l, p[0], EPOLLIN, stop_on_input, &s, &in), 0);
	assert_int_equal(evloop_add_timer(l, again, &s, &s.a), 0);
	assert_int_equal(evloop_arm_timer(s.a, 1, 0), 0);
	assert_int_equal(evloop_run(l), 0);
	assert_true(s.len >= 1);
	close(p[0]);
	close(p[1]);
}

/* As a doorbell: it is never read, and rings again while it is served. */
static void ring_again(void *ctx, int fd, uint32_t events)
{
	struct watch *w = ctx;

	if (++w->calls < w->stop_at) {
		assert_int_equal(eventfd_write(fd, 1), 0);
	}
}

static void an_edge_is_told_once_and_none_is_lost(void **state)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = NULL;
	_cleanup_close_ int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	struct watch w = {.stop_at = 5}, end = {.stop_at = 1};

	assert_int_equal(evloop_create(&l), 0);
	end.loop = l;
	assert_int_equal(evloop_add_fd(l, fd, EPOLLIN | EPOLLET, ring_again, &w, &w.source), 0);
	assert_int_equal(evloop_add_timer(l, count_timer, &end, &end.source), 0);
	assert_int_equal(evloop_arm_timer(end.source,
					  clock_now_ns(&clock_monotonic) + 50 * NS_PER_MSEC, 0),
			 0);
	assert_int_equal(evloop_run(l), 0);
	assert_int_equal(w.calls, 5);
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
		cmocka_unit_test(timers_expire_in_the_order_of_their_times),
		cmocka_unit_test(a_timer_that_another_disarms_or_removes_does_not_expire),
		cmocka_unit_test(a_timer_that_arms_itself_at_once_lets_others_have_their_turn),
		cmocka_unit_test(an_edge_is_told_once_and_none_is_lost),
		cmocka_unit_test(a_closed_descriptor_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
