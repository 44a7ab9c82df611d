/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine from inside. Threads: the owner's (the event loop), and one for each vCPU. What a
 * field belongs to is said at each group. No lock is taken and nothing is allocated on a vCPU's
 * way from an exit back into the guest, but a device's own lock.
 */
#ifndef VMM_VMM_PRIV_H
#define VMM_VMM_PRIV_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <x86intrin.h>

#include "devices/acpi_power.h"
#include "devices/guestport.h"
#include "devices/i8042.h"
#include "devices/rtc.h"
#include "devices/serial.h"
#include "devices/txring.h"
#include "hw/bus.h"
#include "kvm/kvm.h"
#include "kvm/stats.h"
#include "loader/symbols.h"
#include "vmm/exit_stats.h"
#include "vmm/exits.h"
#include "vmm/ram.h"
#include "vmm/tracing.h"
#include "vmm/virtio.h"
#include "vmm/vmm.h"

/* Requests to a vCPU's thread. */
#define VCPU_STOP  1u /* leave the guest for good */
#define VCPU_STATE 2u /* copy the registers, and post answered */
#define VCPU_NMI   8u /* a non-maskable interrupt to the guest */
#define VCPU_PAUSE 4u /* wait outside the guest until it is taken back: see pause.c */

enum vcpu_stat { VCPU_STAT_EXITS, VCPU_STAT_IRQS, VCPU_STAT_BLOCKING, VCPU_STAT_COUNT };

struct vcpu_state {
	int error; /* 0, or why there is nothing here */
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	uint32_t mp_state;
};

struct vcpu {
	struct machine *m;
	unsigned int index;
	int host_cpu; /* the only one of the host that it runs on; −1: any */
	struct kvm_vcpu kvm;
	struct kvm_stats stats; /* closed when KVM has none */
	struct kvm_stats_pick pick;
	int schedstat_fd; /* of the thread; −1: not known */
	uint64_t tsc_offset;

	/* The owner's. */
	bool started;
	pthread_t thread;
	int confine_result; /* of its filter; the thread's until it posts confined */

	_Atomic uint32_t requests;
	sem_t answered;
	_Atomic uint32_t answers; /* so many VCPU_STATE requests were served; orders state */
	struct vcpu_state state;  /* the thread's until it posts answered, then the owner's */

	pthread_mutex_t park_lock; /* of parked, and of taking VCPU_PAUSE back */
	pthread_cond_t unpark;
	bool parked;
	bool debug_held;                  /* the owner's: the debugger wants it to stand */
	_Atomic bool debug_hit;           /* it came out for the debugger, who has not looked yet */
	struct kvm_debug_exit_arch debug; /* with what; the thread's until it sets debug_hit */

	/* The thread's; exits may be read by all. */
	struct exits exits;
	struct exit_stats *stats_by_phase; /* NULL: not asked for */
	struct trace_ring *trace;          /* likewise */
	uint32_t track;
	uint64_t exit_tsc; /* the host's, when the guest was left last */
};

struct serial_line {
	struct machine *m;
	enum machine_line which;
	struct txring tx;
	struct serial serial;
	bool ready;    /* both are initialised */
	bool paused;   /* the owner's, like what follows */
	bool starving; /* machine_input() took less than it was given */
	bool by_clock; /* looked at by tx_timer, not by its descriptor */
	struct evloop_source *tx_source, *tx_timer, *room_source;
};

struct gdb_server;

struct machine {
	const struct kvm_ops *ops;
	struct kvm_dev dev;
	struct kvm_vm vm;
	uint64_t cpu_print; /* of what CPUID says */
	struct ram ram;
	struct symbols *symbols; /* of the kernel, or NULL */
	struct kvm_stats vm_stats;
	bool time_exits, exit_stats, unrecorded;
	struct tracing tracing;
	_Atomic uint32_t phase; /* enum machine_phase; vCPU threads write it at marks */
	uint64_t user_mark_ns;  /* when the phase of the boot ended, or 0 */
	struct sandbox_config sandbox;

