/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See calibrate.h. Windows are taken as src/vmm/marks.c takes them: on the vCPU's thread, on its
 * way through the exit of a mark, with everything made beforehand.
 */
#include "vmm/calibrate.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "abi/marks.h"
#include "arch/x86/boot.h"
#include "base/clock.h"
#include "kvm/stats.h"
#include "vmm/payload_priv.h"

#define TIMEOUT_NS    (60 * NS_PER_SEC)
#define NOTHING_BYTES 4

enum { STAT_EXITS, STAT_IRQS, STAT_COUNT };

static const char *const stat_names[STAT_COUNT] = {
	[STAT_EXITS] = "exits",
	[STAT_IRQS] = "irq_injections",
};

static const struct {
	unsigned int ring;
	uint64_t operations;
} primitives[CALIBRATE_PRIMITIVE_COUNT] = {
#define ROW(id, name, ring, copies, loops, about) [CALIBRATE_##id] = {ring, (copies) * (loops)},
	CALIBRATE_PRIMITIVES(ROW)
#undef ROW
};

/* The mark port, which takes the counters, and what answers the exits that are timed. */
struct watcher {
	struct device marks;
	struct device nothing;
	const struct kvm_ops *ops;
	struct kvm_stats stats;
	struct kvm_stats_pick pick;
	int schedstat_fd;
	struct calibrate_window open;
	struct calibrate_result *result;
};

static void read_counters(const struct watcher *w, struct calibrate_window *ret)
{
	struct thread_counters thread;
	uint64_t values[STAT_COUNT] = {COUNTER_NONE, COUNTER_NONE};

	if (w->stats.fd < 0 || kvm_stats_sample(&w->stats, &w->pick, values) < 0) {
		values[STAT_EXITS] = values[STAT_IRQS] = COUNTER_NONE;
	}
	thread_counters_read(w->ops, w->schedstat_fd, &thread);
	*ret = (struct calibrate_window){
		.kvm_exits = values[STAT_EXITS],
		.irqs = values[STAT_IRQS],
		.steal_ns = thread.steal_ns,
		.nivcsw = thread.nivcsw,
	};
}

static void close_window(struct watcher *w)
{
	struct calibrate_result *r = w->result;
	struct calibrate_window now;

	read_counters(w, &now);
	if (r->batches == CALIBRATE_BATCHES_MAX) {
		return;
	}
	r->windows[r->batches++] = (struct calibrate_window){
		.kvm_exits = counter_advance(w->open.kvm_exits, now.kvm_exits, 0),
		.irqs = counter_advance(w->open.irqs, now.irqs, 0),
		.steal_ns = counter_advance(w->open.steal_ns, now.steal_ns, 0),
		.nivcsw = counter_advance(w->open.nivcsw, now.nivcsw, 0),
	};
}

static void marks_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct watcher *w = (struct watcher *)d;

	if (value == MARK_WINDOW_CLOSE) {
		close_window(w);
	} else if (value == MARK_WINDOW_OPEN) {
		read_counters(w, &w->open);
	}
}

static uint64_t read_nothing(struct device *d, uint64_t offset, unsigned int size)
{
	return UINT64_MAX;
}

static void write_nothing(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
}

static const struct device_ops marks_ops = {
	.name = "mark port",
	.max_size = 1,
	.read = read_nothing,
	.write = marks_write,
};

static const struct device_ops nothing_ops = {
	.name = "nothing",
	.max_size = NOTHING_BYTES,
	.read = read_nothing,
	.write = write_nothing,
};

/* A host without some of the counters is measured on all the same. */
static int watch(struct watcher *w, struct payload_vm *vm, struct err *e)
{
	int r = kvm_stats_init(&w->stats, w->ops, vm->vcpu.fd);

	if (r < 0 && r != -ENOTTY) {
		return err_errno(e, r, "cannot read the vCPU's statistics");
	}
	kvm_stats_pick(&w->stats, stat_names, STAT_COUNT, &w->pick);
	w->schedstat_fd = w->ops->open(w->ops->ctx, THREAD_SCHEDSTAT_PATH, O_RDONLY);
	w->marks.ops = &marks_ops;
	w->nothing.ops = &nothing_ops;
	r = bus_add(&vm->ports, MARK_PORT, 1, &w->marks, 0);
	r = r < 0 ? r : bus_add(&vm->ports, CALIBRATE_PORT, NOTHING_BYTES, &w->nothing, 0);
	r = r < 0 ? r : bus_add(&vm->mmio, CALIBRATE_GPA, NOTHING_BYTES, &w->nothing, 0);
	return r < 0 ? err_errno(e, r, "cannot lay out the VM") : 0;
}

