/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be asked of a machine. All of it on the owner's thread, but machine_read_gpa(). */
#include "vmm/vmm_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arch/x86/boot.h"
#include "arch/x86/regs_text.h"
#include "base/clock.h"

/* A vCPU's thread answers within an exit to us; one that does not is stuck in the kernel. */
#define ANSWER_SECONDS 2

static int wait_answer(struct vcpu *v)
{
	struct timespec until;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ANSWER_SECONDS;
	do {
		r = sem_clockwait(&v->answered, CLOCK_MONOTONIC, &until);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

/**
 * vcpu_fetch_state() - fill a vCPU's state, wherever the guest is
 * @v: the vCPU; a running one is made to leave the guest for a moment
 *
 * Return: 0, −ETIMEDOUT when it does not answer, or the −errno of reading it.
 * Context: the owner.
 */
int vcpu_fetch_state(struct vcpu *v)
{
	uint32_t before;
	int r;

	if (!v->started || vcpu_is_parked(v)) {
		vcpu_copy_state(v);
		return v->state.error;
	}
	/* An answer that came after we had given up is no answer to this. */
	while (sem_trywait(&v->answered) == 0) {
	}
	before = atomic_load(&v->answers);
	vcpu_request(v, VCPU_STATE);
	r = wait_answer(v);
	if (r < 0) {
		return r;
	}
	return atomic_load(&v->answers) == before ? -ETIMEDOUT : v->state.error;
}

/**
 * machine_vcpu_text() - registers of a vCPU as text, spinning, halted or stopped
 * @m: a machine
 * @vcpu: number
 * @ret_rip: gets RIP, or NULL
 * @buf: gets the text, several lines
 * @size: its size; MACHINE_VCPU_TEXT is always enough
 *
 * Return: 0; −EINVAL for no such vCPU; −ETIMEDOUT when its thread does not answer; −errno of KVM.
 * Context: the owner. Waits for the vCPU's thread, at most two seconds.
 */
int machine_vcpu_text(struct machine *m, unsigned int vcpu, uint64_t *ret_rip, char *buf,
		      size_t size)
{
	struct vcpu *v;
	char symbol[128];
	size_t n;
	int r;

	if (vcpu >= m->vcpu_count) {
		return -EINVAL;
	}
	v = &m->vcpus[vcpu];
	r = vcpu_fetch_state(v);
	if (r < 0) {
		return r;
	}
	machine_symbol(m, v->state.regs.rip, symbol, sizeof(symbol));
	n = (size_t)snprintf(buf, size, "vCPU %u, %s, %llu exits%s%s\n", vcpu,
			     kvm_mp_state_name(v->state.mp_state),
			     (unsigned long long)exit_counter_count(&v->exits.total),
			     symbol[0] ? ", at " : "", symbol);
	if (n < size) {
		x86_regs_text(&v->state.regs, &v->state.sregs, &m->ram.mem, buf + n, size - n);
	}
	if (ret_rip) {
		*ret_rip = v->state.regs.rip;
	}
	return 0;
}

/**
 * machine_vcpu_regs() - registers of a vCPU, spinning, halted or stopped
 * @m: a machine
 * @vcpu: number
 * @ret: set on success; orig_rax says that no system call was interrupted
 *
 * Return: 0; −EINVAL for no such vCPU; −ETIMEDOUT when its thread does not answer; −errno of KVM.
 * Context: the owner. Waits for the vCPU's thread, at most two seconds.
 */
int machine_vcpu_regs(struct machine *m, unsigned int vcpu, struct machine_vcpu_regs *ret)
{
	const struct kvm_sregs *s;
	const struct kvm_regs *g;
	int r = vcpu < m->vcpu_count ? vcpu_fetch_state(&m->vcpus[vcpu]) : -EINVAL;

	if (r < 0) {
		return r;
	}
	g = &m->vcpus[vcpu].state.regs;
	s = &m->vcpus[vcpu].state.sregs;
	*ret = (struct machine_vcpu_regs){
		.user = {.r15 = g->r15,
			 .r14 = g->r14,
			 .r13 = g->r13,
			 .r12 = g->r12,
			 .rbp = g->rbp,
			 .rbx = g->rbx,
			 .r11 = g->r11,
			 .r10 = g->r10,
			 .r9 = g->r9,
			 .r8 = g->r8,
			 .rax = g->rax,
			 .rcx = g->rcx,
			 .rdx = g->rdx,
			 .rsi = g->rsi,
			 .rdi = g->rdi,
			 .orig_rax = UINT64_MAX,
			 .rip = g->rip,
			 .cs = s->cs.selector,
			 .eflags = g->rflags,
			 .rsp = g->rsp,
			 .ss = s->ss.selector,
			 .fs_base = s->fs.base,
			 .gs_base = s->gs.base,
			 .ds = s->ds.selector,
			 .es = s->es.selector,
			 .fs = s->fs.selector,
			 .gs = s->gs.selector},
		.cr0 = s->cr0,
		.cr3 = s->cr3,
		.cr4 = s->cr4,
		.efer = s->efer,
	};
	return 0;
}

/**
 * machine_ram_files() - the files that guest memory is in
 * @m: a machine with ram_in_files; of another, files lack what was mapped over them
 * @files: filled in, by address
 * @max: room in it
 *
 * Return: how many were filled in.
 * Context: any thread, while the machine exists.
 */
size_t machine_ram_files(const struct machine *m, struct machine_ram_file *files, size_t max)
{
	size_t n = m->ram.count < max ? m->ram.count : max;

	for (size_t i = 0; i < n; i++) {
		const struct ram_slot *slot = &m->ram.slots[i];

		files[i] = (struct machine_ram_file){
			.fd = slot->fd, .gpa = slot->gpa, .bytes = slot->bytes};
	}
	return n;
}

/**
 * machine_symbol() - name of a kernel address
 * @m: a machine
 * @address: virtual, as the kernel was linked
 * @buf: gets "name+0xoffset", or "" when there is none
 * @size: its size, 1 and up
 *
 * Return: length of the text.
 * Context: the owner. Reads the kernel's symbol table the first time.
 */
size_t machine_symbol(struct machine *m, uint64_t address, char *buf, size_t size)
{
	const char *name;
	uint64_t offset;
	int n;

	buf[0] = '\0';
	if (!m->symbols || symbols_find(m->symbols, address, &name, &offset) < 0) {
		return 0;
	}
	n = snprintf(buf, size, "%s+0x%llx", name, (unsigned long long)offset);
	return (size_t)n < size ? (size_t)n : size - 1;
}

/**
 * machine_read_gpa() - copy guest memory
 * @m: a struct machine
 * @gpa: guest-physical address, any
 * @buf: gets the bytes
 * @bytes: how many
 *
 * Return: 0, or −EFAULT when that is not all RAM.
 * Context: any thread, while the machine exists; the guest may be writing there.
 */
int machine_read_gpa(void *m, uint64_t gpa, void *buf, size_t bytes)
{
	return gmem_read(&((struct machine *)m)->ram.mem, gpa, buf, bytes) < 0 ? -EFAULT : 0;
}

/**
 * machine_result() - how the guest ended the machine
 * @m: a machine
 *
 * Return: the result; its end is MACHINE_END_NONE as long as the guest did not.
 * Context: the owner, after "stopped" or machine_halt().
 */
const struct machine_result *machine_result(const struct machine *m)
{
	return &m->result;
}

/**
 * machine_times() - when the machine got how far
 * @m: a machine
 *
 * Return: the times.
 * Context: the owner, after "stopped" or machine_halt().
 */
const struct machine_times *machine_times(const struct machine *m)
{
	return &m->times;
}

/**
 * machine_vcpus() - number of vCPUs
 * @m: a machine
 *
 * Return: their number.
 * Context: any thread.
 */
unsigned int machine_vcpus(const struct machine *m)
{
	return m->vcpu_count;
}

/**
 * machine_marks() - the marks that the guest wrote, but those of windows
 * @m: a machine
 * @ret_count: how many there are
 * @ret_dropped: how many more there were, or NULL
 *
 * Return: array, in the order they came; it stays the machine's.
 * Context: the owner, after "stopped" or machine_halt().
 */
const struct machine_mark *machine_marks(const struct machine *m, size_t *ret_count,
					 uint64_t *ret_dropped)
{
	uint64_t count = atomic_load(&m->mark_count);

	*ret_count = count < MACHINE_MARKS_MAX ? count : MACHINE_MARKS_MAX;
	if (ret_dropped) {
		*ret_dropped = count - *ret_count;
	}
	return m->marks;
}

/**
 * machine_windows() - the batches that the guest ran
 * @m: a machine
 * @ret_count: how many there are
 * @ret_dropped: how many more there were, or NULL
 *
 * Return: array, in the order they were closed; it stays the machine's.
 * Context: the owner; those that are counted already do not change any more.
 */
const struct machine_window *machine_windows(const struct machine *m, size_t *ret_count,
					     uint64_t *ret_dropped)
{
	*ret_count = atomic_load_explicit(&m->window_count, memory_order_acquire);
	if (ret_dropped) {
		*ret_dropped = atomic_load(&m->windows_dropped);
	}
	return m->windows;
}

/**
 * machine_ns_per_tick() - how fast the host's ticks went since the start
 * @m: a machine
 *
 * It becomes better with time: what is to be compared is converted by one value of it.
 *
 * Return: nanoseconds, 0 when it is too early to say.
 * Context: any thread.
 */
double machine_ns_per_tick(const struct machine *m)
{
	uint64_t ns = clock_now_ns(&clock_monotonic) - m->start_ns;
	uint64_t passed = __rdtsc() - m->start_tsc;

	return passed == 0 ? 0 : (double)ns / (double)passed;
}

/**
 * machine_ticks_ns() - nanoseconds of host ticks, by how fast they went since the start
 * @m: a machine
 * @ticks: a span
 *
 * Return: the span, ns.
 * Context: any thread.
 */
uint64_t machine_ticks_ns(const struct machine *m, uint64_t ticks)
{
	return (uint64_t)((double)ticks * machine_ns_per_tick(m));
}

static void exits_of_vcpu(const struct vcpu *v, machine_exit_fn fn, void *ctx)
{
	const struct machine *m = v->m;
	uint64_t left_count[EXITS_REASONS];
	uint64_t left_ticks[EXITS_REASONS];

	for (unsigned int i = 0; i < EXITS_REASONS; i++) {
		left_count[i] = exit_counter_count(&v->exits.reasons[i]);
		left_ticks[i] = exit_counter_ticks(&v->exits.reasons[i]);
	}
	for (unsigned int i = 0; i < EXITS_ROWS; i++) {
		const struct exit_row *row = &v->exits.rows[i];
		uint32_t access = atomic_load_explicit(&row->access, memory_order_acquire);
		unsigned int reason =
			access == EXIT_IN || access == EXIT_OUT ? KVM_EXIT_IO : KVM_EXIT_MMIO;
		uint64_t count = exit_counter_count(&row->counter);
		uint64_t ticks = exit_counter_ticks(&row->counter);
		char detail[32];

		if (access == 0 || count == 0) {
			continue;
		}
		snprintf(detail, sizeof(detail), "%s 0x%llx", exits_access_name(access),
			 (unsigned long long)atomic_load(&row->address));
		fn(ctx, kvm_exit_name(reason), detail, count, machine_ticks_ns(m, ticks));
		left_count[reason] -= count;
		left_ticks[reason] -= ticks;
	}
	for (unsigned int i = 0; i < EXITS_REASONS; i++) {
		if (left_count[i] > 0) {
			fn(ctx, kvm_exit_name(i),
			   i == KVM_EXIT_IO || i == KVM_EXIT_MMIO ? "others" : "", left_count[i],
			   machine_ticks_ns(m, left_ticks[i]));
		}
	}
}

/**
 * machine_exits_each() - exits to user space by reason and place, vCPU after vCPU
 * @m: a machine
 * @fn: called for each with the reason, a detail like "out 0x3f8" (may be empty), how many, and
 * how long they kept us (0 when that was not measured)
 * @ctx: its first argument
 *
 * Context: the owner, after "stopped" or machine_halt().
 */
void machine_exits_each(const struct machine *m, machine_exit_fn fn, void *ctx)
{
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		exits_of_vcpu(&m->vcpus[i], fn, ctx);
	}
}

/**
 * machine_exits_total() - all exits to user space
 * @m: a machine
 * @ret_count: how many
 * @ret_ns: how long they kept us; 0 when that was not measured
 *
 * Context: the owner.
 */
void machine_exits_total(const struct machine *m, uint64_t *ret_count, uint64_t *ret_ns)
{
	uint64_t ticks = 0;

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		ticks += exit_counter_ticks(&m->vcpus[i].exits.total);
	}
	*ret_count = machine_exit_count(m);
	*ret_ns = machine_ticks_ns(m, ticks);
}

