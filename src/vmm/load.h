/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts kernel, initrd and boot parameters into guest memory, as the loader plans it. */
#ifndef VMM_LOAD_H
#define VMM_LOAD_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "loader/symbols.h"
#include "vmm/ram.h"
#include "vmm/vmm.h"

struct loaded {
	uint64_t entry;          /* guest-physical, which is where RIP starts */
	uint64_t boot_params;    /* for RSI; PVH: start info for EBX */
	struct symbols *symbols; /* the caller's to close; NULL: the file has none to give */
};

int load_guest(const struct ram *ram, const struct machine_config *cfg, struct loaded *ret,
	       struct err *e) __must_check;

#endif
