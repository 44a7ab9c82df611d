/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a guest's console as lines: keeps the last ones for the failure report, and recognises what
 * a kernel says when it dies. Pure: bytes in, events out. What it keeps is bounded whatever the
 * guest writes.
 */
#ifndef ENGINE_CONSOLE_WATCH_H
#define ENGINE_CONSOLE_WATCH_H

#include <stddef.h>

#include "base/cleanup.h"

#define CONSOLE_WATCH_LINES    200 /* how many are kept */
#define CONSOLE_WATCH_LINE_MAX 512 /* bytes; a longer one is cut into several */

enum console_event {
	CONSOLE_PANIC,      /* "Kernel panic - not syncing: ..." */
	CONSOLE_PANIC_END,  /* its last line, when the kernel stays where it is */
	CONSOLE_BOOT_PANIC, /* a panic because there is no root or no init */
	CONSOLE_OOPS,       /* an oops, a BUG or a general protection fault in the kernel */
	CONSOLE_WARN,       /* WARNING: */
	CONSOLE_KASAN,      /* a report of KASAN, KFENCE or KMSAN */
	CONSOLE_KCSAN,      /* of KCSAN: a data race */
	CONSOLE_UBSAN,      /* of UBSAN: undefined behaviour */
	CONSOLE_LOCKDEP,    /* of lockdep, or of RCU's checks */
	CONSOLE_RCU,        /* an RCU stall */
	CONSOLE_LOCKUP,     /* a soft or hard lockup, or one of a work queue */
	CONSOLE_HUNG,       /* a task that is blocked for too long */
	CONSOLE_TAINT,      /* the kernel says that it is tainted */
	CONSOLE_HALTED,     /* "reboot: System halted" */
	CONSOLE_POWER_DOWN, /* "reboot: Power down" */
	CONSOLE_RESTART,    /* "reboot: Restarting system" */
};

/* @text points to what follows the kernel's time stamp; it is only valid during the call. */
typedef void (*console_watch_fn)(void *ctx, enum console_event event, const char *text);

struct console_watch {
	console_watch_fn fn;
	void *ctx;
	char *lines[CONSOLE_WATCH_LINES]; /* a ring */
	size_t next, count;
	char line[CONSOLE_WATCH_LINE_MAX + 1]; /* the one that is coming in */
	size_t line_len;
};

void console_watch_init(struct console_watch *w, console_watch_fn fn, void *ctx);
void console_watch_fini(struct console_watch *w);
void console_watch_feed(struct console_watch *w, const void *data, size_t len);
size_t console_watch_line_count(const struct console_watch *w);
const char *console_watch_line(const struct console_watch *w, size_t i);
const char *console_watch_text(const char *s);

#endif
