/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent found in the kernel's log when the command had ended. A report there counts as one
 * on the console, which may have been turned down; and a taint without any report is told itself,
 * as a log runs over and a taint does not. On the event loop's thread.
 */
#include "engine/session_priv.h"

#include <stdio.h>
#include <string.h>

/* Documentation/admin-guide/tainted-kernels.rst. */
static const struct {
	unsigned int bit;
	char letter;
	unsigned int kind; /* SESSION_FAIL_ON_* of the report that it comes with */
	const char *what;
} taints[] = {
	{7, 'D', SESSION_FAIL_ON_OOPS, "an oops"},
	{9, 'W', SESSION_FAIL_ON_WARN, "a warning"},
	{14, 'L', SESSION_FAIL_ON_LOCKUP, "a lockup"},
};

static void on_log_event(void *ctx, enum console_event event, const char *text)
{
	struct session *s = ctx;
	unsigned int kind = session_fail_on_bit(event);

	s->seen |= kind;
	s->logged |= console_allow_match(s->cfg->allow, text, NULL) ? 0 : kind;
}

static void feed_lines(struct console_watch *w, const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach (lines, i, line) {
		const char *text = json_string_value(line);

		console_watch_feed(w, text ? text : "", text ? strlen(text) : 0);
		console_watch_feed(w, "\n", 1);
	}
}

static void judge_taint(struct session *s, uint64_t before, uint64_t now)
{
	uint64_t new = now & ~before;

	for (size_t i = 0; i < ARRAY_SIZE(taints) && !s->facts.oops_seen; i++) {
		if (new >> taints[i].bit & 1 && s->cfg->fail_on & taints[i].kind &&
		    !(s->seen & taints[i].kind)) {
			s->facts.oops_seen = true;
			snprintf(
				s->facts.console_text, sizeof(s->facts.console_text),
				"it is tainted %c by %s, which neither its console nor its log has",
				taints[i].letter, taints[i].what);
		}
	}
	if (new && s->cfg->fail_on & SESSION_FAIL_ON_TAINT && !s->facts.oops_seen &&
	    !(s->seen & SESSION_FAIL_ON_TAINT)) {
		s->facts.oops_seen = true;
		snprintf(s->facts.console_text, sizeof(s->facts.console_text),
			 "it became tainted: 0x%llx", (unsigned long long)new);
	}
}

/**
 * session_on_kernel_log() - the agent's last look at the kernel has come
 * @s: the session
 * @report: its line
 *
 * Context: the event loop's thread.
 */
void session_on_kernel_log(struct session *s, const json_t *report)
{
	const json_t *lines = json_object_get(report, "lines");
	struct console_watch w;

	if (s->facts.oops_seen || s->facts.panic_seen) {
		return;
	}
	console_watch_init(&w, on_log_event, s);
	feed_lines(&w, lines);
	console_watch_fini(&w);
	if (s->logged & s->cfg->fail_on) {
		/* The console did not have it: from here on it has, and all goes its way. */
		feed_lines(&s->console, lines);
	}
	judge_taint(s, (uint64_t)json_integer_value(json_object_get(report, "tainted_before")),
		    (uint64_t)json_integer_value(json_object_get(report, "tainted")));
}
