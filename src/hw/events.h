/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a device tells its machine: the guest asked for an end, the guest reached a point. The
 * machine supplies the table. Both are called on the vCPU thread whose access caused them, with no
 * device lock held, and several vCPUs may call at once.
 */
#ifndef HW_EVENTS_H
#define HW_EVENTS_H

#include <stdint.h>

enum machine_stop {
	MACHINE_STOP_EXIT_PORT, /* value: what the guest wrote */
	MACHINE_STOP_RESET,     /* value: 0 */
	MACHINE_STOP_POWER_OFF, /* value: 0 */
};

struct machine_events_ops {
	void (*stop)(void *ctx, enum machine_stop reason, uint32_t value);
	void (*mark)(void *ctx, uint8_t code);
};

struct machine_events {
	const struct machine_events_ops *ops;
	void *ctx;
};

static inline void machine_stop(const struct machine_events *m, enum machine_stop reason,
				uint32_t value)
{
	m->ops->stop(m->ctx, reason, value);
}

static inline void machine_mark(const struct machine_events *m, uint8_t code)
{
	m->ops->mark(m->ctx, code);
}

#endif
