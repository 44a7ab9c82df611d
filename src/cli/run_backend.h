/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which backend "ringside run" takes, and making it. */
#ifndef CLI_RUN_BACKEND_H
#define CLI_RUN_BACKEND_H

#include "base/err.h"
#include "cli/run_options.h"
#include "engine/backend.h"

bool run_backend_is_qemu(const struct run_options *o);
int run_backend_create(const struct run_options *o, bool qemu, const struct backend_config *common,
		       struct backend **ret, struct err *e) __must_check;

#endif
