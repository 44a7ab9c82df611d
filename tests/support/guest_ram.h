/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest RAM of one region at 0, all zero, for tests of what is written into it or read from it. */
#ifndef TESTS_GUEST_RAM_H
#define TESTS_GUEST_RAM_H

#include "support.h"

#include <stdlib.h>

#include "hw/gmem.h"

struct guest_ram {
	struct gmem mem;
	unsigned char *bytes;
};

static inline void guest_ram_init(struct guest_ram *r, size_t bytes)
{
	r->bytes = calloc(1, bytes);
	assert_non_null(r->bytes);
	gmem_init(&r->mem);
	assert_int_equal(gmem_add(&r->mem, 0, bytes, r->bytes), 0);
}

static inline void guest_ram_fini(struct guest_ram *r)
{
	gmem_fini(&r->mem);
	free(r->bytes);
}

#endif
