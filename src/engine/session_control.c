/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session as "ringside ctl" sees it, and a guest that stands still: its clocks (--timeout,
 * --boot-timeout) stand too. All on the event loop's thread.
 */
#include "engine/session_priv.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static const char *state_of(const struct session *s)
{
	if (s->ending) {
		return "ending";
	}
	if (s->standing_since_ns) {
		return s->freeze_asked ? "paused" : "halted by the debugger";
	}
	return s->freeze_asked ? "pausing" : "running";
}

static const char *phase_of(const struct session *s)
{
	if (s->facts.panic_seen) {
		return "panic";
	}
	if (s->facts.exit_seen || s->facts.halted_seen) {
		return "down";
	}
	if (s->facts.user_seen) {
		return "user";
	}
	return s->record->phase_ns[RECORD_KERNEL_MARK] != RECORD_NEVER ? "kernel" : "start";
}

/**
 * session_stood_ns() - how long the guest stood still so far
 * @s: the session
 *
 * Return: ns. Context: the event loop's thread.
 */
uint64_t session_stood_ns(const struct session *s)
{
	return s->stood_ns + (s->standing_since_ns ? session_now_ns() - s->standing_since_ns : 0);
}

static json_t *status(void *ctx)
{
	struct session *s = ctx;
	const struct session_config *cfg = s->cfg;
	uint64_t exits = s->backend->ops->exits ? s->backend->ops->exits(s->backend) : RECORD_NEVER;
	json_t *o = json_pack("{s:s, s:i, s:s, s:s, s:f, s:f, s:I, s:I, s:s, s:o, s:s*}", "name",
			      cfg->name, "pid", (int)getpid(), "state", state_of(s), "phase",
			      phase_of(s), "uptime_s",
			      (double)(session_now_ns() - cfg->exec_ns) / (double)NS_PER_SEC,
			      "paused_s", (double)session_stood_ns(s) / (double)NS_PER_SEC, "vcpus",
			      (json_int_t)cfg->vcpus, "memory_bytes", (json_int_t)cfg->memory_bytes,
			      "backend", cfg->backend_name, "kernel",
			      record_text_to_json(cfg->kernel_path), "console",
			      cfg->console_fd >= 0 ? cfg->console_name : NULL);

	if (o && exits != RECORD_NEVER) {
		json_object_set_new(o, "exits", json_integer((json_int_t)exits));
	}
	return o;
}

static int freeze(void *ctx, bool on, struct err *e)
{
	struct session *s = ctx;
	int r;

	if (s->ending) {
		return err_set(e, -ESHUTDOWN, "the run is ending");
	}
	r = s->backend->ops->freeze ? s->backend->ops->freeze(s->backend, on) : -ENOTSUP;
	if (r < 0) {
		return err_errno(e, r, "the guest cannot be %s", on ? "paused" : "resumed");
	}
	s->freeze_asked = on;
	return 0;
}

static bool stands(void *ctx)
{
	const struct session *s = ctx;

	return s->standing_since_ns != 0;
}

static void stop(void *ctx)
{
	struct session *s = ctx;

	if (!s->ending) {
		session_end_by(s, SIGTERM);
	}
}

static size_t type(void *ctx, const void *data, size_t len)
{
	struct session *s = ctx;

	return s->ending ? len : s->backend->ops->write_console(s->backend, data, len);
}

static bool may_type(void *ctx)
{
	const struct session *s = ctx;

	return s->cfg->input_fd < 0 || s->input.ended;
}

static const struct control_ops ops = {
	.status = status,
	.freeze = freeze,
	.stands = stands,
	.stop = stop,
	.type = type,
	.may_type = may_type,
};

/**
 * session_control_start() - let "ringside ctl" in, when the run has a name
 * @s: a session with its loop
 * @e: set on failure
 *
 * Return: 0 or a negative errno.
 * Context: the event loop's thread.
 */
int session_control_start(struct session *s, struct err *e)
{
	int r;

	if (!s->cfg->name) {
		return 0;
	}
	r = control_create(s->loop, s->cfg->control->fd, &ops, s, &s->control);
	return r < 0 ? err_errno(e, r, "the socket of --name %s", s->cfg->name) : 0;
}

static void shift(struct evloop_source *timer, uint64_t *at_ns, uint64_t by_ns)
{
	if (*at_ns) {
		*at_ns += by_ns;
		/* Arming cannot fail where it worked before. */
		(void)!evloop_arm_timer(timer, *at_ns, 0);
	}
}

/**
 * session_on_standing() - the guest came to stand still, or goes on
 * @ctx: the session
 * @on: it stands
 *
 * Context: the event loop's thread.
 */
void session_on_standing(void *ctx, bool on)
{
	struct session *s = ctx;
	uint64_t now = session_now_ns(), stood;

	if (on == (s->standing_since_ns != 0)) {
		return;
	}
	if (on) {
		s->standing_since_ns = now;
		(void)!evloop_arm_timer(s->timeout, 0, 0);
		(void)!evloop_arm_timer(s->boot_timeout, 0, 0);
	} else {
		stood = now - s->standing_since_ns;
		s->stood_ns += stood;
		s->alive_ns = now;
		s->standing_since_ns = 0;
		shift(s->timeout, &s->timeout_at_ns, stood);
		shift(s->boot_timeout, &s->boot_timeout_at_ns, stood);
	}
	control_standing(s->control, on);
}
