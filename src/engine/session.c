/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See session.h. All of it runs on the event loop's thread. The session ends in one of three ways:
 * the machine stopped by itself, something was seen or ran out and it is halted, or a signal came.
 * Each way goes through session_end(), which happens once.
 */
#include "engine/session_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/backtrace.h"
#include "engine/core.h"
#include "engine/failure.h"
#include "engine/term.h"
#include "samples/calltime.h"

/* After a signal or --timeout, for a slow reader of our output. */
#define FLUSH_NS NS_PER_SEC

/* To find lines of the source. "ringside test" lets a run outlive its timeout by half a second. */
#define DECODE_NS        NS_PER_SEC
#define DECODE_LATEST_NS (450 * NS_PER_MSEC)

/**
 * session_now_ns() - the time that all of a session goes by
 *
 * Return: monotonic ns. Context: any thread.
 */
uint64_t session_now_ns(void)
{
	return clock_now_ns(&clock_monotonic);
}

/**
 * session_exits() - how often the machine came out of the guest so far
 * @s: the session
 *
 * Return: exits to user space; RECORD_NEVER where the backend does not know.
 * Context: the event loop's thread.
 */
uint64_t session_exits(const struct session *s)
{
	return s->backend->ops->exits ? s->backend->ops->exits(s->backend) : RECORD_NEVER;
}

/**
 * session_stop_when_flushed() - leave the loop once the session has ended and all output is written
 * @s: the session
 *
 * Context: the event loop's thread.
 */
void session_stop_when_flushed(struct session *s)
{
	if (!s->deaf) {
		return;
	}
	for (size_t i = 0; i < SINK_COUNT; i++) {
		if (!sink_is_idle(&s->sinks[i])) {
			return;
		}
	}
	evloop_stop(s->loop);
}

/**
 * session_end() - the session has what it was for, or cannot go on
 * @s: the session; once it is ending, this does nothing
 *
 * May be called from any event, also in the middle of the machine's output. So halting, which may
 * bring more output, waits for the loop: on_ending() does it.
 *
 * Context: the event loop's thread.
 */
void session_end(struct session *s)
{
	if (!s->ending) {
		s->ending = true;
		if (s->record->phase_ns[RECORD_EXIT] == RECORD_NEVER) {
			s->record->phase_ns[RECORD_EXIT] = session_now_ns() - s->cfg->exec_ns;
		}
		if (evloop_arm_timer(s->end, session_now_ns(), 0) < 0) {
			evloop_stop(s->loop);
		}
	}
	session_stop_when_flushed(s);
}

static void on_ending(void *ctx)
{
	struct session *s = ctx;

	/* What was on its way is still taken. */
	s->backend->ops->halt(s->backend);
	s->deaf = true;
	session_stop_when_flushed(s);
}

/**
 * session_arm() - let a timer go off
 * @s: the session, which ends when that is impossible
 * @timer: one of its
 * @in_ns: from now
 *
 * Context: the event loop's thread.
 */
void session_arm(struct session *s, struct evloop_source *timer, uint64_t in_ns)
{
	if (evloop_arm_timer(timer, session_now_ns() + in_ns, 0) < 0 &&
	    !s->facts.internal_error[0]) {
		snprintf(s->facts.internal_error, sizeof(s->facts.internal_error),
			 "a timer cannot be set");
		session_end(s);
	}
}

static void on_stopped(void *ctx, enum stop_reason reason, uint32_t value, const char *text)
{
	struct session *s = ctx;

	log_debug("run", "the machine stopped: reason %d, value %u %s", (int)reason, value, text);
	if (s->asked) {
		/* A guest that answered resets; one that still spins is told of again. */
		if (reason != STOP_SPIN && reason != STOP_HALTED) {
			session_end(s);
		}
		return;
	}
	s->facts.stop = reason;
	s->facts.stop_value = value;
	snprintf(s->facts.stop_text, sizeof(s->facts.stop_text), "%s", text);
	if (reason == STOP_SPIN || reason == STOP_HALTED) {
		session_end_asking(s);
	} else {
		session_end(s);
	}
}

/* Clocks, signals and keys. */

