/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See i8042.h. Commands as in the IBM PS/2 Hardware Interface Technical Reference, 1988. */
#include "devices/i8042.h"

#include <string.h>

#define STATUS_OUTPUT_FULL    0x01
#define STATUS_SYSTEM         0x04 /* the self-test has passed */
#define STATUS_UNLOCKED       0x10

#define CMD_READ_CONFIG       0x20
#define CMD_WRITE_CONFIG      0x60
#define CMD_TEST_AUX          0xa9
#define CMD_SELF_TEST         0xaa
#define CMD_TEST_KEYBOARD     0xab
#define CMD_READ_INPUT_PORT   0xc0
#define CMD_READ_OUTPUT_PORT  0xd0
#define CMD_WRITE_OUTPUT_PORT 0xd1
#define CMD_LOOP_KEYBOARD     0xd2
#define CMD_LOOP_AUX          0xd3
#define CMD_WRITE_AUX         0xd4
#define CMD_PULSE_FIRST       0xf0

#define SELF_TEST_PASSED      0x55
#define CLOCK_STUCK           0x01 /* what a port with nothing on it tests as */
#define OUTPUT_PORT_IDLE      0x03 /* A20 on, reset not asserted */
#define LINE_RESET            0x01 /* in the output port, and among the pulsed lines; active low */
#define CONFIG_IDLE           0x34 /* both ports off, system flag set */

static void answer(struct i8042 *k, uint8_t byte)
{
	k->output = byte;
	k->output_full = true;
}

/* Returns whether the guest pulled the reset line. */
static bool command(struct i8042 *k, uint8_t cmd)
{
	k->command = 0;
	switch (cmd) {
	case CMD_READ_CONFIG:
		answer(k, k->config);
		break;
	case CMD_SELF_TEST:
		k->config = CONFIG_IDLE;
		answer(k, SELF_TEST_PASSED);
		break;
	case CMD_TEST_AUX:
	case CMD_TEST_KEYBOARD:
		answer(k, CLOCK_STUCK);
		break;
	case CMD_READ_INPUT_PORT:
		answer(k, 0);
		break;
	case CMD_READ_OUTPUT_PORT:
		answer(k, OUTPUT_PORT_IDLE);
		break;
	case CMD_WRITE_CONFIG:
	case CMD_WRITE_OUTPUT_PORT:
	case CMD_LOOP_KEYBOARD:
	case CMD_LOOP_AUX:
	case CMD_WRITE_AUX:
		k->command = cmd;
		break;
	default:
		return cmd >= CMD_PULSE_FIRST && !(cmd & LINE_RESET);
	}
	return false;
}

/* The same for a byte at the data port. One meant for a keyboard or a mouse reaches nobody. */
static bool data(struct i8042 *k, uint8_t byte)
{
	uint8_t cmd = k->command;

	k->command = 0;
	switch (cmd) {
	case CMD_WRITE_CONFIG:
		k->config = byte;
		break;
	case CMD_LOOP_KEYBOARD:
	case CMD_LOOP_AUX:
		answer(k, byte);
		break;
	case CMD_WRITE_OUTPUT_PORT:
		return !(byte & LINE_RESET);
	default:
		break;
	}
	return false;
}

static uint64_t i8042_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct i8042 *k = (struct i8042 *)d;
	uint8_t v;

	pthread_mutex_lock(&k->lock);
	if (offset == I8042_COMMAND_OFFSET) {
		v = STATUS_SYSTEM | STATUS_UNLOCKED | (k->output_full ? STATUS_OUTPUT_FULL : 0);
	} else {
		v = k->output;
		k->output_full = false;
	}
	pthread_mutex_unlock(&k->lock);
	return v;
}

static void i8042_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct i8042 *k = (struct i8042 *)d;
	bool reset;

	pthread_mutex_lock(&k->lock);
	reset = offset == I8042_COMMAND_OFFSET ? command(k, (uint8_t)value)
					       : data(k, (uint8_t)value);
	pthread_mutex_unlock(&k->lock);
	if (reset) {
		machine_stop(&k->events, MACHINE_STOP_RESET, 0);
	}
}

static void i8042_reset(struct device *d)
{
	struct i8042 *k = (struct i8042 *)d;

	pthread_mutex_lock(&k->lock);
	k->command = 0;
	k->config = CONFIG_IDLE;
	k->output = 0;
	k->output_full = false;
	pthread_mutex_unlock(&k->lock);
}

static const struct device_ops i8042_ops = {
	.name = "i8042",
	.max_size = 1,
	.read = i8042_read,
	.write = i8042_write,
	.reset = i8042_reset,
};

/**
 * i8042_init() - a controller as after power on
 * @k: the caller's memory
 * @events: whom to tell of a reset, copied
 *
 * Context: before any vCPU runs. Put it on the bus twice: I8042_DATA_PORT at I8042_DATA_OFFSET,
 * I8042_COMMAND_PORT at I8042_COMMAND_OFFSET, one byte each.
 */
void i8042_init(struct i8042 *k, const struct machine_events *events)
{
	memset(k, 0, sizeof(*k));
	k->dev.ops = &i8042_ops;
	k->events = *events;
	pthread_mutex_init(&k->lock, NULL);
	i8042_reset(&k->dev);
}

/**
 * i8042_fini() - free what i8042_init() made
 * @k: a controller that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void i8042_fini(struct i8042 *k)
{
	pthread_mutex_destroy(&k->lock);
}
