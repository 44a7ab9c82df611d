/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_FUZZ_SET_H
#define TESTS_FUZZ_SET_H

#include "samples/test_set.h"

/* Traps when a set, which has a plan, is not what every set must be. */
void fuzz_check_set(const struct test_set *s);

#endif
