/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GUEST_INITRAMFS_PRIV_H
#define GUEST_INITRAMFS_PRIV_H

#include <stddef.h>

extern const char *const initramfs_applets[]; /* NULL-terminated */

#endif
