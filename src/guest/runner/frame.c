/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's output as part of a KTAP document. See runner.h. */
#include "guest/runner/runner.h"

#include <string.h>

static bool begins_with(const char *s, const char *word)
{
	return strncmp(s, word, strlen(word)) == 0;
}

/* A line, or a piece of one that is too long. */
static void put(struct runner_frame *f, bool whole)
{
	f->line[f->len] = '\0';
	if (!f->in_line) {
		f->in_ktap |= begins_with(f->line, "TAP version ") ||
			      begins_with(f->line, "KTAP version ");
		fputs(f->in_ktap ? "  " : "# ", f->out);
	}
	fwrite(f->line, 1, f->len, f->out);
	if (whole) {
		fputc('\n', f->out);
	}
	f->in_line = !whole;
	f->len = 0;
}

/**
 * runner_frame_feed() - pass on what a program wrote
 * @f: its frame; all zero but @out at first
 * @data: the bytes, split anywhere
 * @len: how many
 */
void runner_frame_feed(struct runner_frame *f, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			put(f, true);
			continue;
		}
		f->line[f->len++] = data[i];
		if (f->len == sizeof(f->line) - 1) {
			put(f, false);
		}
	}
}

/**
 * runner_frame_end() - it says no more: end a line that has no end
 * @f: its frame
 */
void runner_frame_end(struct runner_frame *f)
{
	if (f->len > 0 || f->in_line) {
		put(f, true);
	}
}
