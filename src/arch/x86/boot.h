/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state a boot CPU starts in: long mode, flat segments, the first 4 GiB mapped one to one.
 * That is what the 64-bit boot protocol of Linux asks for (Documentation/arch/x86/boot.rst), and
 * with ring 3 in place of ring 0 what a firmware payload takes on a KVM that runs only ring 3
 * natively. The other start state is that of PVH: protected mode, no paging. Pure, but for the
 * tables written into guest RAM.
 */
#ifndef ARCH_X86_BOOT_H
#define ARCH_X86_BOOT_H

#include <stdint.h>

#include "base/cleanup.h"
#include "hw/gmem.h"
#include "kvm/types.h"

/* Low memory that the start state takes; a loader keeps out of it until the guest runs. */
#define X86_BOOT_GDT         UINT64_C(0x500)
#define X86_BOOT_TSS         UINT64_C(0x1000) /* ring 3 only: three pages, with all ports open */
#define X86_BOOT_STACK       UINT64_C(0x8ff0) /* grows down; the protocol does not ask for one */
#define X86_BOOT_TABLES      UINT64_C(0x9000) /* top level, next level, then four directories */
#define X86_BOOT_TABLE_PAGES 6

#define X86_CR0_PE           UINT64_C(0x1)
#define X86_CR0_ET           UINT64_C(0x10)
#define X86_CR0_NE           UINT64_C(0x20)
#define X86_CR0_PG           UINT64_C(0x80000000)
#define X86_CR4_PAE          UINT64_C(0x20)
#define X86_CR4_OSFXSR       UINT64_C(0x200)
#define X86_CR4_OSXMMEX      UINT64_C(0x400)
#define X86_CR4_LA57         UINT64_C(0x1000)
#define X86_CR4_FSGSBASE     UINT64_C(0x10000)
#define X86_EFER_LME         UINT64_C(0x100)
#define X86_EFER_LMA         UINT64_C(0x400)
#define X86_EFER_NXE         UINT64_C(0x800)
#define X86_RFLAGS_1         UINT64_C(0x2) /* always one */
#define X86_RFLAGS_IF        UINT64_C(0x200)
#define X86_RFLAGS_IOPL      UINT64_C(0x3000)

enum x86_ring { X86_RING_0, X86_RING_3 };

int x86_boot_write_tables(const struct gmem *mem, enum x86_ring ring) __must_check;
void x86_boot_sregs(struct kvm_sregs *s, enum x86_ring ring);
void x86_boot_regs(struct kvm_regs *ret, uint64_t rip, uint64_t rsi, enum x86_ring ring);
void x86_boot_pvh_sregs(struct kvm_sregs *s);
void x86_boot_pvh_regs(struct kvm_regs *ret, uint32_t eip, uint32_t ebx);
void x86_boot_fpu(struct kvm_fpu *ret);
void x86_boot_msrs(struct kvm_msr_table *ret);
void x86_boot_lapic(struct kvm_lapic_state *l);

#endif
