/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target is one function. Built with -Dfuzz=true (clang), libFuzzer calls it; without, it is
 * a unit test that replays the target's corpus. Inputs are lists of fixed-size steps, so that
 * cutting and joining them makes inputs that still mean something.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_step {
	uint8_t op;
	uint8_t i;
	uint16_t a, b, c;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input is. */
#define must(condition)                   \
	do {                              \
		if (!(condition)) {       \
			__builtin_trap(); \
		}                         \
	} while (0)

/* The next step of an input; false at its end. */
static inline int fuzz_next(const uint8_t **data, size_t *size, struct fuzz_step *ret)
{
	if (*size < sizeof(*ret)) {
		return 0;
	}
	memcpy(ret, *data, sizeof(*ret));
	*data += sizeof(*ret);
	*size -= sizeof(*ret);
	return 1;
}

#endif
