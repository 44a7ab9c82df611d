/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See console_watch.h. Runs on the event loop's thread. */
#include "engine/console_watch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

static const struct {
	enum console_event event;
	const char *text; /* the line begins with it */
	const char *more; /* and has this in it; NULL: no matter */
} patterns[] = {
	/* The first that matches is taken, so the special panics stand before the general one. */
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: VFS: Unable to mount root fs"},
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: No working init found"},
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: Requested init "},
	{CONSOLE_PANIC, "Kernel panic - not syncing"},
	{CONSOLE_PANIC_END, "---[ end Kernel panic"},
	{CONSOLE_KASAN, "BUG: KASAN: "},
	{CONSOLE_KASAN, "BUG: KFENCE: "},
	{CONSOLE_KASAN, "BUG: KMSAN: "},
	{CONSOLE_KCSAN, "BUG: KCSAN: "},
	{CONSOLE_UBSAN, "UBSAN: "},
	{CONSOLE_LOCKDEP, "WARNING: possible circular locking dependency"},
	{CONSOLE_LOCKDEP, "WARNING: possible recursive locking"},
	{CONSOLE_LOCKDEP, "WARNING: possible irq lock inversion"},
	{CONSOLE_LOCKDEP, "WARNING: inconsistent lock state"},
	{CONSOLE_LOCKDEP, "WARNING: bad unlock balance"},
	{CONSOLE_LOCKDEP, "WARNING: suspicious RCU usage"},
	{CONSOLE_LOCKDEP, "WARNING: held lock freed"},
	{CONSOLE_LOCKDEP, "WARNING: Nested lock was not taken"},
	{CONSOLE_LOCKDEP, "BUG: sleeping function called from invalid context"},
	{CONSOLE_LOCKUP, "BUG: soft lockup"},
	{CONSOLE_LOCKUP, "watchdog: BUG: soft lockup"},
	{CONSOLE_LOCKUP, "NMI watchdog: ", "LOCKUP"},
	{CONSOLE_LOCKUP, "watchdog: ", "hard LOCKUP"},
	{CONSOLE_LOCKUP, "BUG: workqueue lockup"},
	{CONSOLE_RCU, "rcu: INFO: ", "stall"},
	{CONSOLE_RCU, "INFO: rcu_", "stall"},
	{CONSOLE_HUNG, "INFO: task ", " blocked for more than "},
	{CONSOLE_OOPS, "BUG: "},
	{CONSOLE_OOPS, "Oops: "},
	{CONSOLE_OOPS, "kernel BUG at "},
	{CONSOLE_OOPS, "general protection fault"},
	{CONSOLE_OOPS, "invalid opcode: ", " [#"},
	{CONSOLE_OOPS, "divide error: ", " [#"},
	{CONSOLE_OOPS, "stack segment: ", " [#"},
	{CONSOLE_OOPS, "Unable to handle kernel "},
	{CONSOLE_TAINT, "", " taints kernel"},
	{CONSOLE_TAINT, "", "tainting kernel"},
	{CONSOLE_TAINT, "", " due to kernel taint"},
	{CONSOLE_WARN, "WARNING: "},
	{CONSOLE_HALTED, "reboot: System halted"},
	{CONSOLE_HALTED, "reboot: Power off not available: System halted instead"},
	{CONSOLE_POWER_DOWN, "reboot: Power down"},
	{CONSOLE_RESTART, "reboot: Restarting system"},
};

/**
 * console_watch_init() - start with an empty console
 * @w: the caller's memory; end it with console_watch_fini()
 * @fn: called for each line that says something, in the order of the lines
 * @ctx: handed to @fn
 *
 * Context: the event loop's thread, as all the others.
 */
void console_watch_init(struct console_watch *w, console_watch_fn fn, void *ctx)
{
	*w = (struct console_watch){.fn = fn, .ctx = ctx};
}

/**
 * console_watch_fini() - free the lines
 * @w: an initialised watch
 */
void console_watch_fini(struct console_watch *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->lines); i++) {
		free(w->lines[i]);
		w->lines[i] = NULL;
	}
	w->count = 0;
}

/* Behind the "[    1.234567]" or "[    T1]" at @s; NULL: there is none. */
static const char *stamp_end(const char *s)
{
	size_t n = *s == '[' ? strspn(s + 1, " .0123456789TC") : 0;

	return n && s[1 + n] == ']' ? s + n + 2 : NULL;
}

