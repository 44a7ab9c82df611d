/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "ringside run": one boot. Reads as stages: options, places for the output, the guest's parts, the
 * backend, the session, the record.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/backend_kvm.h"
#include "cli/class_detect.h"
#include "cli/commands.h"
#include "cli/helpers.h"
#include "cli/run_decoder.h"
#include "cli/run_devices.h"
#include "cli/run_guest.h"
#include "cli/run_kernel.h"
#include "cli/run_lacks.h"
#include "cli/run_memory.h"
#include "cli/run_net.h"
#include "cli/run_options.h"
#include "cli/run_pin.h"
#include "cli/run_provenance.h"
#include "cli/run_shares.h"
#include "cli/run_status.h"
#include "cli/run_words.h"
#include "engine/backend_qemu.h"
#include "engine/control_path.h"
#include "engine/session.h"

#define CPUID_VMX (1u << 5) /* leaf 1, ECX */
#define CPUID_SVM (1u << 2) /* leaf 0x80000001, ECX */

struct run {
	struct run_options o;
	uint64_t exec_ns;
	char kernel_path[PATH_MAX];
	char *append;
	char cpu_flags[X86_CPU_QEMU_MAX];
	struct initramfs *initramfs;
	struct run_disks disks;
	struct run_vsock vsock;
	unsigned int pin[PIN_HOST_CPUS_MAX]; /* with --pin: the processor of each vCPU */
	int json_fd, console_fd, symbols_fd;
	struct status_file status;
	struct run_shares shares;
	struct run_nets nets;
	struct draft core; /* with --core */
	struct control_socket control;
	bool close_json; /* it is a file that we opened */
	bool qemu;
	struct class_result class; /* of this machine, once class_detected */
	bool class_detected;
	struct provenance_helper provenance;
	struct decoder decoder;
	struct backend *backend; /* until the session takes it */
	struct record_boot record;
	struct outcome outcome;
};

static int open_output(const char *option, const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0) {
		return err_errno(e, -errno, "--%s %s", option, path);
	}
	*ret_fd = fd;
	return 0;
}

static int open_json(struct run *run, struct err *e)
{
	const char *where = run->o.json;
	uint64_t fd;

	if (!where) {
		return 0;
	}
	if (text_parse_u64(where, &fd) < 0) {
		run->close_json = true;
		return open_output("json", where, &run->json_fd, e);
	}
	if (fd > INT_MAX || fcntl((int)fd, F_GETFD) < 0) {
		return err_set(e, -EBADF, "--json %s: no open descriptor has this number", where);
	}
	run->json_fd = (int)fd;
	return 0;
}

static int open_outputs(struct run *run, struct err *e)
{
	int r = open_json(run, e);

	if (r == 0) {
		r = status_file_open(&run->status, run->o.status_file, e);
	}
	if (r == 0 && run->o.console) {
		r = open_output("console", run->o.console, &run->console_fd, e);
	} else if (r == 0 && !run_options_has_job(&run->o)) {
		run->console_fd = STDOUT_FILENO;
	}
	return r == 0 && run->o.core ? draft_open(&run->core, "--core", run->o.core, e) : r;
}

/* Where the vCPUs run, for the record, and whether there are enough processors for them. */
static int place_vcpus(struct run *run, struct err *e)
{
	const struct run_options *o = &run->o;
	_cleanup_free_ struct pin_host *host = malloc(sizeof(*host));
	json_t *pin = NULL;
	int r = host ? pin_host_read(o->pin != NULL, host, e)
		     : err_set(e, -ENOMEM, "out of memory");

	if (r == 0 && o->pin) {
		r = pin_choose(o->pin, (unsigned int)o->cpus, host, run->pin, e);
		pin = json_array();
	}
	if (r < 0) {
		return r;
	}
	for (uint64_t i = 0; pin && i < o->cpus; i++) {
		json_array_append_new(pin, json_integer(run->pin[i]));
	}
	run->record.memory = run_memory_to_json(o->memory_bytes, &o->memory);
	run->record.vcpus = json_pack("{s:I, s:o, s:I, s:b}", "count", (json_int_t)o->cpus, "pin",
				      pin ? pin : json_null(), "host", (json_int_t)host->count,
				      "overcommit", (int)(o->cpus > host->count));
	if (o->cpus > host->count) {
		log_warn("%llu vCPUs on %zu processor%s: they take turns, and times mean little",
			 (unsigned long long)o->cpus, host->count, host->count == 1 ? "" : "s");
	}
	return 0;
}

