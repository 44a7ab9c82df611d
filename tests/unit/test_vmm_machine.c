/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/marks.h"
#include "base/clock.h"
#include "fake_kvm.h"
#include "hw/gmem.h"
#include "vmm/vmm.h"

#define KERNEL_GPA UINT64_C(0x100000)
#define KVM_TEXT   "KVM_RUN of vCPU 0: "

static struct fake_kvm fake;
static struct evloop *loop;
static struct machine *machine;
static char kernel_path[64];
static int kernel_fd;

/* What the events said. */
static struct {
	char output[MACHINE_LINES][256];
	size_t output_bytes[MACHINE_LINES];
	struct machine_mark marks[8];
	unsigned int marks_seen;
	unsigned int stopped;
	size_t output_at_stop;
} seen;

static void on_output(void *ctx, enum machine_line line, const void *data, size_t bytes)
{
	assert_true(seen.output_bytes[line] + bytes < sizeof(seen.output[line]));
	memcpy(seen.output[line] + seen.output_bytes[line], data, bytes);
	seen.output_bytes[line] += bytes;
}

static void on_mark(void *ctx, const struct machine_mark *mark)
{
	assert_true(seen.marks_seen < ARRAY_SIZE(seen.marks));
	seen.marks[seen.marks_seen++] = *mark;
}

static void on_stopped(void *ctx, const struct machine_result *result)
{
	seen.stopped++;
	seen.output_at_stop = seen.output_bytes[MACHINE_COM1];
	assert_ptr_equal(result, machine_result(machine));
	evloop_stop(loop);
}

static const struct machine_callbacks events = {
	.output = on_output,
	.mark = on_mark,
	.stopped = on_stopped,
};

/* The smallest kernel: four bytes at 1 MiB. */
static void make_kernel(void)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr load;
		unsigned char code[4];
	} file = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_entry = KERNEL_GPA,
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.load = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			 .p_vaddr = KERNEL_GPA,
			 .p_paddr = KERNEL_GPA,
			 .p_filesz = 4,
			 .p_memsz = 4},
		.code = {0xf4, 0xeb, 0xfd, 0x90},
	};

	kernel_fd = memfd_create("kernel", MFD_CLOEXEC);
	assert_true(kernel_fd >= 0);
	assert_int_equal(write(kernel_fd, &file, sizeof(file)), sizeof(file));
	snprintf(kernel_path, sizeof(kernel_path), "/proc/self/fd/%d", kernel_fd);
}

static struct machine_config config(void)
{
	return (struct machine_config){
		.kernel_path = kernel_path,
		.cmdline = "quiet",
		.memory_bytes = UINT64_C(16) << 20,
		.cpus = 1,
		.ops = &fake.ops,
	};
}

static int group_setup(void **state)
{
	make_kernel();
	return 0;
}

static int setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	fake_kvm_init(&fake);
	return evloop_create(&loop);
}

static int teardown(void **state)
{
	machine_destroy(machine);
	machine = NULL;
	evloop_destroy(loop);
	assert_int_equal(fake.fds_open, 0);
	assert_int_equal(fake.maps_open, 0);
	fake_kvm_fini(&fake);
	return 0;
}

static void build(const struct machine_config *cfg)
{
	struct err e = ERR_INIT;

	if (machine_build(cfg, &machine, &e) < 0) {
		fail_msg("machine_build: %s", e.text);
	}
}

static void start(unsigned int cpus)
{
	struct machine_config cfg = config();
	struct err e = ERR_INIT;

	cfg.cpus = cpus;
	cfg.time_exits = true;
	build(&cfg);
	assert_int_equal(machine_start(machine, loop, &events, NULL, &e), 0);
}

static const struct machine_result *run_to_end(fake_run_fn script, unsigned int cpus)
{
	fake.run = script;
	start(cpus);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	return machine_result(machine);
}

/* The guest keeps the vCPU busy until it is kicked. */
static int spin(struct kvm_run *run)
{
	while (!*(volatile __u8 *)&run->immediate_exit) {
		usleep(100);
	}
	return -EINTR;
}

