/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An arm of a comparison as it is written: KERNEL[,append=TEXT]... */
#ifndef ENGINE_ARM_H
#define ENGINE_ARM_H

#include "base/cleanup.h"
#include "base/err.h"

struct arm {
	char *kernel; /* a path or the name of an image */
	char *append; /* kernel command line, may be empty; several are joined by spaces */
};

int arm_parse(const char *option, const char *text, struct arm *ret, struct err *e) __must_check;
void arm_fini(struct arm *a);

#endif