static void on_timeout(void *ctx)
{
	struct session *s = ctx;

	if (s->asked && !s->ending) {
		return; /* another clock ran out before */
	}
	if (s->ending) {
		evloop_stop(s->loop); /* the reader of our output is too slow */
		return;
	}
	s->facts.timed_out = true;
	if (s->cfg->hang_ns && s->alive_ns) {
		s->facts.alive = true;
		s->facts.silent_ns = session_now_ns() - s->alive_ns;
	}
	s->facts.timeout_ns = s->cfg->timeout_ns;
	session_arm(s, s->flush, FLUSH_NS);
	session_end_asking(s);
}

static void on_boot_timeout(void *ctx)
{
	struct session *s = ctx;

	if (!s->ending && !s->asked) {
		s->facts.boot_timed_out = true;
		s->facts.timeout_ns = s->cfg->boot_timeout_ns;
		session_end_asking(s);
	}
}

static void on_linger(void *ctx)
{
	struct session *s = ctx;

	if (s->facts.halted_seen && !s->ending && !s->asked) {
		s->facts.stop = STOP_HALTED;
	}
	session_end(s);
}

static void on_flush(void *ctx)
{
	struct session *s = ctx;

	evloop_stop(s->loop);
}

static void stop_for_job_control(struct session *s)
{
	term_restore();
	s->backend->ops->suspend(s->backend, true);
	raise(SIGSTOP);
	s->backend->ops->suspend(s->backend, false);
}

static void on_signal(void *ctx, int sig)
{
	struct session *s = ctx;

	if (sig == SIGTSTP) {
		stop_for_job_control(s);
	} else if (sig == SIGCONT) {
		if (s->cfg->input_fd >= 0) {
			input_continued(&s->input);
		}
	} else if (s->facts.signal) {
		evloop_stop(s->loop); /* the second one does not wait for anything */
	} else {
		session_end_by(s, sig);
	}
}

/**
 * session_end_by() - end the run as a signal to us does
 * @s: the session
 * @sig: the signal that the outcome names
 *
 * Context: the event loop's thread.
 */
void session_end_by(struct session *s, int sig)
{
	s->facts.signal = sig;
	session_arm(s, s->flush, FLUSH_NS);
	session_end(s);
}

static void on_killed(void *ctx)
{
	session_end_by(ctx, SIGTERM);
}

static size_t on_input(void *ctx, const void *data, size_t len)
{
	struct session *s = ctx;

	return s->ending ? len : s->backend->ops->write_console(s->backend, data, len);
}

static void on_quit(void *ctx)
{
	struct session *s = ctx;

	s->facts.signal = SIGINT;
	session_end(s);
}

static void on_console_room(void *ctx)
{
	struct session *s = ctx;

	if (s->cfg->input_fd >= 0) {
		input_room(&s->input);
	}
	control_room(s->control);
}

static const struct backend_events backend_events = {
	.output = session_on_output,
	.console_room = on_console_room,
	.mark = session_on_mark,
	.stopped = on_stopped,
	.standing = session_on_standing,
	.killed = on_killed,
};

/* Setting up and coming to an end. */

static int add_timers(struct session *s)
{
	const struct session_config *cfg = s->cfg;
	int r = evloop_add_timer(s->loop, on_timeout, s, &s->timeout);

	if (r == 0) {
		r = evloop_add_timer(s->loop, on_boot_timeout, s, &s->boot_timeout);
	}
	if (r == 0) {
		r = evloop_add_timer(s->loop, on_linger, s, &s->linger);
	}
	if (r == 0) {
		r = evloop_add_timer(s->loop, on_flush, s, &s->flush);
	}
	if (r == 0) {
		r = evloop_add_timer(s->loop, on_ending, s, &s->end);
	}
	if (r == 0) {
		r = evloop_add_timer(s->loop, session_on_silence, s, &s->silence);
	}
	if (r == 0 && cfg->timeout_ns) {
		s->timeout_at_ns = session_now_ns() + cfg->timeout_ns;
		r = evloop_arm_timer(s->timeout, s->timeout_at_ns, 0);
	}
	if (r == 0 && cfg->boot_timeout_ns) {
		s->boot_timeout_at_ns = session_now_ns() + cfg->boot_timeout_ns;
		r = evloop_arm_timer(s->boot_timeout, s->boot_timeout_at_ns, 0);
	}
	return r;
}

