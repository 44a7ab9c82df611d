/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest says, and what comes of it: its streams go to their places and are held up while
 * those are full, its console and marks are facts for the outcome. All on the event loop's thread.
 */
#include "engine/session_priv.h"

#include <stdio.h>
#include <string.h>

#include "abi/marks.h"
#include "base/clock.h"
#include "base/log.h"

/* A panic is over when the console was silent for so long; it is to be told within 100 ms. */
#define PANIC_QUIET_NS (40 * NS_PER_MSEC)
#define PANIC_MAX_NS   (3 * NS_PER_SEC)
/* After "System halted", for the machine to say so itself. */
#define HALTED_NS (300 * NS_PER_MSEC)
/* After the command's status, for the guest to go down. */
#define GOING_DOWN_NS (5 * NS_PER_SEC)

/* Output. */

static void output_failed(struct session *s, const struct sink *sink, int error)
{
	if (!s->facts.output_error[0]) {
		snprintf(s->facts.output_error, sizeof(s->facts.output_error),
			 "%s cannot be written: %s", sink->name, strerror(-error));
	}
	session_end(s);
}

static void set_paused(struct session *s, enum backend_stream stream, bool on)
{
	if (s->paused[stream] != on && !s->ending) {
		s->paused[stream] = on;
		s->alive_ns = session_now_ns(); /* it is heard again from now on */
		s->backend->ops->pause(s->backend, stream, on);
	}
}

static void set_pauses(struct session *s)
{
	static const enum backend_stream own[] = {BACKEND_STDOUT, BACKEND_STDERR, BACKEND_CONSOLE};

	for (size_t i = 0; i < SINK_COUNT; i++) {
		if (sink_is_full(&s->sinks[i])) {
			set_paused(s, own[i], true);
		} else if (sink_may_go_on(&s->sinks[i])) {
			set_paused(s, own[i], false);
		}
	}
	/* Frames wait for the slower of the two. */
	set_paused(s, BACKEND_CHANNEL, s->paused[BACKEND_STDOUT] || s->paused[BACKEND_STDERR]);
}

/**
 * session_on_sink_changed() - an output has room again, is empty, or failed
 * @ctx: the session
 * @sink: which
 *
 * Context: the event loop's thread.
 */
void session_on_sink_changed(void *ctx, struct sink *sink)
{
	struct session *s = ctx;

	if (sink->error) {
		output_failed(s, sink, sink->error);
	} else if (s->ending) {
		session_stop_when_flushed(s);
	} else {
		set_pauses(s);
	}
}

static void output(struct session *s, struct sink *sink, const void *data, size_t len)
{
	int r = sink_write(sink, data, len);

	if (r < 0) {
		output_failed(s, sink, r);
	}
	set_pauses(s);
}

/* What the guest says. */

static void user_space_is_up(struct session *s, uint64_t host_ns)
{
	if (s->facts.user_seen) {
		return;
	}
	s->facts.user_seen = true;
	s->record->phase_ns[RECORD_USER_MARK] = host_ns - s->cfg->exec_ns;
	/* Disarming cannot fail where arming worked. */
	(void)!evloop_arm_timer(s->boot_timeout, 0, 0);
	s->boot_timeout_at_ns = 0;
	if (s->cfg->hang_ns) {
		s->alive_ns = host_ns;
		session_arm(s, s->silence, s->cfg->hang_ns);
	}
}

/* Something came from the agent; with --hang-timeout it says a word now and then of itself. */
static void note_life(struct session *s)
{
	if (s->cfg->hang_ns) {
		s->alive_ns = session_now_ns();
		s->alive_exits = session_exits(s);
	}
}

/**
 * session_on_silence() - the time is over in which the agent was to say something
 * @ctx: the session
 *
 * An agent that cannot get through to us, or stands still with its guest, is not silent.
 *
 * Context: the event loop's thread.
 */
void session_on_silence(void *ctx)
{
	struct session *s = ctx;
	uint64_t now = session_now_ns(), exits = session_exits(s);

	if (s->ending || s->asked || s->facts.exit_seen) {
		return;
	}
	if (s->standing_since_ns || s->paused[BACKEND_CHANNEL]) {
		s->alive_ns = now;
	}
	if (now - s->alive_ns < s->cfg->hang_ns) {
		session_arm(s, s->silence, s->cfg->hang_ns - (now - s->alive_ns));
		return;
	}
	s->facts.silent = true;
	s->facts.timeout_ns = s->cfg->hang_ns;
	s->facts.has_exits = exits != RECORD_NEVER && s->alive_exits != RECORD_NEVER;
	s->facts.exits = exits - s->alive_exits;
	session_end_asking(s);
}

/**
 * session_on_frame() - a piece of one of the agent's streams
 * @ctx: the session
 * @stream: CHANNEL_STREAM_*
 * @payload: @len bytes
 * @len: how many
 *
 * Context: the event loop's thread.
 */
