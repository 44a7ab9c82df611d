/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After a boot that came to nothing: what the kernel's configuration lacks for what was asked. */
#ifndef CLI_RUN_LACKS_H
#define CLI_RUN_LACKS_H

#include "cli/run_options.h"
#include "engine/outcome.h"
#include "samples/record.h"

bool run_lacks_due(const struct run_options *o, const struct outcome *outcome,
		   const struct record_boot *record);
void run_lacks_tell(const struct run_options *o, int kernel_fd);

#endif
