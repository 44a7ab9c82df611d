/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <linux/serial_reg.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "devices/serial.h"
#include "hw/bus.h"

#define RING_BYTES 64

struct fixture {
	struct serial s;
	struct txring ring;
	struct bus b;
	bool level;
	unsigned int rises;
};

static int on_irq(void *ctx, uint32_t gsi, bool level)
{
	struct fixture *f = ctx;

	assert_int_equal(gsi, SERIAL_COM1_GSI);
	assert_int_not_equal(f->level, level); /* changes only */
	f->level = level;
	f->rises += level;
	return 0;
}

static const struct irq_ops irq_ops = {.set = on_irq};

static void setup(struct fixture *f)
{
	struct irq_line irq = {&irq_ops, f, SERIAL_COM1_GSI};

	f->level = false;
	f->rises = 0;
	assert_int_equal(txring_init(&f->ring, RING_BYTES), 0);
	assert_int_equal(serial_init(&f->s, &irq, &f->ring), 0);
	bus_init(&f->b, "port");
	assert_int_equal(bus_add(&f->b, SERIAL_COM1_PORT, SERIAL_PORTS, &f->s.dev, 0), 0);
}

static void teardown(struct fixture *f)
{
	serial_fini(&f->s);
	txring_fini(&f->ring);
}

static uint8_t in(struct fixture *f, unsigned int reg)
{
	return (uint8_t)bus_read(&f->b, SERIAL_COM1_PORT + reg, 1);
}

static void out(struct fixture *f, unsigned int reg, uint8_t value)
{
	bus_write(&f->b, SERIAL_COM1_PORT + reg, 1, value);
}

/* As Linux leaves it when the line is open. */
static void open_line(struct fixture *f)
{
	out(f, UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR_TRIGGER_8);
	out(f, UART_MCR, UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2);
	out(f, UART_IER, UART_IER_RDI | UART_IER_RLSI);
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* drivers/tty/serial/8250/8250_port.c, autoconfig() and autoconfig_16550a(), Linux 6.12. */
static void the_probe_of_linux_finds_a_16550a_and_nothing_better(void **state)
{
	struct fixture f;

	setup(&f);
	out(&f, UART_IER, 0);
	assert_int_equal(in(&f, UART_IER), 0);
	out(&f, UART_IER, 0xff);
	assert_int_equal(in(&f, UART_IER), 0x0f);
	out(&f, UART_IER, 0);
	out(&f, UART_MCR, UART_MCR_LOOP | UART_MCR_OUT2 | UART_MCR_RTS);
	assert_int_equal(in(&f, UART_MSR) & 0xf0, UART_MSR_DCD | UART_MSR_CTS);
	out(&f, UART_MCR, 0);
	out(&f, UART_LCR, UART_LCR_CONF_MODE_B);
	out(&f, UART_EFR, 0);
	out(&f, UART_LCR, 0);
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO);
	assert_int_equal(in(&f, UART_IIR) & 0xf0, 0xc0);
	out(&f, UART_LCR, UART_LCR_CONF_MODE_A);
	assert_int_not_equal(in(&f, UART_EFR), 0);
	out(&f, UART_LCR, UART_LCR_CONF_MODE_B);
	assert_int_not_equal(in(&f, UART_EFR), 0);
	out(&f, UART_LCR, 0);
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR7_64BYTE);
	assert_int_equal(in(&f, UART_IIR) & 0xf0, 0xc0);
	out(&f, UART_IER, UART_IER_UUE);
	assert_int_equal(in(&f, UART_IER), 0);
	assert_int_equal(f.rises, 0);
	teardown(&f);
}

/* serial8250_do_startup(): both tests must find a healthy transmitter, or Linux polls by timer. */
static void turning_the_transmitter_interrupt_on_raises_it_each_time(void **state)
{
	struct fixture f;

	setup(&f);
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO);
	out(&f, UART_MCR, UART_MCR_OUT2);
	assert_int_equal(in(&f, UART_LSR), UART_LSR_THRE | UART_LSR_TEMT);
	for (unsigned int i = 1; i <= 3; i++) {
		out(&f, UART_IER, UART_IER_THRI);
		assert_true(f.level);
		assert_int_equal(in(&f, UART_IIR) & 0x0f, UART_IIR_THRI);
		assert_false(f.level); /* reading it takes it back */
		assert_int_equal(in(&f, UART_IIR) & 0x0f, UART_IIR_NO_INT);
		out(&f, UART_IER, 0);
		assert_int_equal(f.rises, i);
	}
	teardown(&f);
}

static void every_byte_written_raises_the_transmitter_interrupt_again(void **state)
{
	const uint8_t *p;
	struct fixture f;

	setup(&f);
	open_line(&f);
	out(&f, UART_IER, UART_IER_THRI);
	in(&f, UART_IIR);
	assert_false(f.level);
	for (const char *c = "hello"; *c; c++) {
		out(&f, UART_TX, (uint8_t)*c);
		assert_true(f.level);
	}
	assert_int_equal(f.rises, 2);
	assert_int_equal(in(&f, UART_IIR) & 0x0f, UART_IIR_THRI);
	assert_true(readable(txring_fd(&f.ring)));
	assert_int_equal(txring_peek(&f.ring, &p), 5);
	assert_memory_equal(p, "hello", 5);
	teardown(&f);
}