void session_on_frame(void *ctx, uint8_t stream, const uint8_t *payload, size_t len)
{
	struct session *s = ctx;

	note_life(s);
	switch (stream) {
	case CHANNEL_STREAM_STDOUT:
		output(s, &s->sinks[SINK_STDOUT], payload, len);
		break;
	case CHANNEL_STREAM_STDERR:
		output(s, &s->sinks[SINK_STDERR], payload, len);
		break;
	case CHANNEL_STREAM_LOG:
		log_debug("agent", "%.*s", (int)len, (const char *)payload);
		break;
	default:
		if (s->asked) {
			return; /* too late */
		}
		results_feed(&s->results, payload, len);
		break;
	}
	if (s->results.agent_seen && !s->facts.cpus_seen) {
		user_space_is_up(s, session_now_ns());
		s->facts.cpus_seen = s->results.cpus;
		if (s->facts.cpus_seen && s->facts.cpus_asked &&
		    s->facts.cpus_seen != s->facts.cpus_asked) {
			session_end(s);
		}
	}
	if (s->results.kernel && !s->kernel) {
		s->kernel = s->results.kernel;
		session_on_kernel_log(s, s->kernel);
	}
	if (s->results.agent_error && !s->facts.agent_error[0]) {
		snprintf(s->facts.agent_error, sizeof(s->facts.agent_error), "%s",
			 s->results.agent_error);
	}
	if (s->results.exit_seen && !s->facts.exit_seen) {
		s->facts.exit_seen = true;
		s->facts.exit_status = s->results.exit_status;
		s->facts.exit_signal = s->results.exit_signal;
		session_arm(s, s->linger, GOING_DOWN_NS);
	}
}

/**
 * session_on_console_event() - the console said something that decides
 * @ctx: the session
 * @event: what
 * @text: the line
 *
 * Context: the event loop's thread.
 */
void session_on_console_event(void *ctx, enum console_event event, const char *text)
{
	struct session *s = ctx;

	if (s->asked) {
		/* Its panic is our doing. */
		s->answered |= event == CONSOLE_PANIC || event == CONSOLE_BOOT_PANIC;
		return;
	}
	switch (event) {
	case CONSOLE_BOOT_PANIC:
	case CONSOLE_PANIC:
		s->facts.boot_panic = event == CONSOLE_BOOT_PANIC && !s->facts.user_seen;
		s->facts.panic_seen = true;
		snprintf(s->facts.console_text, sizeof(s->facts.console_text), "%s", text);
		s->panic_ns = session_now_ns();
		break;
	case CONSOLE_PANIC_END:
		if (s->facts.panic_seen) {
			session_end(s);
		}
		break;
	case CONSOLE_HALTED:
	case CONSOLE_POWER_DOWN:
		s->facts.halted_seen = true;
		session_arm(s, s->linger, HALTED_NS);
		break;
	default:
		s->seen |= session_fail_on_bit(event);
		if ((s->cfg->fail_on & session_fail_on_bit(event)) && !s->facts.oops_seen &&
		    !console_allow_match(s->cfg->allow, text, NULL)) {
			s->facts.oops_seen = true;
			snprintf(s->facts.console_text, sizeof(s->facts.console_text), "%s", text);
			s->panic_ns = session_now_ns();
		}
		break;
	}
}

static void write_console(void *ctx, const void *data, size_t len)
{
	struct session *s = ctx;

	output(s, &s->sinks[SINK_CONSOLE], data, len);
}

static void take_console(struct session *s, const void *data, size_t len)
{
	if (s->cfg->console_stamps) {
		stamps_feed(&s->stamps, session_now_ns() - s->cfg->exec_ns, data, len,
			    write_console, s);
	} else {
		write_console(s, data, len);
	}
	control_output(s->control, data, len);
	console_watch_feed(&s->console, data, len);
	session_on_answer(s);
	/* The lines of a panic or an oops come one by one: wait for silence, but not for ever. */
	if (s->panic_ns && !s->ending && !s->asked) {
		if (session_now_ns() - s->panic_ns > PANIC_MAX_NS) {
			session_end(s);
		} else {
			session_arm(s, s->linger, PANIC_QUIET_NS);
		}
	}
}

/**
 * session_on_output() - bytes of one of the machine's outputs
 * @ctx: the session
 * @stream: which
 * @data: @len bytes
 * @len: how many
 *
 * Context: the event loop's thread.
 */
void session_on_output(void *ctx, enum backend_stream stream, const void *data, size_t len)
{
	struct session *s = ctx;

	if (s->deaf) {
		return;
	}
	if (stream == BACKEND_CONSOLE) {
		take_console(s, data, len);
	} else if (stream == BACKEND_CHANNEL) {
		channel_parser_feed(&s->channel, data, len);
	} else {
		session_on_frame(s, (uint8_t)(stream - BACKEND_CHANNEL), data, len);
	}
}

/**
 * session_on_mark() - the guest wrote the mark port
 * @ctx: the session
 * @m: the code, and when that was
 *
 * Context: the event loop's thread.
 */
void session_on_mark(void *ctx, const struct backend_mark *m)
{
	struct session *s = ctx;
	uint64_t *kernel_ns = &s->record->phase_ns[RECORD_KERNEL_MARK];

	log_debug("run", "mark 0x%x after %llu exits", m->code, (unsigned long long)m->exits);
	if (m->code == MARK_USER_START && s->record->user_mark_ticks == RECORD_NEVER) {
		s->record->user_mark_ticks = m->guest_ticks;
		s->record->user_mark_exits = m->exits;
		user_space_is_up(s, m->host_ns);
	} else if (m->code == MARK_KERNEL_START && *kernel_ns == RECORD_NEVER) {
		*kernel_ns = m->host_ns - s->cfg->exec_ns;
	}
}
