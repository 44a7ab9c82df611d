/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See backend_kvm.h. Runs on the main thread, which is the machine's owner. */
#include "cli/backend_kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/trim.h"
#include "cli/backend_kvm_net.h"
#include "cli/run_stats.h"
#include "engine/outcome.h"
#include "engine/term.h"
#include "vmm/vmm.h"

#define LIVENESS_PERIOD_NS (NS_PER_SEC / 4)

struct backend_kvm {
	struct backend base;
	struct machine *machine;
	const char *stats_path; /* NULL: no statistics are asked for */
	int stats_fd;
	const char *trace_path; /* likewise */
	int trace_fd;
	struct evloop_source *liveness;
	bool trimmed;
	struct kvm_nets nets;
	const struct backend_events *events;
	void *ctx;
};

static struct backend_kvm *to_kvm(struct backend *b)
{
	return (struct backend_kvm *)b;
}

/* Where the bytes of each line belong. */
static const enum backend_stream streams[MACHINE_LINES] = {
	[MACHINE_COM1] = BACKEND_CONSOLE,  [MACHINE_COM2] = BACKEND_CHANNEL,
	[MACHINE_HVC0] = BACKEND_CONSOLE,  [MACHINE_RESULTS] = BACKEND_RESULTS,
	[MACHINE_STDOUT] = BACKEND_STDOUT, [MACHINE_STDERR] = BACKEND_STDERR,
	[MACHINE_CONTROL] = BACKEND_LOG,
};

static void on_output(void *ctx, enum machine_line line, const void *data, size_t bytes)
{
	struct backend_kvm *k = ctx;

	k->events->output(k->ctx, streams[line], data, bytes);
}

static void on_input_room(void *ctx, enum machine_line line)
{
	struct backend_kvm *k = ctx;

	k->events->console_room(k->ctx);
}

static void on_mark(void *ctx, const struct machine_mark *mark)
{
	struct backend_kvm *k = ctx;
	const struct backend_mark m = {.code = mark->code,
				       .host_ns = mark->host_ns,
				       .guest_ticks = mark->guest_tsc,
				       .exits = mark->exits};

	k->events->mark(k->ctx, &m);
}

static void on_stopped(void *ctx, const struct machine_result *result)
{
	static const enum stop_reason reasons[] = {
		[MACHINE_END_NONE] = STOP_NONE,
		[MACHINE_END_EXIT_PORT] = STOP_EXIT_PORT,
		[MACHINE_END_RESET] = STOP_RESET,
		[MACHINE_END_POWER_OFF] = STOP_POWER_OFF,
		[MACHINE_END_TRIPLE_FAULT] = STOP_TRIPLE_FAULT,
		[MACHINE_END_KVM_ERROR] = STOP_KVM_ERROR,
		[MACHINE_END_HELPER_LOST] = STOP_BACKEND_DIED,
	};
	struct backend_kvm *k = ctx;

	k->events->stopped(k->ctx, reasons[result->end], result->value, result->text);
}

static void on_standing(void *ctx, bool on)
{
	struct backend_kvm *k = ctx;

	k->events->standing(k->ctx, on);
}

static void on_killed(void *ctx)
{
	struct backend_kvm *k = ctx;

	k->events->killed(k->ctx);
}

static void on_net_gone(void *ctx, unsigned int net)
{
	kvm_nets_tell_gone(&((struct backend_kvm *)ctx)->nets, net);
}

static const struct machine_callbacks callbacks = {
	.output = on_output,
	.input_room = on_input_room,
	.net_gone = on_net_gone,
	.mark = on_mark,
	.stopped = on_stopped,
	.standing = on_standing,
	.killed = on_killed,
};

