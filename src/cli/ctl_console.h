/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console of a running machine, on this terminal. */
#ifndef CLI_CTL_CONSOLE_H
#define CLI_CTL_CONSOLE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

int ctl_console(int fd, const void *first, size_t len, struct err *e) __must_check;

#endif
