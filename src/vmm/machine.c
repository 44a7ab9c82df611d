/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a machine is put together: machine_build() reads from top to bottom, and machine_destroy()
 * goes the other way. Runs on the owner's thread, before and after all others.
 */
#include "vmm/vmm_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/x86/boot.h"
#include "arch/x86/cpuid.h"
#include "arch/x86/mptable.h"
#include "base/clock.h"
#include "vmm/acpi.h"
#include "vmm/gdb_priv.h"
#include "vmm/load.h"

#define TX_RING_BYTES 65536

static int irq_set_line(void *ctx, uint32_t gsi, bool level)
{
	return kvm_vm_irq_line(ctx, gsi, level);
}

static const struct irq_ops irq_ops = {.set = irq_set_line};

static void on_stop(void *ctx, enum machine_stop reason, uint32_t value)
{
	static const enum machine_end ends[] = {
		[MACHINE_STOP_EXIT_PORT] = MACHINE_END_EXIT_PORT,
		[MACHINE_STOP_RESET] = MACHINE_END_RESET,
		[MACHINE_STOP_POWER_OFF] = MACHINE_END_POWER_OFF,
	};
	struct machine *m = ctx;

	machine_finish(m, machine_current_vcpu(m), ends[reason], value, "");
}

static void on_mark(void *ctx, uint8_t code)
{
	machine_take_mark(ctx, code);
}

static const struct machine_events_ops device_events = {.stop = on_stop, .mark = on_mark};

static int check_config(const struct machine_config *cfg, struct err *e)
{
	if (cfg->cpus == 0 || cfg->cpus > MACHINE_VCPUS_MAX) {
		return err_set(
			e, -EINVAL,
			"%u vCPUs: expected 1 to %u, the processors that APIC ids of 8 bits can name",
			cfg->cpus, MACHINE_VCPUS_MAX);
	}
	if (!cfg->kernel_path) {
		return err_set(e, -EINVAL, "no kernel to load");
	}
	if (cfg->disk_count > MACHINE_DISKS_MAX) {
		return err_set(e, -E2BIG, "%zu disks: there is room for %d", cfg->disk_count,
			       MACHINE_DISKS_MAX);
	}
	if (cfg->share_count > MACHINE_SHARES_MAX) {
		return err_set(e, -E2BIG, "%zu shared directories: there is room for %d",
			       cfg->share_count, MACHINE_SHARES_MAX);
	}
	if (cfg->net_count > MACHINE_NETS_MAX) {
		return err_set(e, -E2BIG, "%zu networks: there is room for %d", cfg->net_count,
			       MACHINE_NETS_MAX);
	}
	return virtio_slots_check(cfg, e);
}

static int open_kvm(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	int r = kvm_dev_init(&m->dev, m->ops, cfg->kvm_path ? cfg->kvm_path : KVM_DEVICE_PATH, e);
	int limit;

	if (r == 0) {
		r = kvm_dev_check_caps(&m->dev, e);
	}
	if (r < 0) {
		return r;
	}
	limit = kvm_dev_cap(&m->dev, KVM_CAP_MAX_VCPUS);
	if (limit > 0 && cfg->cpus > (unsigned int)limit) {
		return err_set(e, -EINVAL, "%u vCPUs: this host's KVM allows %d", cfg->cpus, limit);
	}
	return 0;
}

static int make_chips(struct machine *m, struct err *e)
{
	int r = kvm_vm_create_irqchip(&m->vm, e);

	if (r == 0 && !m->unrecorded) {
		/* A KVM without statistics runs guests as well. */
		r = kvm_stats_init(&m->vm_stats, m->ops, m->vm.fd);
		r = r == -ENOTTY ? 0 : r;
		if (r < 0) {
			err_errno(e, r, "cannot read the VM's statistics");
		}
	}
	return r;
}

