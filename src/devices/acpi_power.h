/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only ACPI hardware of this machine: the registers that a kernel switches it off and resets it
 * by. A hardware-reduced FADT (ACPI 6.5, 4.8.3.7 and 4.8.3.6) says where they are. They have no
 * state, so no lock.
 */
#ifndef DEVICES_ACPI_POWER_H
#define DEVICES_ACPI_POWER_H

#include "hw/device.h"
#include "hw/events.h"

#define ACPI_POWER_PORT  0x600
#define ACPI_POWER_PORTS 3

/* Offsets. */
#define ACPI_POWER_CONTROL     0 /* bits 2 to 4: the sleep type; 5: go */
#define ACPI_POWER_STATUS      1 /* reads 0: this machine does not wake up, as it does not sleep */
#define ACPI_POWER_RESET       2
#define ACPI_POWER_RESET_VALUE 1

#define ACPI_POWER_TYPE_SHIFT  2
#define ACPI_POWER_TYPE_MASK   7
#define ACPI_POWER_GO          0x20
#define ACPI_POWER_TYPE_OFF    5

struct acpi_power {
	struct device dev;
	struct machine_events events;
};

void acpi_power_init(struct acpi_power *p, const struct machine_events *events);

#endif