static int port(struct kvm_run *run, bool out, uint16_t number, uint8_t size, const void *data,
		uint32_t count)
{
	run->exit_reason = KVM_EXIT_IO;
	run->io.direction = out ? KVM_EXIT_IO_OUT : KVM_EXIT_IO_IN;
	run->io.port = number;
	run->io.size = size;
	run->io.count = count;
	run->io.data_offset = 4096;
	if (data) {
		memcpy((char *)run + 4096, data, (size_t)size * count);
	}
	return 0;
}

static int out_byte(struct kvm_run *run, uint16_t number, uint8_t value)
{
	return port(run, true, number, 1, &value, 1);
}

static int exit_with(struct kvm_run *run, uint32_t value)
{
	return port(run, true, EXIT_PORT, 4, &value, 1);
}

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(dir)) {
		count++;
	}
	closedir(dir);
	return count;
}

static void every_step_may_fail_and_nothing_is_left(void **state)
{
	struct machine_config cfg = config();
	unsigned int fds = open_fds();
	unsigned int total;
	unsigned int refused = 0;

	cfg.cpus = 2;
	build(&cfg);
	machine_destroy(machine);
	total = fake.calls;
	assert_true(total > 40);
	for (unsigned int n = 1; n <= total; n++) {
		struct err e = ERR_INIT;
		int r;

		fake.calls = 0;
		fake.fail_at = n;
		fake.fail_errno = EMFILE;
		machine = NULL;
		r = machine_build(&cfg, &machine, &e);
		if (r == 0) {
			/* Only what it can do without: a capability that is a bonus. */
			assert_true(fake.failed_request == KVM_CHECK_EXTENSION);
		} else {
			refused++;
			assert_null(machine);
			assert_int_equal(r, fake.failed_request == KVM_CHECK_EXTENSION ? -ENOTSUP
										       : -EMFILE);
			assert_true(strlen(e.text) > 10);
		}
		machine_destroy(machine);
		machine = NULL;
		assert_int_equal(fake.fds_open, 0);
		assert_int_equal(fake.maps_open, 0);
		assert_int_equal(open_fds(), fds);
	}
	assert_true(refused >= total - 2);
	fake.fail_at = 0;
}

static void refused_with(const struct machine_config *cfg, int code, const char *text)
{
	struct err e = ERR_INIT;

	assert_int_equal(machine_build(cfg, &machine, &e), code);
	if (!strstr(e.text, text)) {
		fail_msg("\"%s\" lacks \"%s\"", e.text, text);
	}
}

static void a_configuration_that_cannot_be_is_refused_with_the_limit(void **state)
{
	struct machine_config cfg = config();

	cfg.cpus = 0;
	refused_with(&cfg, -EINVAL, "0 vCPUs: expected 1 to 254");
	cfg.cpus = MACHINE_VCPUS_MAX + 1;
	refused_with(&cfg, -EINVAL, "255 vCPUs: expected 1 to 254");
	cfg.cpus = FAKE_VCPUS + 1;
	refused_with(&cfg, -EINVAL, "5 vCPUs: this host's KVM allows 4");
	cfg = config();
	cfg.memory_bytes = 0;
	refused_with(&cfg, -EINVAL, "guest memory of 0 bytes");
	cfg.memory_bytes = (UINT64_C(16) << 20) + 1;
	refused_with(&cfg, -EINVAL, "expected a multiple of 4096");
	cfg.memory_bytes = GMEM_BYTES_MAX;
	refused_with(&cfg, -ENOMEM, "is more than this host has");
	cfg.memory_bytes = UINT64_MAX & ~(GMEM_PAGE_BYTES - 1);
	refused_with(&cfg, -E2BIG, "guest memory of");
	cfg = config();
	cfg.kernel_path = NULL;
	refused_with(&cfg, -EINVAL, "no kernel");
	cfg.kernel_path = "/no/such/kernel";
	refused_with(&cfg, -ENOENT, "/no/such/kernel");
}

