/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine at work: its threads, what they tell the owner, and its end. A vCPU's thread tells by
 * one eventfd; the owner then delivers what is new, in order, and the end last of all.
 */
#include "vmm/gdb_priv.h"
#include "vmm/vmm_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"

/* Bytes of output handed over before other sources of the loop get their turn. */
#define OUTPUT_SLICE 65536

/*
 * After the first byte of a burst a line is looked at by the clock until it is quiet for one
 * period. A wake-up for each byte would take the vCPU's CPU away as often.
 */
#define OUTPUT_PERIOD_NS (2 * NS_PER_MSEC)

/**
 * machine_notify() - wake the owner
 * @m: a machine
 *
 * Context: any thread.
 */
void machine_notify(struct machine *m)
{
	/* Cannot fail but when the counter is full, and then the owner wakes anyhow. */
	(void)!eventfd_write(m->event_fd, 1);
}

/**
 * machine_current_vcpu() - whose thread this is
 * @m: a machine that runs
 *
 * Return: the vCPU's number, 0 on a thread of no vCPU.
 * Context: any thread.
 */
unsigned int machine_current_vcpu(const struct machine *m)
{
	for (unsigned int i = 1; i < m->vcpu_count; i++) {
		if (pthread_equal(m->vcpus[i].thread, pthread_self())) {
			return i;
		}
	}
	return 0;
}

/**
 * machine_finish() - the guest has ended the machine; the first to say so is believed
 * @m: a machine that runs
 * @vcpu: where
 * @end: how
 * @value: of the exit port, else 0
 * @text: a sentence, or empty
 *
 * Context: a vCPU's thread or the owner. Nothing waits here; all vCPUs leave the guest soon.
 */
void machine_finish(struct machine *m, unsigned int vcpu, enum machine_end end, uint32_t value,
		    const char *text)
{
	int running = 0;

	if (!atomic_compare_exchange_strong(&m->ending, &running, 1)) {
		return;
	}
	m->result.end = end;
	m->result.value = value;
	m->result.vcpu = vcpu;
	snprintf(m->result.text, sizeof(m->result.text), "%s", text);
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		vcpu_request(&m->vcpus[i], VCPU_STOP);
	}
}

static void deliver_marks(struct machine *m)
{
	uint64_t taken = atomic_load(&m->mark_count);

	while (m->marks_delivered < taken && m->marks_delivered < MACHINE_MARKS_MAX) {
		uint64_t i = m->marks_delivered;

		if (!atomic_load_explicit(&m->mark_ready[i], memory_order_acquire)) {
			return; /* its writer notifies again */
		}
		m->marks_delivered++;
		if (m->events->mark) {
			m->events->mark(m->events_ctx, &m->marks[i]);
		}
	}
}

/* Returns true when the line has nothing more to give. */
static bool deliver_output(struct serial_line *line)
{
	struct machine *m = line->m;
	uint64_t start_ns = m->tracing.trace ? trace_now_ns() : 0;
	size_t given = 0;
	const uint8_t *data;
	size_t n;

	while (!line->paused && (n = txring_peek(&line->tx, &data)) > 0) {
		if (given >= OUTPUT_SLICE) {
			/* More is there: come back after the others. */
			(void)!eventfd_write(txring_fd(&line->tx), 1);
			return false;
		}
		m->events->output(m->events_ctx, line->which, data, n);
		txring_consume(&line->tx, n);
		given += n;
	}
	if (m->tracing.trace && given > 0) {
		tracing_output(m, line->which, given, start_ns);
	}
	return txring_peek(&line->tx, &data) == 0;
}

/* Changing what is watched fails only for want of kernel memory; the line is then woken too often.
 */
static void watch_line(struct serial_line *line, bool by_clock)
{
	uint64_t at = by_clock ? clock_now_ns(&clock_monotonic) + OUTPUT_PERIOD_NS : 0;

	if (evloop_arm_timer(line->tx_timer, at, by_clock ? OUTPUT_PERIOD_NS : 0) == 0 &&
	    evloop_set_events(line->tx_source, by_clock ? 0 : EPOLLIN) == 0) {
		line->by_clock = by_clock;
	}
}

static void on_output(void *ctx, int fd, uint32_t events)
{
	struct serial_line *line = ctx;

	txring_clear_fd(&line->tx);
	deliver_output(line);
	watch_line(line, true);
	machine_check_stopped(line->m);
}

