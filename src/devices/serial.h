/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550A UART. Its transmitter is always ready: a byte goes into the txring at once, and the
 * vCPU that writes into a full ring waits there. Its receiver holds 16 bytes for the guest, and
 * more behind them in a queue of the host's.
 *
 * Bytes from the host reach the guest only while it asserts RTS, as through a cable with hardware
 * flow control: Linux does so when the line is opened, after it has emptied the FIFOs, so what was
 * typed or piped in before that is not lost. A polling program that wants input sets RTS.
 *
 * The registers belong to the device's lock. vCPU threads and the event loop take it, for moments.
 */
#ifndef DEVICES_SERIAL_H
#define DEVICES_SERIAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "devices/txring.h"
#include "hw/device.h"
#include "hw/irq.h"

#define SERIAL_COM1_PORT   0x3f8
#define SERIAL_COM1_GSI    4
#define SERIAL_COM2_PORT   0x2f8
#define SERIAL_COM2_GSI    3
#define SERIAL_PORTS       8 /* I/O ports from the base up */

#define SERIAL_FIFO_BYTES  16
#define SERIAL_QUEUE_BYTES 4096

struct serial {
	struct device dev;
	pthread_mutex_t lock;
	struct irq_line irq;
	struct txring *tx; /* borrowed; NULL: what the guest writes is dropped */
	int room_fd;       /* eventfd */

	uint8_t ier, fcr, lcr, mcr, scr, dll, dlm;
	uint8_t lsr_errors;   /* the error bits, until LSR is read */
	uint8_t msr_deltas;   /* the change bits, until MSR is read */
	bool thr_empty_irq;   /* the transmitter has something to say */
	bool irq_level;       /* what the line was last set to */
	unsigned int irq_run; /* interrupts identified since IIR last said "none" */

	uint8_t fifo[SERIAL_FIFO_BYTES];
	unsigned int fifo_at, fifo_count;
	uint8_t queue[SERIAL_QUEUE_BYTES];
	unsigned int queue_at, queue_count;
	bool refused; /* serial_rx() had to turn bytes away */
};

int serial_init(struct serial *s, const struct irq_line *irq, struct txring *tx) __must_check;
void serial_fini(struct serial *s);

size_t serial_rx(struct serial *s, const void *buf, size_t len);
size_t serial_rx_room(struct serial *s);
int serial_room_fd(const struct serial *s);
void serial_clear_room_fd(struct serial *s);

#endif
