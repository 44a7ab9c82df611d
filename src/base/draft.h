/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is there whole or not at all. It has no name until it is published: whoever is killed
 * while it is written leaves nothing behind. Where the file system cannot do that it has a name of
 * its own, ".NAME.PID", until then. What stands at the name is replaced, and never written into; a
 * symbolic link, a folder or a device there is refused before anything is done for the file.
 *
 * All that opens something is in draft_open(), so that the rest works behind a system call filter.
 */
#ifndef BASE_DRAFT_H
#define BASE_DRAFT_H

#include <limits.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"

struct draft {
	int dir_fd, fd;   /* the folder, and the file to write into; -1: closed */
	const char *path; /* as it was given, the caller's */
	bool named;       /* the file stands at .aside */
	char name[NAME_MAX + 1];
	char aside[NAME_MAX + 1];
};

#define DRAFT_INIT ((struct draft){.dir_fd = -1, .fd = -1})

int draft_open(struct draft *d, const char *what, const char *path, struct err *e) __must_check;
int draft_publish(struct draft *d) __must_check;
void draft_close(struct draft *d);

#endif