static void no_kvm_is_told_with_the_check_of_doctor(void **state)
{
	struct machine_config cfg = config();

	cfg.kvm_path = "/dev/no-kvm";
	refused_with(&cfg, -ENOENT, "kvm-device: /dev/no-kvm");
	cfg = config();
	fake.missing_cap = KVM_CAP_IRQFD;
	refused_with(&cfg, -ENOTSUP, "kvm-cap-irqfd: ");
}

static void memory_above_the_hole_gets_a_slot_of_its_own(void **state)
{
	struct machine_config cfg = config();

	cfg.memory_bytes = GMEM_HOLE;
	build(&cfg);
	assert_int_equal(fake.slots, 1);
	machine_destroy(machine);
	fake.slots = 0;
	fake.slot_bytes = 0;
	cfg.memory_bytes = GMEM_HOLE + GMEM_PAGE_BYTES;
	build(&cfg);
	assert_int_equal(fake.slots, 2);
	assert_true(fake.slot_bytes == cfg.memory_bytes);
}

static void the_boot_cpu_starts_at_the_kernels_entry(void **state)
{
	struct machine_config cfg = config();
	unsigned char code[4];

	build(&cfg);
	assert_true(fake.irqchip && fake.pit);
	assert_true(fake.vcpus[0].regs.rip == KERNEL_GPA);
	assert_true(fake.vcpus[0].sregs.cr3 != 0);
	assert_int_equal(fake.vcpus[0].msrs.head.nmsrs, 2);
	assert_int_equal(machine_read_gpa(machine, KERNEL_GPA, code, 4), 0);
	assert_memory_equal(code, "\xf4\xeb\xfd\x90", 4);
	assert_int_equal(machine_read_gpa(machine, cfg.memory_bytes - 1, code, 2), -EFAULT);
}

static int exit_port_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return exit_with(run, 0x12345);
}

static void a_write_to_the_exit_port_ends_the_machine_with_its_value(void **state)
{
	const struct machine_result *r = run_to_end(exit_port_script, 1);

	assert_int_equal(r->end, MACHINE_END_EXIT_PORT);
	assert_int_equal(r->value, 0x12345);
	assert_true(machine_times(machine)->first_run_ns >= machine_times(machine)->loaded_ns);
	assert_true(machine_times(machine)->ended_ns >= machine_times(machine)->first_run_ns);
}

static int reset_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return out_byte(run, 0x64, 0xfe);
}

static void the_keyboard_controller_resets_the_machine(void **state)
{
	assert_int_equal(run_to_end(reset_script, 1)->end, MACHINE_END_RESET);
}

static int triple_fault_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_SHUTDOWN;
	return 0;
}

static void a_triple_fault_ends_the_machine(void **state)
{
	assert_int_equal(run_to_end(triple_fault_script, 1)->end, MACHINE_END_TRIPLE_FAULT);
}

static int emulation_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_INTERNAL_ERROR;
	run->emulation_failure.suberror = KVM_INTERNAL_ERROR_EMULATION;
	run->emulation_failure.ndata = 3;
	run->emulation_failure.flags = KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES;
	run->emulation_failure.insn_size = 3;
	memcpy(run->emulation_failure.insn_bytes, "\x0f\xc7\x21", 3);
	return 0;
}

static void an_instruction_that_kvm_cannot_emulate_is_shown(void **state)
{
	const struct machine_result *r = run_to_end(emulation_script, 1);

	assert_int_equal(r->end, MACHINE_END_KVM_ERROR);
	assert_string_equal(r->text, "KVM internal error on vCPU 0, suberror 1 (cannot emulate an "
				     "instruction), instruction bytes 0f c7 21");
}

static int delivery_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_INTERNAL_ERROR;
	run->internal.suberror = KVM_INTERNAL_ERROR_DELIVERY_EV;
	run->internal.ndata = 2;
	run->internal.data[0] = 0x80000b0e;
	run->internal.data[1] = 0x31;
	return 0;
}