static int prepare(struct run *run, struct err *e)
{
	const struct run_parts parts = {&run->disks, &run->vsock, &run->shares, &run->nets};
	int r = open_outputs(run, e);

	if (r == 0) {
		r = place_vcpus(run, e);
	}
	if (r == 0) {
		r = cli_find_kernel(run->o.kernel, run->kernel_path, sizeof(run->kernel_path), e);
	}
	if (r == 0 && run->o.kernel_debug) {
		r = run_kernel_check_debug(run->kernel_path, run->o.kernel_debug, e);
	}
	if (r == 0) {
		r = run_parts_parse(&run->o, &parts, e);
	}
	if (r == 0 && run->o.name) {
		r = control_socket_open(run->o.name, &run->control, e);
		r = r < 0 ? err_prefix(e, "--name") : 0;
	}
	if (r == 0 && run_options_has_job(&run->o)) {
		r = run_guest_initramfs(&run->o, &run->shares, &run->nets, &run->initramfs, e);
	}
	return r;
}

static void detect_class(struct run *run)
{
	if (!run->class_detected) {
		class_detect(&run->class);
		run->class_detected = true;
	}
}

/* Decide for --backend auto, and say why. */
static void choose_backend(struct run *run)
{
	const struct run_options *o = &run->o;

	if (o->lab || o->icount != RUN_ICOUNT_OFF || strcmp(o->backend, "auto") != 0) {
		run->qemu = strcmp(o->backend, "kvm") != 0;
		return;
	}
	detect_class(run);
	run->qemu = !run->class.known || !exec_class_runs_kernels(run->class.class);
	log_info("backend %s: %s", run->qemu ? "qemu" : "kvm", run->class.evidence);
}

/*
 * KVM without hardware virtualisation under it interprets ring 0: a kernel crawls, or dies of an
 * instruction that the interpreter lacks. Only a CPU that shows neither SVM nor VMX is worth the
 * measurement.
 */
static int check_ring0(struct run *run, struct err *e)
{
	unsigned int a, b, c = 0, d;
	bool virt = (__get_cpuid(1, &a, &b, &c, &d) && (c & CPUID_VMX)) ||
		    (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c & CPUID_SVM));

	if (run->qemu || virt || run->o.force) {
		return 0;
	}
	detect_class(run);
	if (run->class.known && !exec_class_runs_kernels(run->class.class)) {
		return err_set(e, -ENODEV,
			       "ring0: this machine's KVM does not run kernels: %s; take "
			       "--backend qemu, or tools/lab",
			       run->class.evidence);
	}
	return 0;
}

/* What only our own machine has is an error elsewhere, and not passed over in silence. */
static int check_needs_kvm(const struct run *run, struct err *e)
{
	const struct {
		const char *option;
		bool given;
	} rows[] = {
		{"pin", run->o.pin != NULL},         {"stats", run->o.stats != NULL},
		{"vsock", run->vsock.path != NULL},  {"clock", run->o.clock_kind != X86_CLOCK_AUTO},
		{"pages", run->o.pages != NULL},     {"prefault", run->o.memory.prefault},
		{"lock-memory", run->o.memory.lock}, {"net fd=N", run_nets_has_fd(&run->nets)},
		{"trace", run->o.trace != NULL},     {"seccomp", run->o.seccomp != NULL},
	};

	for (size_t i = 0; run->qemu && i < ARRAY_SIZE(rows); i++) {
		if (rows[i].given) {
			return err_set(e, -EINVAL, "--%s needs --backend kvm", rows[i].option);
		}
	}
	return 0;
}

static void tell_lacks(const void *ctx)
{
	const struct run *run = ctx;

	run_lacks_tell(&run->o, open(run->kernel_path, O_RDONLY | O_CLOEXEC));
}

