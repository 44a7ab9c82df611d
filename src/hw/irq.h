/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interrupt line, as a device sees it: a level to set. The machine supplies the table; the
 * device keeps a copy of the line. set() may be called from any thread, and by a device that holds
 * its lock, so it must not call back into a device.
 */
#ifndef HW_IRQ_H
#define HW_IRQ_H

#include <stdbool.h>
#include <stdint.h>

struct irq_ops {
	int (*set)(void *ctx, uint32_t gsi, bool level); /* 0 or -errno */
};

struct irq_line {
	const struct irq_ops *ops; /* NULL: connected to nothing */
	void *ctx;
	uint32_t gsi;
};

/*
 * Set the level of a line. Return: 0 (also for a line connected to nothing), or what ops->set said.
 * A device may ignore it: it can mend nothing, and the machine knows from its own table.
 */
static inline int irq_set(const struct irq_line *line, bool level)
{
	return line->ops ? line->ops->set(line->ctx, line->gsi, level) : 0;
}

#endif
