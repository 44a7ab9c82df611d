/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See serial.h. After the PC16550D data sheet (National Semiconductor, 1995): section numbers are
 * those of its register descriptions. The wiring is the PC's: OUT2 gates the interrupt.
 */
#include "devices/serial.h"

#include <errno.h>
#include <linux/serial_reg.h>
#include <string.h>
#include <sys/eventfd.h>

#define IER_MASK     (UART_IER_RDI | UART_IER_THRI | UART_IER_RLSI | UART_IER_MSI)
#define MCR_MASK     (UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT1 | UART_MCR_OUT2 | UART_MCR_LOOP)
#define FCR_MASK     (UART_FCR_ENABLE_FIFO | UART_FCR_DMA_SELECT | UART_FCR_TRIGGER_MASK)

#define IIR_FIFO_ON  0xc0
#define DIVISOR_9600 12

/*
 * Linux leaves its handler after 512 interrupts in a row, whether the line is still up or not; as
 * the line is edge-triggered, it would then wait for ever. A real UART is too slow for that, this
 * one is not: after so many it says "none" once and raises its line anew.
 */
#define IRQ_RUN_MAX 64

static bool fifo_on(const struct serial *s)
{
	return s->fcr & UART_FCR_ENABLE_FIFO;
}

static bool loopback(const struct serial *s)
{
	return s->mcr & UART_MCR_LOOP;
}

/* 8.4: bytes in the receiver from which it is worth an interrupt that is no time-out. */
static unsigned int rx_trigger(const struct serial *s)
{
	static const uint8_t level[] = {1, 4, 8, 14};

	return fifo_on(s) ? level[s->fcr >> 6] : 1;
}

/* 8.5: the pending interrupt of the highest priority that is enabled. */
static uint8_t pending_irq(const struct serial *s)
{
	if ((s->ier & UART_IER_RLSI) && s->lsr_errors) {
		return UART_IIR_RLSI;
	}
	if ((s->ier & UART_IER_RDI) && s->fifo_count > 0) {
		/* No time passes in this receiver: fewer than the trigger have timed out already.
		 */
		return s->fifo_count >= rx_trigger(s) ? UART_IIR_RDI : UART_IIR_RX_TIMEOUT;
	}
	if ((s->ier & UART_IER_THRI) && s->thr_empty_irq) {
		return UART_IIR_THRI;
	}
	if ((s->ier & UART_IER_MSI) && s->msr_deltas) {
		return UART_IIR_MSI;
	}
	return UART_IIR_NO_INT;
}

static void set_line(struct serial *s, bool level)
{
	if (level != s->irq_level) {
		s->irq_level = level;
		/* A machine that cannot raise interrupts knows it from its own table. */
		irq_set(&s->irq, level);
	}
}

static void update_line(struct serial *s)
{
	/* In loopback the pins, OUT2 among them, are inactive. */
	bool connected = (s->mcr & UART_MCR_OUT2) && !loopback(s);

	set_line(s, connected && pending_irq(s) != UART_IIR_NO_INT);
}

static unsigned int fifo_room(const struct serial *s)
{
	return (fifo_on(s) ? SERIAL_FIFO_BYTES : 1) - s->fifo_count;
}

static void fifo_push(struct serial *s, uint8_t byte)
{
	s->fifo[(s->fifo_at + s->fifo_count) % SERIAL_FIFO_BYTES] = byte;
	s->fifo_count++;
}

static void fifo_clear(struct serial *s)
{
	s->fifo_at = 0;
	s->fifo_count = 0;
}

/* The host's bytes go on to the guest, as far as it takes them. */
static void fill_fifo(struct serial *s)
{
	if (loopback(s) || !(s->mcr & UART_MCR_RTS)) {
		return;
	}
	while (s->queue_count > 0 && fifo_room(s) > 0) {
		fifo_push(s, s->queue[s->queue_at]);
		s->queue_at = (s->queue_at + 1) % SERIAL_QUEUE_BYTES;
		s->queue_count--;
	}
	if (s->refused && s->queue_count <= SERIAL_QUEUE_BYTES / 2) {
		s->refused = false;
		eventfd_write(s->room_fd, 1);
	}
}

/* 8.8: the modem's four lines; in loopback they are our own four outputs. */
static uint8_t modem_lines(const struct serial *s)
{
	uint8_t lines = 0;

	if (!loopback(s)) {
		return UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD;
	}
	lines |= s->mcr & UART_MCR_RTS ? UART_MSR_CTS : 0;
	lines |= s->mcr & UART_MCR_DTR ? UART_MSR_DSR : 0;
	lines |= s->mcr & UART_MCR_OUT1 ? UART_MSR_RI : 0;
	lines |= s->mcr & UART_MCR_OUT2 ? UART_MSR_DCD : 0;
	return lines;
}

