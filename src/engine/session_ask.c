/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that does not end is asked where it is: its registers are taken, then its first vCPU gets
 * a non-maskable interrupt, at which a kernel that was told so panics with a backtrace of each CPU.
 * What it says then is for people: the outcome is what it was before. All on the event loop's
 * thread.
 */
#include "engine/session_priv.h"

#include "base/clock.h"

/*
 * An answer is over when the console was silent for a moment. Its first line may take more than a
 * second: a kernel shows nothing before it has stopped its other CPUs, and one with interrupts off
 * it waits for. "ringside test" lets a run outlive its timeout by half a second.
 */
#define ANSWER_NS (3 * NS_PER_SEC)
#define LATE_NS   (300 * NS_PER_MSEC)
#define QUIET_NS  (200 * NS_PER_MSEC) /* one on a busy machine may stop in the middle of a line */

/**
 * session_take_registers() - keep the registers as they are now
 * @s: the session; only the first call counts
 *
 * Context: the event loop's thread.
 */
void session_take_registers(struct session *s)
{
	if (!s->registers_taken) {
		s->registers_taken = true;
		s->cpu_count = s->backend->ops->registers(s->backend, s->cpus, FAILURE_CPUS_MAX);
	}
}

static uint64_t time_to_answer(const struct session *s)
{
	uint64_t latest_ns = s->timeout_at_ns ? s->timeout_at_ns + LATE_NS : UINT64_MAX;

	if (s->facts.timed_out || s->facts.boot_timed_out) {
		return LATE_NS;
	}
	return latest_ns - s->asked_ns < ANSWER_NS ? latest_ns - s->asked_ns : ANSWER_NS;
}

/**
 * session_end_asking() - end the session, once the guest has said where it is
 * @s: the session, whose facts say already why it ends
 *
 * Context: the event loop's thread.
 */
void session_end_asking(struct session *s)
{
	if (s->asked || s->ending) {
		return;
	}
	if (!s->cfg->nmi || !s->backend->ops->nmi || s->standing_since_ns) {
		session_end(s);
		return;
	}
	s->asked = true;
	/* What comes later is not what it died of. */
	s->record->phase_ns[RECORD_EXIT] = session_now_ns() - s->cfg->exec_ns;
	session_take_registers(s);
	if (s->backend->ops->nmi(s->backend) < 0) {
		session_end(s);
		return;
	}
	s->asked_ns = session_now_ns();
	s->answer_ns = time_to_answer(s);
	session_arm(s, s->linger, s->answer_ns);
}

/**
 * session_on_answer() - the console said something
 * @s: the session; of one that did not ask this is nothing
 *
 * Context: the event loop's thread.
 */
void session_on_answer(struct session *s)
{
	uint64_t spent = s->asked ? session_now_ns() - s->asked_ns : 0;

	if (!s->asked || s->ending) {
		return;
	}
	if (spent >= s->answer_ns) {
		session_end(s);
	} else {
		session_arm(s, s->linger,
			    s->answer_ns - spent < QUIET_NS ? s->answer_ns - spent : QUIET_NS);
	}
}
