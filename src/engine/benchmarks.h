/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The benchmarks that the guest program knows, and how a list of them is written. */
#ifndef ENGINE_BENCHMARKS_H
#define ENGINE_BENCHMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

#define BENCHMARKS_MAX 64u

/* A set of benchmarks: bit i is benchmark_name(i). */
typedef uint64_t benchmark_set;

static inline benchmark_set benchmark_bit(size_t i)
{
	return (benchmark_set)1 << i;
}

static inline bool benchmark_in(benchmark_set set, size_t i)
{
	return (set & benchmark_bit(i)) != 0;
}

size_t benchmark_count(void);
const char *benchmark_name(size_t i);
int benchmarks_parse(const char *list, benchmark_set *ret, struct err *e) __must_check;
int benchmarks_check_backend(benchmark_set set, const char *backend, struct err *e) __must_check;

#endif
