/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <time.h>

#include "devices/rtc.h"
#include "hw/bus.h"

static int64_t fixed_time(void *ctx)
{
	return *(const int64_t *)ctx;
}

static uint8_t get(struct bus *b, uint8_t index)
{
	bus_write(b, RTC_PORT, 1, index);
	return (uint8_t)bus_read(b, RTC_PORT + 1, 1);
}

static int from_bcd(uint8_t v)
{
	return (v >> 4) * 10 + (v & 0xf);
}

static void setup(struct rtc *r, struct bus *b, const struct rtc_time_ops *time)
{
	rtc_init(r, time);
	bus_init(b, "port");
	assert_int_equal(bus_add(b, RTC_PORT, RTC_PORTS, &r->dev, 0), 0);
}

static void the_time_is_read_in_utc_as_bcd(void **state)
{
	int64_t now = 1709210096; /* Thu 2024-02-29 12:34:56 UTC */
	struct rtc_time_ops time = {fixed_time, &now};
	struct rtc r;
	struct bus b;

	setup(&r, &b, &time);
	assert_int_equal(get(&b, 0x00), 0x56);
	assert_int_equal(get(&b, 0x02), 0x34);
	assert_int_equal(get(&b, 0x04), 0x12);
	assert_int_equal(get(&b, 0x06), 0x05);
	assert_int_equal(get(&b, 0x07), 0x29);
	assert_int_equal(get(&b, 0x08), 0x02);
	assert_int_equal(get(&b, 0x09), 0x24);
	assert_int_equal(get(&b, 0x32), 0x20);
	/* The top bit of the index masks the NMI and is no part of it. */
	assert_int_equal(get(&b, 0x89), 0x24);
	now = 946684799; /* the last second of 1999 */
	assert_int_equal(get(&b, 0x09), 0x99);
	assert_int_equal(get(&b, 0x32), 0x19);
	rtc_fini(&r);
}

/* Each day of more than 400 years, at another second, against the C library's. */
static void every_day_is_the_calendars(void **state)
{
	int64_t now = 0;
	struct rtc_time_ops time = {fixed_time, &now};
	struct rtc r;
	struct bus b;

	setup(&r, &b, &time);
	for (int day = 0; day < 160000; day++) {
		struct tm tm;
		time_t t = (time_t)day * 86400 + day * 7919 % 86400;

		now = t;
		assert_non_null(gmtime_r(&t, &tm));
		assert_int_equal(from_bcd(get(&b, 0x00)), tm.tm_sec);
		assert_int_equal(from_bcd(get(&b, 0x02)), tm.tm_min);
		assert_int_equal(from_bcd(get(&b, 0x04)), tm.tm_hour);
		assert_int_equal(from_bcd(get(&b, 0x06)), tm.tm_wday + 1);
		assert_int_equal(from_bcd(get(&b, 0x07)), tm.tm_mday);
		assert_int_equal(from_bcd(get(&b, 0x08)), tm.tm_mon + 1);
		assert_int_equal(from_bcd(get(&b, 0x32)) * 100 + from_bcd(get(&b, 0x09)),
				 tm.tm_year + 1900);
	}
	rtc_fini(&r);
}

static void the_status_registers_never_make_a_reader_wait(void **state)
{
	struct rtc r;
	struct bus b;

	setup(&r, &b, &rtc_host_time);
	assert_int_equal(get(&b, 0x0a) & 0x80, 0);
	/* 24 hours, BCD, whatever the guest asks for. */
	bus_write(&b, RTC_PORT, 1, 0x0b);
	bus_write(&b, RTC_PORT + 1, 1, 0x74);
	assert_int_equal(get(&b, 0x0b), 0x02);
	assert_int_equal(get(&b, 0x0c), 0);
	assert_int_equal(get(&b, 0x0d), 0x80);
	rtc_fini(&r);
}

static void the_memory_keeps_what_is_written_until_a_reset(void **state)
{
	struct rtc r;
	struct bus b;

	setup(&r, &b, &rtc_host_time);
	bus_write(&b, RTC_PORT, 1, 0x0f);
	bus_write(&b, RTC_PORT + 1, 1, 0x0a);
	assert_int_equal(get(&b, 0x0f), 0x0a);
	assert_int_equal(get(&b, 0x7f), 0);
	bus_reset(&b);
	assert_int_equal(get(&b, 0x0f), 0);
	rtc_fini(&r);
}

static void the_hosts_time_is_the_real_one(void **state)
{
	int64_t before = time(NULL);
	int64_t got = rtc_host_time.now_s(rtc_host_time.ctx);

	assert_true(got >= before && got <= time(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_is_read_in_utc_as_bcd),
		cmocka_unit_test(every_day_is_the_calendars),
		cmocka_unit_test(the_status_registers_never_make_a_reader_wait),
		cmocka_unit_test(the_memory_keeps_what_is_written_until_a_reset),
		cmocka_unit_test(the_hosts_time_is_the_real_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