static void on_output_period(void *ctx)
{
	struct serial_line *line = ctx;
	const uint8_t *data;

	if (line->paused || txring_peek(&line->tx, &data) == 0) {
		/* What comes from now on makes the descriptor readable, or has already. */
		watch_line(line, false);
	} else {
		txring_clear_fd(&line->tx);
		deliver_output(line);
	}
	machine_check_stopped(line->m);
}

static void on_room(void *ctx, int fd, uint32_t events)
{
	struct serial_line *line = ctx;
	struct machine *m = line->m;

	serial_clear_room_fd(&line->serial);
	if (line->starving && m->events->input_room) {
		line->starving = false;
		m->events->input_room(m->events_ctx, line->which);
	}
}

static void join_all(struct machine *m)
{
	while (sem_wait(&m->all_left) < 0 && errno == EINTR) {
	}
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		vcpu_join(&m->vcpus[i]);
	}
	m->started = false;
}

/**
 * machine_check_stopped() - tell the end, once, when all threads have left and all output is
 * delivered
 * @m: a machine that was started
 *
 * Context: the owner, after anything that may have been the last to wait for.
 */
void machine_check_stopped(struct machine *m)
{
	const uint8_t *data;

	if (m->halted || m->stopped_told || atomic_load(&m->running) > 0) {
		return;
	}
	if (m->started) {
		join_all(m);
	}
	deliver_marks(m);
	for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
		if (!m->lines[i].paused && !deliver_output(&m->lines[i])) {
			return; /* more than a slice: the descriptor leads back here */
		}
		if (txring_peek(&m->lines[i].tx, &data) > 0) {
			return; /* paused: going on leads back here */
		}
	}
	if (!ports_deliver(m)) {
		return; /* the doorbell leads back here */
	}
	/* One of those events may have been answered by machine_halt(). */
	if (m->halted) {
		return;
	}
	m->stopped_told = true;
	if (m->gdb) {
		gdb_server_end(m->gdb, &m->result);
	}
	m->events->stopped(m->events_ctx, &m->result);
}

static void on_event(void *ctx, int fd, uint32_t events)
{
	struct machine *m = ctx;
	eventfd_t count;

	(void)!eventfd_read(fd, &count);
	deliver_marks(m);
	if (m->gdb) {
		gdb_server_look(m->gdb);
	}
	machine_look_at_holds(m);
	machine_check_stopped(m);
}

static int register_sources(struct machine *m, struct err *e)
{
	int r = evloop_add_fd(m->loop, m->event_fd, EPOLLIN, on_event, m, &m->event_source);

	for (unsigned int i = 0; i < MACHINE_SERIAL_LINES && r == 0; i++) {
		struct serial_line *line = &m->lines[i];

		r = evloop_add_fd(m->loop, txring_fd(&line->tx), EPOLLIN, on_output, line,
				  &line->tx_source);
		if (r == 0) {
			r = evloop_add_timer(m->loop, on_output_period, line, &line->tx_timer);
		}
		if (r == 0) {
			r = evloop_add_fd(m->loop, serial_room_fd(&line->serial), EPOLLIN, on_room,
					  line, &line->room_source);
		}
	}
	if (r == 0) {
		r = virtio_slots_watch(m);
	}
	if (r == 0 && m->gdb) {
		r = gdb_server_watch(m->gdb);
	}
	if (r == 0) {
		r = tracing_watch(m);
	}
	return r < 0 ? err_errno(e, r, "cannot watch the machine's events") : 0;
}

static void remove_sources(struct machine *m)
{
	if (m->gdb) {
		gdb_server_unwatch(m->gdb);
	}
	tracing_unwatch(m);
	virtio_slots_unwatch(m);
	evloop_remove(m->event_source);
	m->event_source = NULL;
	for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
		evloop_remove(m->lines[i].tx_source);
		evloop_remove(m->lines[i].tx_timer);
		evloop_remove(m->lines[i].room_source);
		m->lines[i].tx_source = m->lines[i].tx_timer = m->lines[i].room_source = NULL;
	}
}

/* The owner's filter, while the vCPUs' threads put on theirs; then wait for all of these. */
static int confine_all(struct machine *m, struct err *e)
{
	int r = sandbox_enter(&m->sandbox, SANDBOX_LOOP, -1);

	if (r < 0) {
		return err_errno(e, r, "the loop's system call filter");
	}
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		while (sem_wait(&m->confined) < 0 && errno == EINTR) {
		}
	}
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		r = m->vcpus[i].confine_result;
		if (r < 0) {
			return err_errno(e, r, "the system call filter of vCPU %u", i);
		}
	}
	return 0;
}

