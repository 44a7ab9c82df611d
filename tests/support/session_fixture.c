/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "abi/channel.h"
#include "guest/channel.h"

struct fake_machine fake;
struct record_boot record;
struct outcome outcome;
struct err e;
int out_pipe[2];
static int null_fd, saved_out, saved_err;

static void arm_next(void)
{
	if (fake.next < fake.count) {
		assert_int_equal(evloop_arm_timer(fake.timer,
						  clock_now_ns(&clock_monotonic) +
							  fake.steps[fake.next].after_ns + 1,
						  0),
				 0);
	}
}

static void frame(int stream, const void *data, size_t len)
{
	uint8_t buf[CHANNEL_FRAME_MAX];
	size_t n = channel_encode(buf, (uint8_t)stream, data, len);

	fake.events->output(fake.ctx, BACKEND_CHANNEL, buf, n);
}

static void flood(void)
{
	static const char data[4096];

	while (!fake.paused && !fake.halted && fake.flooded < (64U << 20)) {
		frame(CHANNEL_STREAM_STDOUT, data, sizeof(data));
		fake.flooded += sizeof(data);
	}
}

static void on_step(void *ctx)
{
	const struct step *s = &fake.steps[fake.next++];
	const struct backend_mark mark = {.code = (uint8_t)s->stream,
					  .guest_ticks = 77,
					  .host_ns = clock_now_ns(&clock_monotonic),
					  .exits = 5};

	arm_next();
	switch (s->action) {
	case SAY:
		fake.last_line_ns = clock_now_ns(&clock_monotonic);
		fake.events->output(fake.ctx, (enum backend_stream)s->stream, s->text,
				    strlen(s->text));
		break;
	case FRAME:
		frame(s->stream, s->text, strlen(s->text));
		break;
	case MARK:
		fake.events->mark(fake.ctx, &mark);
		break;
	case STOP:
		fake.events->stopped(fake.ctx, s->reason, s->value, s->text ? s->text : "");
		break;
	case SIGNAL:
		raise(s->stream);
		break;
	case STAND:
		fake.events->standing(fake.ctx, s->stream);
		break;
	case FLOOD:
		flood();
		break;
	}
}

static int fake_start(struct backend *b, struct evloop *loop, const struct backend_events *events,
		      void *ctx, struct err *err)
{
	fake.loop = loop;
	fake.events = events;
	fake.ctx = ctx;
	assert_int_equal(evloop_add_timer(loop, on_step, NULL, &fake.timer), 0);
	arm_next();
	return 0;
}

static size_t fake_write_console(struct backend *b, const void *data, size_t len)
{
	size_t n = len < fake.room ? len : fake.room;

	assert_true(fake.typed_len + n <= sizeof(fake.typed));
	memcpy(fake.typed + fake.typed_len, data, n);
	fake.typed_len += n;
	return n;
}

static void fake_pause(struct backend *b, enum backend_stream stream, bool on)
{
	fake.paused = on;
	fake.was_paused |= on;
}

static void fake_halt(struct backend *b)
{
	fake.halted = true;
	fake.halt_ns = clock_now_ns(&clock_monotonic);
	evloop_remove(fake.timer);
	fake.timer = NULL;
}

static size_t fake_registers(struct backend *b, struct backend_cpu_state *cpus, size_t max)
{
	fake.registers++;
	cpus[0] = (struct backend_cpu_state){.rip = 0x1234, .text = strdup("RAX=1\n")};
	return 1;
}

static int fake_nmi(struct backend *b)
{
	fake.nmis++;
	fake.registers_at_nmi = fake.registers;
	if (fake.answer) {
		fake.events->output(fake.ctx, BACKEND_CONSOLE, fake.answer, strlen(fake.answer));
	}
	return 0;
}

static int fake_read_gpa(struct backend *b, uint64_t gpa, void *buf, size_t len)
{
	return -EFAULT;
}

static int fake_collect(struct backend *b, struct record_boot *r, uint64_t exec_ns, struct err *err)
{
	r->backend = "fake";
	return 0;
}

static void fake_suspend(struct backend *b, bool on)
{
}

static void fake_destroy(struct backend *b)
{
	fake.destroyed = true;
}

static const struct backend_ops fake_ops = {
	.start = fake_start,
	.write_console = fake_write_console,
	.pause = fake_pause,
	.halt = fake_halt,
	.registers = fake_registers,
	.nmi = fake_nmi,
	.read_gpa = fake_read_gpa,
	.collect = fake_collect,
	.suspend = fake_suspend,
	.destroy = fake_destroy,
};

struct session_config cfg;

int session_setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.base.ops = &fake_ops;
	fake.room = sizeof(fake.typed);
	memset(&e, 0, sizeof(e));
	memset(&outcome, 0, sizeof(outcome));
	record_boot_init(&record);
	cfg = (struct session_config){.backend = &fake.base,
				      .symbols_fd = -1,
				      .job = true,
				      .console_fd = -1,
				      .console_name = "console",
				      .input_fd = -1,
				      .timeout_ns = 10 * NS_PER_SEC};
	/* The session writes to our own stdout and stderr. */
	assert_int_equal(pipe2(out_pipe, O_CLOEXEC), 0);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	saved_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	saved_err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	return 0;
}

int session_teardown(void **state)
{
	record_boot_fini(&record);
	close(out_pipe[0]);
	close(out_pipe[1]);
	close(null_fd);
	close(saved_out);
	close(saved_err);
	return 0;
}

/* cmocka's own messages must not go where the session's do: nothing is asserted in between. */
int run_to(int fd, const struct step *steps, size_t count)
{
	int r;

	fake.steps = steps;
	fake.count = count;
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	r = session_run(&cfg, &record, &outcome, &e);
	fflush(stdout);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	return r;
}
