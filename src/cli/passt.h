/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passt, the program that is the host's side of a user-mode network: started with one end of a
 * socket pair, and ended with the machine. When our end is closed it ends by itself, also as a
 * user that the kernel's signal for a lost parent does not reach, so none is left whatever becomes
 * of us.
 */
#ifndef CLI_PASST_H
#define CLI_PASST_H

#include <sys/types.h>

#include "base/err.h"
#include "engine/backend.h"

struct passt {
	pid_t pid;   /* 0: none */
	int pid_fd;  /* the same, for the end: our filters do not let us reach others */
	int fd;      /* our end */
	int said_fd; /* what it says on stderr: a memory file */
};
#define PASST_INIT                                    \
	{                                             \
		.pid_fd = -1, .fd = -1, .said_fd = -1 \
	}

int passt_start(struct passt *p, const struct backend_net *net, struct err *e) __must_check;
void passt_said(const struct passt *p, char *buf, size_t size);
void passt_end(struct passt *p);

#endif