static int read_guest(void *ctx, uint64_t gpa, void *buf, size_t len)
{
	struct backend *b = ctx;

	return b->ops->read_gpa(b, gpa, buf, len);
}

static void read_calltime(struct session *s)
{
	_cleanup_(calltime_destroy_p) struct calltime *c = NULL;
	struct err e = ERR_INIT;
	int r;

	if (!s->results.calltime_bytes) {
		return;
	}
	r = calltime_load(read_guest, s->backend, s->results.calltime_gpa,
			  s->results.calltime_bytes, &c, &e);
	if (r == 0) {
		r = calltime_to_json(c, &s->record->calltime);
	}
	if (r < 0) {
		log_warn("the guest's call timers cannot be read: %s",
			 e.code ? e.text : strerror(-r));
	}
}

static void keep_console_tail(struct session *s)
{
	size_t n = console_watch_line_count(&s->console);

	s->record->console_tail = json_array();
	for (size_t i = 0; i < n; i++) {
		const char *line = console_watch_line(&s->console, i);

		json_array_append_new(s->record->console_tail, record_text_to_json(line));
	}
}

/* Without it the run is what it is, so that a disk which is full costs no more than the core. */
static void keep_core(struct session *s)
{
	struct err e = ERR_INIT;
	uint64_t start_ns = session_now_ns();
	int r = core_write(s->cfg->core->fd, s->backend, s->cpus, s->cpu_count, s->cfg->kernel_path,
			   &e);

	if (r == 0) {
		r = draft_publish(s->cfg->core);
		r = r < 0 ? err_errno(&e, r, "giving it its name") : 0;
	}
	if (r < 0) {
		log_error("no core was written to %s: %s", s->cfg->core->path, e.text);
	} else {
		log_warn("a core of the guest is in %s; it took %.1f s: gdb VMLINUX %s",
			 s->cfg->core->path,
			 (double)(session_now_ns() - start_ns) / (double)NS_PER_SEC,
			 s->cfg->core->path);
	}
}

static void keep_registers(struct session *s)
{
	s->record->registers = json_array();
	for (size_t i = 0; i < s->cpu_count; i++) {
		json_array_append_new(s->record->registers, record_text_to_json(s->cpus[i].text));
	}
}

static void keep_backtrace(struct session *s)
{
	struct decoder none = {.pid = 0};
	uint64_t at_ns = session_now_ns() + DECODE_NS;
	uint64_t latest_ns = s->timeout_at_ns + DECODE_LATEST_NS;
	_cleanup_free_ struct backtrace *b = calloc(1, sizeof(*b));
	_cleanup_free_ struct stack_scan *stacks = NULL;

	if (!b) {
		return;
	}
	/* Whoever started us waits no longer. */
	if (s->facts.timed_out && latest_ns < at_ns) {
		at_ns = latest_ns;
	}
	/* A kernel that told of its stacks itself knows them better. */
	if (!s->facts.panic_seen && !s->facts.oops_seen && !s->answered) {
		stacks = calloc(FAILURE_CPUS_MAX, sizeof(*stacks));
	}
	if (stacks &&
	    stack_scan_all(s->backend, s->cpus, s->cpu_count, s->cfg->symbols_fd, stacks) < 0) {
		free(TAKE_PTR(stacks));
	}
	backtrace_read(b, s->cpus, s->cpu_count, stacks, &s->console);
	backtrace_name(b, s->cfg->symbols_fd);
	backtrace_decode(b, s->cfg->decoder ? s->cfg->decoder : &none, at_ns);
	if (b->decoded || b->scanned) {
		failure_report_lines(stderr, b);
	}
	s->record->backtrace = backtrace_to_json(b);
}

