/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's command line, apart from running it. Private to the QEMU backend. */
#ifndef ENGINE_QEMU_ARGS_PRIV_H
#define ENGINE_QEMU_ARGS_PRIV_H

#include "engine/backend_qemu.h"

/* Descriptors that QEMU inherits; -1: there is none. */
struct qemu_fds {
	int memory;
	int initrd;
	int console;
	int channel;
	int qmp;
};

struct qemu_args {
	char **argv; /* NULL-terminated */
	size_t count, room;
	bool failed;
};

int qemu_args_build(struct qemu_args *a, const struct backend_qemu_config *cfg,
		    const struct qemu_fds *fds, struct err *e) __must_check;
void qemu_args_fini(struct qemu_args *a);

#endif
