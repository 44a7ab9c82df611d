/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of src/arch that those who configure a machine use: which processor its guest is to see.
 * It is read before there is a machine, and also where none of ours will be (for QEMU).
 */
#ifndef VMM_CPU_H
#define VMM_CPU_H

#include "arch/x86/clock.h"
#include "arch/x86/cpu_spec.h"

#endif
