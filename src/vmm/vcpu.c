/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU and its thread. The thread leaves the guest for three reasons: an exit, which dispatch.c
 * deals with; a request, which comes with immediate_exit set and a signal, in that order, so that
 * it is seen whether the thread was in the guest, on its way there, or elsewhere; an error of
 * KVM_RUN.
 */
#include "vmm/vmm_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "vmm/thread_counters.h"

#define KICK_SIGNAL SIGRTMIN

/*
 * KVM may run short of memory for its own tables, or find a page that is being moved, without that
 * being the end: Linux returns ENOMEM and EFAULT then, mostly on the first runs.
 */
#define RETRY_RUNS_MAX 16

/* KVM lets the guest go on after 1,024 pieces of a string instruction, done or not. */
#define COMPLETIONS_MAX 2048

static const char *const picked_stats[VCPU_STAT_COUNT] = {
	[VCPU_STAT_EXITS] = "exits",
	[VCPU_STAT_IRQS] = "irq_injections",
	[VCPU_STAT_BLOCKING] = "blocking",
};

/**
 * vcpu_init() - make a vCPU of a machine that has its VM
 * @v: zeroed; vcpu_fini() takes it whatever this returns
 * @m: its machine
 * @index: its number
 * @e: gets one line
 *
 * A KVM without statistics is good enough: windows then say that they do not know.
 *
 * Return: 0 or −errno.
 * Context: the owner.
 */
int vcpu_init(struct vcpu *v, struct machine *m, unsigned int index, struct err *e)
{
	int r;

	v->m = m;
	v->index = index;
	v->host_cpu = -1;
	v->schedstat_fd = -1;
	v->stats = (struct kvm_stats)KVM_STATS_INIT;
	atomic_init(&v->requests, 0);
	sem_init(&v->answered, 0, 0);
	pthread_mutex_init(&v->park_lock, NULL);
	pthread_cond_init(&v->unpark, NULL);
	r = kvm_vcpu_init(&v->kvm, &m->dev, &m->vm, index, e);
	if (r < 0) {
		return r;
	}
	r = kvm_stats_init(&v->stats, m->ops, v->kvm.fd);
	if (r < 0 && r != -ENOTTY) {
		return err_errno(e, r, "cannot read the statistics of vCPU %u", index);
	}
	kvm_stats_pick(&v->stats, picked_stats, VCPU_STAT_COUNT, &v->pick);
	if (m->exit_stats && exit_stats_create(&v->stats_by_phase) < 0) {
		return err_set(e, -ENOMEM, "no memory for the statistics of vCPU %u", index);
	}
	return 0;
}

/**
 * vcpu_fini() - give a vCPU back
 * @v: one that vcpu_init() was called for, and whose thread was joined
 *
 * Context: the owner.
 */
void vcpu_fini(struct vcpu *v)
{
	exit_stats_destroy(v->stats_by_phase);
	kvm_stats_fini(&v->stats);
	kvm_vcpu_fini(&v->kvm);
	if (v->schedstat_fd >= 0) {
		v->m->ops->close(v->m->ops->ctx, v->schedstat_fd);
		v->schedstat_fd = -1;
	}
	sem_destroy(&v->answered);
	pthread_cond_destroy(&v->unpark);
	pthread_mutex_destroy(&v->park_lock);
}

/**
 * vcpu_copy_state() - read the registers into @v->state
 * @v: a vCPU
 *
 * Context: its thread, or the owner after that has ended.
 */
void vcpu_copy_state(struct vcpu *v)
{
	int r = kvm_vcpu_get_regs(&v->kvm, &v->state.regs);

	if (r == 0) {
		r = kvm_vcpu_get_sregs(&v->kvm, &v->state.sregs);
	}
	if (r == 0) {
		r = kvm_vcpu_get_mp_state(&v->kvm, &v->state.mp_state);
	}
	v->state.error = r;
}

