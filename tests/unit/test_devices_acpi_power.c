/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "devices/acpi_power.h"
#include "hw/bus.h"

struct seen {
	unsigned int stops;
	enum machine_stop reason;
};

static void on_stop(void *ctx, enum machine_stop reason, uint32_t value)
{
	struct seen *s = ctx;

	assert_int_equal(value, 0);
	s->stops++;
	s->reason = reason;
}

static const struct machine_events_ops events_ops = {.stop = on_stop};

static struct seen seen;
static struct acpi_power power;
static struct bus bus;

static int setup(void **state)
{
	const struct machine_events events = {&events_ops, &seen};

	seen = (struct seen){0};
	acpi_power_init(&power, &events);
	bus_init(&bus, "port");
	return bus_add(&bus, ACPI_POWER_PORT, ACPI_POWER_PORTS, &power.dev, 0);
}

static void sleep_type_five_with_the_go_bit_alone_switches_off(void **state)
{
	for (unsigned int v = 0; v < 256; v++) {
		bool off = v & 0x20 && (v >> 2 & 7) == 5;

		seen.stops = 0;
		bus_write(&bus, ACPI_POWER_PORT + ACPI_POWER_CONTROL, 1, v);
		assert_int_equal(seen.stops, off);
		assert_true(!off || seen.reason == MACHINE_STOP_POWER_OFF);
	}
}

static void the_reset_value_alone_resets(void **state)
{
	for (unsigned int v = 0; v < 256; v++) {
		seen.stops = 0;
		bus_write(&bus, ACPI_POWER_PORT + ACPI_POWER_RESET, 1, v);
		assert_int_equal(seen.stops, v == 1);
	}
	assert_int_equal(seen.reason, MACHINE_STOP_RESET);
}

static void the_status_register_takes_anything_and_reads_zero(void **state)
{
	for (unsigned int v = 0; v < 256; v++) {
		bus_write(&bus, ACPI_POWER_PORT + ACPI_POWER_STATUS, 1, v);
	}
	assert_int_equal(seen.stops, 0);
	assert_int_equal(bus_read(&bus, ACPI_POWER_PORT, 1), 0);
	assert_int_equal(bus_read(&bus, ACPI_POWER_PORT, 4), 0xff000000);
}

static void a_wide_write_reaches_each_register(void **state)
{
	bus_write(&bus, ACPI_POWER_PORT, 2, 0xff34);
	assert_int_equal(seen.stops, 1);
	assert_int_equal(seen.reason, MACHINE_STOP_POWER_OFF);
	bus_write(&bus, ACPI_POWER_PORT + 1, 2, 0x0100);
	assert_int_equal(seen.stops, 2);
	assert_int_equal(seen.reason, MACHINE_STOP_RESET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sleep_type_five_with_the_go_bit_alone_switches_off, setup),
		cmocka_unit_test_setup(the_reset_value_alone_resets, setup),
		cmocka_unit_test_setup(the_status_register_takes_anything_and_reads_zero, setup),
		cmocka_unit_test_setup(a_wide_write_reaches_each_register, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