/**
 * machine_unclaimed() - accesses to ports and addresses that no device has
 * @m: a machine
 *
 * Return: their number so far.
 * Context: any thread.
 */
uint64_t machine_unclaimed(const struct machine *m)
{
	return bus_unclaimed(&m->pio) + bus_unclaimed(&m->mmio);
}

/**
 * machine_stats_each() - KVM's own statistics, of the VM and then of each vCPU
 * @m: a machine
 * @fn: called for each; a name comes once for each vCPU
 * @ctx: its first argument
 *
 * Return: 0, −ENOTTY when this KVM has none, or −errno.
 * Context: the owner.
 */
int machine_stats_each(const struct machine *m, machine_value_fn fn, void *ctx)
{
	int r = m->vm_stats.fd < 0 ? -ENOTTY : kvm_stats_each(&m->vm_stats, fn, ctx);

	for (unsigned int i = 0; i < m->vcpu_count && r == 0; i++) {
		r = kvm_stats_each(&m->vcpus[i].stats, fn, ctx);
	}
	return r;
}

/**
 * machine_kvm_api() - version of the KVM interface
 * @m: a machine
 *
 * Return: the version.
 * Context: any thread.
 */
int machine_kvm_api(const struct machine *m)
{
	return m->dev.api_version;
}

/**
 * machine_kvm_caps_each() - what this KVM answers for each capability that we look at
 * @m: a machine
 * @fn: called for each with its name and value
 * @ctx: its first argument
 *
 * Context: any thread.
 */
void machine_kvm_caps_each(const struct machine *m, machine_value_fn fn, void *ctx)
{
	size_t count;
	const struct kvm_cap *caps = kvm_caps(&count);

	for (size_t i = 0; i < count; i++) {
		fn(ctx, caps[i].name, (uint64_t)kvm_dev_cap(&m->dev, caps[i].number));
	}
}
