/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole reads and writes: short transfers and EINTR are dealt with here and nowhere else. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

int io_pread_exact(int fd, void *buf, size_t len, uint64_t offset) __must_check;
int io_write_all(int fd, const void *buf, size_t len) __must_check;
int io_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		 struct err *e) __must_check;

#endif
