/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_report.h: what a run comes to, and how text of any bytes is written safely. */
#include "report/test_report.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "report/test_report_priv.h"

/**
 * test_report_count() - how many cases came to what
 * @t: the run
 * @ret: set
 *
 * Context: any thread.
 */
void test_report_count(const struct test_report *t, struct test_counts *ret)
{
	*ret = (struct test_counts){.missing = t->missing_count};
	for (size_t i = 0; i < t->count; i++) {
		const struct test_result *r = t->results[i];

		ret->by_verdict[r->verdict]++;
		ret->environment += test_by_environment(r)[0] != '\0';
		ret->known_but_ok += test_result_is_known_but_ok(r);
		ret->duration_ns += r->duration_ns;
	}
}

/**
 * test_report_exit_status() - what a run comes to
 * @t: the run
 *
 * Return: 1 when a case is not as expected because of its guest, else 4 when one could not be run
 * or has no result, else 0.
 * Context: any thread.
 */
int test_report_exit_status(const struct test_report *t)
{
	struct test_counts n;

	test_report_count(t, &n);
	return n.by_verdict[TEST_NOT_OK] > n.environment ? 1 : n.environment || n.missing ? 4 : 0;
}

/**
 * test_put_utf8() - write a character
 * @out: where to
 * @c: its code point
 */
static void test_put_utf8(FILE *out, uint32_t c)
{
	if (c < 0x80) {
		fputc((int)c, out);
		return;
	}
	if (c >= 0x10000) {
		fputc((int)(0xf0 | c >> 18), out);
		fputc((int)(0x80 | (c >> 12 & 0x3f)), out);
	} else if (c >= 0x800) {
		fputc((int)(0xe0 | c >> 12), out);
	}
	fputc((int)(c < 0x800 ? 0xc0 | c >> 6 : 0x80 | (c >> 6 & 0x3f)), out);
	fputc((int)(0x80 | (c & 0x3f)), out);
}

/**
 * test_put_escape() - write a character so that it can be seen and does nothing
 * @out: where to
 * @c: its code point, or TEXT_BAD_BYTE
 * @byte: its first byte
 *
 * Controls become \xNN (C1 and what turns the direction of text \uNNNN), bytes that are no UTF-8
 * \xNN. Newline and tab are controls here: who wants them writes them before.
 */
void test_put_escape(FILE *out, uint32_t c, unsigned char byte)
{
	bool turns = c == 0x061c || c == 0x200e || c == 0x200f || c == 0x2028 || c == 0x2029 ||
		     (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;

	if (c == TEXT_BAD_BYTE || c < 0x20 || c == 0x7f) {
		fprintf(out, "\\x%02x", byte);
	} else if ((c >= 0x80 && c < 0xa0) || turns) {
		fprintf(out, "\\u%04x", c);
	} else {
		test_put_utf8(out, c);
	}
}

/**
 * test_put() - write a text character by character
 * @out: where to
 * @s: the text, any bytes; NULL is an empty one
 * @max: write no more than so many bytes of it, and say how many were left out
 * @put: writes one
 */
void test_put(FILE *out, const char *s, size_t max, test_put_fn put)
{
	const char *start = s;

	while (s && *s && (size_t)(s - start) < max) {
		unsigned char byte = (unsigned char)*s;
		uint32_t c = text_next_char(&s);

		put(out, c, byte);
	}
	if (s && *s) {
		fprintf(out, " [%zu bytes more]", strlen(s));
	}
}

/**
 * test_put_plain() - write a text into one line
 * @out: where to
 * @s: the text, any bytes; NULL is an empty one
 * @max: bytes of it at most
 */
void test_put_plain(FILE *out, const char *s, size_t max)
{
	test_put(out, s, max, test_put_escape);
}

static void put_count(FILE *out, size_t n, const char *what, bool *first)
{
	if (n > 0) {
		fprintf(out, "%s%zu %s", *first ? ": " : ", ", n, what);
		*first = false;
	}
}

/**
 * test_put_head() - write what a run came to in one line, without its end
 * @out: where to
 * @t: the run
 * @max: bytes of its title at most
 * @put: writes one character of it
 */
void test_put_head(FILE *out, const struct test_report *t, size_t max, test_put_fn put)
{
	struct test_counts n;
	bool first = true;
	size_t cases;

	t = t->of ? t->of : t;
	cases = t->count + t->missing_count;
	test_report_count(t, &n);
	test_put(out, t->title ? t->title : "ringside test", max, put);
	if (t->shards > 1) {
		fprintf(out, ", shard %u of %u", t->shard, t->shards);
	}
	fprintf(out, ": %zu case%s", cases, cases == 1 ? "" : "s");
	put_count(out, n.by_verdict[TEST_NOT_OK], "not ok", &first);
	if (n.environment && n.environment == n.by_verdict[TEST_NOT_OK]) {
		fputs(" by the environment", out);
	} else if (n.environment) {
		fprintf(out, " (%zu by the environment)", n.environment);
	}
	put_count(out, n.missing, "not run", &first);
	put_count(out, n.by_verdict[TEST_FLAKY], "flaky", &first);
	put_count(out, n.by_verdict[TEST_KNOWN], "known", &first);
	put_count(out, n.by_verdict[TEST_SKIPPED], "skipped", &first);
	put_count(out, n.by_verdict[TEST_OK], "ok", &first);
	if (n.known_but_ok) {
		fprintf(out, " (%zu though known not to be)", n.known_but_ok);
	}
}

/**
 * test_put_dir() - write where the files of a case are
 * @out: where to
 * @t: the run
 * @r: the case, which has a directory
 * @put: writes one character of it
 */
void test_put_dir(FILE *out, const struct test_report *t, const struct test_result *r,
		  test_put_fn put)
{
	if (t->dir && *t->dir) {
		test_put(out, t->dir, TEST_TITLE_MAX, put);
		put(out, '/', '/');
	}
	test_put(out, r->dir, TEST_TITLE_MAX, put);
}

/**
 * test_why() - one sentence for a case
 * @r: the case
 *
 * Return: its message; where there is none, what happened.
 */
const char *test_why(const struct test_result *r)
{
	return r->message && *r->message ? r->message : test_outcome_name(r->outcome);
}

/**
 * test_note_of() - what is to be said of a result beside itself
 * @t: the run
 * @i: which of its results
 *
 * Return: a note; one without a text where there is nothing to say.
 */
const struct test_note *test_note_of(const struct test_report *t, size_t i)
{
	static const struct test_note none;

	return t->notes ? &t->notes[i] : &none;
}

/**
 * test_by_environment() - words behind an outcome that has nothing to do with the guest
 * @r: the case
 *
 * Return: them; an empty text for a case that is as expected, or not so because of its guest.
 */
const char *test_by_environment(const struct test_result *r)
{
	return r->verdict == TEST_NOT_OK && test_outcome_is_environment(r->outcome)
		       ? ", by the environment"
		       : "";
}

/**
 * test_sub_counts_as() - what a result that the guest reported counts as
 * @r: the case
 * @s: one of its results
 *
 * A failure is none where the whole case is as expected, known or flaky.
 *
 * Return: the verdict.
 */
enum test_verdict test_sub_counts_as(const struct test_result *r, const struct test_sub *s)
{
	return s->verdict == TEST_NOT_OK && r->verdict != TEST_NOT_OK ? TEST_KNOWN : s->verdict;
}

/**
 * test_finish() - what became of all that was written
 * @out: a stream
 *
 * Return: 0, or -EIO where writing has failed.
 */
int test_finish(FILE *out)
{
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
