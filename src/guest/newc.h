/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cpio archive in the "newc" format, in memory, always the same bytes for the same calls: owner
 * root, time 0, inode numbers counted from 1. What comes from the caller's buffers or from files
 * is copied once, straight to where the archive is wanted.
 */
#ifndef GUEST_NEWC_H
#define GUEST_NEWC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

/* Limits of the reader, Linux's initramfs: PATH_MAX with its NUL, for names and link targets. */
#define NEWC_NAME_MAX 4095

/* The size field has 8 hexadecimal digits. */
#define NEWC_FILE_MAX UINT32_MAX

struct newc;

int newc_create(struct newc **ret) __must_check;
void newc_destroy(struct newc *n);
DEFINE_CLEANUP(struct newc *, newc_destroy)

int newc_add_dir(struct newc *n, const char *name, mode_t perm, struct err *e) __must_check;
int newc_add_data(struct newc *n, const char *name, mode_t perm, const void *data, size_t len,
		  struct err *e) __must_check;
int newc_add_path(struct newc *n, const char *name, mode_t perm, const char *path,
		  struct err *e) __must_check;
int newc_add_symlink(struct newc *n, const char *name, const char *target,
		     struct err *e) __must_check;
int newc_add_node(struct newc *n, const char *name, mode_t mode, unsigned int dev_major,
		  unsigned int dev_minor, struct err *e) __must_check;
int newc_add_trailer(struct newc *n, struct err *e) __must_check;
int newc_append_path(struct newc *n, const char *path, struct err *e) __must_check;

size_t newc_bytes(const struct newc *n);
int newc_copy(const struct newc *n, void *dest, struct err *e) __must_check;

#endif