/* A guest that halted or spins for good makes no exit that would tell us. */
static void on_liveness(void *ctx)
{
	struct backend_kvm *k = ctx;

	/* Not at the start, whose pages are in use until the first vCPU runs. */
	if (!k->trimmed) {
		trim_program_pages();
		k->trimmed = true;
	}
	switch (machine_liveness(k->machine)) {
	case MACHINE_HALTED:
		k->events->stopped(k->ctx, STOP_HALTED, 0, "");
		break;
	case MACHINE_SPINS:
		k->events->stopped(k->ctx, STOP_SPIN, 0,
				   "interrupts off, and neither an exit nor an interrupt in the "
				   "last seconds of its running");
		break;
	case MACHINE_ALIVE:
		break;
	}
}

static int kvm_start(struct backend *b, struct evloop *loop, const struct backend_events *events,
		     void *ctx, struct err *e)
{
	struct backend_kvm *k = to_kvm(b);
	int r;

	k->events = events;
	k->ctx = ctx;
	r = evloop_add_timer(loop, on_liveness, k, &k->liveness);
	if (r == 0) {
		r = evloop_arm_timer(k->liveness,
				     clock_now_ns(&clock_monotonic) + LIVENESS_PERIOD_NS,
				     LIVENESS_PERIOD_NS);
	}
	if (r < 0) {
		return err_errno(e, r, "the event loop");
	}
	return machine_start(k->machine, loop, &callbacks, k, e);
}

static size_t kvm_write_console(struct backend *b, const void *data, size_t len)
{
	struct machine *m = to_kvm(b)->machine;

	return machine_input(m, machine_console(m), data, len);
}

static void kvm_pause(struct backend *b, enum backend_stream stream, bool on)
{
	for (enum machine_line line = 0; line < MACHINE_LINES; line++) {
		if (streams[line] == stream) {
			machine_pause_output(to_kvm(b)->machine, line, on);
		}
	}
}

static int kvm_freeze(struct backend *b, bool on)
{
	machine_pause(to_kvm(b)->machine, on);
	return 0;
}

static uint64_t kvm_exits(struct backend *b)
{
	uint64_t count, ns;

	machine_exits_total(to_kvm(b)->machine, &count, &ns);
	return count;
}

static void kvm_halt(struct backend *b)
{
	struct backend_kvm *k = to_kvm(b);

	evloop_remove(k->liveness);
	k->liveness = NULL;
	machine_halt(k->machine);
}

static size_t kvm_registers(struct backend *b, struct backend_cpu_state *cpus, size_t max)
{
	struct machine *m = to_kvm(b)->machine;
	size_t n = machine_vcpus(m) < max ? machine_vcpus(m) : max;

	for (size_t i = 0; i < n; i++) {
		struct machine_vcpu_regs regs = {.cr0 = 0};
		char text[MACHINE_VCPU_TEXT];
		int r = machine_vcpu_text(m, (unsigned int)i, &cpus[i].rip, text, sizeof(text));

		if (r < 0) {
			cpus[i].rip = 0;
			snprintf(text, sizeof(text), "(its registers cannot be read: %s)\n",
				 strerror(-r));
		}
		cpus[i].text = strdup(text);
		if (!cpus[i].text) {
			return i;
		}
		if (r == 0) {
			/* On failure they stay all zero, which says that they are not known. */
			r = machine_vcpu_regs(m, (unsigned int)i, &regs);
		}
		cpus[i].regs = regs.user;
		cpus[i].cr0 = regs.cr0;
		cpus[i].cr3 = regs.cr3;
		cpus[i].cr4 = regs.cr4;
		cpus[i].efer = regs.efer;
	}
	return n;
}

static int kvm_read_gpa(struct backend *b, uint64_t gpa, void *buf, size_t len)
{
	return machine_read_gpa(to_kvm(b)->machine, gpa, buf, len);
}

static int kvm_nmi(struct backend *b)
{
	machine_nmi(to_kvm(b)->machine, 0);
	return 0;
}

