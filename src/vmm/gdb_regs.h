/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's registers as GDB knows them: one table makes the description that GDB asks for
 * (target.xml), the answer to "g" and the number of each. Order and names are QEMU's, so that what
 * is written for its stub works here too. Pure.
 */
#ifndef VMM_GDB_REGS_H
#define VMM_GDB_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "kvm/types.h"

#define GDB_REGS_BYTES 608  /* of all of them, as "g" has them */
#define GDB_REG_BYTES  16   /* of the widest */
#define GDB_XML_MAX    8192 /* bytes of target.xml, with its NUL */

struct gdb_regs {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_fpu fpu;
	uint64_t kernel_gs_base;
};

unsigned int gdb_regs_count(void);
size_t gdb_reg_get(const struct gdb_regs *r, unsigned int number, uint8_t *buf);
int gdb_reg_set(struct gdb_regs *r, unsigned int number, const uint8_t *buf) __must_check;
size_t gdb_reg_bytes(unsigned int number);
size_t gdb_regs_xml(char *buf);

#endif