static struct provenance_wish provenance_wish(const struct run *run)
{
	return (struct provenance_wish){
		.kernel_path = run->o.kernel_sha256 ? NULL : run->kernel_path,
		.class = !run->qemu && !run->class_detected,
		.look = tell_lacks,
		.ctx = run,
	};
}

/* A look at the kernel's configuration alone takes no more than the descriptor that is open. */
static bool needs_helper(const struct run *run)
{
	return run->json_fd >= 0 || run->o.kernel_debug;
}

/* What is needed when the machine runs or has ended, and what its filters do not allow then. */
static int prepare_the_end(struct run *run, struct err *e)
{
	const struct provenance_wish wish = provenance_wish(run);

	/* Without it, addresses have no names. */
	run->symbols_fd = open(run->o.kernel_debug ? run->o.kernel_debug : run->kernel_path,
			       O_RDONLY | O_CLOEXEC);
	run_decoder_start(run->symbols_fd, &run->decoder);
	if (run->qemu || !needs_helper(run)) {
		return 0;
	}
	return provenance_start(&run->provenance, &wish, e);
}

static int create_backend(struct run *run, const struct backend_config *common, struct err *e)
{
	const struct backend_qemu_config cfg = {
		.common = *common,
		.icount_shift = run->o.icount == RUN_ICOUNT_OFF ? BACKEND_QEMU_ICOUNT_OFF
								: (int)run->o.icount,
		.lab = run->o.lab,
		.rw = run->o.rw.items,
	};
	const struct sandbox_config seccomp = {
		.mode = run->o.seccomp_mode,
		.features = (run->o.name ? SANDBOX_CTL : 0) | (run->o.core ? SANDBOX_CORE : 0),
	};

	return run->qemu ? backend_qemu_create(&cfg, &run->backend, e)
			 : backend_kvm_create(common, &run->o.memory, &run->o.cpu_spec,
					      run->o.clock_kind, &seccomp, &run->backend, e);
}

/* Is there a device that no PC has by itself, or is it recorded who tells the kernel of them? */
static bool acpi_matters(const struct run *run)
{
	return run->qemu || run->json_fd >= 0 || run_options_has_job(&run->o) ||
	       run->disks.count > 0 || run->o.rng || run->shares.count > 0 || run->nets.count > 0 ||
	       run->vsock.path || strstr(run->append, "hvc");
}

static int make_backend(struct run *run, struct err *e)
{
	const char *const *initrds = run->o.initrds.items;
	struct backend_config common = {
		.kernel_path = run->kernel_path,
		.symbols_path = run->o.kernel_debug,
		.initramfs = run->initramfs,
		.initrd_path = run->initramfs || !run->o.initrds.count ? NULL : initrds[0],
		.cpus = (unsigned int)run->o.cpus,
		.memory_bytes = run->o.memory_bytes,
		.disks = run->disks.disk,
		.disk_count = run->disks.count,
		.rng = run->o.rng,
		.shares = run->shares.share,
		.share_count = run->shares.count,
		.nets = run->nets.net,
		.net_count = run->nets.count,
		.vsock_path = run->vsock.path,
		.vsock_cid = run->vsock.cid,
		.pin = run->o.pin ? run->pin : NULL,
		.channel = run_options_has_job(&run->o),
		.recorded = run->json_fd >= 0,
		.stats_path = run->o.stats,
		.gdb = run->o.gdb ? run->o.gdb_where : NULL,
		.gdb_nowait = run->o.gdb_nowait,
		.trace_path = run->o.trace,
		.whole_memory = run->o.core != NULL,
	};
	int r;

	choose_backend(run);
	r = check_needs_kvm(run, e);
	if (r == 0) {
		r = check_ring0(run, e);
	}
	if (r < 0) {
		return r;
	}
	r = run_guest_append(&run->o, run->kernel_path, run->qemu, &run->append, e);
	if (r < 0) {
		return r;
	}
	r = run_kernel_entry(&run->o, run->kernel_path, run->qemu, &common.pvh, e);
	if (r < 0) {
		return r;
	}
	common.append = run->append;
	run->record.clock = run->qemu ? NULL : run->o.clock;
	run->record.entry = common.pvh ? "pvh" : run->qemu ? "qemu" : "linux64";
	common.acpi = run->record.acpi =
		run_kernel_acpi(&run->o, run->kernel_path, run->append, acpi_matters(run));
	common.cpu_flags = run->cpu_flags;
	if (run->qemu && common.gdb && strcmp(common.gdb, "0") == 0) {
		return err_set(e, -EINVAL,
			       "--gdb 0 needs --backend kvm: QEMU does not tell its port");
	}
	if (run->qemu) {
		r = x86_cpu_spec_qemu(&run->o.cpu_spec, run->cpu_flags, e);
		if (r < 0) {
			return r;
		}
	}
	r = prepare_the_end(run, e);
	return r < 0 ? r : create_backend(run, &common, e);
}

