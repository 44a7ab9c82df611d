/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs about NOPTI share: the prctl, what the kernel under test is expected to have,
 * and small things that several cases do.
 */
#ifndef NOPTI_H
#define NOPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "abi/nopti.h"

/* The host says it on the command line, so that a kernel that lost the prctl is no skipped test. */
enum nopti_expected {
	NOPTI_NONE, /* a kernel without it: EINVAL */
	NOPTI_OFF,  /* it has it, but page table isolation is off: ENODEV */
	NOPTI_ON,
};

extern enum nopti_expected nopti_expected;

int nopti_set(unsigned long value);
int nopti_get(unsigned long *ret_bits);
unsigned long nopti_bits(void);
void nopti_on(void);
void nopti_off(void);
void nopti_need(void);
bool nopti_arguments(int argc, char **argv);

int guest_cpus(void);
void guest_pin(int cpu);
void guest_drop_rawio(void);
long guest_int80(long nr, long a, long b, long c);
void *guest_code(unsigned long where, unsigned int answer);
void guest_call(const void *code, unsigned int answer);
long guest_exec_bits(const char *file);
long long guest_now_ms(void);
int guest_spawn_vm(int (*fn)(void *), void *arg, int flags);

/* The status with which a program called with "get" tells its bits. */
#define NOPTI_GET_STATUS 100

#endif