static void received_bytes_raise_the_line_until_the_last_is_read(void **state)
{
	struct fixture f;

	setup(&f);
	open_line(&f);
	assert_int_equal(serial_rx(&f.s, "abcdefghij", 10), 10);
	assert_true(f.level);
	assert_int_equal(in(&f, UART_IIR), 0xc0 | UART_IIR_RDI);
	for (char c = 'a'; c <= 'c'; c++) {
		assert_int_equal(in(&f, UART_LSR) & UART_LSR_DR, UART_LSR_DR);
		assert_int_equal(in(&f, UART_RX), c);
	}
	/* Fewer than the trigger of 8: a time-out, which is data all the same. */
	assert_int_equal(in(&f, UART_IIR), 0xc0 | UART_IIR_RX_TIMEOUT);
	for (char c = 'd'; c <= 'j'; c++) {
		assert_true(f.level);
		assert_int_equal(in(&f, UART_RX), c);
	}
	assert_false(f.level);
	assert_int_equal(in(&f, UART_LSR) & UART_LSR_DR, 0);
	assert_int_equal(in(&f, UART_IIR), 0xc0 | UART_IIR_NO_INT);
	assert_int_equal(in(&f, UART_RX), 0);
	teardown(&f);
}

static void bytes_that_come_before_the_line_is_open_wait_for_it(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(serial_rx(&f.s, "early", 5), 5);
	/* Linux empties the FIFOs and reads the receiver once more. */
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO);
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR_CLEAR_RCVR | UART_FCR_CLEAR_XMIT);
	out(&f, UART_FCR, 0);
	assert_int_equal(in(&f, UART_LSR) & UART_LSR_DR, 0);
	in(&f, UART_RX);
	open_line(&f);
	assert_true(f.level);
	for (const char *c = "early"; *c; c++) {
		assert_int_equal(in(&f, UART_RX), *c);
	}
	teardown(&f);
}

static void a_full_queue_refuses_bytes_and_tells_when_half_is_free(void **state)
{
	static uint8_t many[SERIAL_QUEUE_BYTES + 100];
	struct fixture f;

	setup(&f);
	for (size_t i = 0; i < sizeof(many); i++) {
		many[i] = (uint8_t)(i % 251);
	}
	assert_int_equal(serial_rx_room(&f.s), SERIAL_QUEUE_BYTES);
	assert_int_equal(serial_rx(&f.s, many, sizeof(many)), SERIAL_QUEUE_BYTES);
	assert_int_equal(serial_rx(&f.s, many, 1), 0);
	open_line(&f);
	assert_int_equal(serial_rx_room(&f.s), SERIAL_FIFO_BYTES);
	for (size_t i = 0; i < SERIAL_QUEUE_BYTES; i++) {
		bool half = i + SERIAL_FIFO_BYTES >= SERIAL_QUEUE_BYTES / 2;

		assert_int_equal(readable(serial_room_fd(&f.s)), half);
		assert_int_equal(in(&f, UART_RX), i % 251);
	}
	serial_clear_room_fd(&f.s);
	assert_false(readable(serial_room_fd(&f.s)));
	assert_int_equal(serial_rx(&f.s, many, 1), 1);
	teardown(&f);
}

static void loopback_carries_bytes_lines_and_an_overrun(void **state)
{
	const uint8_t *p;
	struct fixture f;

	setup(&f);
	out(&f, UART_FCR, UART_FCR_ENABLE_FIFO);
	out(&f, UART_MCR, UART_MCR_LOOP | UART_MCR_OUT1);
	assert_int_equal(in(&f, UART_MSR),
			 UART_MSR_RI | UART_MSR_DCTS | UART_MSR_DDSR | UART_MSR_DDCD);
	out(&f, UART_MCR, UART_MCR_LOOP);
	assert_int_equal(in(&f, UART_MSR), UART_MSR_TERI);
	assert_int_equal(in(&f, UART_MSR), 0);
	for (unsigned int i = 0; i < SERIAL_FIFO_BYTES; i++) {
		out(&f, UART_TX, (uint8_t)i);
	}
	assert_int_equal(in(&f, UART_LSR) & UART_LSR_OE, 0);
	out(&f, UART_TX, 99);
	out(&f, UART_IER, UART_IER_RLSI | UART_IER_RDI);
	assert_int_equal(in(&f, UART_IIR) & 0x0f, UART_IIR_RLSI);
	assert_int_equal(in(&f, UART_LSR) & (UART_LSR_OE | UART_LSR_DR), UART_LSR_OE | UART_LSR_DR);
	assert_int_equal(in(&f, UART_IIR) & 0x0f, UART_IIR_RDI);
	for (unsigned int i = 0; i < SERIAL_FIFO_BYTES; i++) {
		assert_int_equal(in(&f, UART_RX), i);
	}
	assert_int_equal(txring_peek(&f.ring, &p), 0);
	assert_int_equal(f.rises, 0);
	teardown(&f);
}