static int run_session(struct run *run, struct err *e)
{
	bool job = run_options_has_job(&run->o);
	const struct session_config cfg = {
		.backend = run->backend,
		.kernel_path = run->kernel_path,
		.symbols_fd = run->symbols_fd,
		.decoder = &run->decoder,
		.core = run->o.core ? &run->core : NULL,
		.job = job,
		.cpus = (unsigned int)run->o.cpus,
		.console_fd = run->console_fd,
		.console_name = run->o.console ? run->o.console : "stdout",
		.console_stamps = run->o.console_stamps,
		.input_fd = job || run->o.console ? -1 : STDIN_FILENO,
		.timeout_ns = run->o.timeout_ns,
		.boot_timeout_ns = run->o.boot_timeout_ns,
		.fail_on = run->o.fail_on_mask,
		.allow = run->o.allowed,
		.hang_ns = job ? run->o.hang_timeout_ns : 0,
		.nmi = run->o.nmi,
		.exec_ns = run->exec_ns,
		.name = run->o.name,
		.control = &run->control,
		.backend_name = run->qemu ? "qemu" : "kvm",
		.memory_bytes = run->o.memory_bytes,
		.vcpus = (unsigned int)run->o.cpus,
	};

	run->backend = NULL;
	return session_run(&cfg, &run->record, &run->outcome, e);
}

/* Only now, when nothing waits for it: the kernel's hash reads all of the file. */
static int fill_provenance(struct run *run, struct err *e)
{
	struct provenance_wish wish = provenance_wish(run);
	struct record_boot *r = &run->record;
	struct provenance found;

	if (run->provenance.pid > 0) {
		int error = provenance_fetch(&run->provenance, &found, e);

		if (error < 0) {
			return error;
		}
	} else {
		if (run->outcome.kind == OUTCOME_KIND_USAGE) {
			wish.kernel_path = NULL;
		}
		provenance_collect(&wish, &found);
	}
	if (wish.class) {
		run->class = found.class;
		run->class_detected = true;
	}
	r->host = json_loads(found.host, 0, NULL);
	if (strcmp(r->backend, "kvm") == 0) {
		r->exec_class = run->class.known ? run->class.class : EXEC_NATIVE;
		r->icount_shift = run->class.icount_shift;
	}
	r->seccomp = run->qemu ? NULL : sandbox_mode_name(run->o.seccomp_mode);
	if (run->o.kernel_sha256) {
		r->kernel_sha256 = strdup(run->o.kernel_sha256);
	} else if (run->outcome.kind != OUTCOME_KIND_USAGE) {
		r->kernel_sha256 = found.error ? NULL : strdup(found.sha256);
		return found.error ? err_set(e, found.error, "%s", found.text) : 0;
	}
	return 0;
}

static int fill_record(struct run *run, struct err *e)
{
	const struct outcome *o = &run->outcome;
	struct record_boot *r = &run->record;

	r->status = o->status;
	r->outcome_kind = outcome_kind_name(o->kind);
	r->has_guest_status = o->has_guest_status;
	r->guest_status = o->guest_status;
	r->outcome_text = strdup(o->text);
	r->kernel_path = run->kernel_path[0] ? strdup(run->kernel_path) : NULL;
	r->append = run->append ? strdup(run->append) : NULL;
	r->cpu_asked = run->o.cpu ? strdup(run->o.cpu) : NULL;
	r->cpu_pmu = run->o.cpu_spec.pmu;
	r->files = run_shares_to_json(&run->shares, &run->disks);
	r->nets = run_nets_to_json(&run->nets);
	if (record_cpu_of_guest(r)) {
		log_warn("the guest finds another CPUID than KVM was told%s%s",
			 run->o.cpu ? ": it does not apply --cpu " : "",
			 run->o.cpu ? run->o.cpu : "");
	}
	return fill_provenance(run, e);
}

