/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The margins of a plan: what --margin says, and whether their units are those of the machine. */
#ifndef CLI_COMPARE_MARGIN_H
#define CLI_COMPARE_MARGIN_H

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/plan.h"
#include "samples/class.h"

int compare_margin_set(const char *text, struct plan *p, struct err *e) __must_check;
int compare_margin_check(const struct plan *p, enum exec_class class, struct err *e) __must_check;

#endif
