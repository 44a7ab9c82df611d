/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU's monitor prints of its vCPUs' registers, apart. Pure. */
#ifndef ENGINE_QEMU_REGISTERS_PRIV_H
#define ENGINE_QEMU_REGISTERS_PRIV_H

#include "engine/backend.h"

size_t qemu_registers_parse(char *all, struct backend_cpu_state *cpus, size_t max);

#endif
