/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is seen of a test run while it goes on: on a terminal a table of what runs, redrawn below
 * the lines of what has ended; elsewhere those lines alone.
 */
#ifndef CLI_TEST_LIVE_H
#define CLI_TEST_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "samples/test_result.h"

#define TEST_LIVE_ROWS 8 /* of the table; what runs beside is counted only */

struct test_live_row {
	char *id;
	unsigned int attempt;
	uint64_t since_ns;
};

struct test_live {
	int fd;
	bool tty, colour;
	unsigned int columns; /* 0: asked of the terminal each time */
	const struct clock_ops *clock;
	size_t total, ended; /* cases; total 0: no end is known */
	size_t by_verdict[TEST_VERDICT_COUNT];
	struct test_live_row *rows;
	size_t running;
	size_t drawn; /* lines of the table that are on the terminal */
	uint64_t drawn_ns;
};

void test_live_init(struct test_live *l, int fd, bool tty, bool colour, size_t total,
		    const struct clock_ops *clock);
void test_live_begun(struct test_live *l, const char *id, unsigned int attempt);
void test_live_ended(struct test_live *l, const struct test_result *r);
void test_live_tick(struct test_live *l);
void test_live_fini(struct test_live *l);

#endif
