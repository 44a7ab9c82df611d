/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a process of a pool begins. */
#ifndef ENGINE_SPAWN_PRIV_H
#define ENGINE_SPAWN_PRIV_H

#include <sys/types.h>

#include "engine/spawn.h"

int spawn_process(const struct spawn_request *req, pid_t *ret_pid, int *ret_record_fd,
		  int *ret_said_fd) __must_check;

#endif
