/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_judge_priv.h: the record, the console and the report of one attempt. Main thread. */
#include "engine/test_judge_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "engine/console_watch.h"
#include "engine/session.h"

struct console {
	const struct suite_test *test;
	struct console_allow *allow;
	unsigned int fail_on;
	struct test_signals *s;
	struct test_result *r;
	int error;
};

/**
 * test_judge_warn() - one more warning of a result, unless it has the same one
 * @r: the result
 * @left_out: counts those that are too many
 * @fmt: what was found and is no failure
 *
 * Return: 0 or -ENOMEM.
 */
__printf(3, 4) static int test_judge_warn(struct test_result *r, size_t *left_out, const char *fmt,
					  ...)
{
	char **bigger;
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		return -ENOMEM;
	}
	text_make_utf8(text);
	for (size_t i = 0; i < r->warning_count; i++) {
		if (strcmp(r->warnings[i], text) == 0) {
			free(text);
			return 0;
		}
	}
	if (r->warning_count >= TEST_WARNINGS_MAX) {
		(*left_out)++;
		free(text);
		return 0;
	}
	/* One more than is used, for the last word. */
	bigger = reallocarray(r->warnings, r->warning_count + 2, sizeof(*bigger));
	if (!bigger) {
		free(text);
		return -ENOMEM;
	}
	r->warnings = bigger;
	r->warnings[r->warning_count++] = text;
	return 0;
}

static void keep_first(char *to, const char *text)
{
	if (!to[0]) {
		snprintf(to, TEST_LINE_MAX, "%s", text);
		text_make_utf8(to);
	}
}

static void on_console(void *ctx, enum console_event event, const char *text)
{
	struct console *c = ctx;
	unsigned int bit = session_fail_on_bit(event);
	size_t which, *left_out = &c->s->warnings_left_out;
	int r = 0;

	if (event == CONSOLE_PANIC || event == CONSOLE_BOOT_PANIC) {
		keep_first(c->s->panic, text);
	} else if (bit && console_allow_match(c->allow, text, &which)) {
		r = test_judge_warn(c->r, left_out, "%s (allowed: %s)", text,
				    c->test->allows[which].reason);
	} else if (bit & c->fail_on) {
		keep_first(c->s->bad, text);
	} else if (bit) {
		r = test_judge_warn(c->r, left_out, "%s (no failure by fail_on)", text);
	}
	c->error = c->error ? c->error : r;
}

/* Hands a file on in pieces; one that is not there is an empty one. */
static int read_file(const char *path, void (*feed)(void *ctx, const void *data, size_t len),
		     void *ctx, struct err *e)
{
	_cleanup_fclose_ FILE *f = path ? fopen(path, "re") : NULL;
	char buf[65536];
	size_t n;

	if (!f) {
		return !path || errno == ENOENT ? 0 : err_errno(e, -errno, "%s", path);
	}
	do {
		n = fread(buf, 1, sizeof(buf), f);
		feed(ctx, buf, n);
	} while (n == sizeof(buf));
	return ferror(f) ? err_errno(e, -EIO, "%s", path) : 0;
}

static void feed_watch(void *ctx, const void *data, size_t len)
{
	console_watch_feed(ctx, data, len);
}

static void feed_ktap(void *ctx, const void *data, size_t len)
{
	ktap_parser_feed(ctx, data, len);
}