	struct bus pio, mmio;
	struct i8042 i8042;
	struct rtc rtc;
	struct acpi_power acpi_power;
	struct guestport exit_port, mark_port, boot_timer;
	bool devices_ready; /* i8042 and rtc are initialised */
	struct serial_line lines[MACHINE_SERIAL_LINES];
	struct virtio_slots virtio;
	struct gdb_server *gdb; /* NULL: no debugger is wanted */

	struct vcpu *vcpus; /* array of vcpu_count */
	unsigned int vcpu_count;

	/* The end: whoever sets ending from 0 to 1 writes result, and nobody else. */
	_Atomic int ending;
	_Atomic unsigned int running; /* vCPU threads that have not left the guest for good */
	sem_t all_left;               /* posted by the last of them */
	sem_t confined;               /* posted by each of them, once its filter is on */
	pthread_mutex_t start_lock;   /* held by the owner while it starts them */
	struct machine_result result;
	struct machine_times times; /* first_run_ns and ended_ns are the vCPU threads' */
	int event_fd;               /* wakes the owner: a mark, or the last vCPU has left */

	/* Marks: a vCPU's thread takes a slot by adding to mark_count, and sets ready when filled.
	 */
	struct machine_mark marks[MACHINE_MARKS_MAX];
	_Atomic bool mark_ready[MACHINE_MARKS_MAX];
	_Atomic uint64_t mark_count;
	uint64_t marks_delivered; /* the owner's */
	_Atomic bool user_mark_seen;

	/* Windows: guarded by window_busy, for which nobody waits. */
	atomic_flag window_busy;
	struct machine_window *windows; /* array of MACHINE_WINDOWS_MAX, untouched until used */
	_Atomic uint64_t window_count;
	_Atomic uint64_t windows_dropped;
	bool window_open;
	struct machine_window window_start; /* counters when it was opened */

	/* The owner's. */
	bool started, halted, stopped_told;
	bool paused;        /* machine_pause() */
	bool told_standing; /* what the event said last */
	uint64_t start_ns, start_tsc;
	struct evloop *loop;
	const struct machine_callbacks *events;
	void *events_ctx;
	struct evloop_source *event_source;
	uint64_t quiet_progress, quiet_since_ns;
	uint64_t spin_events, spin_since_cpu_ns; /* since when nothing came of the vCPUs running */
	unsigned int spin_looks;
};

/* vcpu.c */
int vcpu_init(struct vcpu *v, struct machine *m, unsigned int index, struct err *e) __must_check;
void vcpu_fini(struct vcpu *v);
int vcpu_start(struct vcpu *v, struct err *e) __must_check;
void vcpu_request(struct vcpu *v, uint32_t request);
void vcpu_join(struct vcpu *v);
void vcpu_copy_state(struct vcpu *v);

/* pause.c */
void vcpu_park(struct vcpu *v);
bool vcpu_is_parked(struct vcpu *v);
void vcpu_unpark(struct vcpu *v, uint32_t clear);
void machine_apply_holds(struct machine *m);
void machine_look_at_holds(struct machine *m);

/* liveness.c */
void machine_liveness_reset(struct machine *m);

/* dispatch.c */
struct exit_counter *vcpu_dispatch(struct vcpu *v);

/* Which phase the machine is in. */
static inline enum machine_phase machine_phase(const struct machine *m)
{
	return (enum machine_phase)atomic_load_explicit(&m->phase, memory_order_relaxed);
}

/* query.c */
double machine_ns_per_tick(const struct machine *m);
uint64_t machine_ticks_ns(const struct machine *m, uint64_t ticks);

/* marks.c */
void machine_take_mark(struct machine *m, uint8_t code);
uint64_t machine_exit_count(const struct machine *m);

/* run.c */
int vcpu_fetch_state(struct vcpu *v) __must_check;
void machine_finish(struct machine *m, unsigned int vcpu, enum machine_end end, uint32_t value,
		    const char *text);
unsigned int machine_current_vcpu(const struct machine *m);
void machine_notify(struct machine *m);
void machine_check_stopped(struct machine *m);
void machine_run_fini(struct machine *m);

#endif