static int make_line(struct machine *m, enum machine_line which, uint32_t gsi, struct err *e)
{
	struct serial_line *line = &m->lines[which];
	const struct irq_line irq = {.ops = &irq_ops, .ctx = &m->vm, .gsi = gsi};
	int r = txring_init(&line->tx, TX_RING_BYTES);

	line->m = m;
	line->which = which;
	if (r < 0) {
		return err_errno(e, r, "cannot make the buffer of a serial line");
	}
	r = serial_init(&line->serial, &irq, &line->tx);
	if (r < 0) {
		txring_fini(&line->tx);
		return err_errno(e, r, "cannot make a serial line");
	}
	line->ready = true;
	return 0;
}

struct placement {
	struct bus *bus;
	uint64_t base, bytes;
	struct device *dev;
	uint64_t offset;
};

static int make_devices(struct machine *m, struct err *e)
{
	const struct machine_events events = {.ops = &device_events, .ctx = m};
	struct serial *com1 = &m->lines[MACHINE_COM1].serial;
	struct serial *com2 = &m->lines[MACHINE_COM2].serial;
	const struct placement map[] = {
		{&m->pio, SERIAL_COM1_PORT, SERIAL_PORTS, &com1->dev, 0},
		{&m->pio, SERIAL_COM2_PORT, SERIAL_PORTS, &com2->dev, 0},
		{&m->pio, I8042_DATA_PORT, 1, &m->i8042.dev, I8042_DATA_OFFSET},
		{&m->pio, I8042_COMMAND_PORT, 1, &m->i8042.dev, I8042_COMMAND_OFFSET},
		{&m->pio, RTC_PORT, RTC_PORTS, &m->rtc.dev, 0},
		{&m->pio, ACPI_POWER_PORT, ACPI_POWER_PORTS, &m->acpi_power.dev, 0},
		{&m->pio, EXIT_PORT, EXIT_PORT_BYTES, &m->exit_port.dev, 0},
		{&m->pio, MARK_PORT, MARK_PORT_BYTES, &m->mark_port.dev, 0},
		{&m->mmio, BOOT_TIMER_GPA, BOOT_TIMER_BYTES, &m->boot_timer.dev, 0},
	};
	int r;

	bus_init(&m->pio, "port");
	bus_init(&m->mmio, "mmio");
	i8042_init(&m->i8042, &events);
	rtc_init(&m->rtc, &rtc_host_time);
	m->devices_ready = true;
	acpi_power_init(&m->acpi_power, &events);
	exit_port_init(&m->exit_port, &events);
	mark_port_init(&m->mark_port, &events);
	boot_timer_init(&m->boot_timer, &events);
	r = make_line(m, MACHINE_COM1, SERIAL_COM1_GSI, e);
	if (r == 0) {
		r = make_line(m, MACHINE_COM2, SERIAL_COM2_GSI, e);
	}
	for (size_t i = 0; i < ARRAY_SIZE(map) && r == 0; i++) {
		r = bus_add(map[i].bus, map[i].base, map[i].bytes, map[i].dev, map[i].offset);
		if (r < 0) {
			err_errno(e, r, "no place for the %s at 0x%llx", map[i].dev->ops->name,
				  (unsigned long long)map[i].base);
		}
	}
	return r;
}

/* The others are put into their start state by the guest, through their local APICs. */
static int set_boot_state(struct machine *m, struct vcpu *v, const struct loaded *guest,
			  enum machine_entry entry, struct err *e)
{
	const enum x86_ring ring = entry == MACHINE_ENTRY_RING_3 ? X86_RING_3 : X86_RING_0;
	struct kvm_sregs sregs;
	struct kvm_regs regs;
	struct kvm_fpu fpu;
	int r = kvm_vcpu_get_sregs(&v->kvm, &sregs);

	if (r < 0) {
		return err_errno(e, r, "cannot read the registers of vCPU %u", v->index);
	}
	if (entry == MACHINE_ENTRY_PVH) {
		x86_boot_pvh_sregs(&sregs);
		x86_boot_pvh_regs(&regs, (uint32_t)guest->entry, (uint32_t)guest->boot_params);
	} else {
		x86_boot_sregs(&sregs, ring);
		x86_boot_regs(&regs, guest->entry, guest->boot_params, ring);
	}
	x86_boot_fpu(&fpu);
	r = kvm_vcpu_set_sregs(&v->kvm, &sregs, e);
	if (r == 0) {
		r = kvm_vcpu_set_regs(&v->kvm, &regs, e);
	}
	if (r == 0) {
		r = kvm_vcpu_set_fpu(&v->kvm, &fpu, e);
	}
	return r;
}

