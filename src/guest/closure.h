/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of the host with the shared objects that they need, for the guest's initramfs: the ELF
 * interpreter and all of DT_NEEDED, found where ld.so would find them (ld.so(8)): DT_RPATH and
 * DT_RUNPATH with $ORIGIN and $LIB, the directories of /etc/ld.so.conf, and the default ones. The
 * environment plays no part. What a program opens by itself (dlopen(3), name service) no header
 * tells; such files are added by their paths.
 *
 * In the guest each file is at its real path and there once; other names of it are links.
 */
#ifndef GUEST_CLOSURE_H
#define GUEST_CLOSURE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "guest/newc.h"

struct closure_entry {
	char *name;   /* in the guest, absolute */
	char *path;   /* the host's file; NULL for a link */
	char *target; /* of a link, absolute; NULL for a file */
	mode_t perm;
};

struct closure;

int closure_create(const char *root, struct closure **ret) __must_check;
void closure_destroy(struct closure *c);
DEFINE_CLEANUP(struct closure *, closure_destroy)

int closure_add(struct closure *c, const char *path, const char *name, struct err *e) __must_check;

size_t closure_count(const struct closure *c);
const struct closure_entry *closure_at(const struct closure *c, size_t i);
int closure_write(const struct closure *c, struct newc *n, struct err *e) __must_check;

#endif
