/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See acpi.h. Runs once, on the owner's thread, before any vCPU does. */
#include "vmm/acpi.h"

#include <errno.h>

#include "arch/x86/acpi.h"
#include "vmm/vmm_priv.h"

_Static_assert(X86_ACPI_CPUS_MAX >= MACHINE_VCPUS_MAX, "the tables name each vCPU");
_Static_assert(ACPI_POWER_TYPE_OFF == X86_ACPI_SLEEP_S5, "the table and the device agree");

static const struct x86_acpi_isa isa[] = {
	{"COM1", "PNP0501", SERIAL_COM1_PORT, SERIAL_PORTS, SERIAL_COM1_GSI, 1},
	{"COM2", "PNP0501", SERIAL_COM2_PORT, SERIAL_PORTS, SERIAL_COM2_GSI, 2},
	{"RTC_", "PNP0B00", RTC_PORT, RTC_PORTS, X86_ACPI_NO_IRQ, 0},
};

/**
 * acpi_make() - write the tables
 * @m: a machine with memory
 * @cfg: what it is to be; without acpi, nothing is done
 * @e: gets one line
 *
 * Return: 0 or -errno.
 * Context: the owner, before any vCPU runs.
 */
int acpi_make(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	struct virtio_window windows[VIRTIO_SLOTS_MAX];
	struct x86_acpi_virtio virtio[VIRTIO_SLOTS_MAX];
	struct x86_acpi what = {
		.cpus = cfg->cpus,
		.sleep_control_port = ACPI_POWER_PORT + ACPI_POWER_CONTROL,
		.sleep_status_port = ACPI_POWER_PORT + ACPI_POWER_STATUS,
		.reset_port = ACPI_POWER_PORT + ACPI_POWER_RESET,
		.reset_value = ACPI_POWER_RESET_VALUE,
		.isa = isa,
		.isa_count = ARRAY_SIZE(isa),
		.virtio = virtio,
	};
	int r;

	if (!cfg->acpi) {
		return 0;
	}
	what.virtio_count = virtio_slots_list(cfg, windows);
	for (size_t i = 0; i < what.virtio_count; i++) {
		virtio[i] = (struct x86_acpi_virtio){.gpa = (uint32_t)windows[i].gpa,
						     .bytes = windows[i].bytes,
						     .gsi = windows[i].gsi};
	}
	r = x86_acpi_write(&m->ram.mem, &what);
	return r < 0 ? err_errno(e, r, "cannot make the ACPI tables") : 0;
}

/**
 * acpi_rsdp() - where the tables begin
 * @cfg: what the machine is to be
 *
 * Return: guest-physical address, or 0 when there are none.
 * Context: any thread.
 */
uint64_t acpi_rsdp(const struct machine_config *cfg)
{
	return cfg->acpi ? X86_ACPI_RSDP : 0;
}