static size_t kvm_memory(struct backend *b, struct backend_memory *pieces, size_t max)
{
	struct machine_ram_file files[8];
	size_t n = machine_ram_files(to_kvm(b)->machine, files, ARRAY_SIZE(files));

	n = n < max ? n : max;
	for (size_t i = 0; i < n; i++) {
		pieces[i] = (struct backend_memory){
			.fd = files[i].fd, .gpa = files[i].gpa, .bytes = files[i].bytes};
	}
	return n;
}

/* The same place comes once for each vCPU: the record has it once. */
static void add_exit(void *ctx, const char *reason, const char *detail, uint64_t count, uint64_t ns)
{
	struct record_boot *r = ctx;
	struct record_exit *x;

	for (size_t i = 0; i < r->exit_count; i++) {
		x = &r->exits[i];
		if (strcmp(x->reason, reason) == 0 && strcmp(x->detail, detail) == 0) {
			x->count += count;
			x->ns += ns;
			return;
		}
	}
	x = reallocarray(r->exits, r->exit_count + 1, sizeof(*x));
	if (!x) {
		return; /* the totals are still right */
	}
	r->exits = x;
	x = &r->exits[r->exit_count++];
	snprintf(x->reason, sizeof(x->reason), "%s", reason);
	snprintf(x->detail, sizeof(x->detail), "%s", detail);
	x->count = count;
	x->ns = ns;
}

/* Values of the same name are added up: they come once for each vCPU. */
static void add_value(void *ctx, const char *name, uint64_t value)
{
	json_t *before = json_object_get(ctx, name);

	json_object_set_new(ctx, name,
			    json_integer(json_integer_value(before) + (json_int_t)value));
}

static int collect_windows(const struct machine *m, struct record_boot *r)
{
	size_t n;
	const struct machine_window *from = machine_windows(m, &n, NULL);

	r->windows = calloc(n + 1, sizeof(*r->windows));
	if (!r->windows) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		/* Both sides say "not known" with the same number. */
		r->windows[i] = (struct record_window){.open_tsc = from[i].open_tsc,
						       .exits = from[i].exits,
						       .kvm_exits = from[i].kvm_exits,
						       .irqs = from[i].irqs,
						       .steal_ns = from[i].steal_ns,
						       .nivcsw = from[i].nivcsw};
	}
	r->window_count = n;
	return 0;
}
_Static_assert(MACHINE_NO_VALUE == RECORD_NEVER, "windows are copied as they are");

static uint64_t since(uint64_t ns, uint64_t exec_ns)
{
	return ns ? ns - exec_ns : RECORD_NEVER;
}

/* What --trace and --stats asked for. */
static int write_own_files(struct backend_kvm *k, struct err *e)
{
	int r = machine_trace_finish(k->machine);

	if (r < 0) {
		return err_errno(e, r, "--trace %s", k->trace_path);
	}
	return k->stats_path ? run_stats_write(k->stats_path, k->stats_fd, k->machine, e) : 0;
}

static int kvm_collect(struct backend *b, struct record_boot *r, uint64_t exec_ns, struct err *e)
{
	const struct machine *m = to_kvm(b)->machine;
	const struct machine_times *t = machine_times(m);
	json_t *caps = json_object(), *stats = json_object();

	r->backend = "kvm";
	snprintf(r->cpu_print, sizeof(r->cpu_print), "%016" PRIx64, machine_cpu_print(m));
	r->phase_ns[RECORD_LOAD] = since(t->loaded_ns, exec_ns);
	r->phase_ns[RECORD_FIRST_RUN] = since(t->first_run_ns, exec_ns);
	if (t->ended_ns) {
		r->phase_ns[RECORD_EXIT] = since(t->ended_ns, exec_ns);
	}
	machine_exits_each(m, add_exit, r);
	machine_exits_total(m, &r->exits_total, &r->exits_user_ns);
	if (machine_stats_each(m, add_value, stats) == 0) {
		r->kvm_stats = json_incref(stats);
	}
	json_decref(stats);
	machine_kvm_caps_each(m, add_value, caps);
	r->kvm = json_pack("{s:i, s:o}", "api", machine_kvm_api(m), "caps", caps);
	if (collect_windows(m, r) < 0 || !r->kvm) {
		return err_set(e, -ENOMEM, "the record: out of memory");
	}
	return write_own_files(to_kvm(b), e);
}

