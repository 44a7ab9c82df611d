/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as GDB sees it. A software breakpoint is an INT3 in guest memory, put there by its
 * guest-physical address and hidden from whoever reads memory through here; a hardware one, or a
 * watchpoint, is a debug register of all vCPUs. All of it while every vCPU stands.
 */
#include "vmm/gdb_priv.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/walk.h"

#define INT3               0xcc
#define MSR_KERNEL_GS_BASE 0xc0000102u
/* SDM 3B 17.2: DR6 and DR7. */
#define DR6_HITS  0xfu
#define DR7_EXACT 0x600u /* LE, GE is 0x200; bit 10 reads as 1 */
#define VECTOR_DB 1u
#define VECTOR_BP 3u

static struct vcpu *vcpu_of(void *ctx, unsigned int vcpu)
{
	return &((struct gdb_server *)ctx)->m->vcpus[vcpu];
}

static unsigned int count_vcpus(void *ctx)
{
	return ((struct gdb_server *)ctx)->m->vcpu_count;
}

static int get_regs(void *ctx, unsigned int vcpu, struct gdb_regs *ret)
{
	struct kvm_vcpu *v = &vcpu_of(ctx, vcpu)->kvm;
	int r = kvm_vcpu_get_regs(v, &ret->regs);

	if (r == 0) {
		r = kvm_vcpu_get_sregs(v, &ret->sregs);
	}
	if (r == 0) {
		r = kvm_vcpu_get_fpu(v, &ret->fpu);
	}
	ret->kernel_gs_base = 0;
	if (r == 0 && kvm_vcpu_get_msr(v, MSR_KERNEL_GS_BASE, &ret->kernel_gs_base) < 0) {
		ret->kernel_gs_base = 0;
	}
	return r;
}

/* Only what differs: KVM checks what it is given, and what it gave need not pass. */
static int set_regs(void *ctx, unsigned int vcpu, const struct gdb_regs *to)
{
	struct kvm_vcpu *v = &vcpu_of(ctx, vcpu)->kvm;
	struct kvm_msr_table msrs = {.head.nmsrs = 1};
	struct gdb_regs now;
	int r = get_regs(ctx, vcpu, &now);

	if (r == 0 && memcmp(&now.regs, &to->regs, sizeof(now.regs)) != 0) {
		r = kvm_vcpu_set_regs(v, &to->regs, NULL);
	}
	if (r == 0 && memcmp(&now.sregs, &to->sregs, sizeof(now.sregs)) != 0) {
		r = kvm_vcpu_set_sregs(v, &to->sregs, NULL);
	}
	if (r == 0 && memcmp(&now.fpu, &to->fpu, sizeof(now.fpu)) != 0) {
		r = kvm_vcpu_change_fpu(v, &to->fpu);
	}
	if (r == 0 && now.kernel_gs_base != to->kernel_gs_base) {
		msrs.entries[0].index = MSR_KERNEL_GS_BASE;
		msrs.entries[0].data = to->kernel_gs_base;
		r = kvm_vcpu_set_msrs(v, &msrs, NULL);
	}
	return r;
}

/* Memory. */

/*
 * Where Linux maps its image, and where the image lies then (Documentation/arch/x86/x86_64/mm.rst,
 * "kernel text mapping, mapped to physical address 0"). It is not mapped before the kernel has done
 * so, nor in the page tables of user mode, and one wants to look at it and break in it all the
 * same.
 */
#define LINUX_IMAGE_START UINT64_C(0xffffffff80000000)
#define LINUX_IMAGE_END   UINT64_C(0xffffffffa0000000)

/* Guest-physical address of @gva and how much of the page is left, at most @bytes. */
static int find_page(void *ctx, unsigned int vcpu, uint64_t gva, size_t *bytes, uint64_t *ret_gpa)
{
	struct vcpu *v = vcpu_of(ctx, vcpu);
	size_t left = (size_t)(GMEM_PAGE_BYTES - gva % GMEM_PAGE_BYTES);
	struct kvm_sregs sregs;
	int r = kvm_vcpu_get_sregs(&v->kvm, &sregs);

	*bytes = *bytes < left ? *bytes : left;
	if (r == 0) {
		r = x86_walk(&v->m->ram.mem, &sregs, gva, ret_gpa);
	}
	if (r == -EFAULT && gva >= LINUX_IMAGE_START && gva < LINUX_IMAGE_END) {
		*ret_gpa = gva - LINUX_IMAGE_START;
		r = 0;
	}
	return r;
}

