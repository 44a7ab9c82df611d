/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rtc.h. Registers as in the MC146818 data sheet (Motorola, 1984); the century is the PC's. */
#include "devices/rtc.h"

#include <string.h>
#include <time.h>

#define REG_SECONDS    0x00
#define REG_MINUTES    0x02
#define REG_HOURS      0x04
#define REG_WEEKDAY    0x06
#define REG_DAY        0x07
#define REG_MONTH      0x08
#define REG_YEAR       0x09
#define REG_A          0x0a
#define REG_B          0x0b
#define REG_C          0x0c
#define REG_D          0x0d
#define REG_CENTURY    0x32

#define A_32KHZ_1024HZ 0x26 /* the usual divider and rate; update-in-progress is clear */
#define B_SET          0x80 /* the guest holds updates back */
#define B_24_HOURS     0x02 /* and, the next bit being clear, BCD */
#define D_VALID        0x80
#define INDEX_MASK     0x7f /* the top bit masks the NMI */

#define DAY_SECONDS    86400
#define DAYS_TO_1970   719468 /* from the first of March of year 0 */
#define ERA_DAYS       146097 /* 400 years, after which the calendar repeats */

static int64_t host_now_s(void *ctx)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

const struct rtc_time_ops rtc_host_time = {.now_s = host_now_s};

static uint8_t bcd(unsigned int n)
{
	return (uint8_t)(((n / 10) << 4) | (n % 10));
}

/* A date of the Gregorian calendar, and the time of day. */
struct date {
	unsigned int year, month, day; /* month and day from 1 */
	unsigned int weekday;          /* from 0, Sunday */
	unsigned int hour, minute, second;
};

/*
 * Not gmtime_r(), whose first call reads the time zone's file and allocates: a start does not need
 * that, and a vCPU's thread may not. A year that begins in March has its odd day at its end, and
 * the days before a month follow one line.
 */
static void date_of(int64_t now_s, struct date *ret)
{
	uint64_t s = now_s > 0 ? (uint64_t)now_s : 0;
	uint64_t days = s / DAY_SECONDS + DAYS_TO_1970;
	unsigned int in_era = (unsigned int)(days % ERA_DAYS);
	unsigned int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	unsigned int in_year = in_era - (365 * year + year / 4 - year / 100);
	unsigned int month = (5 * in_year + 2) / 153;
	unsigned int in_day = (unsigned int)(s % DAY_SECONDS);

	*ret = (struct date){
		.year = (unsigned int)(days / ERA_DAYS) * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = in_year - (153 * month + 2) / 5 + 1,
		.weekday = (unsigned int)((days + 3) % 7),
		.hour = in_day / 3600,
		.minute = in_day / 60 % 60,
		.second = in_day % 60,
	};
}

static uint8_t read_register(struct rtc *r, uint8_t index)
{
	struct date now;

	switch (index) {
	case REG_A:
		return A_32KHZ_1024HZ;
	case REG_B:
		return (r->cmos[REG_B] & B_SET) | B_24_HOURS;
	case REG_C:
		return 0;
	case REG_D:
		return D_VALID;
	case REG_SECONDS:
	case REG_MINUTES:
	case REG_HOURS:
	case REG_WEEKDAY:
	case REG_DAY:
	case REG_MONTH:
	case REG_YEAR:
	case REG_CENTURY:
		break;
	default:
		return r->cmos[index];
	}
	date_of(r->time.now_s(r->time.ctx), &now);
	switch (index) {
	case REG_SECONDS:
		return bcd(now.second);
	case REG_MINUTES:
		return bcd(now.minute);
	case REG_HOURS:
		return bcd(now.hour);
	case REG_WEEKDAY:
		return bcd(now.weekday + 1);
	case REG_DAY:
		return bcd(now.day);
	case REG_MONTH:
		return bcd(now.month);
	case REG_YEAR:
		return bcd(now.year % 100);
	default:
		return bcd(now.year / 100 % 100);
	}
}

static uint64_t rtc_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct rtc *r = (struct rtc *)d;
	uint8_t v = 0xff; /* the index cannot be read back */

	if (offset == 1) {
		pthread_mutex_lock(&r->lock);
		v = read_register(r, r->index);
		pthread_mutex_unlock(&r->lock);
	}
	return v;
}

static void rtc_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct rtc *r = (struct rtc *)d;

	pthread_mutex_lock(&r->lock);
	if (offset == 0) {
		r->index = value & INDEX_MASK;
	} else {
		r->cmos[r->index] = (uint8_t)value;
	}
	pthread_mutex_unlock(&r->lock);
}

static void rtc_reset(struct device *d)
{
	struct rtc *r = (struct rtc *)d;

	pthread_mutex_lock(&r->lock);
	r->index = 0;
	memset(r->cmos, 0, sizeof(r->cmos));
	pthread_mutex_unlock(&r->lock);
}

static const struct device_ops rtc_ops = {
	.name = "rtc",
	.max_size = 1,
	.read = rtc_read,
	.write = rtc_write,
	.reset = rtc_reset,
};

/**
 * rtc_init() - a clock
 * @r: the caller's memory
 * @time: where it has its time from, copied: rtc_host_time, or a test's
 *
 * Context: before any vCPU runs.
 */
void rtc_init(struct rtc *r, const struct rtc_time_ops *time)
{
	memset(r, 0, sizeof(*r));
	r->dev.ops = &rtc_ops;
	r->time = *time;
	pthread_mutex_init(&r->lock, NULL);
}

/**
 * rtc_fini() - free what rtc_init() made
 * @r: a clock that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void rtc_fini(struct rtc *r)
{
	pthread_mutex_destroy(&r->lock);
}
