/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of calibrate.elf: calibrate.c runs batches, calibrate_loops.c has the loops,
 * calibrate_prepare.c puts the processor into the state that a loop needs.
 */
#ifndef CALIBRATE_PRIV_H
#define CALIBRATE_PRIV_H

#include "fw.h"

#include "abi/calibrate.h"

#define CALIBRATE_CHAIN_COPIES 64

/* What the registers hold when a loop starts. */
struct calibrate_input {
	uint64_t rax;
	uint64_t rdx;
	uint64_t rcx;
	uint64_t rsi;
	uint64_t rdi;
	uint64_t r8;
};

/* Runs @loops rounds, 1 or more, and returns the TSC ticks from before to after. */
typedef uint64_t (*calibrate_loop)(uint64_t loops, const struct calibrate_input *in);

extern const calibrate_loop calibrate_loops[CALIBRATE_PRIMITIVE_COUNT];
uint64_t calibrate_empty(uint64_t loops, const struct calibrate_input *in);
uint64_t calibrate_chain(uint64_t loops, const struct calibrate_input *in);

bool calibrate_prepare(enum calibrate_primitive which, struct calibrate_input *ret);
_Noreturn void calibrate_enter_ring3(void (*fn)(void));

#endif