/**
 * console_watch_text() - what a line says behind the kernel's level and time stamp
 * @s: a line, with or without them: "<4>[    1.234567] text", with CONFIG_PRINTK_CALLER
 *     "[    1.234567][    T1] text"; there may be a stamp of --console-stamps before them
 *
 * Return: into @s; spaces at the text's beginning are part of it.
 * Context: any thread.
 */
const char *console_watch_text(const char *s)
{
	bool stamped = false;

	for (;;) {
		const char *end = stamp_end(s + (stamped && *s == ' '));

		if (!end && s[0] == '<' && s[1] >= '0' && s[1] <= '7' && s[2] == '>') {
			end = s + 3;
		}
		if (!end) {
			return s + (stamped && *s == ' ');
		}
		stamped = s[0] != '<';
		s = end;
	}
}

static void line_judge(struct console_watch *w)
{
	const char *text = console_watch_text(w->line);

	text += strspn(text, " ");
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (text_starts_with(text, patterns[i].text) &&
		    (!patterns[i].more || strstr(text, patterns[i].more))) {
			w->fn(w->ctx, patterns[i].event, text);
			return;
		}
	}
}

static void line_end(struct console_watch *w)
{
	char *copy;

	w->line[w->line_len] = '\0';
	copy = strdup(w->line);
	if (copy) {
		free(w->lines[w->next]);
		w->lines[w->next] = copy;
		w->next = (w->next + 1) % CONSOLE_WATCH_LINES;
		if (w->count < CONSOLE_WATCH_LINES) {
			w->count++;
		}
	}
	w->line_len = 0;
	line_judge(w);
}

static bool is_kept(unsigned char c)
{
	return (c >= 0x20 && c != 0x7f) || c == '\t';
}

/* Eight bytes at once: none is below 0x20 or 0x7f. */
static bool are_kept(const unsigned char *p)
{
	const uint64_t each = UINT64_MAX / UINT8_MAX;
	uint64_t word, rubout;

	memcpy(&word, p, sizeof(word));
	rubout = word ^ (each * 0x7f);
	return ((((word - each * 0x20) & ~word) | ((rubout - each) & ~rubout)) & (each * 0x80)) ==
	       0;
}

/* How many bytes are kept before the first that is not. */
static size_t kept_run(const unsigned char *p, size_t len)
{
	size_t n = 0;

	while (n + sizeof(uint64_t) <= len && are_kept(p + n)) {
		n += sizeof(uint64_t);
	}
	while (n < len && is_kept(p[n])) {
		n++;
	}
	return n;
}

/**
 * console_watch_feed() - take bytes as the guest wrote them
 * @w: an initialised watch
 * @data: the bytes; lines may be split over calls anywhere
 * @len: how many
 *
 * Carriage returns and other control characters but the tab are left out of the kept lines.
 *
 * Context: may call the watch's function, which must not feed the same watch.
 */
void console_watch_feed(struct console_watch *w, const void *data, size_t len)
{
	const unsigned char *p = data, *end = p + len;

	while (p < end) {
		size_t room = CONSOLE_WATCH_LINE_MAX - w->line_len, left = (size_t)(end - p);
		size_t n = kept_run(p, left < room ? left : room);

		memcpy(w->line + w->line_len, p, n);
		w->line_len += n;
		p += n;
		if (p < end && (*p == '\n' || w->line_len == CONSOLE_WATCH_LINE_MAX)) {
			line_end(w);
		}
		p += p < end && !is_kept(*p);
	}
	w->line[w->line_len] = '\0';
}

/**
 * console_watch_line_count() - how many lines are kept
 * @w: an initialised watch
 *
 * Return: 0..CONSOLE_WATCH_LINES, and one more when a line has begun but not ended.
 */
size_t console_watch_line_count(const struct console_watch *w)
{
	return w->count + (w->line_len > 0);
}

/**
 * console_watch_line() - one of the kept lines
 * @w: an initialised watch
 * @i: below console_watch_line_count(), 0 is the oldest
 *
 * Return: the line without its end; valid until the watch is fed again.
 */
const char *console_watch_line(const struct console_watch *w, size_t i)
{
	if (i >= w->count) {
		return w->line;
	}
	return w->lines[(w->next + CONSOLE_WATCH_LINES - w->count + i) % CONSOLE_WATCH_LINES];
}
