/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" copies into the guest: the values of --file. */
#ifndef CLI_RUN_FILES_H
#define CLI_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "guest/closure.h"
#include "guest/initramfs.h"

/* Files and folders are not counted one by one by a user: a whole tree may be meant by mistake. */
#define RUN_FILES_MAX 20000

struct run_files {
	struct initramfs_file *files; /* their texts are owned */
	size_t count;
};

int run_files_find(const struct opt_list *values, bool rooted, struct closure *closure,
		   struct run_files *ret, struct err *e) __must_check;
void run_files_fini(struct run_files *f);

#endif
