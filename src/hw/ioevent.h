/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors in place of exits, as a device sees them: a guest's write that makes an eventfd
 * readable, and an eventfd whose signal raises an interrupt line. The machine supplies the table,
 * so no device knows of KVM.
 *
 * Everything is tied before the first vCPU runs and stays tied until the machine ends. A line is
 * pulsed, up and down, for each signal: a device writes its status before it signals, and the
 * guest's interrupt is edge-triggered.
 */
#ifndef HW_IOEVENT_H
#define HW_IOEVENT_H

#include <stdint.h>

#include "base/cleanup.h"

struct ioevent_ops {
	/* An eventfd, not blocking. Returns it or −errno. */
	int (*open)(void *ctx);
	void (*close)(void *ctx, int fd);
	/* A guest's write of @bytes at @gpa, of any value, signals @fd and makes no exit. */
	int (*tie_write)(void *ctx, int fd, uint64_t gpa, unsigned int bytes);
	/* The same, of a write of @value alone: for an address that nothing else is tied to. */
	int (*tie_value)(void *ctx, int fd, uint64_t gpa, unsigned int bytes, uint64_t value);
	/* A signal of @fd pulses the line. */
	int (*tie_irq)(void *ctx, int fd, uint32_t gsi);
};

struct ioevent {
	const struct ioevent_ops *ops;
	void *ctx;
};

static inline int __must_check ioevent_open(const struct ioevent *i)
{
	return i->ops->open(i->ctx);
}

static inline void ioevent_close(const struct ioevent *i, int fd)
{
	if (fd >= 0) {
		i->ops->close(i->ctx, fd);
	}
}

static inline int __must_check ioevent_tie_write(const struct ioevent *i, int fd, uint64_t gpa,
						 unsigned int bytes)
{
	return i->ops->tie_write(i->ctx, fd, gpa, bytes);
}

static inline int __must_check ioevent_tie_value(const struct ioevent *i, int fd, uint64_t gpa,
						 unsigned int bytes, uint64_t value)
{
	return i->ops->tie_value(i->ctx, fd, gpa, bytes, value);
}

static inline int __must_check ioevent_tie_irq(const struct ioevent *i, int fd, uint32_t gsi)
{
	return i->ops->tie_irq(i->ctx, fd, gsi);
}

#endif