static void write_mcr(struct serial *s, uint8_t value)
{
	uint8_t before = modem_lines(s);
	uint8_t after;

	s->mcr = value & MCR_MASK;
	after = modem_lines(s);
	s->msr_deltas |= ((before ^ after) & UART_MSR_CTS) ? UART_MSR_DCTS : 0;
	s->msr_deltas |= ((before ^ after) & UART_MSR_DSR) ? UART_MSR_DDSR : 0;
	s->msr_deltas |= ((before ^ after) & UART_MSR_DCD) ? UART_MSR_DDCD : 0;
	s->msr_deltas |= (before & ~after & UART_MSR_RI) ? UART_MSR_TERI : 0;
}

static void write_fcr(struct serial *s, uint8_t value)
{
	/* 8.4: a change of the enable bit empties the FIFOs; the other bits need it set. */
	if ((value ^ s->fcr) & UART_FCR_ENABLE_FIFO) {
		fifo_clear(s);
	}
	if (!(value & UART_FCR_ENABLE_FIFO)) {
		s->fcr = 0;
		return;
	}
	if (value & UART_FCR_CLEAR_RCVR) {
		fifo_clear(s);
	}
	s->fcr = value & FCR_MASK;
}

static void write_ier(struct serial *s, uint8_t value)
{
	/* The transmitter is empty: turning its interrupt on raises it, each time. */
	if ((value & UART_IER_THRI) && !(s->ier & UART_IER_THRI)) {
		s->thr_empty_irq = true;
	}
	s->ier = value & IER_MASK;
}

/* Called with the lock held; lets go of it while it waits for room in the ring. */
static void transmit(struct serial *s, uint8_t byte)
{
	if (loopback(s)) {
		if (fifo_room(s) > 0) {
			fifo_push(s, byte);
		} else {
			s->lsr_errors |= UART_LSR_OE;
		}
	} else if (s->tx) {
		while (!txring_put(s->tx, byte)) {
			int r;

			/* The loop that drains the ring may want the lock for serial_rx(). */
			pthread_mutex_unlock(&s->lock);
			r = txring_wait(s->tx);
			pthread_mutex_lock(&s->lock);
			if (r < 0) {
				break; /* the machine ends: the byte has nowhere to go */
			}
		}
	}
	s->thr_empty_irq = true;
}

static uint8_t read_rbr(struct serial *s)
{
	uint8_t byte = 0;

	if (s->fifo_count > 0) {
		byte = s->fifo[s->fifo_at];
		s->fifo_at = (s->fifo_at + 1) % SERIAL_FIFO_BYTES;
		s->fifo_count--;
	}
	return byte;
}

static uint8_t read_iir(struct serial *s)
{
	uint8_t id = pending_irq(s);

	if (id == UART_IIR_NO_INT) {
		s->irq_run = 0;
	} else if (++s->irq_run > IRQ_RUN_MAX) {
		s->irq_run = 0;
		id = UART_IIR_NO_INT;
		set_line(s, false);
	} else if (id == UART_IIR_THRI) {
		s->thr_empty_irq = false;
	}
	return id | (fifo_on(s) ? IIR_FIFO_ON : 0);
}

static uint8_t read_lsr(struct serial *s)
{
	uint8_t lsr = UART_LSR_THRE | UART_LSR_TEMT | s->lsr_errors;

	s->lsr_errors = 0;
	return lsr | (s->fifo_count > 0 ? UART_LSR_DR : 0);
}

static uint8_t read_msr(struct serial *s)
{
	uint8_t msr = modem_lines(s) | s->msr_deltas;

	s->msr_deltas = 0;
	return msr;
}

static uint64_t serial_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct serial *s = (struct serial *)d;
	bool dlab;
	uint8_t v = 0;

	pthread_mutex_lock(&s->lock);
	dlab = s->lcr & UART_LCR_DLAB;
	switch (offset) {
	case UART_RX:
		v = dlab ? s->dll : read_rbr(s);
		break;
	case UART_IER:
		v = dlab ? s->dlm : s->ier;
		break;
	case UART_IIR:
		v = read_iir(s);
		break;
	case UART_LCR:
		v = s->lcr;
		break;
	case UART_MCR:
		v = s->mcr;
		break;
	case UART_LSR:
		v = read_lsr(s);
		break;
	case UART_MSR:
		v = read_msr(s);
		break;
	case UART_SCR:
		v = s->scr;
		break;
	default:
		v = 0xff;
		break;
	}
	fill_fifo(s);
	update_line(s);
	pthread_mutex_unlock(&s->lock);
	return v;
}

