/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table that tells a kernel without ACPI of its CPUs and interrupt controllers. Without it
 * Linux leaves the local APIC's timer and the I/O APIC alone, and pays several exits for each tick
 * of the old timer chip.
 */
#ifndef ARCH_X86_MPTABLE_H
#define ARCH_X86_MPTABLE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "hw/gmem.h"

/*
 * In the last KiB of base memory, which is where a kernel looks and which no memory map calls RAM;
 * with many CPUs it goes on above, where no map has RAM either.
 */
#define X86_MPTABLE UINT64_C(0x9fc00)

/* So many lines an I/O APIC of KVM has, and line n of a device is its pin n. */
#define X86_IOAPIC_PINS 24

int x86_mptable_write(const struct gmem *mem, uint32_t cpus) __must_check;

#endif