static void unwatch(struct watcher *w)
{
	kvm_stats_fini(&w->stats);
	if (w->schedstat_fd >= 0) {
		w->ops->close(w->ops->ctx, w->schedstat_fd);
	}
}

static bool uses_fsgsbase(enum calibrate_primitive which)
{
	switch (which) {
	case CALIBRATE_RDFSBASE:
	case CALIBRATE_WRFSBASE:
	case CALIBRATE_RDGSBASE:
	case CALIBRATE_WRGSBASE:
		return true;
	default:
		return false;
	}
}

/* Ring 3 cannot do it for itself. KVM refuses a bit that CPUID does not offer. */
static int allow_fsgsbase(struct payload_vm *vm, struct err *e)
{
	struct kvm_sregs sregs;
	int r = kvm_vcpu_get_sregs(&vm->vcpu, &sregs);

	if (r < 0) {
		return err_errno(e, r, "KVM gives no registers");
	}
	sregs.cr4 |= X86_CR4_FSGSBASE;
	r = kvm_vcpu_set_sregs(&vm->vcpu, &sregs, e);
	return r == -EINVAL ? err_set(e, CALIBRATE_NO_FEATURE, "guests get no FSGSBASE here") : r;
}

static int judge_end(const struct payload_outcome *out, const struct calibrate_result *result,
		     uint64_t batches, struct err *e)
{
	if (out->end != PAYLOAD_END_EXIT) {
		return err_set(e, CALIBRATE_GUEST_FAILED, "%s", out->text);
	}
	if (out->status == CALIBRATE_UNSUPPORTED) {
		return err_set(e, CALIBRATE_NO_FEATURE, "guests' processors do not have it here");
	}
	if (out->status != CALIBRATE_OK || out->block.state != PAYLOAD_DONE ||
	    out->block.value_count != CALIBRATE_VALUES * batches || result->batches != batches) {
		return err_set(e, CALIBRATE_GUEST_FAILED,
			       "the payload left no numbers (state %llu, status %u, RIP 0x%llx)",
			       (unsigned long long)out->block.state, out->status,
			       (unsigned long long)out->block.values[2]);
	}
	return 0;
}

static int run(struct watcher *w, const char *path, enum calibrate_primitive which,
	       uint64_t batches, struct err *e)
{
	_cleanup_(payload_vm_destroy_p) struct payload_vm *vm = NULL;
	struct payload_outcome out;
	int r = payload_vm_create(w->ops, path, primitives[which].ring, &vm, e);

	r = r < 0 ? r : payload_vm_set_arg(vm, 0, (uint64_t)which + 1);
	r = r < 0 ? r : payload_vm_set_arg(vm, 1, batches);
	if (r == 0 && uses_fsgsbase(which)) {
		r = allow_fsgsbase(vm, e);
	}
	r = r < 0 ? r : watch(w, vm, e);
	r = r < 0 ? r : payload_vm_run(vm, TIMEOUT_NS, &out, e);
	r = r < 0 ? r : judge_end(&out, w->result, batches, e);
	if (r == 0) {
		memcpy(w->result->ticks, out.block.values, batches * sizeof(w->result->ticks[0]));
	}
	unwatch(w);
	return r;
}

/**
 * calibrate_run() - time one primitive
 * @ops: the system calls to use; NULL for the real ones
 * @payload_path: firmware/calibrate.elf
 * @which: the primitive; it runs in the ring that the table names
 * @batches: 1 to CALIBRATE_BATCHES_MAX
 * @ret: always filled; without numbers it carries the error
 *
 * Context: a thread that may make VMs and sleep; takes SIGALRM meanwhile.
 */
void calibrate_run(const struct kvm_ops *ops, const char *payload_path,
		   enum calibrate_primitive which, uint64_t batches, struct calibrate_result *ret)
{
	struct watcher w = {
		.ops = ops ? ops : &kvm_ops_real,
		.stats = KVM_STATS_INIT,
		.schedstat_fd = -1,
		.result = ret,
	};
	struct err e = ERR_INIT;

	memset(ret, 0, sizeof(*ret));
	ret->operations = primitives[which].operations;
	ret->error = run(&w, payload_path, which, batches, &e);
	snprintf(ret->text, sizeof(ret->text), "%s", e.text);
	if (ret->error) {
		ret->batches = 0;
	}
}
