/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same guest under QEMU's microvm and software processor, without KVM: the reference for our
 * own VMM, the gate that counts instructions, and the lab in which our VMM itself is run.
 */
#ifndef ENGINE_BACKEND_QEMU_H
#define ENGINE_BACKEND_QEMU_H

#include "engine/backend.h"

#define BACKEND_QEMU_ICOUNT_OFF (-1)

struct backend_qemu_config {
	struct backend_config common;
	const char *program; /* NULL: qemu-system-x86_64 of PATH */
	int icount_shift;    /* 0..EXEC_ICOUNT_SHIFT_MAX, or BACKEND_QEMU_ICOUNT_OFF */
	bool lab;            /* share the host's root read-only as 9p tag "hostroot" */
	const char *const
		*rw; /* folders shared for writing as "rw0", "rw1", ...; NULL-terminated */
};

int backend_qemu_create(const struct backend_qemu_config *cfg, struct backend **ret,
			struct err *e) __must_check;

#endif
