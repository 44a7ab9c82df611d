/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Did the processor's clock keep its rate? The time-stamp counter does, whatever the core's clock
 * does, so the same loop around nothing, which the guest times beside each batch, takes more of its
 * ticks when the core runs slower: another program that heats or loads the machine shows in it.
 */
#ifndef SAMPLES_BOOT_CLOCK_H
#define SAMPLES_BOOT_CLOCK_H

#include <jansson.h>

#include "samples/boot_record.h"

int boot_clock_mark(struct boot_bench *b, const json_t *empty) __must_check;

#endif