static void the_data_of_an_internal_error_is_shown(void **state)
{
	assert_string_equal(run_to_end(delivery_script, 1)->text,
			    "KVM internal error on vCPU 0, suberror 3 (an exit while an event was "
			    "delivered), data 80000b0e 31");
}

static int entry_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_FAIL_ENTRY;
	run->fail_entry.hardware_entry_failure_reason = 0x80000021;
	return 0;
}

static void a_refused_entry_shows_the_hardwares_reason(void **state)
{
	assert_string_equal(run_to_end(entry_script, 1)->text,
			    "the processor refuses to enter the guest on vCPU 0, hardware reason "
			    "0x80000021");
}

static int unknown_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = 63;
	return 0;
}

static void an_unknown_exit_ends_the_machine_with_its_number(void **state)
{
	assert_string_equal(run_to_end(unknown_script, 1)->text,
			    "unexpected exit 63 (other) of vCPU 0");
}

static int power_off_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_SYSTEM_EVENT;
	run->system_event.type = KVM_SYSTEM_EVENT_SHUTDOWN;
	return 0;
}

static void a_system_event_may_switch_the_machine_off(void **state)
{
	assert_int_equal(run_to_end(power_off_script, 1)->end, MACHINE_END_POWER_OFF);
}

static int flaky_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	static const int errors[] = {-EINTR, -ENOMEM, -EAGAIN, -EFAULT, -ENOMEM, -EINTR};
	unsigned int n = k->vcpus[0].runs;

	return n <= ARRAY_SIZE(errors) ? errors[n - 1] : exit_with(run, 1);
}

static void passing_errors_of_the_first_runs_do_not_end_the_machine(void **state)
{
	assert_int_equal(run_to_end(flaky_script, 1)->end, MACHINE_END_EXIT_PORT);
}

static int no_memory_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return -ENOMEM;
}

static void an_error_that_stays_ends_the_machine_after_some_tries(void **state)
{
	const struct machine_result *r = run_to_end(no_memory_script, 1);

	assert_int_equal(r->end, MACHINE_END_KVM_ERROR);
	assert_string_equal(r->text, KVM_TEXT "Cannot allocate memory");
	/* Sixteen tries, the one that counts, and one to complete accesses, which is not played. */
	assert_int_equal(fake.vcpus[0].runs, 18);
}

static int einval_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return -EINVAL;
}

static void another_error_ends_the_machine_at_once(void **state)
{
	assert_string_equal(run_to_end(einval_script, 1)->text, KVM_TEXT "Invalid argument");
	assert_int_equal(fake.vcpus[0].runs, 2);
}

static int output_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1:
		return port(run, true, 0x3f8, 1, "hello", 5); /* rep outsb */
	case 2:
		return out_byte(run, 0x2f8, 'x');
	case 3:
		return out_byte(run, 0x3f8, '!');
	default:
		return exit_with(run, 0);
	}
}

static void all_output_is_delivered_before_the_end(void **state)
{
	run_to_end(output_script, 1);
	assert_string_equal(seen.output[MACHINE_COM1], "hello!");
	assert_string_equal(seen.output[MACHINE_COM2], "x");
	assert_int_equal(seen.output_at_stop, 6);
}

static void a_paused_line_holds_back_the_end(void **state)
{
	struct evloop_source *timer;
	struct machine_config cfg = config();

	fake.run = output_script;
	build(&cfg);
	machine_pause_output(machine, MACHINE_COM1, true);
	assert_int_equal(machine_start(machine, loop, &events, NULL, NULL), 0);
	assert_int_equal(evloop_add_timer(loop, (evloop_timer_fn)evloop_stop, loop, &timer), 0);
	assert_int_equal(
		evloop_arm_timer(timer, clock_now_ns(&clock_monotonic) + 50 * NS_PER_MSEC, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 0);
	assert_int_equal(seen.output_bytes[MACHINE_COM1], 0);
	machine_pause_output(machine, MACHINE_COM1, false);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	assert_string_equal(seen.output[MACHINE_COM1], "hello!");
}

static uint32_t read_back[3];

static int unclaimed_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1:
		return port(run, false, 0xcfc, 2, "\0\0\0\0", 2); /* rep insw */
	case 2:
		memcpy(&read_back[0], (char *)run + 4096, 4);
		run->exit_reason = KVM_EXIT_MMIO;
		run->mmio.phys_addr = 0xd0000000;
		run->mmio.len = 4;
		run->mmio.is_write = 0;
		memset(run->mmio.data, 0, 8);
		return 0;
	case 3:
		memcpy(&read_back[1], run->mmio.data, 4);
		run->mmio.is_write = 1;
		return 0;
	default:
		return exit_with(run, 0);
	}
}

