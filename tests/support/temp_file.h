/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file for one test, gone afterwards. */
#ifndef TESTS_TEMP_FILE_H
#define TESTS_TEMP_FILE_H

#include "support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct temp_file {
	char path[64];
	int fd;
};

/* Under the current folder, which is on a disk; /tmp may be in memory. */
static inline void temp_file_init(struct temp_file *f, size_t bytes)
{
	strcpy(f->path, "temp-XXXXXX");
	f->fd = mkostemp(f->path, O_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(ftruncate(f->fd, (off_t)bytes), 0);
}

static inline void temp_file_fini(struct temp_file *f)
{
	close(f->fd);
	unlink(f->path);
}

#endif
