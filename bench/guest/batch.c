/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The batches. For each: keep clear of the timer tick, let the benchmark prepare, take a turn or
 * two of the loop, note interrupts and context switches, time an empty loop of the same shape, open
 * a window by its mark, time the loop, close the window, and note the counts again. Nothing but the
 * loop is between the two time stamps, and nothing is written anywhere until the last batch is
 * done. Warm-up batches are the same without a window. A benchmark that the kernel
 * times does both loops itself, in one window. See bench.h.
 */
#include "bench.h"

#include <errno.h>

#include "abi/marks.h"
#include "tick.h"
#include "tsc.h"

struct batch {
	uint64_t ticks, empty, irqs, switches;
};

static void mark(const struct machine *m, bool window, uint8_t code)
{
	if (window) {
		machine_mark(m, code);
	}
}

static void time_here(const struct run *r, unsigned int turns, struct batch *ret, bool window)
{
	const struct bench *b = r->bench;
	uint64_t begin = tsc_begin();

	b->empty(r->state, turns);
	ret->empty = tsc_end() - begin;

	mark(r->machine, window, MARK_WINDOW_OPEN);
	begin = tsc_begin();
	b->loop(r->state, turns);
	ret->ticks = tsc_end() - begin;
	mark(r->machine, window, MARK_WINDOW_CLOSE);
}

static int batch_run(struct run *r, struct batch *ret, bool window, struct err *e)
{
	const struct machine *m = r->machine;
	const struct bench *b = r->bench;
	unsigned int turns = r->calls / b->calls_of_loop;
	uint64_t switches, irqs;
	int code = 0;

	if (b->prepare) {
		b->prepare(r->state);
	}
	/* What the kernel does once a tick, the time stamps of a pipe for one, is done now and not
	 * in those batches only that come first after a tick. */
	if (!b->batch && !b->long_batches) {
		b->loop(r->state, BATCH_SETTLE_TURNS);
	}

	irqs = machine_interrupts(m);
	switches = machine_switches(r->peer_fd);

	if (b->batch) {
		mark(m, window, MARK_WINDOW_OPEN);
		code = b->batch(r, turns, &ret->ticks, &ret->empty, e);
		mark(m, window, MARK_WINDOW_CLOSE);
	} else {
		time_here(r, turns, ret, window);
	}

	ret->switches = machine_switches(r->peer_fd) - switches;
	ret->irqs = b->long_batches ? 0 : machine_interrupts(m) - irqs;
	return code;
}

/* What came beside the switches that the benchmark makes itself, which must all have happened. */
static int check_switches(const struct run *r, const struct batch *b, uint64_t *ret_extra,
			  struct err *e)
{
	uint64_t due = r->bench->switches ? r->calls : 0;

	if (b->switches < due) {
		return err_set(e, -ENOTRECOVERABLE,
			       "%llu context switches in a batch, expected %llu",
			       (unsigned long long)b->switches, (unsigned long long)due);
	}
	*ret_extra = r->bench->waits ? 0 : b->switches - due;
	return 0;
}

/**
 * batches_run() - run a benchmark's batches
 * @r: set up, with room for the numbers; they are filled in, and window0
 * @e: set on failure
 *
 * Return: 0; -ENOTRECOVERABLE or -EXDEV when the benchmark did not do what it should measure; or
 * what its own batch() says.
 * Context: the measuring thread.
 */
int batches_run(struct run *r, struct err *e)
{
	struct tick tick = {.length = r->machine->tick_ticks};
	uint64_t need = 0;

	r->window0 = r->machine->shared->windows;
	for (unsigned int i = 0; i < r->warmup + r->batches; i++) {
		bool warm = i < r->warmup;
		unsigned int at = i - r->warmup;
		struct batch b;
		uint64_t begin;
		uint64_t took;
		int ret;

		tick_avoid(&tick, need);
		begin = tsc_begin();
		ret = batch_run(r, &b, !warm, e);
		took = tsc_end() - begin;
		if (ret < 0) {
			return ret;
		}
		/* An undisturbed batch says best what the next one will take; an eighth to spare.
		 */
		if (b.irqs == 0 || need == 0) {
			need = took + took / 8;
		}
		if (warm) {
			continue;
		}
		r->machine->shared->windows++;
		r->ticks[at] = b.ticks;
		r->empty[at] = b.empty;
		r->irqs[at] = b.irqs;
		ret = check_switches(r, &b, &r->nivcsw[at], e);
		if (ret < 0) {
			return ret;
		}
	}
	return machine_check_cpu(r->machine, e);
}
