/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --pin: which processor of this machine each vCPU is to run on, and on no other. */
#ifndef CLI_RUN_PIN_H
#define CLI_RUN_PIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"

/* What sched_getaffinity() has room for with glibc's cpu_set_t. */
#define PIN_HOST_CPUS_MAX 1024

/* A processor that this process may run on. */
struct pin_cpu {
	unsigned int number; /* as Linux counts them */
	unsigned int core;   /* lowest number of those that share its core */
};

struct pin_host {
	size_t count;
	struct pin_cpu cpu[PIN_HOST_CPUS_MAX]; /* by number */
};

int pin_host_read(bool cores, struct pin_host *ret, struct err *e) __must_check;
int pin_choose(const char *value, unsigned int vcpus, const struct pin_host *host,
	       unsigned int *ret_cpus, struct err *e) __must_check;

#endif
