/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See console_watch.h. Runs on the event loop's thread. */
#include "engine/console_watch.h"

#include <string.h>

#include "base/text.h"

static const struct {
	enum console_event event;
	const char *text;
} patterns[] = {
	/* The first that matches is taken, so the special panics stand before the general one. */
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: VFS: Unable to mount root fs"},
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: No working init found"},
	{CONSOLE_BOOT_PANIC, "Kernel panic - not syncing: Requested init "},
	{CONSOLE_PANIC, "Kernel panic - not syncing"},
	{CONSOLE_PANIC_END, "---[ end Kernel panic"},
	{CONSOLE_KASAN, "BUG: KASAN: "},
	{CONSOLE_KASAN, "BUG: KCSAN: "},
	{CONSOLE_KASAN, "BUG: KFENCE: "},
	{CONSOLE_KASAN, "UBSAN: "},
	{CONSOLE_LOCKDEP, "WARNING: possible circular locking dependency"},
	{CONSOLE_LOCKDEP, "WARNING: possible recursive locking"},
	{CONSOLE_LOCKDEP, "WARNING: possible irq lock inversion"},
	{CONSOLE_LOCKDEP, "WARNING: inconsistent lock state"},
	{CONSOLE_LOCKDEP, "WARNING: bad unlock balance"},
	{CONSOLE_LOCKDEP, "WARNING: suspicious RCU usage"},
	{CONSOLE_LOCKDEP, "WARNING: held lock freed"},
	{CONSOLE_OOPS, "BUG: "},
	{CONSOLE_OOPS, "Oops: "},
	{CONSOLE_OOPS, "kernel BUG at "},
	{CONSOLE_OOPS, "general protection fault"},
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

/**
 * console_watch_text() - what a line says behind the kernel's level and time stamp
 * @s: a line, with or without them: "<4>[    1.234567] text", and with CONFIG_PRINTK_CALLER
 *     "[    1.234567][    T1] text"
 *
 * Return: into @s; spaces at the text's beginning are part of it.
 * Context: any thread.
 */
const char *console_watch_text(const char *s)
{
	const char *begin;

	if (s[0] == '<' && s[1] >= '0' && s[1] <= '7' && s[2] == '>') {
		s += 3;
	}
	begin = s;
	while (*s == '[' && strspn(s + 1, " .0123456789TC") > 0) {
		const char *end = s + 1 + strspn(s + 1, " .0123456789TC");

		if (*end != ']') {
			break;
		}
		s = end + 1;
	}
	return s + (s > begin && *s == ' ');
}

static void line_judge(struct console_watch *w)
{
	const char *text = console_watch_text(w->line);

	text += strspn(text, " ");
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (text_starts_with(text, patterns[i].text)) {
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
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n' || w->line_len == CONSOLE_WATCH_LINE_MAX) {
			line_end(w);
		}
		if ((p[i] >= 0x20 && p[i] != 0x7f) || p[i] == '\t') {
			w->line[w->line_len++] = (char)p[i];
		}
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
