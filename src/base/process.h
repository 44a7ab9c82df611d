/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the processes that we start have in common. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sys/types.h>

void process_die_with(pid_t parent);

#endif
