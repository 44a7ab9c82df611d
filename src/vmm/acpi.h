/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's ACPI tables, for a kernel that has ACPI: its devices are in them. */
#ifndef VMM_ACPI_H
#define VMM_ACPI_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

struct machine;
struct machine_config;

int acpi_make(struct machine *m, const struct machine_config *cfg, struct err *e) __must_check;
uint64_t acpi_rsdp(const struct machine_config *cfg);

#endif