/* NULL also where there is no memory: it is for people, and decides nothing. */
static char *tail_of(const struct console_watch *w)
{
	size_t count = console_watch_line_count(w), len;
	char *text = NULL;
	FILE *f;

	while (count && !*console_watch_line(w, count - 1)) {
		count--;
	}
	f = count ? open_memstream(&text, &len) : NULL;

	for (size_t i = count > TEST_TAIL_LINES ? count - TEST_TAIL_LINES : 0; f && i < count;
	     i++) {
		fprintf(f, "%s\n", console_watch_line(w, i));
	}
	if (f && fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_console(const struct suite_test *t, const char *path, struct test_signals *s,
			struct test_result *r, struct err *e)
{
	_cleanup_(console_allow_destroy_p) struct console_allow *allow = NULL;
	struct console c = {.test = t, .s = s, .r = r};
	struct console_watch watch;
	int code = console_allow_create(&allow, e);

	for (size_t i = 0; code == 0 && i < t->allow_count; i++) {
		code = console_allow_add(allow, t->allows[i].pattern, e);
	}
	if (code == 0 && t->fail_on) {
		code = session_fail_on_parse(t->fail_on, &c.fail_on, e);
	}
	if (code < 0) {
		return code;
	}
	c.allow = allow;
	console_watch_init(&watch, on_console, &c);
	code = read_file(path, feed_watch, &watch, e);
	feed_watch(&watch, "\n", 1); /* the last line may have no end */
	s->console_tail = tail_of(&watch);
	console_watch_fini(&watch);
	if (code == 0 && c.error) {
		code = err_set(e, c.error, "out of memory");
	}
	return code;
}

/* Where a report may begin on what a test's own program prints. */
static enum ktap_begin begin_of(const struct suite_test *t)
{
	switch (t->kind) {
	case SUITE_COMMAND:
	case SUITE_SCRIPT:
	case SUITE_FIRMWARE:
		return t->format == SUITE_FORMAT_TAP ? KTAP_AT_ANY : KTAP_AT_PLAN;
	default:
		return KTAP_AT_VERSION;
	}
}

/* No file: an empty one. */
static int read_report(const char *path, enum ktap_begin begin, struct test_signals *s,
		       struct err *e)
{
	int code;

	if (s->parser) {
		ktap_parser_destroy(TAKE_PTR(s->parser));
	}
	if (ktap_parser_create(&s->parser) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	ktap_parser_begin_at(s->parser, begin);
	code = read_file(path, feed_ktap, s->parser, e);
	s->ktap = ktap_parser_finish(s->parser);
	return code;
}

static void read_record(const struct spawn_result *spawn, struct test_signals *s)
{
	struct err why = ERR_INIT;

	if (!spawn->record) {
		snprintf(s->record_error, sizeof(s->record_error), "it left no record");
	} else if (boot_record_parse(spawn->record, spawn->record_len, &s->record, &why) < 0) {
		snprintf(s->record_error, sizeof(s->record_error), "its record cannot be read: %s",
			 why.text);
	}
}

/**
 * test_signals_read() - gather what an attempt left
 * @c: the case
 * @a: the attempt
 * @s: zeroed; filled in; end it with test_signals_fini(), also on failure
 * @r: gets a warning for each console line that is allowed or not asked for
 * @e: set on failure
 *
 * The report of KUnit is on the console, all others on stdout; a payload's may be on either.
 *
 * Return: 0, or a negative errno: a file that cannot be read, -EINVAL for patterns or a fail_on
 * that are wrong.
 */
int test_signals_read(const struct suite_case *c, const struct test_attempt *a,
		      struct test_signals *s, struct test_result *r, struct err *e)
{
	const struct suite_test *t = c->test;
	int code;

	read_record(a->spawn, s);
	code = read_console(t, a->console_path, s, r, e);
	if (code == 0) {
		code = read_report(t->format == SUITE_FORMAT_NONE ? NULL
				   : t->kind == SUITE_KUNIT       ? a->console_path
								  : a->stdout_path,
				   begin_of(t), s, e);
	}
	if (code == 0 && t->kind == SUITE_FIRMWARE && !s->ktap->found &&
	    t->format != SUITE_FORMAT_NONE) {
		code = read_report(a->console_path, KTAP_AT_VERSION, s, e);
	}
	return code;
}

/**
 * test_signals_fini() - free what was gathered
 * @s: the signals
 */
void test_signals_fini(struct test_signals *s)
{
	free(s->console_tail);
	if (s->record) {
		boot_record_destroy(s->record);
	}
	if (s->parser) {
		ktap_parser_destroy(s->parser);
	}
}