static void serial_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct serial *s = (struct serial *)d;
	uint8_t v = (uint8_t)value;
	bool dlab;

	pthread_mutex_lock(&s->lock);
	dlab = s->lcr & UART_LCR_DLAB;
	switch (offset) {
	case UART_TX:
		if (dlab) {
			s->dll = v;
		} else {
			transmit(s, v);
		}
		break;
	case UART_IER:
		if (dlab) {
			s->dlm = v;
		} else {
			write_ier(s, v);
		}
		break;
	case UART_FCR:
		write_fcr(s, v);
		break;
	case UART_LCR:
		s->lcr = v;
		break;
	case UART_MCR:
		write_mcr(s, v);
		break;
	case UART_SCR:
		s->scr = v;
		break;
	default: /* LSR and MSR are read only */
		break;
	}
	fill_fifo(s);
	update_line(s);
	pthread_mutex_unlock(&s->lock);
}

/* Back to power on. The host's queue stays: those bytes have not been sent yet. */
static void serial_reset(struct device *d)
{
	struct serial *s = (struct serial *)d;

	pthread_mutex_lock(&s->lock);
	s->ier = 0;
	s->fcr = 0;
	s->lcr = 0;
	s->mcr = 0;
	s->scr = 0;
	s->dll = DIVISOR_9600;
	s->dlm = 0;
	s->lsr_errors = 0;
	s->msr_deltas = 0;
	s->thr_empty_irq = false;
	s->irq_run = 0;
	fifo_clear(s);
	update_line(s);
	pthread_mutex_unlock(&s->lock);
}

static const struct device_ops serial_ops = {
	.name = "serial",
	.max_size = 1,
	.read = serial_read,
	.write = serial_write,
	.reset = serial_reset,
};

/**
 * serial_init() - a UART as after power on
 * @s: the caller's memory; it must stay where it is until serial_fini()
 * @irq: its line, copied
 * @tx: where the guest's bytes go, borrowed; NULL to drop them
 *
 * Return: 0, or the errno of eventfd(2).
 * Context: before any vCPU runs.
 */
int serial_init(struct serial *s, const struct irq_line *irq, struct txring *tx)
{
	memset(s, 0, sizeof(*s));
	s->room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->room_fd < 0) {
		return -errno;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->dev.ops = &serial_ops;
	s->irq = *irq;
	s->tx = tx;
	serial_reset(&s->dev);
	return 0;
}

/**
 * serial_fini() - free what serial_init() made
 * @s: a UART that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void serial_fini(struct serial *s)
{
	pthread_mutex_destroy(&s->lock);
	close(s->room_fd);
	s->room_fd = -1;
}

/**
 * serial_rx() - bytes from the host to the guest
 * @s: the UART
 * @buf: @len bytes
 * @len: any number
 *
 * Return: how many were taken, from the front. When that is fewer than @len, serial_room_fd()
 * becomes readable once there is room for at least half of SERIAL_QUEUE_BYTES.
 * Context: the event loop. May raise the interrupt line.
 */
size_t serial_rx(struct serial *s, const void *buf, size_t len)
{
	const uint8_t *from = buf;
	size_t taken = 0;

	pthread_mutex_lock(&s->lock);
	while (taken < len && s->queue_count < SERIAL_QUEUE_BYTES) {
		s->queue[(s->queue_at + s->queue_count) % SERIAL_QUEUE_BYTES] = from[taken++];
		s->queue_count++;
	}
	s->refused |= taken < len;
	fill_fifo(s);
	update_line(s);
	pthread_mutex_unlock(&s->lock);
	return taken;
}

/**
 * serial_rx_room() - how many bytes serial_rx() would take now
 * @s: the UART
 *
 * Return: bytes, 0 to SERIAL_QUEUE_BYTES.
 * Context: the event loop.
 */
size_t serial_rx_room(struct serial *s)
{
	size_t room;

	pthread_mutex_lock(&s->lock);
	room = SERIAL_QUEUE_BYTES - s->queue_count;
	pthread_mutex_unlock(&s->lock);
	return room;
}

/**
 * serial_room_fd() - what the event loop polls while it holds bytes that serial_rx() did not take
 * @s: the UART
 *
 * Return: a descriptor, the UART's own.
 * Context: any thread.
 */
int serial_room_fd(const struct serial *s)
{
	return s->room_fd;
}

/**
 * serial_clear_room_fd() - make the descriptor unreadable again, before the next serial_rx()
 * @s: the UART
 *
 * Context: the event loop.
 */
void serial_clear_room_fd(struct serial *s)
{
	eventfd_t count;

	/* Fails when there was nothing to read, which is as good. */
	eventfd_read(s->room_fd, &count);
}