/* What the guest would find if there were no breakpoints. */
static void hide_breaks(const struct gdb_server *s, uint64_t gpa, uint8_t *buf, size_t bytes)
{
	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used && s->breaks.soft[i].gpa - gpa < bytes) {
			buf[s->breaks.soft[i].gpa - gpa] = s->breaks.soft[i].byte;
		}
	}
}

static size_t read_memory(void *ctx, unsigned int vcpu, uint64_t gva, void *buf, size_t bytes)
{
	struct gdb_server *s = ctx;
	size_t done = 0;

	while (done < bytes) {
		size_t n = bytes - done;
		uint64_t gpa;
		uint8_t *to = (uint8_t *)buf + done;

		if (find_page(ctx, vcpu, gva + done, &n, &gpa) < 0 ||
		    gmem_read(&s->m->ram.mem, gpa, to, n) < 0) {
			break;
		}
		hide_breaks(s, gpa, to, n);
		done += n;
	}
	return done;
}

/* Breakpoints stay; what was written comes out when they go. */
static void keep_breaks(struct gdb_server *s, uint64_t gpa, const uint8_t *buf, size_t bytes)
{
	const uint8_t int3 = INT3;

	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used && s->breaks.soft[i].gpa - gpa < bytes) {
			s->breaks.soft[i].byte = buf[s->breaks.soft[i].gpa - gpa];
			(void)!gmem_write(&s->m->ram.mem, s->breaks.soft[i].gpa, &int3, 1);
		}
	}
}

static int write_memory(void *ctx, unsigned int vcpu, uint64_t gva, const void *buf, size_t bytes)
{
	struct gdb_server *s = ctx;

	for (size_t done = 0; done < bytes;) {
		const uint8_t *from = (const uint8_t *)buf + done;
		size_t n = bytes - done;
		uint64_t gpa;
		int r = find_page(ctx, vcpu, gva + done, &n, &gpa);

		if (r == 0) {
			r = gmem_write(&s->m->ram.mem, gpa, from, n);
		}
		if (r < 0) {
			return r;
		}
		keep_breaks(s, gpa, from, n);
		done += n;
	}
	return 0;
}

/* Breakpoints. */

static int remove_soft(struct gdb_server *s, size_t i)
{
	s->breaks.soft[i].used = false;
	return gmem_write(&s->m->ram.mem, s->breaks.soft[i].gpa, &s->breaks.soft[i].byte, 1);
}

static int set_soft(struct gdb_server *s, unsigned int vcpu, uint64_t gva, bool on)
{
	const uint8_t int3 = INT3;
	size_t one = 1, place = GDB_SOFT_BREAKS_MAX;
	uint64_t gpa;
	int r;

	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used && s->breaks.soft[i].gva == gva) {
			return on ? 0 : remove_soft(s, i);
		}
		if (!s->breaks.soft[i].used) {
			place = i;
		}
	}
	if (!on) {
		return 0;
	}
	if (place == GDB_SOFT_BREAKS_MAX) {
		return -ENOSPC;
	}
	r = find_page(s, vcpu, gva, &one, &gpa);
	if (r == 0) {
		r = gmem_read(&s->m->ram.mem, gpa, &s->breaks.soft[place].byte, 1);
	}
	/* Two addresses of one byte: the second keeps what stood there before the first. */
	if (r == 0) {
		hide_breaks(s, gpa, &s->breaks.soft[place].byte, 1);
		r = gmem_write(&s->m->ram.mem, gpa, &int3, 1);
	}
	if (r == 0) {
		s->breaks.soft[place].used = true;
		s->breaks.soft[place].gva = gva;
		s->breaks.soft[place].gpa = gpa;
	}
	return r;
}

