/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside kernel inspect: what is in a kernel's file, and what a guest would lack for it. */
#ifndef CLI_KERNEL_INSPECT_H
#define CLI_KERNEL_INSPECT_H

#include <stdbool.h>

int kernel_inspect(const char *file, const char *config, bool json);

#endif