/**
 * machine_start() - let the guest run
 * @m: a machine that was built, and not started before
 * @loop: where its events come; must outlive it
 * @events: what to call, must outlive it; input_room and mark may be NULL
 * @ctx: first argument of those
 * @e: gets one line
 *
 * Return: 0 or −errno; then nothing runs.
 * Context: the thread of @loop, which owns the machine from here.
 */
int machine_start(struct machine *m, struct evloop *loop, const struct machine_callbacks *events,
		  void *ctx, struct err *e)
{
	int r;

	m->loop = loop;
	m->events = events;
	m->events_ctx = ctx;
	r = register_sources(m, e);
	if (r < 0) {
		remove_sources(m);
		return r;
	}
	r = sandbox_prepare(&m->sandbox, e);
	if (r < 0) {
		remove_sources(m);
		return r;
	}
	m->start_ns = clock_now_ns(&clock_monotonic);
	m->start_tsc = __rdtsc();
	m->quiet_since_ns = m->start_ns;
	/*
	 * The threads wait for this lock: each finds all the others in place, and no instruction of
	 * the guest runs while a thread is without its filter.
	 */
	pthread_mutex_lock(&m->start_lock);
	for (unsigned int i = 0; i < m->vcpu_count && r == 0; i++) {
		r = vcpu_start(&m->vcpus[i], e);
		m->started |= r == 0;
	}
	if (r == 0) {
		r = confine_all(m, e);
	}
	if (r < 0) {
		/* Also those that were not started: they ask for no more than the flag. */
		for (unsigned int i = 0; i < m->vcpu_count; i++) {
			atomic_fetch_or(&m->vcpus[i].requests, VCPU_STOP);
		}
	}
	pthread_mutex_unlock(&m->start_lock);
	if (r < 0) {
		if (m->started) {
			join_all(m);
		}
		remove_sources(m);
	}
	return r;
}

/**
 * machine_halt() - take all vCPUs out of the guest for good; "stopped" does not follow
 * @m: a machine, running or not
 *
 * Output that is not delivered yet is, if its line is not paused. Registers, memory and counters
 * can be read afterwards.
 *
 * Context: the owner. Returns when no vCPU runs any more.
 */
void machine_halt(struct machine *m)
{
	if (m->halted) {
		return;
	}
	m->halted = true;
	if (m->gdb) {
		gdb_server_end(m->gdb, NULL);
	}
	if (m->started) {
		/* A vCPU that waits for room in a ring hears no signal. */
		for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
			txring_abort(&m->lines[i].tx);
		}
		for (unsigned int i = 0; i < m->vcpu_count; i++) {
			vcpu_request(&m->vcpus[i], VCPU_STOP);
		}
		join_all(m);
	}
	if (m->events && !m->stopped_told) {
		deliver_marks(m);
		for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
			while (!m->lines[i].paused && !deliver_output(&m->lines[i])) {
			}
		}
		ports_deliver_all(m);
	}
}

/**
 * machine_run_fini() - end what machine_start() began
 * @m: a machine, started or not
 *
 * Context: the owner.
 */
void machine_run_fini(struct machine *m)
{
	m->events = m->started ? m->events : NULL;
	for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
		m->lines[i].paused = true; /* nobody wants to hear of it any more */
	}
	for (unsigned int i = MACHINE_HVC0; i < MACHINE_LINES; i++) {
		ports_pause(m, i, true);
	}
	machine_halt(m);
	remove_sources(m);
}

/**
 * machine_input() - hand bytes to the guest
 * @m: a machine
 * @line: on which line
 * @data: the bytes
 * @bytes: how many
 *
 * Return: how many were taken; if fewer, input_room follows when there is room again.
 * Context: the owner.
 */
size_t machine_input(struct machine *m, enum machine_line line, const void *data, size_t bytes)
{
	size_t taken;

	if (line >= MACHINE_SERIAL_LINES) {
		return ports_input(m, line, data, bytes);
	}
	taken = serial_rx(&m->lines[line].serial, data, bytes);
	m->lines[line].starving = taken < bytes;
	return taken;
}

/**
 * machine_pause_output() - stop or go on delivering what the guest writes
 * @m: a started machine
 * @line: on which line
 * @on: stop; the guest waits once the line's ring is full
 *
 * Context: the owner.
 */
void machine_pause_output(struct machine *m, enum machine_line line, bool on)
{
	if (line >= MACHINE_SERIAL_LINES) {
		ports_pause(m, line, on);
		return;
	}
	m->lines[line].paused = on;
	if (!on) {
		/* By the loop, not from here: the caller may be inside an event. */
		(void)!eventfd_write(txring_fd(&m->lines[line].tx), 1);
	}
}
