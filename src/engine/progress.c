/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See progress.h. One thread. */
#include "engine/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"

/* Between lines where they cannot be rewritten. */
#define QUIET_NS (10 * NS_PER_SEC)

/**
 * progress_init() - begin
 * @p: set
 * @fd: where to write, such as stderr
 * @tty: whether a line can be rewritten there
 * @total: boots in all
 * @done: boots that are done already
 * @clock: the time; must outlive @p
 *
 * Context: any thread.
 */
void progress_init(struct progress *p, int fd, bool tty, size_t total, size_t done,
		   const struct clock_ops *clock)
{
	*p = (struct progress){.fd = fd, .tty = tty, .clock = clock, .total = total, .done = done};
}

static const char *duration(uint64_t ns, char *buf, size_t len)
{
	uint64_t s = (ns + NS_PER_SEC / 2) / NS_PER_SEC;

	if (s < 90) {
		snprintf(buf, len, "%" PRIu64 " s", s);
	} else if (s < 90 * 60) {
		snprintf(buf, len, "%" PRIu64 " min", (s + 30) / 60);
	} else {
		snprintf(buf, len, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s % 3600 / 60);
	}
	return buf;
}

/* The boots to come, at the pace at which those of this run have ended; 0: not known. */
static uint64_t time_left_ns(const struct progress *p, uint64_t now)
{
	uint64_t spent = now - p->ended_ns;
	uint64_t left;

	if (p->timed == 0) {
		return 0;
	}
	left = (p->ended_ns - p->first_ns) / p->timed * (p->total - p->done);
	/* The current boot may be slower than the mean: then it ends any moment now. */
	return left > spent ? left - spent : 1;
}

static void show(struct progress *p, uint64_t now)
{
	char left[32], line[192];
	uint64_t left_ns = time_left_ns(p, now);
	int n = snprintf(line, sizeof(line), "%sringside: boot %zu of %zu, %s%s%s%s",
			 p->tty ? "\r\033[K" : "", p->done + p->running, p->total, p->what,
			 left_ns ? ", about " : "",
			 left_ns ? duration(left_ns, left, sizeof(left)) : "",
			 left_ns ? " left" : "");

	p->last_ns = now;
	n = n < (int)sizeof(line) - 1 ? n : (int)sizeof(line) - 2;
	if (!p->tty) {
		line[n++] = '\n';
	}
	if (io_write_all(p->fd, line, (size_t)n) < 0) {
		/* Nobody reads it: the comparison goes on all the same. */
		return;
	}
}

/**
 * progress_begin() - a boot begins
 * @p: the progress
 * @what: what it is, a few words
 *
 * Context: any thread.
 */
void progress_begin(struct progress *p, const char *what)
{
	uint64_t now = clock_now_ns(p->clock);

	snprintf(p->what, sizeof(p->what), "%s", what);
	/* A group's name is other people's text. */
	for (char *c = p->what; *c; c++) {
		size_t control = text_control_len(c);

		memset(c, '?', control);
		c += control ? control - 1 : 0;
	}
	p->running++;
	if (p->first_ns == 0) {
		p->first_ns = now;
	}
	if (p->tty || p->last_ns == 0 || now - p->last_ns >= QUIET_NS) {
		show(p, now);
	}
}

/**
 * progress_tick() - time goes by inside a boot
 * @p: the progress
 *
 * Context: any thread.
 */
void progress_tick(struct progress *p)
{
	if (p->tty) {
		show(p, clock_now_ns(p->clock));
	}
}

/**
 * progress_end() - a boot that was begun has ended
 * @p: the progress
 * @recorded: whether it is done, and need not be done again
 *
 * Context: any thread.
 */
void progress_end(struct progress *p, bool recorded)
{
	p->running--;
	if (recorded) {
		p->done++;
		p->timed++;
		p->ended_ns = clock_now_ns(p->clock);
	}
}

/**
 * progress_clear() - take the line off the terminal before something else is written
 * @p: the progress
 *
 * Context: any thread.
 */
void progress_clear(struct progress *p)
{
	static const char clear[] = "\r\033[K";

	if (p->tty && p->last_ns && io_write_all(p->fd, clear, sizeof(clear) - 1) < 0) {
		return;
	}
}
