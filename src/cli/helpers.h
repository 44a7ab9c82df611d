/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the program's own companion files are, and how it ends. */
#ifndef CLI_HELPERS_H
#define CLI_HELPERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

/* Of the backend qemu. */
#define CLI_QEMU_PROGRAM "qemu-system-x86_64"

int cli_find_helper(const char *name, char *ret_path, size_t len, struct err *e) __must_check;
int cli_check_file(const char *option, const char *path, struct err *e) __must_check;
int cli_find_kernel(const char *arg, char *ret_path, size_t len, struct err *e) __must_check;
int cli_find_kernel_script(char *ret_path, size_t len, struct err *e) __must_check;
int cli_make_cache_parents(const char *path, struct err *e) __must_check;
int cli_make_parents(const char *path, struct err *e) __must_check;
int cli_cache_dir(char *ret_path, size_t len, struct err *e) __must_check;
bool cli_in_path(const char *name);
bool cli_is_stdout(const char *path);
void cli_end_by_signal(int sig);

#endif