static int write_record(struct run *run, struct err *e)
{
	json_t *line;
	int r;

	if (run->json_fd < 0) {
		return 0;
	}
	r = fill_record(run, e);
	if (r < 0) {
		return r;
	}
	line = record_boot_to_json(&run->record);
	if (!line) {
		return err_set(e, -ENOMEM, "the record: out of memory");
	}
	r = record_json_write_line(run->json_fd, line);
	json_decref(line);
	return r < 0 ? err_errno(e, r, "--json %s", run->o.json) : 0;
}

/* What could not be written is told, and is the status unless there is a worse one already. */
static void finish(struct run *run)
{
	struct err e = ERR_INIT;
	int r = status_file_write(&run->status, &run->outcome, &e);

	if (r == 0) {
		r = write_record(run, &e);
	}
	if (r < 0) {
		log_error("%s", e.text);
		if (run->outcome.status <= OUTCOME_GUEST_MAX) {
			run->outcome.status = OUTCOME_USAGE;
		}
	}
}

static void run_fini(struct run *run)
{
	control_socket_close(&run->control);
	backend_destroy(run->backend);
	provenance_fini(&run->provenance);
	decoder_end(&run->decoder);
	initramfs_destroy(run->initramfs);
	run_disks_fini(&run->disks);
	run_nets_fini(&run->nets);
	run_vsock_fini(&run->vsock);
	run_shares_fini(&run->shares);
	record_boot_fini(&run->record);
	free(run->append);
	if (run->close_json && run->json_fd >= 0) {
		close(run->json_fd);
	}
	if (run->o.console && run->console_fd >= 0) {
		close(run->console_fd);
	}
	status_file_close(&run->status);
	draft_close(&run->core);
	if (run->o.allowed) {
		console_allow_destroy(run->o.allowed);
	}
	if (run->symbols_fd >= 0) {
		close(run->symbols_fd);
	}
}

/**
 * cmd_run() - "ringside run"
 * @argc: number of words, the command's name first
 * @argv: the words
 *
 * Return: the exit status: the guest's, or one of engine/outcome.h.
 * Context: the main thread. Ends the process by the signal that ended the run, if one did.
 */
int cmd_run(int argc, char **argv)
{
	/* Five pages: here they are zeroed as they are used, on the stack all at once. */
	static struct run run;
	struct err e = ERR_INIT;
	int outputs, status, r;

	run.exec_ns = clock_process_start_ns();
	run.json_fd = run.console_fd = run.symbols_fd = run.control.fd = -1;
	run.core = DRAFT_INIT;
	record_json_seed();
	r = run_options_parse(&run.o, argc, argv, &e);
	outputs = run_options_check_outputs(&run.o, r == 0 ? &e : NULL);
	r = r == 0 ? outputs : r;
	run.status = (struct status_file){.path = run.o.status_file, .fd = -1};
	if (r == OPT_SHOWN_HELP) {
		return 0;
	}
	record_boot_init(&run.record);
	if (r == 0) {
		r = prepare(&run, &e);
	}
	if (r == 0) {
		r = make_backend(&run, &e);
	}
	if (r == 0) {
		r = run_session(&run, &e);
	}
	if (r < 0) {
		run_status_of_error(&e, &run.outcome);
	} else if (run_lacks_due(&run.o, &run.outcome, &run.record) &&
		   (!run.provenance.pid || provenance_look(&run.provenance) < 0)) {
		run_lacks_tell(&run.o, TAKE_FD(run.symbols_fd));
	}
	finish(&run);
	status = run.outcome.status;
	run_fini(&run);
	if (run.outcome.kind == OUTCOME_KIND_SIGNAL) {
		cli_end_by_signal(status - OUTCOME_SIGNAL_BASE);
	}
	return status;
}
