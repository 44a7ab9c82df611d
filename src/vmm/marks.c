/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks and windows. Both are taken on the thread of the vCPU whose guest wrote the mark, on its
 * way through an exit: arrays made beforehand, no lock that anybody waits for, and for a window one
 * pread of each vCPU's statistics. The exit of a closing mark lies inside KVM's counters already
 * when they are read, and is taken off again.
 */
#include "vmm/vmm_priv.h"

#include "abi/marks.h"
#include "base/clock.h"
#include "vmm/thread_counters.h"

/**
 * machine_exit_count() - exits to user space so far, of all vCPUs
 * @m: a machine
 *
 * Return: their number.
 * Context: any thread.
 */
uint64_t machine_exit_count(const struct machine *m)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		sum += exit_counter_count(&m->vcpus[i].exits.total);
	}
	return sum;
}

_Static_assert(MACHINE_NO_VALUE == COUNTER_NONE, "windows hold counters as they are");

static void add_stat(uint64_t *sum, uint64_t value)
{
	*sum = *sum == MACHINE_NO_VALUE || value == KVM_STATS_NO_VALUE ? MACHINE_NO_VALUE
								       : *sum + value;
}

static void read_kvm_counters(const struct machine *m, struct machine_window *w)
{
	w->kvm_exits = 0;
	w->irqs = 0;
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		uint64_t values[VCPU_STAT_COUNT];

		if (kvm_stats_sample(&m->vcpus[i].stats, &m->vcpus[i].pick, values) < 0) {
			w->kvm_exits = w->irqs = MACHINE_NO_VALUE;
			return;
		}
		add_stat(&w->kvm_exits, values[VCPU_STAT_EXITS]);
		add_stat(&w->irqs, values[VCPU_STAT_IRQS]);
	}
}

static void read_counters(const struct vcpu *v, struct machine_window *w)
{
	struct thread_counters thread;

	w->exits = machine_exit_count(v->m);
	read_kvm_counters(v->m, w);
	thread_counters_read(v->m->ops, v->schedstat_fd, &thread);
	w->steal_ns = thread.steal_ns;
	w->nivcsw = thread.nivcsw;
}

/* Under window_busy, or where the mark of user space is taken: the last of them is right. */
static void set_phase(struct machine *m)
{
	enum machine_phase phase = m->window_open                    ? MACHINE_PHASE_BATCH
				   : atomic_load(&m->user_mark_seen) ? MACHINE_PHASE_JOB
								     : MACHINE_PHASE_BOOT;

	atomic_store_explicit(&m->phase, phase, memory_order_relaxed);
}

static void close_window(struct machine *m, const struct vcpu *v, uint64_t guest_tsc)
{
	const struct machine_window *from = &m->window_start;
	uint64_t index = atomic_load(&m->window_count);
	struct machine_window to;

	read_counters(v, &to);
	m->window_open = false;
	if (index == MACHINE_WINDOWS_MAX) {
		atomic_fetch_add(&m->windows_dropped, 1);
		return;
	}
	m->windows[index] = (struct machine_window){
		.open_tsc = from->open_tsc,
		.close_tsc = guest_tsc,
		.exits = counter_advance(from->exits, to.exits, 1),
		.kvm_exits = counter_advance(from->kvm_exits, to.kvm_exits, 1),
		.irqs = counter_advance(from->irqs, to.irqs, 0),
		.steal_ns = counter_advance(from->steal_ns, to.steal_ns, 0),
		.nivcsw = counter_advance(from->nivcsw, to.nivcsw, 0),
	};
	atomic_store_explicit(&m->window_count, index + 1, memory_order_release);
}

static void window_mark(struct machine *m, const struct vcpu *v, bool open, uint64_t guest_tsc)
{
	/* Two vCPUs at it at once make no batch of either. */
	if (atomic_flag_test_and_set(&m->window_busy)) {
		atomic_fetch_add(&m->windows_dropped, 1);
		return;
	}
	if (open) {
		/* The counters last, so that reading them is not counted. */
		m->window_open = true;
		m->window_start.open_tsc = guest_tsc;
		read_counters(v, &m->window_start);
	} else if (m->window_open) {
		close_window(m, v, guest_tsc);
	}
	set_phase(m);
	atomic_flag_clear(&m->window_busy);
}

static void keep_mark(struct machine *m, const struct machine_mark *mark)
{
	uint64_t index = atomic_fetch_add(&m->mark_count, 1);

	if (index < MACHINE_MARKS_MAX) {
		m->marks[index] = *mark;
		atomic_store_explicit(&m->mark_ready[index], true, memory_order_release);
		machine_notify(m);
	}
}

/**
 * machine_take_mark() - the guest wrote a mark
 * @m: a machine
 * @code: what it wrote
 *
 * Marks past MACHINE_MARKS_MAX and windows past MACHINE_WINDOWS_MAX are counted and not kept.
 *
 * Context: a vCPU's thread.
 */
void machine_take_mark(struct machine *m, uint8_t code)
{
	const struct vcpu *v = &m->vcpus[machine_current_vcpu(m)];
	uint64_t guest_tsc = v->exit_tsc + v->tsc_offset;
	struct machine_mark mark;

	if (v->trace) {
		tracing_mark(v, code);
	}
	if (code == MARK_WINDOW_OPEN || code == MARK_WINDOW_CLOSE) {
		window_mark(m, v, code == MARK_WINDOW_OPEN, guest_tsc);
		return;
	}
	/* The mark port and the boot timer may both tell it: the first counts. */
	if (code == MARK_USER_START && atomic_exchange(&m->user_mark_seen, true)) {
		return;
	}
	mark = (struct machine_mark){
		.code = code,
		.vcpu = v->index,
		.host_ns = clock_now_ns(&clock_monotonic),
		.guest_tsc = guest_tsc,
		.exits = machine_exit_count(m),
	};
	if (code == MARK_USER_START) {
		m->user_mark_ns = mark.host_ns;
		set_phase(m);
	}
	keep_mark(m, &mark);
}