/*
 * A guest turns its state components on itself, and KVM works out from that how large CPUID says
 * they are. QEMU's software processor lets the guest do so without KVM's notice: Linux then finds
 * too small a size, warns and gives XSAVE up. KVM knows everywhere if all are on from the start.
 */
static int set_xcr0(struct vcpu *v, const struct kvm_cpuid_table *cpuid, struct err *e)
{
	struct kvm_xcrs x = {.nr_xcrs = 1, .xcrs[0].value = x86_cpuid_xcr0(cpuid)};

	return x.xcrs[0].value ? kvm_vcpu_set_xcrs(&v->kvm, &x, e) : 0;
}

/* What all vCPUs are made from. */
struct vcpu_plan {
	const struct x86_cpu_spec *spec;
	struct kvm_cpuid_table offered, cpuid; /* by KVM; less what the guest is not to see */
	bool tsc_deadline;
};

static int set_up_vcpu(struct machine *m, struct vcpu *v, const struct vcpu_plan *plan,
		       struct err *e)
{
	const struct x86_cpu cpu = {
		.apic_id = v->index, .cpus = m->vcpu_count, .tsc_deadline = plan->tsc_deadline};
	struct kvm_cpuid_table cpuid;
	struct kvm_msr_table msrs;
	struct kvm_lapic_state lapic;
	int r;

	kvm_cpuid_copy(&cpuid, &plan->cpuid);
	r = x86_cpuid_for(&cpuid, &cpu);
	if (r < 0) {
		return err_errno(e, r, "CPUID of vCPU %u", v->index);
	}
	r = kvm_vcpu_set_cpuid(&v->kvm, &cpuid, e);
	x86_boot_msrs(&msrs);
	x86_cpu_spec_msrs(plan->spec, &plan->offered, &msrs);
	m->cpu_print = x86_cpuid_print(&cpuid);
	if (r == 0) {
		r = set_xcr0(v, &cpuid, e);
	}
	if (r == 0) {
		r = kvm_vcpu_set_msrs(&v->kvm, &msrs, e);
	}
	if (r == 0) {
		r = kvm_vcpu_get_lapic(&v->kvm, &lapic, e);
	}
	if (r == 0) {
		x86_boot_lapic(&lapic);
		r = kvm_vcpu_set_lapic(&v->kvm, &lapic, e);
	}
	return r;
}

static int plan_vcpus(struct machine *m, const struct x86_cpu_spec *spec, struct vcpu_plan *ret,
		      struct err *e)
{
	int r = kvm_dev_cpuid(&m->dev, &ret->offered, e);

	ret->spec = spec;
	ret->tsc_deadline = kvm_dev_cap(&m->dev, KVM_CAP_TSC_DEADLINE_TIMER) > 0 &&
			    !x86_cpu_spec_without(spec, "tsc-deadline");
	kvm_cpuid_copy(&ret->cpuid, &ret->offered);
	return r < 0 ? r : x86_cpu_spec_apply(spec, &ret->cpuid, e);
}

static int set_clock(struct machine *m, enum x86_clock clock, struct vcpu_plan *plan, struct err *e)
{
	uint32_t khz = clock == X86_CLOCK_TSC ? kvm_vcpu_tsc_khz(&m->vcpus[0].kvm) : 0;

	return x86_clock_apply(clock, khz, &plan->cpuid, e);
}