static int conclude(struct session *s, struct outcome *ret, struct err *e)
{
	struct record_boot *r = s->record;

	outcome_decide(&s->facts, ret);
	if (ret->kind != OUTCOME_KIND_EXIT && ret->kind != OUTCOME_KIND_SIGNAL) {
		log_error("%s", ret->text);
	} else if (ret->has_guest_status && ret->guest_status != ret->status) {
		log_warn("%s", ret->text);
	}
	if (ret->report) {
		session_take_registers(s);
		if (s->asked && !s->answered) {
			log_warn("the guest did not answer a non-maskable interrupt: there is no "
				 "backtrace of its own");
		}
		failure_report(stderr, s->cpus, s->cpu_count, s->cfg->symbols_fd, &s->console,
			       s->cfg->console_fd == STDOUT_FILENO);
		keep_console_tail(s);
		keep_registers(s);
		keep_backtrace(s);
		if (s->cfg->core) {
			keep_core(s);
		}
	}
	if (s->results.dropped) {
		log_warn("%llu lines of the guest's results could not be understood",
			 (unsigned long long)s->results.dropped);
	}
	r->paused_ns = session_stood_ns(s);
	read_calltime(s);
	if (s->results.uname[0]) {
		free(r->kernel_version);
		r->kernel_version = strdup(s->results.uname);
	}
	return s->backend->ops->collect(s->backend, r, s->cfg->exec_ns, e);
}

static int start(struct session *s, struct err *e)
{
	const struct session_config *cfg = s->cfg;
	int r = add_timers(s);

	if (r < 0) {
		return err_errno(e, r, "the event loop");
	}
	r = session_control_start(s, e);
	if (r < 0) {
		return r;
	}
	r = s->backend->ops->start(s->backend, s->loop, &backend_events, s, e);
	if (r == 0 && cfg->input_fd >= 0) {
		r = input_init(&s->input, s->loop, cfg->input_fd, on_input, on_quit, s);
		if (r < 0) {
			r = err_errno(e, r, "stdin");
		}
	}
	return r;
}

/**
 * session_run() - boot, watch, judge
 * @cfg: what to do; lives during the call
 * @record: initialised; filled in with all that is known at the end
 * @ret: set on success
 * @e: set on failure
 *
 * While it runs, signals are this function's; afterwards they are as they were, and so is the
 * terminal. Failures are reported on stderr. The backend is gone afterwards in all cases.
 *
 * Return: 0 when the run came to an outcome, of whatever kind; else the negative errno of what
 * could not be set up. Context: the main thread, which becomes the event loop's.
 */
int session_run(const struct session_config *cfg, struct record_boot *record, struct outcome *ret,
		struct err *e)
{
	_cleanup_(evloop_destroy_p) struct evloop *loop = NULL;
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		backend_destroy(cfg->backend);
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = evloop_create(&loop);
	if (r == 0) {
		r = signals_init(&s->signals, loop, on_signal, s);
	}
	if (r < 0) {
		backend_destroy(cfg->backend);
		free(s);
		return err_errno(e, r, "the event loop");
	}
	s->cfg = cfg;
	s->backend = cfg->backend;
	s->record = record;
	s->loop = loop;
	console_watch_init(&s->console, session_on_console_event, s);
	channel_parser_init(&s->channel, session_on_frame, s);
	results_init(&s->results, record->guest);
	s->facts.job = cfg->job;
	s->facts.cpus_asked = cfg->cpus;
	sink_init(&s->sinks[SINK_STDOUT], loop, STDOUT_FILENO, "stdout", session_on_sink_changed,
		  s);
	sink_init(&s->sinks[SINK_STDERR], loop, STDERR_FILENO, "stderr", session_on_sink_changed,
		  s);
	sink_init(&s->sinks[SINK_CONSOLE], loop, cfg->console_fd, cfg->console_name,
		  session_on_sink_changed, s);

	r = start(s, e);
	if (r == 0) {
		r = evloop_run(loop);
		r = r < 0 ? err_errno(e, r, "the event loop") : 0;
	}
	if (!s->deaf) {
		s->deaf = true;
		s->backend->ops->halt(s->backend);
	}
	input_fini(&s->input);
	/* Its name is free before those who wait for the end hear of it. */
	if (cfg->name) {
		control_socket_close(cfg->control);
	}
	control_destroy(s->control);
	s->control = NULL;
	if (r == 0) {
		r = conclude(s, ret, e);
	}
	backend_destroy(s->backend);
	for (size_t i = 0; i < SINK_COUNT; i++) {
		sink_fini(&s->sinks[i]);
	}
	for (size_t i = 0; i < s->cpu_count; i++) {
		free(s->cpus[i].text);
	}
	results_fini(&s->results);
	console_watch_fini(&s->console);
	signals_fini(&s->signals);
	free(s);
	return r;
}
