/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the start code calls of cmdline.c. */
#ifndef FW_CMDLINE_PRIV_H
#define FW_CMDLINE_PRIV_H

void cmdline_init(const void *boot_params);

#endif