static int make_vcpus(struct machine *m, const struct machine_config *cfg,
		      const struct loaded *guest, struct err *e)
{
	const enum x86_ring ring = cfg->entry == MACHINE_ENTRY_RING_3 ? X86_RING_3 : X86_RING_0;
	static const struct x86_cpu_spec as_host;
	struct vcpu_plan plan;
	int r = plan_vcpus(m, cfg->cpu ? cfg->cpu : &as_host, &plan, e);

	if (r < 0) {
		return r;
	}
	m->vcpus = calloc(cfg->cpus, sizeof(*m->vcpus));
	if (!m->vcpus) {
		return err_set(e, -ENOMEM, "no memory for %u vCPUs", cfg->cpus);
	}
	while (m->vcpu_count < cfg->cpus && r == 0) {
		struct vcpu *v = &m->vcpus[m->vcpu_count];

		r = vcpu_init(v, m, m->vcpu_count, e);
		v->host_cpu = cfg->pin ? (int)cfg->pin[m->vcpu_count] : -1;
		m->vcpu_count++;
	}
	if (r == 0) {
		r = set_clock(m, cfg->clock, &plan, e);
	}
	for (unsigned int i = 0; i < m->vcpu_count && r == 0; i++) {
		r = set_up_vcpu(m, &m->vcpus[i], &plan, e);
	}
	if (r == 0) {
		r = set_boot_state(m, &m->vcpus[0], guest, cfg->entry, e);
	}
	if (r == 0) {
		r = x86_boot_write_tables(&m->ram.mem, ring);
		if (r < 0) {
			err_errno(e, r, "cannot write the start-up page tables");
		}
	}
	if (r == 0) {
		r = x86_mptable_write(&m->ram.mem, m->vcpu_count);
		if (r < 0) {
			err_errno(e, r, "cannot write the table of CPUs");
		}
	}
	return r < 0 ? r : acpi_make(m, cfg, e);
}

static int make_event(struct machine *m, struct err *e)
{
	int r = m->ops->eventfd(m->ops->ctx);

	if (r < 0) {
		return err_errno(e, r, "cannot make an eventfd");
	}
	m->event_fd = r;
	/* Large, and zero until used: the kernel gives pages only then. */
	m->windows = calloc(MACHINE_WINDOWS_MAX, sizeof(*m->windows));
	return m->windows ? 0 : err_set(e, -ENOMEM, "no memory for the records of batches");
}

/* What the threads' filters must let pass for this machine. */
static void plan_sandbox(struct machine *m, const struct machine_config *cfg)
{
	m->sandbox.features |=
		(cfg->disk_count ? SANDBOX_DISKS : 0) | (cfg->rng ? SANDBOX_RNG : 0) |
		(cfg->vsock_path ? SANDBOX_VSOCK : 0) | (cfg->gdb ? SANDBOX_GDB : 0) |
		(cfg->share_count ? SANDBOX_SHARE : 0) | (cfg->net_count ? SANDBOX_NET : 0);
	m->sandbox.vm_fd = m->vm.fd;
	m->sandbox.kvm_fd = m->dev.fd;
}

static struct machine *machine_new(const struct machine_config *cfg)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m) {
		return NULL;
	}
	m->ops = cfg->ops ? cfg->ops : &kvm_ops_real;
	m->dev = (struct kvm_dev)KVM_DEV_INIT;
	m->vm = (struct kvm_vm)KVM_VM_INIT;
	m->vm_stats = (struct kvm_stats)KVM_STATS_INIT;
	m->time_exits = cfg->time_exits || cfg->exit_stats;
	m->exit_stats = cfg->exit_stats;
	m->unrecorded = cfg->unrecorded && !cfg->exit_stats;
	m->sandbox = cfg->seccomp;
	m->event_fd = -1;
	sem_init(&m->all_left, 0, 0);
	sem_init(&m->confined, 0, 0);
	pthread_mutex_init(&m->start_lock, NULL);
	atomic_flag_clear(&m->window_busy);
	return m;
}

/**
 * machine_build() - put a machine together, with the guest in its memory
 * @cfg: what it is to be; only needed during the call
 * @ret: gets the machine, the caller's to destroy
 * @e: gets one line; about KVM itself it starts with a check id of doctor (kvm-device, ...)
 *
 * Return: 0; −EINVAL for a configuration that cannot be; what kvm_dev_init() and
 * kvm_dev_check_caps() say of KVM; what the loader says of kernel and initrd; −ENOMEM; another
 * −errno. Context: the thread that will own it.
 */