/* The machine's threads are stopped and continued with the rest of the process. */
static void kvm_suspend(struct backend *b, bool on)
{
}

static void kvm_destroy(struct backend *b)
{
	struct backend_kvm *k = to_kvm(b);

	evloop_remove(k->liveness);
	machine_destroy(k->machine);
	if (k->stats_fd >= 0) {
		close(k->stats_fd);
	}
	kvm_nets_close(&k->nets);
	if (k->trace_fd >= 0) {
		close(k->trace_fd);
	}
	free(k);
}

static const struct backend_ops kvm_backend_ops = {
	.start = kvm_start,
	.write_console = kvm_write_console,
	.pause = kvm_pause,
	.halt = kvm_halt,
	.registers = kvm_registers,
	.read_gpa = kvm_read_gpa,
	.memory = kvm_memory,
	.nmi = kvm_nmi,
	.collect = kvm_collect,
	.freeze = kvm_freeze,
	.exits = kvm_exits,
	.suspend = kvm_suspend,
	.destroy = kvm_destroy,
};

/*
 * The initrd as one file: guest memory is a mapping of it, so that nothing is copied here. An
 * initramfs of our own is put together in a memory file.
 */
static int open_initrd(const struct backend_config *cfg, struct machine_piece *ret, struct err *e)
{
	_cleanup_close_ int fd = -1;
	const char *name = cfg->initrd_path ? cfg->initrd_path : "the initramfs";
	size_t bytes = 0;
	struct stat st;
	void *at;
	int r;

	if (cfg->initramfs) {
		bytes = initramfs_bytes(cfg->initramfs);
		fd = memfd_create("ringside-initramfs", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0) {
			return err_errno(e, -errno, "%s", name);
		}
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED) {
			return err_errno(e, -errno, "%s", name);
		}
		r = initramfs_copy(cfg->initramfs, at, e);
		munmap(at, bytes);
		if (r < 0) {
			return r;
		}
	} else {
		fd = open(cfg->initrd_path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0) {
			return err_errno(e, -errno, "--initrd %s", name);
		}
		bytes = (size_t)st.st_size;
	}
	*ret = (struct machine_piece){.fd = TAKE_FD(fd), .bytes = bytes};
	return 0;
}

/* A guest that sees less than the file holds is to be known. */
static void warn_of_tails(const struct backend_config *cfg, const struct machine *m)
{
	for (unsigned int i = 0; i < cfg->disk_count; i++) {
		uint32_t bytes = machine_disk_tail(m, i);

		if (bytes > 0) {
			log_warn("disk %s: its last %u bytes are no whole sector, and the guest "
				 "does not see them",
				 cfg->disks[i].path, bytes);
		}
	}
}

/* The disks and the shares, as many as @cfg has of each. */
static void name_files(const struct backend_config *cfg, struct machine_disk *disks,
		       struct machine_share *shares)
{
	for (size_t i = 0; i < cfg->disk_count; i++) {
		disks[i] = (struct machine_disk){.path = cfg->disks[i].path,
						 .read_only = cfg->disks[i].read_only,
						 .direct = cfg->disks[i].direct};
	}
	for (size_t i = 0; i < cfg->share_count; i++) {
		shares[i] = (struct machine_share){.path = cfg->shares[i].path,
						   .read_only = cfg->shares[i].read_only};
	}
}

/* Files for statistics and the trace, before the machine is made. */
static int open_outputs(struct backend_kvm *k, const struct backend_config *cfg, struct err *e)
{
	int r = 0;

	k->stats_path = cfg->stats_path;
	k->trace_path = cfg->trace_path;
	k->stats_fd = k->trace_fd = -1;
	if (cfg->stats_path) {
		r = run_stats_open("stats", cfg->stats_path, &k->stats_fd, e);
	}
	if (r == 0 && cfg->trace_path) {
		r = run_stats_open("trace", cfg->trace_path, &k->trace_fd, e);
	}
	return r;
}

