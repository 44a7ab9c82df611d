/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See guestport.h. Reads and writes run on vCPU threads. */
#include "devices/guestport.h"

static uint64_t read_zero(struct device *d, uint64_t offset, unsigned int size)
{
	return 0;
}

static uint64_t read_ones(struct device *d, uint64_t offset, unsigned int size)
{
	return UINT64_MAX;
}

static void exit_port_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct guestport *p = (struct guestport *)d;

	machine_stop(&p->events, MACHINE_STOP_EXIT_PORT, (uint32_t)value);
}

static void mark_port_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct guestport *p = (struct guestport *)d;

	machine_mark(&p->events, (uint8_t)value);
}

static void boot_timer_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct guestport *p = (struct guestport *)d;

	if (offset == 0 && (uint8_t)value == BOOT_TIMER_VALUE) {
		machine_mark(&p->events, MARK_USER_START);
	}
}

static const struct device_ops exit_port_ops = {
	.name = "exit port",
	.max_size = EXIT_PORT_BYTES,
	.read = read_zero,
	.write = exit_port_write,
};

static const struct device_ops mark_port_ops = {
	.name = "mark port",
	.max_size = MARK_PORT_BYTES,
	.read = read_ones,
	.write = mark_port_write,
};

static const struct device_ops boot_timer_ops = {
	.name = "boot timer",
	.max_size = BOOT_TIMER_BYTES,
	.read = read_ones,
	.write = boot_timer_write,
};

/**
 * exit_port_init() - EXIT_PORT, EXIT_PORT_BYTES wide: a write of v stops the machine with v
 * @p: the caller's memory
 * @events: whom to tell, copied
 *
 * Context: before any vCPU runs.
 */
void exit_port_init(struct guestport *p, const struct machine_events *events)
{
	*p = (struct guestport){.dev.ops = &exit_port_ops, .events = *events};
}

/**
 * mark_port_init() - MARK_PORT, MARK_PORT_BYTES wide: a write of v is the mark v
 * @p: the caller's memory
 * @events: whom to tell, copied
 *
 * Context: before any vCPU runs.
 */
void mark_port_init(struct guestport *p, const struct machine_events *events)
{
	*p = (struct guestport){.dev.ops = &mark_port_ops, .events = *events};
}

/**
 * boot_timer_init() - BOOT_TIMER_GPA, BOOT_TIMER_BYTES wide: BOOT_TIMER_VALUE is a user start mark
 * @p: the caller's memory
 * @events: whom to tell, copied; they keep the first of several user start marks
 *
 * Context: before any vCPU runs.
 */
void boot_timer_init(struct guestport *p, const struct machine_events *events)
{
	*p = (struct guestport){.dev.ops = &boot_timer_ops, .events = *events};
}
