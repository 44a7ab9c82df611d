/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "devices/i8042.h"
#include "hw/bus.h"

#define FULL 0x01
#define BUSY 0x02

struct fixture {
	struct i8042 k;
	struct bus b;
	unsigned int resets;
};

static void on_stop(void *ctx, enum machine_stop reason, uint32_t value)
{
	struct fixture *f = ctx;

	assert_int_equal(reason, MACHINE_STOP_RESET);
	f->resets++;
}

static const struct machine_events_ops events_ops = {.stop = on_stop};

static void setup(struct fixture *f)
{
	struct machine_events ev = {&events_ops, f};

	f->resets = 0;
	i8042_init(&f->k, &ev);
	bus_init(&f->b, "port");
	assert_int_equal(bus_add(&f->b, I8042_DATA_PORT, 1, &f->k.dev, I8042_DATA_OFFSET), 0);
	assert_int_equal(bus_add(&f->b, I8042_COMMAND_PORT, 1, &f->k.dev, I8042_COMMAND_OFFSET), 0);
}

static uint8_t status(struct fixture *f)
{
	return (uint8_t)bus_read(&f->b, I8042_COMMAND_PORT, 1);
}

/* A command with one answer, as Linux does it, but with the patience of one poll. */
static uint8_t ask(struct fixture *f, uint8_t cmd)
{
	assert_int_equal(status(f) & BUSY, 0);
	bus_write(&f->b, I8042_COMMAND_PORT, 1, cmd);
	assert_int_equal(status(f) & FULL, FULL);
	return (uint8_t)bus_read(&f->b, I8042_DATA_PORT, 1);
}

static void an_idle_controller_is_neither_full_nor_busy(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(status(&f) & (FULL | BUSY), 0);
	bus_read(&f.b, I8042_DATA_PORT, 1);
	assert_int_equal(status(&f) & (FULL | BUSY), 0);
	/* A byte to a keyboard that is not there. */
	bus_write(&f.b, I8042_DATA_PORT, 1, 0xf2);
	assert_int_equal(status(&f) & (FULL | BUSY), 0);
	i8042_fini(&f.k);
}

static void every_command_that_has_an_answer_gets_it_at_once(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(ask(&f, 0xaa), 0x55);
	assert_int_not_equal(ask(&f, 0xa9), 0);
	assert_int_not_equal(ask(&f, 0xab), 0);
	ask(&f, 0xc0);
	assert_int_equal(ask(&f, 0xd0) & 1, 1);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0x60);
	bus_write(&f.b, I8042_DATA_PORT, 1, 0x47);
	assert_int_equal(ask(&f, 0x20), 0x47);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0xd3);
	bus_write(&f.b, I8042_DATA_PORT, 1, 0x5a);
	assert_int_equal(status(&f) & FULL, FULL);
	assert_int_equal(bus_read(&f.b, I8042_DATA_PORT, 1), 0x5a);
	assert_int_equal(status(&f) & FULL, 0);
	assert_int_equal(f.resets, 0);
	i8042_fini(&f.k);
}

static void pulling_the_reset_line_resets_the_machine_by_either_way(void **state)
{
	struct fixture f;

	setup(&f);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0xfe);
	assert_int_equal(f.resets, 1);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0xff); /* pulses nothing */
	assert_int_equal(f.resets, 1);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0xd1);
	bus_write(&f.b, I8042_DATA_PORT, 1, 0x03);
	assert_int_equal(f.resets, 1);
	bus_write(&f.b, I8042_COMMAND_PORT, 1, 0xd1);
	bus_write(&f.b, I8042_DATA_PORT, 1, 0x02);
	assert_int_equal(f.resets, 2);
	bus_write(&f.b, I8042_DATA_PORT, 1, 0xfe); /* to the keyboard: no command */
	assert_int_equal(f.resets, 2);
	i8042_fini(&f.k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_controller_is_neither_full_nor_busy),
		cmocka_unit_test(every_command_that_has_an_answer_gets_it_at_once),
		cmocka_unit_test(pulling_the_reset_line_resets_the_machine_by_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
