/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "temp_file.h"
#include "vmm/virtio.h"
#include "vmm/vmm_priv.h"

#define SLOT_BYTES 0x1000
#define DESC       0x200000
#define AVAIL      0x201000
#define USED       0x202000
#define BUFFER     0x203000

static struct temp_file file;
static struct machine_disk disks[MACHINE_DISKS_MAX];

static int setup(void **state)
{
	temp_file_init(&file, 8192 + 100);
	for (size_t i = 0; i < ARRAY_SIZE(disks); i++) {
		disks[i] = (struct machine_disk){.path = file.path, .read_only = true};
	}
	return vmm_setup(state);
}

static int teardown(void **state)
{
	int r = vmm_teardown(state);

	temp_file_fini(&file);
	return r;
}

static struct machine_config config(unsigned int disk_count, bool rng)
{
	struct machine_config cfg = vmm_config();

	cfg.disks = disks;
	cfg.disk_count = disk_count;
	cfg.rng = rng;
	return cfg;
}

static void assert_cmdline(const char *given, unsigned int disk_count, const char *expected)
{
	struct machine_config cfg = config(disk_count, false);
	char *text;

	cfg.cmdline = given;
	assert_int_equal(virtio_slots_cmdline(&cfg, &text), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void the_kernel_is_told_of_each_device_before_the_arguments_of_init(void **state)
{
	assert_cmdline("quiet", 0, "quiet");
	assert_cmdline(NULL, 0, "");
	assert_cmdline(NULL, 1, "virtio_mmio.device=4K@0xfeb00000:5");
	assert_cmdline("quiet", 2,
		       "quiet virtio_mmio.device=4K@0xfeb00000:5 "
		       "virtio_mmio.device=4K@0xfeb01000:6");
	assert_cmdline("quiet -- init -- args", 1,
		       "quiet virtio_mmio.device=4K@0xfeb00000:5 -- init -- args");
}

static void hvc0_on_the_command_line_makes_a_console(void **state)
{
	static const struct {
		const char *cmdline;
		enum machine_line typed;
		unsigned int devices;
	} rows[] = {
		{"quiet", MACHINE_COM1, 0},
		{"console=ttyS0", MACHINE_COM1, 0},
		{"console=hvc0", MACHINE_HVC0, 1},
		{"console=ttyS0 console=hvc0 quiet", MACHINE_HVC0, 1},
		{"console=hvc0 console=ttyS0", MACHINE_COM1, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct machine_config cfg = vmm_config();

		cfg.cmdline = rows[i].cmdline;
		vmm_build(&cfg);
		assert_int_equal(machine_console(machine), rows[i].typed);
		assert_int_equal(fake.ioeventfds, rows[i].devices);
		if (rows[i].devices) {
			/* The largest number of ports: hvc0 alone. */
			assert_int_equal(bus_read(&machine->mmio, VIRTIO_GPA + 8, 4), 3);
			assert_int_equal(bus_read(&machine->mmio, VIRTIO_GPA + 0x104, 4), 1);
		}
		/* A line that is not there takes what it is given, and can be paused. */
		assert_int_equal(machine_input(machine, MACHINE_STDOUT, "x", 1), 1);
		machine_pause_output(machine, MACHINE_STDOUT, true);
		machine_destroy(machine);
		machine = NULL;
	}
}

static void words_of_devices_count_for_the_limit_of_the_command_line(void **state)
{
	struct machine_config cfg = config(1, false);
	char given[2048];
	struct err e = ERR_INIT;

	memset(given, 'x', sizeof(given));
	given[2047 - strlen(" virtio_mmio.device=4K@0xfeb00000:5") + 1] = '\0';
	cfg.cmdline = given;
	assert_int_equal(machine_build(&cfg, &machine, &e), -E2BIG);
	assert_string_equal(e.text, "command line: 2048 bytes, the kernel takes at most 2047; "
				    "nothing is cut");
	given[2047 - strlen(" virtio_mmio.device=4K@0xfeb00000:5")] = '\0';
	vmm_build(&cfg);
}

static void each_device_has_a_page_a_doorbell_and_a_line(void **state)
{
	static const unsigned int gsi[] = {5, 6, 7, 9, 10, 11, 16, 17, 18};
	struct machine_config cfg = config(MACHINE_DISKS_MAX, true);

	vmm_build(&cfg);
	assert_int_equal(fake.ioeventfds, ARRAY_SIZE(gsi));
	assert_int_equal(fake.irqfds, ARRAY_SIZE(gsi));
	for (unsigned int i = 0; i < ARRAY_SIZE(gsi); i++) {
		uint64_t gpa = VIRTIO_GPA + i * SLOT_BYTES;

		assert_int_equal(fake.ioeventfd[i].addr, gpa + VIRTIO_MMIO_QUEUE_NOTIFY);
		assert_int_equal(fake.ioeventfd[i].len, 4);
		assert_int_equal(fake.ioeventfd[i].flags, 0);
		assert_int_equal(fake.irqfd[i].gsi, gsi[i]);
		assert_int_equal(bus_read(&machine->mmio, gpa, 4), 0x74726976);
		assert_int_equal(bus_read(&machine->mmio, gpa + VIRTIO_MMIO_DEVICE_ID, 4),
				 i == 0 ? 4 : 2);
	}
	assert_int_equal(machine_disk_tail(machine, 0), 100);
	assert_int_equal(machine_disk_tail(machine, MACHINE_DISKS_MAX), 0);
}

static void more_devices_than_lines_are_refused_and_the_last_line_is_used(void **state)
{
	static const uint32_t taken[] = {0, 1, 2, 3, 4, 8}; /* of the timer, COM1, the clock, ... */
	struct machine_config cfg = config(VIRTIO_SLOTS_MAX - 1, true);
	struct virtio_window at[VIRTIO_SLOTS_MAX];
	uint32_t used = 0;
	struct err e = ERR_INIT;

	assert_int_equal(virtio_slots_check(&cfg, &e), 0);
	assert_int_equal(virtio_slots_list(&cfg, at), VIRTIO_SLOTS_MAX);
	for (unsigned int i = 0; i < ARRAY_SIZE(taken); i++) {
		used |= UINT32_C(1) << taken[i];
	}
	for (unsigned int i = 0; i < VIRTIO_SLOTS_MAX; i++) {
		assert_int_equal(at[i].gpa, VIRTIO_GPA + i * SLOT_BYTES);
		assert_int_equal(at[i].bytes, SLOT_BYTES);
		assert_in_range(at[i].gsi, 0, 23);
		assert_false(used & UINT32_C(1) << at[i].gsi);
		used |= UINT32_C(1) << at[i].gsi;
	}
	cfg.disk_count++;
	assert_int_equal(virtio_slots_check(&cfg, &e), -E2BIG);
	assert_string_equal(e.text, "19 virtio devices, entropy and console among them: there are "
				    "interrupt lines for 18");
}

static void a_socket_device_has_its_socket_as_long_as_the_machine_lives(void **state)
{
	struct machine_config cfg = vmm_config();
	char path[128];
	struct err e = ERR_INIT;

	snprintf(path, sizeof(path), "%s.vsock", file.path);
	cfg.vsock_path = path;
	vmm_build(&cfg);
	assert_int_equal(bus_read(&machine->mmio, VIRTIO_GPA + VIRTIO_MMIO_DEVICE_ID, 4), 19);
	assert_int_equal(bus_read(&machine->mmio, VIRTIO_GPA + VIRTIO_MMIO_CONFIG, 4), 3);
	assert_int_equal(access(path, F_OK), 0);
	machine_destroy(machine);
	machine = NULL;
	assert_int_equal(access(path, F_OK), -1);
	cfg.vsock_cid = 2;
	assert_int_equal(machine_build(&cfg, &machine, &e), -EINVAL);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_machine_without_devices_has_no_doorbells(void **state)
{
	struct machine_config cfg = vmm_config();

	vmm_build(&cfg);
	assert_int_equal(fake.ioeventfds + fake.irqfds, 0);
	assert_int_equal(bus_read(&machine->mmio, VIRTIO_GPA, 4), UINT32_MAX);
}

static void disks_that_cannot_be_are_refused(void **state)
{
	struct machine_config cfg = config(1, false);
	struct machine_disk two[2] = {{.path = file.path}, {.path = file.path}};
	char expected[128];
	struct err e = ERR_INIT;

	disks[0].path = "/nowhere/disk";
	assert_int_equal(machine_build(&cfg, &machine, &e), -ENOENT);
	assert_string_equal(e.text, "disk /nowhere/disk: No such file or directory");
	cfg.disk_count = MACHINE_DISKS_MAX + 1;
	assert_int_equal(machine_build(&cfg, &machine, &e), -E2BIG);
	assert_string_equal(e.text, "9 disks: there is room for 8");
	cfg.disks = two;
	cfg.disk_count = 2;
	snprintf(expected, sizeof(expected), "disk %s: in use by another machine", file.path);
	assert_int_equal(machine_build(&cfg, &machine, &e), -EBUSY);
	assert_string_equal(e.text, expected);
}

/* The handshake of a driver, as writes to registers. */
static const struct {
	uint32_t reg, value;
} handshake[] = {
	{VIRTIO_MMIO_STATUS, 1},
	{VIRTIO_MMIO_STATUS, 3},
	{VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1},
	{VIRTIO_MMIO_DRIVER_FEATURES, 1},
	{VIRTIO_MMIO_STATUS, 11},
	{VIRTIO_MMIO_QUEUE_SEL, 0},
	{VIRTIO_MMIO_QUEUE_NUM, 8},
	{VIRTIO_MMIO_QUEUE_DESC_LOW, DESC},
	{VIRTIO_MMIO_QUEUE_AVAIL_LOW, AVAIL},
	{VIRTIO_MMIO_QUEUE_USED_LOW, USED},
	{VIRTIO_MMIO_QUEUE_READY, 1},
	{VIRTIO_MMIO_STATUS, 15},
	{VIRTIO_MMIO_QUEUE_NOTIFY, 0},
};

/* The port of stdout is the third, and its queue from the guest the eighth. */
static const struct {
	uint32_t reg, value;
} writer[] = {
	{VIRTIO_MMIO_STATUS, 3},
	{VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1},
	{VIRTIO_MMIO_DRIVER_FEATURES, 1},
	{VIRTIO_MMIO_STATUS, 11},
	{VIRTIO_MMIO_QUEUE_SEL, 7},
	{VIRTIO_MMIO_QUEUE_NUM, 8},
	{VIRTIO_MMIO_QUEUE_DESC_LOW, DESC},
	{VIRTIO_MMIO_QUEUE_AVAIL_LOW, AVAIL},
	{VIRTIO_MMIO_QUEUE_USED_LOW, USED},
	{VIRTIO_MMIO_QUEUE_READY, 1},
	{VIRTIO_MMIO_STATUS, 15},
};

static int script_writer(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	unsigned int step = k->vcpus[0].runs - 1;

	if (step < ARRAY_SIZE(writer)) {
		run->exit_reason = KVM_EXIT_MMIO;
		run->mmio.phys_addr = VIRTIO_GPA + writer[step].reg;
		run->mmio.len = 4;
		run->mmio.is_write = 1;
		memcpy(run->mmio.data, &writer[step].value, 4);
		return 0;
	}
	return script_exit(run, 0);
}

static void start_writer(const char *text)
{
	const struct vring_desc d = {.addr = BUFFER, .len = (uint32_t)strlen(text)};
	struct machine_config cfg = config(0, false);
	struct err e = ERR_INIT;

	cfg.channel = true;
	vmm_build(&cfg);
	assert_int_equal(gmem_write(&machine->ram.mem, BUFFER, text, strlen(text)), 0);
	assert_int_equal(gmem_write(&machine->ram.mem, DESC, &d, sizeof(d)), 0);
	assert_int_equal(gmem_store16(&machine->ram.mem, AVAIL + 2, 1), 0);
	fake.run = script_writer;
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, &e), 0);
}

static void what_was_written_just_before_the_end_is_delivered_before_it_is_told(void **state)
{
	start_writer("last words");
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	assert_int_equal(seen.output_bytes[MACHINE_STDOUT], 10);
	assert_memory_equal(seen.output[MACHINE_STDOUT], "last words", 10);
}

static void go_on(void *ctx)
{
	assert_int_equal(seen.stopped, 0);
	assert_int_equal(seen.output_bytes[MACHINE_STDOUT], 0);
	machine_pause_output(machine, MACHINE_STDOUT, false);
}

static void the_end_waits_for_a_port_that_is_paused(void **state)
{
	struct evloop_source *timer;

	start_writer("kept");
	machine_pause_output(machine, MACHINE_STDOUT, true);
	assert_int_equal(evloop_add_timer(loop, go_on, NULL, &timer), 0);
	assert_int_equal(evloop_arm_timer(timer, clock_now_ns(&clock_monotonic) + 50000000, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	assert_int_equal(seen.output_bytes[MACHINE_STDOUT], 4);
	evloop_remove(timer);
}

static int script_driver(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	unsigned int step = k->vcpus[0].runs - 1;
	uint16_t used = 0;

	if (step < ARRAY_SIZE(handshake)) {
		run->exit_reason = KVM_EXIT_MMIO;
		run->mmio.phys_addr = VIRTIO_GPA + handshake[step].reg;
		run->mmio.len = 4;
		run->mmio.is_write = 1;
		memcpy(run->mmio.data, &handshake[step].value, 4);
		return 0;
	}
	while (used == 0 && !__atomic_load_n(&run->immediate_exit, __ATOMIC_SEQ_CST)) {
		usleep(100);
		assert_int_equal(gmem_load16(&machine->ram.mem, USED + 2, &used), 0);
	}
	return script_exit(run, used);
}

static void a_request_is_served_on_the_loop_and_raises_the_line(void **state)
{
	const struct vring_desc d = {.addr = BUFFER, .len = 64, .flags = VRING_DESC_F_WRITE};
	struct machine_config cfg = config(0, true);
	struct vring_used_elem elem;
	uint8_t bytes[64];
	uint8_t zeros[64] = {0};
	struct err e = ERR_INIT;
	eventfd_t irqs;

	vmm_build(&cfg);
	assert_int_equal(gmem_write(&machine->ram.mem, DESC, &d, sizeof(d)), 0);
	assert_int_equal(gmem_store16(&machine->ram.mem, AVAIL + 2, 1), 0);
	fake.run = script_driver;
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, &e), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(machine_result(machine)->end, MACHINE_END_EXIT_PORT);
	assert_int_equal(machine_result(machine)->value, 1);
	assert_int_equal(machine_read_gpa(machine, USED + 4, &elem, sizeof(elem)), 0);
	assert_int_equal(elem.len, 64);
	assert_int_equal(machine_read_gpa(machine, BUFFER, bytes, sizeof(bytes)), 0);
	assert_memory_not_equal(bytes, zeros, sizeof(zeros));
	assert_int_equal(eventfd_read((int)fake.irqfd[0].fd, &irqs), 0);
	assert_int_equal(irqs, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_kernel_is_told_of_each_device_before_the_arguments_of_init),
		T(hvc0_on_the_command_line_makes_a_console),
		T(what_was_written_just_before_the_end_is_delivered_before_it_is_told),
		T(the_end_waits_for_a_port_that_is_paused),
		T(words_of_devices_count_for_the_limit_of_the_command_line),
		T(each_device_has_a_page_a_doorbell_and_a_line),
		T(more_devices_than_lines_are_refused_and_the_last_line_is_used),
		T(a_socket_device_has_its_socket_as_long_as_the_machine_lives),
		T(a_machine_without_devices_has_no_doorbells),
		T(disks_that_cannot_be_are_refused),
		T(a_request_is_served_on_the_loop_and_raises_the_line),
	};

	return cmocka_run_group_tests(tests, vmm_group_setup, NULL);
}
