/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes first: cmocka, and the headers that it needs before it. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A test program that this machine cannot run: meson counts 77 as skipped. */
#define SKIP_STATUS 77

#endif