static int set_hard(struct gdb_server *s, enum gdb_break type, uint64_t gva, uint64_t bytes,
		    bool on)
{
	size_t place = GDB_HARD_BREAKS;

	for (size_t i = 0; i < GDB_HARD_BREAKS; i++) {
		if (!s->breaks.hard[i].used) {
			place = i;
		} else if (s->breaks.hard[i].gva == gva && s->breaks.hard[i].type == type &&
			   s->breaks.hard[i].bytes == bytes) {
			s->breaks.hard[i].used = on;
			return 0;
		}
	}
	if (!on) {
		return 0;
	}
	if (place == GDB_HARD_BREAKS) {
		return -ENOSPC;
	}
	s->breaks.hard[place].used = true;
	s->breaks.hard[place].type = type;
	s->breaks.hard[place].gva = gva;
	s->breaks.hard[place].bytes = bytes;
	return 0;
}

static int set_break(void *ctx, unsigned int vcpu, enum gdb_break type, uint64_t gva,
		     uint64_t bytes, bool on)
{
	switch (type) {
	case GDB_BREAK_SOFT:
		return set_soft(ctx, vcpu, gva, on);
	case GDB_BREAK_HARD:
		return set_hard(ctx, type, gva, 1, on);
	case GDB_WATCH_WRITE:
	case GDB_WATCH_ACCESS:
		if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || gva % bytes != 0) {
			return -EINVAL;
		}
		return set_hard(ctx, type, gva, bytes, on);
	default:
		return -EOPNOTSUPP; /* the processor cannot watch reads alone */
	}
}

static void describe(void *ctx, unsigned int vcpu, char *buf, size_t size)
{
	struct vcpu *v = vcpu_of(ctx, vcpu);
	uint32_t state;

	snprintf(buf, size, "vCPU %u, %s", vcpu,
		 kvm_vcpu_get_mp_state(&v->kvm, &state) < 0 ? "state not known"
							    : kvm_mp_state_name(state));
}

const struct gdb_target_ops gdb_machine_ops = {
	.vcpus = count_vcpus,
	.get = get_regs,
	.set = set_regs,
	.read = read_memory,
	.write = write_memory,
	.set_break = set_break,
	.describe = describe,
};

/* Going on, and what stopped it. */

static void make_debug(const struct gdb_server *s, bool step, struct kvm_guest_debug *d)
{
	static const uint8_t lengths[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};
	static const uint8_t types[] = {
		[GDB_BREAK_HARD] = 0, [GDB_WATCH_WRITE] = 1, [GDB_WATCH_ACCESS] = 3};

	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used) {
			d->control |= KVM_GUESTDBG_USE_SW_BP;
		}
	}
	for (size_t i = 0; i < GDB_HARD_BREAKS; i++) {
		if (s->breaks.hard[i].used) {
			d->control |= KVM_GUESTDBG_USE_HW_BP;
			d->arch.debugreg[i] = s->breaks.hard[i].gva;
			d->arch.debugreg[7] |=
				DR7_EXACT | UINT64_C(2) << 2 * i |
				(uint64_t)types[s->breaks.hard[i].type] << (16 + 4 * i) |
				(uint64_t)lengths[s->breaks.hard[i].bytes] << (18 + 4 * i);
		}
	}
	if (step) {
		d->control |= s->step_flags;
	}
	if (d->control) {
		d->control |= KVM_GUESTDBG_ENABLE;
	}
}

/**
 * gdb_target_resume() - let the vCPUs do what the debugger chose for each
 * @s: a server whose machine stands; its conversation has the actions
 *
 * Return: 0, or the −errno of KVM; then all still stand.
 */
int gdb_target_resume(struct gdb_server *s)
{
	struct machine *m = s->m;

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		struct kvm_guest_debug d;
		int r;

		make_debug(s, s->gdb.action[i] == GDB_STEP, &d);
		r = kvm_vcpu_set_debug(&m->vcpus[i].kvm, &d);
		if (r < 0) {
			return r;
		}
	}
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		m->vcpus[i].debug_held = s->gdb.action[i] == GDB_STAY;
	}
	machine_apply_holds(m);
	return 0;
}

/**
 * gdb_target_clear() - take all traces of a debugger out of the machine, and let it go on
 * @s: a server whose machine stands
 */
void gdb_target_clear(struct gdb_server *s)
{
	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used) {
			(void)!remove_soft(s, i);
		}
	}
	memset(&s->breaks, 0, sizeof(s->breaks));
	for (unsigned int i = 0; i < s->m->vcpu_count; i++) {
		const struct kvm_guest_debug off = {.control = 0};

		(void)!kvm_vcpu_set_debug(&s->m->vcpus[i].kvm, &off);
		atomic_store(&s->m->vcpus[i].debug_hit, false);
		s->m->vcpus[i].debug_held = false;
	}
	machine_apply_holds(s->m);
}

