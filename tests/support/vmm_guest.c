/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vmm_guest.h. */
#include "vmm_guest.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake_kvm fake;
struct evloop *loop;
struct machine *machine;
struct vmm_seen seen;

static char kernel_path[64];
static int kernel_fd;

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

const struct machine_callbacks vmm_events = {
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
			 .e_entry = VMM_KERNEL_GPA,
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.load = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			 .p_vaddr = VMM_KERNEL_GPA,
			 .p_paddr = VMM_KERNEL_GPA,
			 .p_filesz = 4,
			 .p_memsz = 4},
		.code = {0xf4, 0xeb, 0xfd, 0x90},
	};

	kernel_fd = memfd_create("kernel", MFD_CLOEXEC);
	assert_true(kernel_fd >= 0);
	assert_int_equal(write(kernel_fd, &file, sizeof(file)), sizeof(file));
	snprintf(kernel_path, sizeof(kernel_path), "/proc/self/fd/%d", kernel_fd);
}

struct machine_config vmm_config(void)
{
	return (struct machine_config){
		.kernel_path = kernel_path,
		.cmdline = "quiet",
		.memory_bytes = UINT64_C(16) << 20,
		.cpus = 1,
		.ops = &fake.ops,
	};
}

int vmm_group_setup(void **state)
{
	make_kernel();
	return 0;
}

int vmm_setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	fake_kvm_init(&fake);
	return evloop_create(&loop);
}

int vmm_teardown(void **state)
{
	machine_destroy(machine);
	machine = NULL;
	evloop_destroy(loop);
	assert_int_equal(fake.fds_open, 0);
	assert_int_equal(fake.maps_open, 0);
	fake_kvm_fini(&fake);
	return 0;
}

void vmm_build(const struct machine_config *cfg)
{
	struct err e = ERR_INIT;

	if (machine_build(cfg, &machine, &e) < 0) {
		fail_msg("machine_build: %s", e.text);
	}
}

void vmm_start(unsigned int cpus)
{
	struct machine_config cfg = vmm_config();
	struct err e = ERR_INIT;

	cfg.cpus = cpus;
	cfg.time_exits = true;
	vmm_build(&cfg);
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, &e), 0);
}

const struct machine_result *vmm_run_to_end(fake_run_fn script, unsigned int cpus)
{
	fake.run = script;
	vmm_start(cpus);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	return machine_result(machine);
}

/* The guest keeps the vCPU busy until it is kicked. */
int script_spin(struct kvm_run *run)
{
	while (!__atomic_load_n(&run->immediate_exit, __ATOMIC_SEQ_CST)) {
		usleep(100);
	}
	return -EINTR;
}

int script_port(struct kvm_run *run, bool out, uint16_t number, uint8_t size, const void *data,
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

int script_out_byte(struct kvm_run *run, uint16_t number, uint8_t value)
{
	return script_port(run, true, number, 1, &value, 1);
}

int script_exit(struct kvm_run *run, uint32_t value)
{
	return script_port(run, true, EXIT_PORT, 4, &value, 1);
}

int script_output(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1:
		return script_port(run, true, 0x3f8, 1, "hello", 5); /* rep outsb */
	case 2:
		return script_out_byte(run, 0x2f8, 'x');
	case 3:
		return script_out_byte(run, 0x3f8, '!');
	default:
		return script_exit(run, 0);
	}
}
