/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report in a file: there whole, or what stood there before; never in the place of what the
 * report is made of, nor of any results file.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"

typedef int (*output_fn)(const void *ctx, FILE *out);

int output_check_inputs(const char *option, const char *path, const char *const *inputs, size_t n,
			struct err *e) __must_check;
int output_check(const char *option, const char *path, const char *const *inputs, size_t n,
		 struct err *e) __must_check;
int output_write(const char *path, output_fn fn, const void *ctx) __must_check;

#endif
