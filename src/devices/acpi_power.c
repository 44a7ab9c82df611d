/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See acpi_power.h. Reads and writes run on vCPU threads. */
#include "devices/acpi_power.h"

static uint64_t power_read(struct device *d, uint64_t offset, unsigned int size)
{
	return 0;
}

static void power_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct acpi_power *p = (struct acpi_power *)d;

	if (offset == ACPI_POWER_CONTROL && value & ACPI_POWER_GO &&
	    (value >> ACPI_POWER_TYPE_SHIFT & ACPI_POWER_TYPE_MASK) == ACPI_POWER_TYPE_OFF) {
		machine_stop(&p->events, MACHINE_STOP_POWER_OFF, 0);
	} else if (offset == ACPI_POWER_RESET && value == ACPI_POWER_RESET_VALUE) {
		machine_stop(&p->events, MACHINE_STOP_RESET, 0);
	}
}

static const struct device_ops power_ops = {
	.name = "ACPI power",
	.max_size = 1,
	.read = power_read,
	.write = power_write,
};

/**
 * acpi_power_init() - the registers, ACPI_POWER_PORTS ports wide
 * @p: the caller's memory
 * @events: whom to tell, copied
 *
 * Context: before any vCPU runs.
 */
void acpi_power_init(struct acpi_power *p, const struct machine_events *events)
{
	*p = (struct acpi_power){.dev.ops = &power_ops, .events = *events};
}
