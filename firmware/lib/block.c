/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared page. Its magic stands in the file, where a host looks for it. */
#include "fw.h"

struct payload_block fw_block __attribute__((section(".block"))) = {
	.magic = PAYLOAD_MAGIC,
};