int machine_build(const struct machine_config *cfg, struct machine **ret, struct err *e)
{
	struct machine *m = machine_new(cfg);
	struct loaded guest = {0};
	int r;

	if (!m) {
		return err_set(e, -ENOMEM, "no memory for a machine");
	}
	r = check_config(cfg, e);
	if (r == 0) {
		r = open_kvm(m, cfg, e);
	}
	if (r == 0) {
		r = kvm_vm_init(&m->vm, &m->dev, e);
	}
	if (r == 0 && !(cfg->cpu && cfg->cpu->pmu)) {
		r = kvm_vm_disable_pmu(&m->vm, &m->dev, e);
	}
	if (r == 0) {
		r = ram_init(&m->ram, m->ops, cfg->memory_bytes, &cfg->memory, e);
	}
	/* The guest before slots: of each mapping that changes in one KVM is told, and looks for
	 * it. */
	if (r == 0) {
		r = load_guest(&m->ram, cfg, &guest, e);
		m->symbols = guest.symbols;
	}
	if (r == 0) {
		r = ram_settle(&m->ram, &cfg->memory, e);
	}
	/* Slots before chips: KVM waits for milliseconds to add one once buses of its own exist. */
	if (r == 0) {
		r = ram_add_to_vm(&m->ram, &m->vm, e);
	}
	if (r == 0) {
		r = make_chips(m, e);
	}
	m->times.loaded_ns = clock_now_ns(&clock_monotonic);
	if (r == 0) {
		r = make_devices(m, e);
	}
	if (r == 0) {
		r = virtio_slots_make(m, cfg, e);
	}
	/* Local APICs come with the interrupt controllers, so vCPUs come after those. */
	if (r == 0) {
		r = make_vcpus(m, cfg, &guest, e);
	}
	if (r == 0) {
		r = make_event(m, e);
	}
	if (r == 0 && cfg->gdb) {
		r = gdb_server_create(m, cfg, &m->gdb, e);
	}
	if (r == 0) {
		r = tracing_make(m, cfg, e);
	}
	plan_sandbox(m, cfg);
	if (r < 0) {
		machine_destroy(m);
		return r;
	}
	*ret = m;
	return 0;
}

/**
 * machine_cpu_print() - the fingerprint of what CPUID tells the guest
 * @m: a machine
 *
 * Return: what cpuid_print_here() of abi/cpuid_print.h gives in the guest.
 * Context: any thread.
 */
uint64_t machine_cpu_print(const struct machine *m)
{
	return m->cpu_print;
}

static void destroy_devices(struct machine *m)
{
	virtio_slots_destroy(m);
	for (unsigned int i = 0; i < MACHINE_SERIAL_LINES; i++) {
		if (m->lines[i].ready) {
			serial_fini(&m->lines[i].serial);
			txring_fini(&m->lines[i].tx);
		}
	}
	if (m->devices_ready) {
		rtc_fini(&m->rtc);
		i8042_fini(&m->i8042);
	}
}

/**
 * machine_destroy() - stop a machine if it runs, and give everything back
 * @m: a machine, or NULL
 *
 * Context: the owner, not inside an event.
 */
void machine_destroy(struct machine *m)
{
	if (!m) {
		return;
	}
	machine_run_fini(m);
	gdb_server_destroy(m->gdb);
	if (m->event_fd >= 0) {
		m->ops->close(m->ops->ctx, m->event_fd);
	}
	free(m->windows);
	tracing_fini(m);
	while (m->vcpu_count > 0) {
		vcpu_fini(&m->vcpus[--m->vcpu_count]);
	}
	free(m->vcpus);
	destroy_devices(m);
	kvm_stats_fini(&m->vm_stats);
	kvm_vm_fini(&m->vm);
	if (m->ram.ops) {
		ram_fini(&m->ram);
	}
	symbols_close(m->symbols);
	kvm_dev_fini(&m->dev);
	pthread_mutex_destroy(&m->start_lock);
	sem_destroy(&m->all_left);
	sem_destroy(&m->confined);
	free(m);
}
