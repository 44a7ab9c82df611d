/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A keyboard controller with nothing connected to it. It answers every command that has an answer
 * at once, because Linux polls ten thousand times for one that does not come, and each poll is an
 * exit; and it resets the machine, which is what guests want of it (Linux: reboot=k).
 */
#ifndef DEVICES_I8042_H
#define DEVICES_I8042_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hw/device.h"
#include "hw/events.h"

#define I8042_DATA_PORT    0x60
#define I8042_COMMAND_PORT 0x64

/* The device's offsets of the two ports: the port between them is the timer's. */
#define I8042_DATA_OFFSET    0
#define I8042_COMMAND_OFFSET 4

struct i8042 {
	struct device dev;
	struct machine_events events;
	pthread_mutex_t lock; /* of what follows */
	uint8_t command;      /* that waits for its data byte, or 0 */
	uint8_t config;
	uint8_t output;
	bool output_full;
};

void i8042_init(struct i8042 *k, const struct machine_events *events);
void i8042_fini(struct i8042 *k);

#endif
