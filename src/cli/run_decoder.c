/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_decoder.h. Main thread, before the machine is made. */
#include "cli/run_decoder.h"

#include <limits.h>

#include "base/log.h"
#include "cli/helpers.h"

#define DECODE_NAME "ringside-decode"

/**
 * run_decoder_start() - have a decoder at hand, for a failure
 * @symbols_fd: the file with the kernel's symbols, or -1
 * @ret: set; decoder_end() it. Of a kernel without debug information there is none
 *
 * Without it reports have functions and offsets alone, which is no reason not to run.
 */
void run_decoder_start(int symbols_fd, struct decoder *ret)
{
	char program[PATH_MAX];
	struct err e = ERR_INIT;
	int r = 0;

	*ret = (struct decoder){.pid = 0};
	if (decoder_pays(symbols_fd)) {
		r = cli_find_helper(DECODE_NAME, program, sizeof(program), &e);
		if (r == 0) {
			r = decoder_start(program, symbols_fd, ret, &e);
		}
	}
	if (r < 0) {
		log_warn("stack traces will be without lines of the source: %s", e.text);
	}
}
