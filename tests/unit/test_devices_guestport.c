/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "devices/guestport.h"
#include "hw/bus.h"

struct seen {
	unsigned int stops, marks;
	enum machine_stop reason;
	uint32_t value;
	uint8_t code;
};

static void on_stop(void *ctx, enum machine_stop reason, uint32_t value)
{
	struct seen *s = ctx;

	s->stops++;
	s->reason = reason;
	s->value = value;
}

static void on_mark(void *ctx, uint8_t code)
{
	struct seen *s = ctx;

	s->marks++;
	s->code = code;
}

static const struct machine_events_ops events_ops = {.stop = on_stop, .mark = on_mark};

static void the_exit_port_takes_a_status_of_any_width(void **state)
{
	struct seen seen = {0};
	struct machine_events ev = {&events_ops, &seen};
	struct guestport p;
	struct bus b;

	exit_port_init(&p, &ev);
	bus_init(&b, "port");
	assert_int_equal(bus_add(&b, EXIT_PORT, EXIT_PORT_BYTES, &p.dev, 0), 0);
	bus_write(&b, EXIT_PORT, 1, 0x11);
	assert_int_equal(seen.reason, MACHINE_STOP_EXIT_PORT);
	assert_int_equal(seen.value, 0x11);
	bus_write(&b, EXIT_PORT, 2, 0x2233);
	assert_int_equal(seen.value, 0x2233);
	bus_write(&b, EXIT_PORT, 4, 0xfedcba98);
	assert_int_equal(seen.value, 0xfedcba98);
	assert_int_equal(seen.stops, 3);
	assert_int_equal(bus_read(&b, EXIT_PORT, 4), 0);
	assert_int_equal(seen.stops, 3);
}

static void the_mark_port_tells_each_code_and_reads_ones(void **state)
{
	struct seen seen = {0};
	struct machine_events ev = {&events_ops, &seen};
	struct guestport p;
	struct bus b;

	mark_port_init(&p, &ev);
	bus_init(&b, "port");
	assert_int_equal(bus_add(&b, MARK_PORT, MARK_PORT_BYTES, &p.dev, 0), 0);
	bus_write(&b, MARK_PORT, 1, MARK_WINDOW_OPEN);
	assert_int_equal(seen.code, MARK_WINDOW_OPEN);
	bus_write(&b, MARK_PORT, 1, 0xff);
	assert_int_equal(seen.code, 0xff);
	assert_int_equal(seen.marks, 2);
	assert_int_equal(bus_read(&b, MARK_PORT, 1), 0xff);
	assert_int_equal(seen.marks, 2);
}

static void only_the_boot_timer_byte_counts_as_user_start(void **state)
{
	struct seen seen = {0};
	struct machine_events ev = {&events_ops, &seen};
	struct guestport p;
	struct bus b;

	boot_timer_init(&p, &ev);
	bus_init(&b, "mmio");
	assert_int_equal(bus_add(&b, BOOT_TIMER_GPA, BOOT_TIMER_BYTES, &p.dev, 0), 0);
	bus_write(&b, BOOT_TIMER_GPA, 1, 122);
	bus_write(&b, BOOT_TIMER_GPA + 1, 1, BOOT_TIMER_VALUE);
	assert_int_equal(seen.marks, 0);
	bus_write(&b, BOOT_TIMER_GPA, 1, BOOT_TIMER_VALUE);
	assert_int_equal(seen.marks, 1);
	assert_int_equal(seen.code, MARK_USER_START);
	bus_write(&b, BOOT_TIMER_GPA, 4, BOOT_TIMER_VALUE);
	assert_int_equal(seen.marks, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_port_takes_a_status_of_any_width),
		cmocka_unit_test(the_mark_port_tells_each_code_and_reads_ones),
		cmocka_unit_test(only_the_boot_timer_byte_counts_as_user_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
