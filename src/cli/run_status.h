/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --status-file: one line, the true status of the command or the kind of failure. It is opened
 * before the machine starts, after which nothing is.
 */
#ifndef CLI_RUN_STATUS_H
#define CLI_RUN_STATUS_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/outcome.h"

struct status_file {
	const char *path; /* NULL: none is wanted */
	int fd;           /* -1: not open */
	bool filled;      /* a text is in it already */
};

int status_file_open(struct status_file *f, const char *path, struct err *e) __must_check;
int status_file_write(struct status_file *f, const struct outcome *o, struct err *e) __must_check;
void run_status_of_error(const struct err *e, struct outcome *ret);
void status_file_close(struct status_file *f);

#endif