static void what_nobody_claims_reads_all_ones_and_is_counted(void **state)
{
	run_to_end(unclaimed_script, 1);
	assert_int_equal(read_back[0], 0xffffffff);
	assert_int_equal(read_back[1], 0xffffffff);
	assert_int_equal(machine_unclaimed(machine), 4);
}

static struct {
	uint64_t count, rows;
} counted;

static void count_exit(void *ctx, const char *reason, const char *detail, uint64_t count,
		       uint64_t ns)
{
	counted.count += count;
	counted.rows++;
	if (strcmp(detail, "out 0x3f8") == 0) {
		assert_string_equal(reason, "io");
		assert_int_equal(count, 2);
		assert_true(ns > 0);
	}
}

static void exits_are_counted_by_reason_and_port(void **state)
{
	uint64_t total;
	uint64_t ns;

	memset(&counted, 0, sizeof(counted));
	run_to_end(output_script, 1);
	machine_exits_each(machine, count_exit, NULL);
	machine_exits_total(machine, &total, &ns);
	assert_int_equal(total, 4);
	assert_int_equal(counted.count, 4);
	assert_int_equal(counted.rows, 3);
	assert_true(ns > 0);
}

static int mark_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	static const uint8_t codes[] = {MARK_KERNEL_START, MARK_USER_START, MARK_USER_START,
					MARK_CUSTOM_FIRST};
	unsigned int n = k->vcpus[0].runs;

	return n <= ARRAY_SIZE(codes) ? out_byte(run, MARK_PORT, codes[n - 1]) : exit_with(run, 0);
}

static void marks_come_once_each_and_in_order(void **state)
{
	const struct machine_mark *marks;
	size_t count;
	uint64_t dropped;

	run_to_end(mark_script, 1);
	marks = machine_marks(machine, &count, &dropped);
	assert_int_equal(count, 3);
	assert_int_equal(dropped, 0);
	assert_int_equal(seen.marks_seen, 3);
	assert_memory_equal(seen.marks, marks, 3 * sizeof(*marks));
	assert_int_equal(marks[0].code, MARK_KERNEL_START);
	assert_int_equal(marks[1].code, MARK_USER_START);
	assert_int_equal(marks[2].code, MARK_CUSTOM_FIRST);
	assert_int_equal(marks[0].exits, 1);
	assert_int_equal(marks[2].exits, 4);
	assert_true(marks[0].guest_tsc < marks[1].guest_tsc);
	assert_true(marks[0].host_ns <= marks[1].host_ns);
}

static int window_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	uint64_t *stats = k->vcpus[0].stats;

	stats[FAKE_EXITS]++;
	switch (k->vcpus[0].runs) {
	case 1: /* closes nothing */
		return out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	case 2:
		return out_byte(run, MARK_PORT, MARK_WINDOW_OPEN);
	case 3: /* a clean batch */
		return out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	case 4:
		return out_byte(run, MARK_PORT, MARK_WINDOW_OPEN);
	case 5: /* disturbed: two interrupts, three exits that KVM dealt with, one to us */
		stats[FAKE_IRQS] += 2;
		stats[FAKE_EXITS] += 3;
		return out_byte(run, 0x3f8, 'x');
	case 6:
		return out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	default:
		return exit_with(run, 0);
	}
}

