/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest memory of QEMU's microvm in the one file that holds it. Private to the QEMU backend. */
#ifndef ENGINE_QEMU_MEMORY_PRIV_H
#define ENGINE_QEMU_MEMORY_PRIV_H

#include "engine/backend.h"

#define QEMU_MEMORY_PIECES 2

size_t qemu_memory_pieces(int fd, uint64_t bytes, struct backend_memory *pieces, size_t max);
int qemu_memory_read(int fd, uint64_t bytes, uint64_t gpa, void *buf, size_t len) __must_check;

#endif
