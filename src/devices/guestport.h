/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers by which a guest speaks to its machine (abi/marks.h): exit port, mark port, boot
 * timer. They have no state of their own, so no lock.
 */
#ifndef DEVICES_GUESTPORT_H
#define DEVICES_GUESTPORT_H

#include "abi/marks.h"
#include "hw/device.h"
#include "hw/events.h"

#define MARK_PORT_BYTES  1
#define BOOT_TIMER_BYTES 8

struct guestport {
	struct device dev;
	struct machine_events events;
};

void exit_port_init(struct guestport *p, const struct machine_events *events);
void mark_port_init(struct guestport *p, const struct machine_events *events);
void boot_timer_init(struct guestport *p, const struct machine_events *events);

#endif