static bool is_watch(const struct gdb_server *s, const struct vcpu *v, size_t *ret)
{
	for (size_t i = 0; i < GDB_HARD_BREAKS; i++) {
		if (v->debug.exception == VECTOR_DB && v->debug.dr6 & DR6_HITS & 1u << i &&
		    s->breaks.hard[i].used) {
			*ret = i;
			return s->breaks.hard[i].type != GDB_BREAK_HARD;
		}
	}
	*ret = GDB_HARD_BREAKS;
	return false;
}

/**
 * gdb_target_hit() - why a vCPU came out for the debugger
 * @s: a server
 * @ret: set when one did
 *
 * Of several, one is told. A breakpoint of another is hit again when that one goes on; what it
 * watched has happened and is told the next time.
 *
 * Return: true when one did.
 */
bool gdb_target_hit(struct gdb_server *s, struct gdb_stop *ret)
{
	static const enum gdb_stop_kind kinds[] = {[GDB_BREAK_HARD] = GDB_STOP_HARD,
						   [GDB_WATCH_WRITE] = GDB_STOP_WRITE,
						   [GDB_WATCH_ACCESS] = GDB_STOP_ACCESS};
	bool found = false;

	for (unsigned int i = 0; i < s->m->vcpu_count; i++) {
		struct vcpu *v = &s->m->vcpus[i];
		size_t hard;
		bool watch;

		if (!atomic_load(&v->debug_hit)) {
			continue;
		}
		watch = is_watch(s, v, &hard);
		if (found && watch) {
			continue;
		}
		atomic_store(&v->debug_hit, false);
		if (found) {
			continue;
		}
		found = true;
		*ret = (struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = 5, .vcpu = i};
		if (v->debug.exception == VECTOR_BP) {
			ret->kind = GDB_STOP_SOFT;
		} else if (hard < GDB_HARD_BREAKS) {
			ret->kind = kinds[s->breaks.hard[hard].type];
			ret->address = s->breaks.hard[hard].gva;
		}
	}
	return found;
}

static bool is_ours(const struct gdb_server *s, uint64_t gva)
{
	for (size_t i = 0; i < GDB_SOFT_BREAKS_MAX; i++) {
		if (s->breaks.soft[i].used && s->breaks.soft[i].gva == gva) {
			return true;
		}
	}
	return false;
}

/* The thread parks before it enters the guest again, and the owner looks why. */
static void stand(struct vcpu *v)
{
	atomic_store(&v->debug_hit, true);
	atomic_fetch_or(&v->requests, VCPU_PAUSE);
	machine_notify(v->m);
}

/**
 * gdb_take_exit() - a vCPU came out with KVM_EXIT_DEBUG
 * @v: it
 *
 * An INT3 of the guest's own, as its kernel has them while it patches itself, is the guest's.
 *
 * Context: its thread.
 */
void gdb_take_exit(struct vcpu *v)
{
	const struct kvm_debug_exit_arch *d = &v->kvm.run->debug.arch;

	if (d->exception == VECTOR_BP && !is_ours(v->m->gdb, d->pc) &&
	    kvm_vcpu_inject_breakpoint(&v->kvm) == 0) {
		return;
	}
	v->debug = *d;
	stand(v);
}

/**
 * gdb_take_failure() - KVM gave up on an instruction, which may be a breakpoint
 * @v: a vCPU that came out with KVM_EXIT_INTERNAL_ERROR
 *
 * A KVM that has to interpret ring 0 does not know INT3.
 *
 * Return: true when it was one of ours, and the vCPU stands for the debugger.
 * Context: its thread.
 */
bool gdb_take_failure(struct vcpu *v)
{
	struct kvm_regs regs;

	if (v->kvm.run->internal.suberror != KVM_INTERNAL_ERROR_EMULATION ||
	    kvm_vcpu_get_regs(&v->kvm, &regs) < 0 || !is_ours(v->m->gdb, regs.rip)) {
		return false;
	}
	v->debug = (struct kvm_debug_exit_arch){.exception = VECTOR_BP, .pc = regs.rip};
	stand(v);
	return true;
}
