/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/input.h"

#define SENT 5000

/* A guest that takes @step bytes at a time, when the timer lets it. */
struct guest {
	struct input input;
	struct evloop *loop;
	struct evloop_source *timer;
	size_t step, credit;
	unsigned int ticks, ticks_max;
	unsigned char got[2 * SENT];
	size_t got_len;
	bool quit;
};

static size_t take_some(void *ctx, const void *data, size_t len)
{
	struct guest *g = ctx;
	size_t n = len < g->credit ? len : g->credit;

	memcpy(g->got + g->got_len, data, n);
	g->got_len += n;
	g->credit -= n;
	return n;
}

static void on_quit(void *ctx)
{
	((struct guest *)ctx)->quit = true;
}

static void on_tick(void *ctx)
{
	struct guest *g = ctx;

	g->credit = g->step;
	input_room(&g->input);
	if (++g->ticks == g->ticks_max) {
		evloop_stop(g->loop);
	}
}

static void guest_run(struct guest *g, int fd, size_t step, unsigned int ticks)
{
	memset(g, 0, sizeof(*g));
	g->step = step;
	g->ticks_max = ticks;
	assert_int_equal(evloop_create(&g->loop), 0);
	assert_int_equal(evloop_add_timer(g->loop, on_tick, g, &g->timer), 0);
	assert_int_equal(evloop_arm_timer(g->timer, clock_now_ns(&clock_monotonic) + NS_PER_MSEC,
					  NS_PER_MSEC),
			 0);
	assert_int_equal(input_init(&g->input, g->loop, fd, take_some, on_quit, g), 0);
	assert_int_equal(evloop_run(g->loop), 0);
	input_fini(&g->input);
	evloop_remove(g->timer);
	evloop_destroy(g->loop);
}

static int closed_pipe_with(const unsigned char *data, size_t len)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], data, len), len);
	close(fds[1]);
	return fds[0];
}

static void fill(unsigned char *data)
{
	for (size_t i = 0; i < SENT; i++) {
		data[i] = (unsigned char)(i * 7 + i / 256);
	}
}

static void a_slow_guest_gets_all_of_a_pipe_that_was_closed_long_ago(void **state)
{
	unsigned char data[SENT];
	struct guest g;
	int fd;

	fill(data);
	fd = closed_pipe_with(data, SENT);
	guest_run(&g, fd, 100, SENT / 100 + 10);
	assert_int_equal(g.got_len, SENT);
	assert_memory_equal(g.got, data, SENT);
	assert_false(g.quit);
	close(fd);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static void waiting_for_a_guest_that_takes_nothing_does_not_spin(void **state)
{
	unsigned char data[SENT];
	struct guest g;
	uint64_t before;
	int fd;

	fill(data);
	fd = closed_pipe_with(data, SENT);
	before = cpu_ns();
	guest_run(&g, fd, 0, 300);
	assert_int_equal(g.got_len, 0);
	/* 300 timers in 300 ms; a loop that spins uses all of them. */
	assert_true(cpu_ns() - before < 150 * NS_PER_MSEC);
	close(fd);
}

static void a_pipes_ctrl_a_is_a_byte_like_any_other(void **state)
{
	static const unsigned char data[] = {'a', INPUT_ESCAPE, 'x', 0, 0xff};
	struct guest g;
	int fd = closed_pipe_with(data, sizeof(data));

	guest_run(&g, fd, 100, 5);
	assert_int_equal(g.got_len, sizeof(data));
	assert_memory_equal(g.got, data, sizeof(data));
	assert_false(g.quit);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_guest_gets_all_of_a_pipe_that_was_closed_long_ago),
		cmocka_unit_test(waiting_for_a_guest_that_takes_nothing_does_not_spin),
		cmocka_unit_test(a_pipes_ctrl_a_is_a_byte_like_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
