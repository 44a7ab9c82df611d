/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a guest's page tables, without trusting them. */
#ifndef ARCH_X86_WALK_H
#define ARCH_X86_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "hw/gmem.h"
#include "kvm/types.h"

int x86_walk(const struct gmem *mem, const struct kvm_sregs *s, uint64_t gva,
	     uint64_t *ret_gpa) __must_check;
size_t x86_read_virtual(const struct gmem *mem, const struct kvm_sregs *s, uint64_t gva, void *buf,
			size_t bytes);

#endif
