/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the source for the addresses of a failure, where the kernel has debug information. */
#ifndef CLI_RUN_DECODER_H
#define CLI_RUN_DECODER_H

#include "engine/decoder.h"

void run_decoder_start(int symbols_fd, struct decoder *ret);

#endif