static void the_divisor_hides_behind_its_bit_and_scratch_keeps_its_byte(void **state)
{
	struct fixture f;

	setup(&f);
	out(&f, UART_LCR, UART_LCR_DLAB | UART_LCR_WLEN8);
	out(&f, UART_DLL, 1);
	out(&f, UART_DLM, 2);
	assert_int_equal(in(&f, UART_DLL), 1);
	assert_int_equal(in(&f, UART_DLM), 2);
	out(&f, UART_LCR, UART_LCR_WLEN8);
	assert_int_equal(in(&f, UART_LCR), UART_LCR_WLEN8);
	assert_int_equal(in(&f, UART_IER), 0);
	out(&f, UART_SCR, 0xa5);
	assert_int_equal(in(&f, UART_SCR), 0xa5);
	out(&f, UART_LSR, 0);
	out(&f, UART_MSR, 0);
	assert_int_equal(in(&f, UART_MSR), UART_MSR_DCD | UART_MSR_DSR | UART_MSR_CTS);
	teardown(&f);
}

static void without_out2_the_line_stays_down(void **state)
{
	struct fixture f;

	setup(&f);
	out(&f, UART_IER, UART_IER_THRI);
	assert_false(f.level);
	out(&f, UART_MCR, UART_MCR_OUT2);
	assert_true(f.level);
	bus_reset(&f.b);
	assert_false(f.level);
	teardown(&f);
}

/* serial8250_interrupt() goes round until IIR says none, but 512 times at most. */
static void a_handler_that_never_runs_dry_is_let_go_and_called_again(void **state)
{
	struct fixture f;
	const uint8_t *p;
	unsigned int calls = 0;
	unsigned int rounds = 0;

	setup(&f);
	open_line(&f);
	out(&f, UART_IER, UART_IER_THRI);
	while (calls < 5) {
		unsigned int rises = f.rises;
		unsigned int passes = 0;

		while ((in(&f, UART_IIR) & 0x0f) != UART_IIR_NO_INT) {
			for (unsigned int i = 0; i < SERIAL_FIFO_BYTES; i++) {
				out(&f, UART_TX, 'x');
			}
			txring_consume(&f.ring, txring_peek(&f.ring, &p));
			assert_true(++passes < 512);
			rounds++;
		}
		assert_true(f.level);
		assert_true(f.rises > rises); /* a new edge for the next call */
		calls++;
	}
	assert_true(rounds >= 5);
	teardown(&f);
}

static void *write_a_lot(void *arg)
{
	struct fixture *f = arg;

	for (unsigned int i = 0; i < 4 * RING_BYTES; i++) {
		out(f, UART_TX, (uint8_t)i);
	}
	return NULL;
}

static void a_vcpu_that_waits_for_the_reader_does_not_hold_the_device(void **state)
{
	const uint8_t *p;
	struct fixture f;
	pthread_t thread;
	size_t got = 0;

	setup(&f);
	assert_int_equal(pthread_create(&thread, NULL, write_a_lot, &f), 0);
	while (atomic_load(&f.ring.waiters) == 0) {
		usleep(100);
	}
	assert_int_equal(serial_rx(&f.s, "x", 1), 1);
	while (got < 2 * RING_BYTES) {
		size_t n = txring_peek(&f.ring, &p);

		for (size_t i = 0; i < n; i++) {
			assert_int_equal(p[i], (uint8_t)(got + i));
		}
		txring_consume(&f.ring, n);
		got += n;
	}
	txring_abort(&f.ring); /* the rest is dropped, the thread ends */
	pthread_join(thread, NULL);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_probe_of_linux_finds_a_16550a_and_nothing_better),
		cmocka_unit_test(turning_the_transmitter_interrupt_on_raises_it_each_time),
		cmocka_unit_test(every_byte_written_raises_the_transmitter_interrupt_again),
		cmocka_unit_test(received_bytes_raise_the_line_until_the_last_is_read),
		cmocka_unit_test(bytes_that_come_before_the_line_is_open_wait_for_it),
		cmocka_unit_test(a_full_queue_refuses_bytes_and_tells_when_half_is_free),
		cmocka_unit_test(loopback_carries_bytes_lines_and_an_overrun),
		cmocka_unit_test(the_divisor_hides_behind_its_bit_and_scratch_keeps_its_byte),
		cmocka_unit_test(without_out2_the_line_stays_down),
		cmocka_unit_test(a_handler_that_never_runs_dry_is_let_go_and_called_again),
		cmocka_unit_test(a_vcpu_that_waits_for_the_reader_does_not_hold_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
