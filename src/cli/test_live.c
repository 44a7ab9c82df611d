/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_live.h. One thread. */
#include "cli/test_live.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/io.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX     1024
#define REDRAW_NS       (200 * NS_PER_MSEC)

static const struct {
	const char *word, *colour;
} looks[TEST_VERDICT_COUNT] = {
	[TEST_OK] = {"ok", "\033[32m"},           [TEST_NOT_OK] = {"not ok", "\033[31m"},
	[TEST_KNOWN] = {"known", "\033[33m"},     [TEST_FLAKY] = {"flaky", "\033[33m"},
	[TEST_SKIPPED] = {"skipped", "\033[36m"},
};

/**
 * test_live_init() - nothing runs yet
 * @l: set; end it with test_live_fini()
 * @fd: where to write, such as stderr
 * @tty: whether lines can be redrawn there
 * @colour: whether it may be coloured
 * @total: cases in all; 0: no end is known
 * @clock: the time; must outlive @l
 *
 * Context: any thread.
 */
void test_live_init(struct test_live *l, int fd, bool tty, bool colour, size_t total,
		    const struct clock_ops *clock)
{
	*l = (struct test_live){
		.fd = fd, .tty = tty, .colour = colour, .total = total, .clock = clock};
}

static unsigned int columns_of(const struct test_live *l)
{
	struct winsize w;

	if (l->columns) {
		return l->columns;
	}
	if (!l->tty || ioctl(l->fd, TIOCGWINSZ, &w) < 0 || w.ws_col == 0) {
		return COLUMNS_DEFAULT;
	}
	return w.ws_col < COLUMNS_MAX ? w.ws_col : COLUMNS_MAX;
}

/* One line of at most that many characters: one that wraps would spoil the table. What is no text
 * is shown as '?'. */
static void put_row(FILE *out, unsigned int columns, const char *fmt, ...) __printf(3, 4);

static void put_row(FILE *out, unsigned int columns, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	for (int i = 0, used = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		/* The bytes behind the first one of a UTF-8 character take no place. */
		used += (c & 0xc0) != 0x80;
		if (used >= (int)columns) {
			break;
		}
		fputc(c < ' ' || c == 0x7f ? '?' : c, out);
	}
	if (n >= 0) {
		free(text);
	}
	fputc('\n', out);
}

static void put_clear(struct test_live *l, FILE *out)
{
	if (l->drawn) {
		fprintf(out, "\033[%zuA\r\033[J", l->drawn);
		l->drawn = 0;
	}
}

static void put_counts(const struct test_live *l, FILE *out, unsigned int columns)
{
	char counts[160] = "", total[32] = "";
	size_t at = 0;

	for (size_t v = 0; v < TEST_VERDICT_COUNT; v++) {
		if (l->by_verdict[v]) {
			at += (size_t)snprintf(counts + at, sizeof(counts) - at, ", %zu %s",
					       l->by_verdict[v], looks[v].word);
		}
	}
	if (l->total) {
		snprintf(total, sizeof(total), " of %zu", l->total);
	}
	put_row(out, columns, "%zu%s cases have ended%s, %zu running", l->ended, total, counts,
		l->running);
}

static void put_table(struct test_live *l, FILE *out)
{
	unsigned int columns = columns_of(l);
	uint64_t now = clock_now_ns(l->clock);
	size_t shown = l->running < TEST_LIVE_ROWS ? l->running : TEST_LIVE_ROWS;

	if (!l->tty || l->running == 0) {
		return;
	}
	put_counts(l, out, columns);
	for (size_t i = 0; i < shown; i++) {
		const struct test_live_row *row = &l->rows[i];
		char again[32] = "";

		if (row->attempt > 1) {
			snprintf(again, sizeof(again), " (try %u)", row->attempt);
		}
		put_row(out, columns, "  %5" PRIu64 " s  %s%s", (now - row->since_ns) / NS_PER_SEC,
			row->id, again);
	}
	l->drawn = 1 + shown;
	l->drawn_ns = now;
}

/* Writes all at once, that nobody sees half of it. Nobody may read it: the run goes on. */
static void write_out(const struct test_live *l, FILE *out, char **text, size_t *len)
{
	if (out && fclose(out) == 0 && io_write_all(l->fd, *text, *len) < 0) {
		return;
	}
}

static void redraw(struct test_live *l)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		put_clear(l, out);
		put_table(l, out);
		write_out(l, out, &text, &len);
	}
}

static struct test_live_row *find(const struct test_live *l, const char *id)
{
	for (size_t i = 0; i < l->running; i++) {
		if (strcmp(l->rows[i].id, id) == 0) {
			return &l->rows[i];
		}
	}
	return NULL;
}

/**
 * test_live_begun() - a try of a case begins
 * @l: what is seen
 * @id: the case
 * @attempt: the number of the try, from 1
 *
 * Context: any thread.
 */
void test_live_begun(struct test_live *l, const char *id, unsigned int attempt)
{
	struct test_live_row *row = find(l, id);

	if (!row) {
		struct test_live_row *more = realloc(l->rows, (l->running + 1) * sizeof(*more));
		char *copy = strdup(id);

		if (!more || !copy) {
			l->rows = more ? more : l->rows;
			free(copy);
			return; /* it runs without being seen */
		}
		l->rows = more;
		row = &more[l->running++];
		*row = (struct test_live_row){.id = copy};
	}
	row->attempt = attempt;
	row->since_ns = clock_now_ns(l->clock);
	if (l->tty) {
		redraw(l);
	}
}

static void put_result(const struct test_live *l, FILE *out, const struct test_result *r)
{
	char why[512] = "";
	const char *colour = l->colour ? looks[r->verdict].colour : "";

	if (r->message && *r->message) {
		snprintf(why, sizeof(why), ": %s", r->message);
		why[strcspn(why, "\n")] = '\0';
	}
	fprintf(out, "%s%-7s%s ", colour, looks[r->verdict].word, l->colour ? "\033[0m" : "");
	put_row(out, l->tty ? columns_of(l) - 8 : COLUMNS_MAX, "%s (%.1f s)%s", r->id,
		(double)r->duration_ns / (double)NS_PER_SEC, why);
}

/**
 * test_live_ended() - a case has ended, or was skipped
 * @l: what is seen
 * @r: its result
 *
 * Context: any thread.
 */
void test_live_ended(struct test_live *l, const struct test_result *r)
{
	_cleanup_free_ char *text = NULL;
	struct test_live_row *row = find(l, r->id);
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (row) {
		free(row->id);
		*row = l->rows[--l->running];
	}
	l->ended++;
	l->by_verdict[r->verdict]++;
	if (out) {
		put_clear(l, out);
		put_result(l, out, r);
		put_table(l, out);
		write_out(l, out, &text, &len);
	}
}

/**
 * test_live_tick() - time goes by
 * @l: what is seen
 *
 * Context: any thread.
 */
void test_live_tick(struct test_live *l)
{
	if (l->tty && clock_now_ns(l->clock) - l->drawn_ns >= REDRAW_NS) {
		redraw(l);
	}
}

/**
 * test_live_fini() - take the table off the terminal
 * @l: what is seen
 *
 * Context: any thread.
 */
void test_live_fini(struct test_live *l)
{
	for (size_t i = 0; i < l->running; i++) {
		free(l->rows[i].id);
	}
	l->running = 0;
	if (l->tty) {
		redraw(l);
	}
	free(l->rows);
	l->rows = NULL;
}
