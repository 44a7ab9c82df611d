/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtiofsd as a child of ours: the C one that QEMU had up to 7.2 (Debian 12, in the package
 * qemu-system-common), or the Rust one that came after it (package virtiofsd); what it says of
 * itself tells which. $RINGSIDE_VIRTIOFSD names one that is elsewhere. It is started for one
 * directory and one guest, over a socket that nobody else can connect to, and ends with that
 * connection, however we end.
 *
 * What the guest may do is set here and not asked of virtiofsd: the child gets a mount namespace of
 * its own, in which a copy of the directory's mounts is all that it serves, and that copy is
 * read-only when the guest is only to read. virtiofsd drops what it would take to change that, and
 * goes into a sandbox of its own on top (pivot_root, seccomp).
 *
 * Without root's rights the child gets a user namespace as well, in which it is root and we are the
 * only user: the guest then sees our files as root's, and can do no more than we can.
 */
#ifndef VMM_VIRTIOFSD_H
#define VMM_VIRTIOFSD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

#define VIRTIOFSD_WORDS_MAX 256 /* room for virtiofsd_words() */

struct virtiofsd {
	pid_t pid;     /* 0: none */
	int pid_fd;    /* owned */
	int errors_fd; /* what it says; owned */
};

#define VIRTIOFSD_INIT                        \
	{                                     \
		.pid_fd = -1, .errors_fd = -1 \
	}

int virtiofsd_start(struct virtiofsd *d, const char *path, bool read_only, int *ret_fd,
		    struct err *e) __must_check;
void virtiofsd_words(struct virtiofsd *d, char *ret, size_t size);
void virtiofsd_stop(struct virtiofsd *d);

#endif
