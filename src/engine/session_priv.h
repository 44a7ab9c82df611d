/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One session's state, and what session.c (its course) and session_guest.c (what the guest says)
 * share. */
#ifndef ENGINE_SESSION_PRIV_H
#define ENGINE_SESSION_PRIV_H

#include "base/evloop.h"
#include "engine/console_watch.h"
#include "engine/control.h"
#include "engine/failure.h"
#include "engine/input.h"
#include "engine/results.h"
#include "engine/session.h"
#include "engine/signals.h"
#include "engine/sink.h"
#include "engine/stamps.h"
#include "guest/channel.h"

enum { SINK_STDOUT, SINK_STDERR, SINK_CONSOLE, SINK_COUNT };

struct session {
	const struct session_config *cfg;
	struct backend *backend;
	struct record_boot *record;
	struct evloop *loop;
	struct signals signals;
	struct input input;
	struct sink sinks[SINK_COUNT];
	bool paused[BACKEND_STREAM_COUNT];
	struct console_watch console;
	struct stamps stamps;
	struct channel_parser channel;
	struct results results;
	struct evloop_source *timeout, *boot_timeout, *linger, *flush, *end, *silence;
	uint64_t panic_ns;
	uint64_t alive_ns, alive_exits; /* when the agent last said something */
	struct outcome_facts facts;
	bool ending, deaf;

	/* Kinds of --fail-on: on the console or in the log, and in the log without being allowed.
	 */
	unsigned int seen, logged;
	const json_t *kernel; /* the agent's last look at it, once taken */

	/* session_ask.c */
	struct backend_cpu_state cpus[FAILURE_CPUS_MAX];
	size_t cpu_count;
	bool registers_taken, asked, answered;
	uint64_t asked_ns, answer_ns; /* when, and for how long an answer is waited for */

	struct control *control;                    /* NULL: the run has no name */
	uint64_t timeout_at_ns, boot_timeout_at_ns; /* 0: not armed */
	uint64_t standing_since_ns, stood_ns; /* since when, 0: it runs; and how long before */
	bool freeze_asked;
};

uint64_t session_now_ns(void);
uint64_t session_exits(const struct session *s);
void session_on_silence(void *ctx);
void session_arm(struct session *s, struct evloop_source *timer, uint64_t in_ns);
void session_end(struct session *s);
void session_stop_when_flushed(struct session *s);

/* Events of the session's parts and of its backend; @ctx is the session. */
void session_on_sink_changed(void *ctx, struct sink *sink);
void session_on_frame(void *ctx, uint8_t stream, const uint8_t *payload, size_t len);
void session_on_console_event(void *ctx, enum console_event event, const char *text);
void session_on_output(void *ctx, enum backend_stream stream, const void *data, size_t len);
void session_on_mark(void *ctx, const struct backend_mark *m);

/* session_ask.c */
void session_take_registers(struct session *s);
void session_end_asking(struct session *s);
void session_on_answer(struct session *s);

/* session_kernel.c */
void session_on_kernel_log(struct session *s, const json_t *report);

/* session_control.c */
int session_control_start(struct session *s, struct err *e) __must_check;
uint64_t session_stood_ns(const struct session *s);
void session_on_standing(void *ctx, bool on);
void session_end_by(struct session *s, int sig);

#endif
