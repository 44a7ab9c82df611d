/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every device, on a bus, under random reads and writes: it must live, and stay bounded. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "devices/acpi_power.h"
#include "devices/guestport.h"
#include "devices/i8042.h"
#include "devices/rtc.h"
#include "devices/serial.h"
#include "hw/bus.h"

#define ACCESSES   200000
#define SEED       2024
#define RING_BYTES 256

struct heard {
	unsigned int stops, marks, edges;
};

static void on_stop(void *ctx, enum machine_stop reason, uint32_t value)
{
	((struct heard *)ctx)->stops++;
}

static void on_mark(void *ctx, uint8_t code)
{
	((struct heard *)ctx)->marks++;
}

static int on_irq(void *ctx, uint32_t gsi, bool level)
{
	((struct heard *)ctx)->edges++;
	return 0;
}

static const struct machine_events_ops events_ops = {.stop = on_stop, .mark = on_mark};
static const struct irq_ops irq_ops = {.set = on_irq};

static void every_device_survives_random_accesses_of_any_width_and_offset(void **state)
{
	struct heard heard = {0};
	struct machine_events ev = {&events_ops, &heard};
	struct irq_line irq = {&irq_ops, &heard, SERIAL_COM1_GSI};
	struct acpi_power power;
	struct guestport exit_port;
	struct guestport mark_port;
	struct guestport timer;
	struct serial serial;
	struct txring ring;
	struct i8042 i8042;
	struct rtc rtc;
	struct rng rng;
	struct bus b;
	struct {
		uint64_t base;
		uint64_t len;
		struct device *dev;
	} devs[] = {
		{SERIAL_COM1_PORT, SERIAL_PORTS, &serial.dev},
		{I8042_DATA_PORT, 5, &i8042.dev},
		{RTC_PORT, RTC_PORTS, &rtc.dev},
		{ACPI_POWER_PORT, ACPI_POWER_PORTS, &power.dev},
		{EXIT_PORT, EXIT_PORT_BYTES, &exit_port.dev},
		{MARK_PORT, MARK_PORT_BYTES, &mark_port.dev},
		{BOOT_TIMER_GPA, BOOT_TIMER_BYTES, &timer.dev},
	};

	rng_init(&rng, SEED);
	assert_int_equal(txring_init(&ring, RING_BYTES), 0);
	assert_int_equal(serial_init(&serial, &irq, &ring), 0);
	i8042_init(&i8042, &ev);
	rtc_init(&rtc, &rtc_host_time);
	acpi_power_init(&power, &ev);
	exit_port_init(&exit_port, &ev);
	mark_port_init(&mark_port, &ev);
	boot_timer_init(&timer, &ev);
	bus_init(&b, "port");
	for (size_t i = 0; i < ARRAY_SIZE(devs); i++) {
		assert_int_equal(bus_add(&b, devs[i].base, devs[i].len, devs[i].dev, 0), 0);
	}
	for (unsigned int i = 0; i < ACCESSES; i++) {
		size_t d = rng_below(&rng, ARRAY_SIZE(devs));
		unsigned int size = 1 + (unsigned int)rng_below(&rng, BUS_ACCESS_BYTES_MAX);
		uint64_t addr = devs[d].base - 2 + rng_below(&rng, devs[d].len + 4);
		const uint8_t *p;
		uint8_t rx[64];
		size_t n;

		if (rng_next(&rng) & 1) {
			uint64_t v = bus_read(&b, addr, size);

			assert_true(size == 8 || v >> (8 * size) == 0);
		} else {
			bus_write(&b, addr, size, rng_next(&rng));
		}
		memset(rx, (int)i, sizeof(rx));
		serial_rx(&serial, rx, rng_below(&rng, sizeof(rx)));
		/* Nobody else drains the ring. */
		while ((n = txring_peek(&ring, &p)) > 0) {
			txring_consume(&ring, n);
		}
		assert_true(serial.fifo_count <= SERIAL_FIFO_BYTES);
		assert_true(serial.queue_count <= SERIAL_QUEUE_BYTES);
		if (rng_below(&rng, 1000) == 0) {
			bus_reset(&b);
		}
	}
	/* The walk did reach what it was to reach. */
	assert_true(heard.stops > 100);
	assert_true(heard.marks > 100);
	assert_true(heard.edges > 100);
	assert_true(bus_unclaimed(&b) > 100);
	rtc_fini(&rtc);
	i8042_fini(&i8042);
	serial_fini(&serial);
	txring_fini(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_device_survives_random_accesses_of_any_width_and_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