/**
 * backend_kvm_create() - build a machine of our own, with the guest in its memory
 * @cfg: what is to run; only needed during the call
 * @memory: what guest memory is made of
 * @cpu: what its processors are to offer; only needed during the call
 * @clock: what the guest is to keep time by
 * @seccomp: the mode of the threads' filters, and what this program does on them beside the machine
 * @ret: set on success; end it with backend_destroy()
 * @e: set on failure; about KVM itself it starts with one of doctor's check ids, "kvm-..."
 *
 * Return: 0, or what machine_build() or reading the initrd gave: a negative errno.
 * Context: the thread that will run the event loop.
 */
int backend_kvm_create(const struct backend_config *cfg, const struct machine_memory *memory,
		       const struct x86_cpu_spec *cpu, enum x86_clock clock,
		       const struct sandbox_config *seccomp, struct backend **ret, struct err *e)
{
	struct machine_piece piece = {.fd = -1};
	struct machine_disk disks[BACKEND_DISKS_MAX];
	struct machine_share shares[BACKEND_SHARES_MAX];
	struct machine_config machine = {
		.kernel_path = cfg->kernel_path,
		.symbols_path = cfg->symbols_path,
		.cmdline = cfg->append,
		.initrd = &piece,
		.memory_bytes = cfg->memory_bytes,
		.memory = *memory,
		.cpus = cfg->cpus,
		.cpu = cpu,
		.clock = clock,
		.entry = cfg->pvh ? MACHINE_ENTRY_PVH : MACHINE_ENTRY_RING_0,
		.acpi = cfg->acpi,
		.disks = disks,
		.disk_count = cfg->disk_count,
		.rng = cfg->rng,
		.shares = shares,
		.share_count = cfg->share_count,
		.vsock_path = cfg->vsock_path,
		.vsock_cid = cfg->vsock_cid,
		.channel = cfg->channel,
		.time_exits = true,
		.pin = cfg->pin,
		.exit_stats = cfg->stats_path != NULL,
		.ram_in_files = cfg->whole_memory,
		.unrecorded = !cfg->recorded && !cfg->channel,
		.gdb = cfg->gdb,
		.gdb_nowait = cfg->gdb_nowait,
		.seccomp = {.mode = seccomp->mode,
			    .features = seccomp->features,
			    .status = OUTCOME_VMM_FAULT,
			    .before_end = term_restore},
	};
	struct backend_kvm *k = calloc(1, sizeof(*k));
	int r;

	if (!k) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	k->base.ops = &kvm_backend_ops;
	r = open_outputs(k, cfg, e);
	machine.trace = cfg->trace_path != NULL;
	machine.trace_fd = k->trace_fd;
	name_files(cfg, disks, shares);
	if (r == 0 && (cfg->initramfs || cfg->initrd_path)) {
		r = open_initrd(cfg, &piece, e);
		machine.initrd_count = 1;
	}
	if (r == 0) {
		r = kvm_nets_open(&k->nets, cfg, e);
		machine.nets = k->nets.net;
		machine.net_count = cfg->net_count;
	}
	if (r == 0) {
		r = machine_build(&machine, &k->machine, e);
	}
	if (piece.fd >= 0) {
		close(piece.fd);
	}
	if (r < 0) {
		kvm_destroy(&k->base);
		return r;
	}
	kvm_nets_built(&k->nets);
	warn_of_tails(cfg, k->machine);
	if (cfg->gdb) {
		log_warn("gdb: target remote %s%s", machine_gdb_address(k->machine),
			 cfg->gdb_nowait ? "" : "; the guest waits for it");
	}
	*ret = &k->base;
	return 0;
}
