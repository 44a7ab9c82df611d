/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a comparison is, and how long it will still take: one line that is rewritten on a
 * terminal, else a line now and then.
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PROGRESS_WHAT_MAX 96

struct progress {
	int fd;
	bool tty;
	const struct clock_ops *clock;
	size_t total, done;           /* boots; done counts the ones of earlier runs too */
	size_t running;               /* boots that have begun and not ended */
	size_t timed;                 /* boots that this run has seen whole */
	uint64_t first_ns;            /* when the first one of them began */
	uint64_t ended_ns;            /* when the last one of them ended */
	uint64_t last_ns;             /* when something was last written; 0: never */
	char what[PROGRESS_WHAT_MAX]; /* the boot that began last */
};

void progress_init(struct progress *p, int fd, bool tty, size_t total, size_t done,
		   const struct clock_ops *clock);
void progress_begin(struct progress *p, const char *what);
void progress_tick(struct progress *p);
void progress_end(struct progress *p, bool recorded);
void progress_clear(struct progress *p);

#endif