/* Written by the owner and by the thread, whichever comes last: see vcpu_request(). */
static void set_immediate_exit(struct vcpu *v, uint8_t value)
{
	__atomic_store_n(&v->kvm.run->immediate_exit, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t account(struct vcpu *v, uint32_t reason, struct exit_counter *row)
{
	uint64_t ticks = v->m->time_exits ? __rdtsc() - v->exit_tsc : 0;

	exit_counter_add(&v->exits.total, 0, ticks);
	exit_counter_add(&v->exits.reasons[reason < EXITS_REASONS ? reason : EXITS_REASONS - 1], 1,
			 ticks);
	if (row) {
		exit_counter_add(row, 1, ticks);
	}
	return ticks;
}

static bool is_measured(const struct vcpu *v)
{
	return v->stats_by_phase || v->trace;
}

static void read_thread(struct vcpu *v, enum machine_phase next)
{
	struct thread_counters now;

	thread_counters_read(v->m->ops, v->schedstat_fd, &now);
	exit_stats_thread(v->stats_by_phase, next, &now);
}

/* The marks of a batch count for the phase around it. */
static void keep_stats(struct vcpu *v, enum machine_phase before, uint32_t reason,
		       const struct exit_counter *row, uint64_t ticks)
{
	enum machine_phase after = machine_phase(v->m);
	enum machine_phase phase = before == MACHINE_PHASE_BATCH ? after : before;

	exit_cell_add(exit_stats_cell(v->stats_by_phase, phase, &v->exits, reason, row), ticks);
	if (after != v->stats_by_phase->phase) {
		read_thread(v, after);
	}
}

/* The exit that kvm_vcpu_run() came back with. */
static inline __attribute__((always_inline)) void take_exit(struct vcpu *v, const bool measured)
{
	enum machine_phase before = measured ? machine_phase(v->m) : MACHINE_PHASE_BOOT;
	uint64_t start_ns = measured && v->trace ? trace_now_ns() : 0;
	uint32_t reason = v->kvm.run->exit_reason;
	struct exit_counter *row;
	uint64_t ticks;

	v->exit_tsc = __rdtsc();
	exit_counter_add(&v->exits.total, 1, 0);
	row = vcpu_dispatch(v);
	ticks = account(v, reason, row);
	if (measured && v->stats_by_phase) {
		keep_stats(v, before, reason, row, ticks);
	}
	if (measured && v->trace) {
		tracing_exit(v, start_ns, reason, row);
	}
}

/*
 * KVM finishes an access that it brought to us only on the next KVM_RUN; registers and, for a
 * read, the value are not what the guest has until then. Documentation/virt/kvm/api.rst, 5.
 */
static void complete_access(struct vcpu *v)
{
	unsigned int more = 0;

	set_immediate_exit(v, 1);
	/* A string instruction, or a wide access, may come out with its next piece. */
	while (kvm_vcpu_run(&v->kvm) == 0 && more++ < COMPLETIONS_MAX) {
		take_exit(v, is_measured(v));
	}
	set_immediate_exit(v, 0);
}

/* True to go on. */
static bool serve_requests(struct vcpu *v)
{
	uint32_t requests;

	/* Completing an access clears the immediate_exit of a request that came meanwhile: look
	 * again. */
	while ((requests = atomic_fetch_and(&v->requests, ~(VCPU_STATE | VCPU_NMI))) != 0) {
		if (requests & VCPU_NMI) {
			complete_access(v);
			(void)!kvm_vcpu_nmi(&v->kvm); /* it is missed, then, where it was wanted */
		}
		if (requests & VCPU_STATE) {
			complete_access(v);
			vcpu_copy_state(v);
			atomic_fetch_add(&v->answers, 1);
			sem_post(&v->answered);
		} else if (requests & VCPU_STOP) {
			return false;
		} else if (requests & VCPU_PAUSE) {
			complete_access(v);
			vcpu_park(v);
		}
	}
	return true;
}

/* Most often nobody asks for anything, and a look is enough to know. */
static inline bool may_go_on(struct vcpu *v)
{
	return atomic_load(&v->requests) == 0 || serve_requests(v);
}

static bool retry_error(int error, unsigned int *retries)
{
	return (error == -ENOMEM || error == -EFAULT) && ++*retries <= RETRY_RUNS_MAX;
}

/* Compiled twice: a machine that measures nothing runs a loop that asks for nothing. */
static inline __attribute__((always_inline)) void run_loop(struct vcpu *v, const bool measured)
{
	struct machine *m = v->m;
	unsigned int retries = 0;

	while (may_go_on(v)) {
		int r = kvm_vcpu_run(&v->kvm);

		if (r == 0) {
			take_exit(v, measured);
		} else if (r == -EINTR || r == -EAGAIN) {
			/* Cleared before the requests are looked at: see vcpu_request(). */
			set_immediate_exit(v, 0);
		} else if (!retry_error(r, &retries)) {
			char text[MACHINE_RESULT_TEXT];

			snprintf(text, sizeof(text), "KVM_RUN of vCPU %u: %s", v->index,
				 strerror(-r));
			machine_finish(m, v->index, MACHINE_END_KVM_ERROR, 0, text);
		}
	}
	complete_access(v);
}

static void run_guest(struct vcpu *v)
{
	run_loop(v, false);
}

static void run_guest_measured(struct vcpu *v)
{
	uint64_t start_ns = trace_now_ns();

	if (v->stats_by_phase) {
		read_thread(v, MACHINE_PHASE_BOOT);
	}
	run_loop(v, true);
	if (v->stats_by_phase) {
		read_thread(v, machine_phase(v->m));
	}
	if (v->trace) {
		tracing_ran(v, start_ns);
	}
}

/* The second number is how long this thread was ready to run and did not. */
static void open_schedstat(struct vcpu *v)
{
	int fd = v->m->ops->open(v->m->ops->ctx, THREAD_SCHEDSTAT_PATH, O_RDONLY);

	v->schedstat_fd = fd < 0 ? -1 : fd;
}

/* Of a fault of ours whose signal is blocked no handler hears, and a terminal would stay raw. */
static const int here_too[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static void *thread_main(void *arg)
{
	struct vcpu *v = arg;
	struct machine *m = v->m;
	sigset_t here;

	sigemptyset(&here);
	sigaddset(&here, KICK_SIGNAL);
	for (size_t i = 0; i < ARRAY_SIZE(here_too); i++) {
		sigaddset(&here, here_too[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &here, NULL);
	if (!m->unrecorded) {
		open_schedstat(v);
	}
	if (kvm_vcpu_tsc_offset(&v->kvm, &v->tsc_offset) < 0) {
		uint64_t guest;

		/* An older KVM: the offset to the nearest few hundred ticks. */
		v->tsc_offset = kvm_vcpu_get_msr(&v->kvm, 0x10, &guest) < 0 ? 0 : guest - __rdtsc();
	}
	/* While the owner puts on its own. */
	v->confine_result = sandbox_enter(&m->sandbox, SANDBOX_VCPU, v->kvm.fd);
	sem_post(&m->confined);
	/* Until all threads are there and filtered: see machine_start(). */
	pthread_mutex_lock(&m->start_lock);
	pthread_mutex_unlock(&m->start_lock);
	if (v->index == 0) {
		m->times.first_run_ns = clock_now_ns(&clock_monotonic);
	}
	if (is_measured(v)) {
		run_guest_measured(v);
	} else {
		run_guest(v);
	}
	if (atomic_fetch_sub(&m->running, 1) == 1) {
		m->times.ended_ns = clock_now_ns(&clock_monotonic);
		sem_post(&m->all_left);
		machine_notify(m);
	}
	return NULL;
}

/* Its arrival is all that matters: it makes KVM_RUN return. */
static void on_kick(int signal)
{
}

/* The thread is on its processor before its first instruction. */
static int create_pinned(struct vcpu *v)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int r;

	if (v->host_cpu < 0) {
		return pthread_create(&v->thread, NULL, thread_main, v);
	}
	CPU_ZERO(&set);
	CPU_SET(v->host_cpu, &set);
	pthread_attr_init(&attr);
	r = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (r == 0) {
		r = pthread_create(&v->thread, &attr, thread_main, v);
	}
	pthread_attr_destroy(&attr);
	return r;
}

/* The thread has its name from the start, of who makes it: to name it later takes a file in /proc.
 */
static int create_thread(struct vcpu *v)
{
	char name[16], ours[16] = "";
	int r;

	snprintf(name, sizeof(name), "vcpu%u", v->index);
	prctl(PR_GET_NAME, ours);
	prctl(PR_SET_NAME, name);
	r = create_pinned(v);
	prctl(PR_SET_NAME, ours);
	return r;
}

/**
 * vcpu_start() - start the thread
 * @v: an initialised vCPU
 * @e: gets one line
 *
 * The thread blocks every signal but the one that kicks it; those of the process are the owner's.
 *
 * Return: 0 or −errno.
 * Context: the owner.
 */
int vcpu_start(struct vcpu *v, struct err *e)
{
	const struct sigaction action = {.sa_handler = on_kick};
	sigset_t all, before;
	int r;

	/* No SA_RESTART: KVM_RUN must return. */
	if (sigaction(KICK_SIGNAL, &action, NULL) < 0) {
		return err_errno(e, -errno, "cannot set up the signal that stops vCPUs");
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&v->m->running, 1);
	r = create_thread(v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		atomic_fetch_sub(&v->m->running, 1);
		return v->host_cpu < 0
			       ? err_errno(e, -r, "cannot start the thread of vCPU %u", v->index)
			       : err_errno(e, -r,
					   "cannot start the thread of vCPU %u on processor %d",
					   v->index, v->host_cpu);
	}
	v->started = true;
	return 0;
}

/**
 * vcpu_request() - ask something of a vCPU's thread
 * @v: a started vCPU
 * @request: VCPU_STOP, VCPU_STATE, VCPU_NMI or VCPU_PAUSE
 *
 * The request is stored before immediate_exit, and the thread clears immediate_exit before it looks
 * at the requests: whichever comes first, it does not enter the guest with a request unseen.
 *
 * Context: the owner, or a vCPU's thread.
 */
void vcpu_request(struct vcpu *v, uint32_t request)
{
	atomic_fetch_or(&v->requests, request);
	if (!v->started || pthread_equal(v->thread, pthread_self())) {
		return;
	}
	vcpu_unpark(v, 0);
	set_immediate_exit(v, 1);
	pthread_kill(v->thread, KICK_SIGNAL);
}

/**
 * vcpu_join() - wait for the thread, which was asked to stop or ended by itself
 * @v: a vCPU, started or not
 *
 * Context: the owner.
 */
void vcpu_join(struct vcpu *v)
{
	if (v->started) {
		pthread_join(v->thread, NULL);
		v->started = false;
	}
}
