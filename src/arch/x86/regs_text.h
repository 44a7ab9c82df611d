/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU's registers as text for people. */
#ifndef ARCH_X86_REGS_TEXT_H
#define ARCH_X86_REGS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "hw/gmem.h"
#include "kvm/types.h"

/* Enough for the text of one vCPU. */
#define X86_REGS_TEXT_MAX 1536

size_t x86_bytes_text(const uint8_t *bytes, size_t count, char *buf, size_t size);
size_t x86_regs_text(const struct kvm_regs *r, const struct kvm_sregs *s, const struct gmem *mem,
		     char *buf, size_t size);

#endif