static void a_window_counts_what_happened_inside_it(void **state)
{
	const struct machine_window *w;
	size_t count;
	uint64_t dropped;

	run_to_end(window_script, 1);
	w = machine_windows(machine, &count, &dropped);
	assert_int_equal(count, 2);
	assert_int_equal(dropped, 0);
	assert_int_equal(seen.marks_seen, 0);
	assert_int_equal(w[0].exits, 0);
	assert_int_equal(w[0].kvm_exits, 0);
	assert_int_equal(w[0].irqs, 0);
	assert_true(w[0].close_tsc > w[0].open_tsc);
	assert_true(w[1].open_tsc > w[0].close_tsc);
	assert_int_equal(w[1].exits, 1);
	assert_int_equal(w[1].kvm_exits, 4);
	assert_int_equal(w[1].irqs, 2);
}

static int many_windows_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	unsigned int n = k->vcpus[0].runs - 1;

	if (n >= 2 * (MACHINE_WINDOWS_MAX + 3)) {
		return exit_with(run, 0);
	}
	return out_byte(run, MARK_PORT, n % 2 ? MARK_WINDOW_CLOSE : MARK_WINDOW_OPEN);
}

static void windows_past_the_limit_are_counted_and_not_kept(void **state)
{
	size_t count;
	uint64_t dropped;

	run_to_end(many_windows_script, 1);
	machine_windows(machine, &count, &dropped);
	assert_int_equal(count, MACHINE_WINDOWS_MAX);
	assert_int_equal(dropped, 3);
}

static int many_marks_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	if (k->vcpus[0].runs > MACHINE_MARKS_MAX + 5) {
		return exit_with(run, 0);
	}
	return out_byte(run, MARK_PORT, 0xff);
}

static void ignore_mark(void *ctx, const struct machine_mark *mark)
{
}

static void marks_past_the_limit_are_counted_and_not_kept(void **state)
{
	const struct machine_callbacks quiet = {
		.output = on_output, .mark = ignore_mark, .stopped = on_stopped};
	struct machine_config cfg = config();
	size_t count;
	uint64_t dropped;

	fake.run = many_marks_script;
	build(&cfg);
	assert_int_equal(machine_start(machine, loop, &quiet, NULL, NULL), 0);
	assert_int_equal(evloop_run(loop), 0);
	machine_marks(machine, &count, &dropped);
	assert_int_equal(count, MACHINE_MARKS_MAX);
	assert_int_equal(dropped, 5);
}

static int spin_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return spin(run);
}

static void registers_of_a_spinning_vcpu_can_be_read(void **state)
{
	char text[MACHINE_VCPU_TEXT];
	uint64_t rip = 0;

	fake.run = spin_script;
	start(2);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(machine_vcpu_text(machine, 0, &rip, text, sizeof(text)), 0);
		assert_true(rip == KERNEL_GPA);
	}
	assert_non_null(strstr(text, "vCPU 0, runnable, 0 exits"));
	assert_non_null(strstr(text, "rip=0000000000100000"));
	assert_non_null(strstr(text, "<f4> eb fd 90"));
	assert_int_equal(machine_vcpu_text(machine, 1, NULL, text, sizeof(text)), 0);
	assert_int_equal(machine_vcpu_text(machine, 2, NULL, text, sizeof(text)), -EINVAL);
	machine_halt(machine);
	assert_int_equal(machine_vcpu_text(machine, 0, &rip, text, sizeof(text)), 0);
	assert_int_equal(seen.stopped, 0);
}

static int end_on_the_second_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return vcpu == 1 ? exit_with(run, 9) : spin(run);
}

static void one_vcpu_ends_the_machine_for_all(void **state)
{
	const struct machine_result *r = run_to_end(end_on_the_second_script, 3);

	assert_int_equal(r->value, 9);
	assert_int_equal(r->vcpu, 1);
}

static int flood_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return out_byte(run, 0x3f8, 'a');
}

static void a_vcpu_that_waits_for_its_reader_can_be_halted(void **state)
{
	struct machine_config cfg = config();

	fake.run = flood_script;
	build(&cfg);
	machine_pause_output(machine, MACHINE_COM1, true);
	assert_int_equal(machine_start(machine, loop, &events, NULL, NULL), 0);
	usleep(20000);
	machine_halt(machine);
	assert_int_equal(machine_result(machine)->end, MACHINE_END_NONE);
}

