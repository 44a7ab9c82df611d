/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a PC (MC146818), to be read: the time is the host's, in UTC, and no update is ever
 * in progress. Setting it, alarms and interrupts are not there. The rest of its memory keeps what
 * the guest writes, as Linux wants of the shutdown code.
 */
#ifndef DEVICES_RTC_H
#define DEVICES_RTC_H

#include <pthread.h>
#include <stdint.h>

#include "hw/device.h"

#define RTC_PORT       0x70
#define RTC_PORTS      2
#define RTC_CMOS_BYTES 128

struct rtc_time_ops {
	int64_t (*now_s)(void *ctx); /* seconds since 1970-01-01 00:00 UTC */
	void *ctx;
};

extern const struct rtc_time_ops rtc_host_time;

struct rtc {
	struct device dev;
	struct rtc_time_ops time;
	pthread_mutex_t lock; /* of what follows */
	uint8_t index;
	uint8_t cmos[RTC_CMOS_BYTES];
};

void rtc_init(struct rtc *r, const struct rtc_time_ops *time);
void rtc_fini(struct rtc *r);

#endif