static enum machine_liveness liveness_after(uint32_t mp_state, uint64_t rflags, uint64_t blocking)
{
	enum machine_liveness l = MACHINE_ALIVE;

	fake.run = spin_script;
	start(1);
	fake.vcpus[0].mp_state = mp_state;
	fake.vcpus[0].regs.rflags = rflags;
	fake.vcpus[0].stats[FAKE_BLOCKING] = blocking;
	for (int i = 0; i < 13 && l == MACHINE_ALIVE; i++) {
		l = machine_liveness(machine);
		usleep(100000);
	}
	return l;
}

static void a_halt_with_interrupts_off_is_for_good(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_HALTED, 0x2, 1), MACHINE_HALTED);
}

static void a_halt_with_interrupts_on_is_not(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_HALTED, 0x202, 1), MACHINE_ALIVE);
}

static void a_vcpu_that_runs_is_alive_and_not_disturbed(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_RUNNABLE, 0x2, 0), MACHINE_ALIVE);
	assert_int_equal(fake.vcpus[0].runs, 1);
}

static int echo_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1: /* the line is opened: RTS */
		return out_byte(run, 0x3fc, 0x0b);
	case 2:
		return port(run, false, 0x3f8, 1, "\0", 1);
	default:
		return exit_with(run, *((uint8_t *)run + 4096));
	}
}

static void input_reaches_the_guests_receiver(void **state)
{
	struct machine_config cfg = config();

	fake.run = echo_script;
	build(&cfg);
	assert_int_equal(machine_input(machine, MACHINE_COM1, "Q", 1), 1);
	assert_int_equal(machine_start(machine, loop, &events, NULL, NULL), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(machine_result(machine)->value, 'Q');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_step_may_fail_and_nothing_is_left),
		TEST(a_configuration_that_cannot_be_is_refused_with_the_limit),
		TEST(no_kvm_is_told_with_the_check_of_doctor),
		TEST(memory_above_the_hole_gets_a_slot_of_its_own),
		TEST(the_boot_cpu_starts_at_the_kernels_entry),
		TEST(a_write_to_the_exit_port_ends_the_machine_with_its_value),
		TEST(the_keyboard_controller_resets_the_machine),
		TEST(a_triple_fault_ends_the_machine),
		TEST(an_instruction_that_kvm_cannot_emulate_is_shown),
		TEST(the_data_of_an_internal_error_is_shown),
		TEST(a_refused_entry_shows_the_hardwares_reason),
		TEST(an_unknown_exit_ends_the_machine_with_its_number),
		TEST(a_system_event_may_switch_the_machine_off),
		TEST(passing_errors_of_the_first_runs_do_not_end_the_machine),
		TEST(an_error_that_stays_ends_the_machine_after_some_tries),
		TEST(another_error_ends_the_machine_at_once),
		TEST(all_output_is_delivered_before_the_end),
		TEST(a_paused_line_holds_back_the_end),
		TEST(what_nobody_claims_reads_all_ones_and_is_counted),
		TEST(exits_are_counted_by_reason_and_port),
		TEST(marks_come_once_each_and_in_order),
		TEST(a_window_counts_what_happened_inside_it),
		TEST(windows_past_the_limit_are_counted_and_not_kept),
		TEST(marks_past_the_limit_are_counted_and_not_kept),
		TEST(registers_of_a_spinning_vcpu_can_be_read),
		TEST(one_vcpu_ends_the_machine_for_all),
		TEST(a_vcpu_that_waits_for_its_reader_can_be_halted),
		TEST(a_halt_with_interrupts_off_is_for_good),
		TEST(a_halt_with_interrupts_on_is_not),
		TEST(a_vcpu_that_runs_is_alive_and_not_disturbed),
		TEST(input_reaches_the_guests_receiver),
	};

	return cmocka_run_group_tests_name("vmm_machine", tests, group_setup, NULL);
}
