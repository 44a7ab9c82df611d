/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as JUnit XML, in the shape that CI systems agree on (testsuites, testsuite,
 * properties, testcase; failure, error, skipped, flakyFailure, system-out): a test suite for each
 * case with its properties, in it a test case for the case itself and for each result that the
 * guest reported. A case without a result is an error there: it must not look like one that passed.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "report/test_report_priv.h"

#define NS_PER_S 1000000000u

struct totals {
	size_t tests, failures, errors, skipped;
};

/* XML 1.0 has no way to write most controls, U+FFFE and U+FFFF, not even as references. */
static void put_xml(FILE *out, uint32_t c, unsigned char byte)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		return;
	case '<':
		fputs("&lt;", out);
		return;
	case '>':
		fputs("&gt;", out);
		return;
	case '"':
		fputs("&quot;", out);
		return;
	case '\t':
	case '\n':
		/* An attribute would make a space of it. */
		fprintf(out, "&#%u;", c);
		return;
	case 0xfffe:
	case 0xffff:
		fprintf(out, "\\u%04x", c);
		return;
	default:
		test_put_escape(out, c, byte);
	}
}

/* The same between tags, where lines stay lines. */
static void put_xml_block(FILE *out, uint32_t c, unsigned char byte)
{
	if (c == '\n' || c == '\t') {
		fputc((int)c, out);
	} else {
		put_xml(out, c, byte);
	}
}

static void attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	test_put(out, value, TEST_TITLE_MAX, put_xml);
	fputc('"', out);
}

static void property(FILE *out, const char *name, const char *value)
{
	if (value && *value) {
		fprintf(out, "      <property name=\"%s\"", name);
		attribute(out, "value", value);
		fputs("/>\n", out);
	}
}

static void property_u64(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, "      <property name=\"%s\" value=\"%" PRIu64 "\"/>\n", name, value);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	uint64_t ms = (ns + 500000) / 1000000;

	fprintf(out, " time=\"%" PRIu64 ".%03" PRIu64 "\"", ms / 1000, ms % 1000);
}

/* An element with a type, a message and, as its content, lines. */
static void put_reason(FILE *out, const char *element, const char *type, const char *message,
		       const char *lines)
{
	fprintf(out, "      <%s", element);
	if (type) {
		attribute(out, "type", type);
	}
	attribute(out, "message", message);
	if (lines && *lines) {
		fputc('>', out);
		test_put(out, lines, TEST_BLOCK_MAX, put_xml_block);
		fprintf(out, "</%s>\n", element);
	} else {
		fputs("/>\n", out);
	}
}

/* A case that is not as expected, with where its guest was. */
static void put_failure(FILE *out, const char *element, const struct test_result *r)
{
	fprintf(out, "      <%s", element);
	attribute(out, "type", test_outcome_name(r->outcome));
	attribute(out, "message", test_why(r));
	fputc('>', out);
	test_put(out, r->message && *r->message ? r->message : test_why(r), TEST_BLOCK_MAX,
		 put_xml_block);
	if (r->backtrace) {
		fputs("\n\nbacktrace:\n", out);
		test_put(out, r->backtrace, TEST_BLOCK_MAX, put_xml_block);
	}
	fprintf(out, "</%s>\n", element);
}

/* Whether a case ended otherwise than by what it tests: that is an error there, no failure. */
static bool is_error(const struct test_result *r)
{
	return r->outcome != TEST_FAIL && r->outcome != TEST_PASS && r->outcome != TEST_SKIP;
}

static void put_known(FILE *out, const struct test_result *r)
{
	fputs("      <skipped type=\"known\" message=\"known: ", out);
	test_put(out, r->known && *r->known ? r->known : test_why(r), TEST_TITLE_MAX, put_xml);
	fputs("\">", out);
	test_put(out, r->message, TEST_BLOCK_MAX, put_xml_block);
	fputs("</skipped>\n", out);
}

static void put_output(FILE *out, const struct test_report *t, const struct test_result *r,
		       const struct test_note *note)
{
	fputs("      <system-out>", out);
	fputs(test_outcome_name(r->outcome), out);
	if (r->message && *r->message) {
		fputs(": ", out);
		test_put(out, r->message, TEST_BLOCK_MAX, put_xml_block);
	}
	fputc('\n', out);
	if (note->text) {
		fprintf(out, "since the baseline: %s\n", note->text);
	}
	for (size_t i = 0; i < r->warning_count; i++) {
		fputs("found: ", out);
		test_put(out, r->warnings[i], TEST_TITLE_MAX, put_xml_block);
		fputc('\n', out);
	}
	if (r->dir && *r->dir) {
		fputs("its files: ", out);
		test_put_dir(out, t, r, put_xml_block);
		fputc('\n', out);
	}
	if (r->console_tail) {
		fputs("the last lines of its console:\n", out);
		test_put(out, r->console_tail, TEST_BLOCK_MAX, put_xml_block);
	}
	fputs("</system-out>\n", out);
}

static void put_sub(FILE *out, const struct test_result *r, const struct test_sub *s)
{
	const char *why = s->directive && *s->directive ? s->directive : s->message;
	enum test_verdict v = test_sub_counts_as(r, s);

	fputs("    <testcase", out);
	attribute(out, "classname", r->id);
	attribute(out, "name", s->name);
	if (v == TEST_OK) {
		fputs("/>\n", out);
		return;
	}
	fputs(">\n", out);
	if (v == TEST_NOT_OK) {
		put_reason(out, "failure", "fail", why && *why ? why : "not ok", s->message);
	} else if (v == TEST_KNOWN) {
		put_reason(out, "skipped", "known", why && *why ? why : "known", s->message);
	} else if (v == TEST_FLAKY) {
		put_reason(out, "flakyFailure", "flaky", why && *why ? why : "flaky", s->message);
	} else {
		put_reason(out, "skipped", NULL, why && *why ? why : "skipped", NULL);
	}
	fputs("    </testcase>\n", out);
}

static void put_case(FILE *out, const struct test_report *t, const struct test_result *r,
		     const struct test_note *note)
{
	fputs("    <testcase", out);
	attribute(out, "classname", r->test);
	attribute(out, "name", r->id);
	put_seconds(out, r->duration_ns);
	fputs(">\n", out);
	switch (r->verdict) {
	case TEST_NOT_OK:
		put_failure(out, is_error(r) ? "error" : "failure", r);
		break;
	case TEST_KNOWN:
		put_known(out, r);
		break;
	case TEST_FLAKY:
		put_reason(out, "flakyFailure", test_outcome_name(r->outcome), test_why(r), NULL);
		break;
	case TEST_SKIPPED:
		put_reason(out, "skipped", NULL, test_why(r), NULL);
		break;
	default:
		break;
	}
	put_output(out, t, r, note);
	fputs("    </testcase>\n", out);
}

static void put_properties(FILE *out, const struct test_result *r, const struct test_note *note)
{
	char memory[32];

	fputs("    <properties>\n", out);
	property(out, "outcome", test_outcome_name(r->outcome));
	property(out, "verdict", test_verdict_name(r->verdict));
	property(out, "kernel", r->kernel);
	property(out, "kernel_sha256", r->kernel_sha256);
	property(out, "cpu", r->cpu);
	property(out, "append", r->append);
	property_u64(out, "cpus", r->cpus);
	property(out, "memory", text_bytes(r->memory_bytes, memory, sizeof(memory)));
	property(out, "backend", r->backend);
	property(out, "class", r->has_class ? exec_class_name(r->exec_class) : "");
	fprintf(out, "      <property name=\"status\" value=\"%d\"/>\n", r->status);
	property_u64(out, "attempts", r->attempts);
	property_u64(out, "boot_ns", r->boot_ns);
	property(out, "known", r->known);
	property(out, "known_but_ok", test_result_is_known_but_ok(r) ? "true" : "");
	property(out, "change", note->text);
	for (size_t i = 0; i < r->tag_count; i++) {
		property(out, "tag", r->tags[i]);
	}
	fputs("    </properties>\n", out);
}

static void count_verdict(struct totals *n, enum test_verdict v, bool error)
{
	n->tests++;
	n->errors += v == TEST_NOT_OK && error;
	n->failures += v == TEST_NOT_OK && !error;
	n->skipped += v == TEST_KNOWN || v == TEST_SKIPPED;
}

static struct totals count_case(const struct test_result *r)
{
	struct totals n = {0};

	count_verdict(&n, r->verdict, is_error(r));
	for (size_t i = 0; i < r->sub_count; i++) {
		count_verdict(&n, test_sub_counts_as(r, &r->subs[i]), false);
	}
	return n;
}

static void put_suite(FILE *out, const struct test_report *t, size_t which)
{
	const struct test_result *r = t->results[which];
	const struct test_note *note = test_note_of(t, which);
	struct totals n = count_case(r);
	time_t s = (time_t)(r->started_unix_ns / NS_PER_S);
	struct tm tm;
	char when[32] = "";

	fputs("  <testsuite", out);
	attribute(out, "name", r->id);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", n.tests,
		n.failures, n.errors, n.skipped);
	put_seconds(out, r->duration_ns);
	if (gmtime_r(&s, &tm) && strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm) > 0) {
		attribute(out, "timestamp", when);
	}
	if (r->file && *r->file) {
		attribute(out, "file", r->file);
	}
	fputs(">\n", out);
	put_properties(out, r, note);
	put_case(out, t, r, note);
	for (size_t i = 0; i < r->sub_count; i++) {
		put_sub(out, r, &r->subs[i]);
	}
	fputs("  </testsuite>\n", out);
}

/* A case without a result. */
static void put_absent(FILE *out, const char *id, bool error, const char *type, const char *why)
{
	char test[TEST_TITLE_MAX];

	/* Its plan may be lost: what stands before the values of its matrix. */
	snprintf(test, sizeof(test), "%.*s", (int)strcspn(id, "["), id);
	fputs("  <testsuite", out);
	attribute(out, "name", id);
	fprintf(out, " tests=\"1\" failures=\"0\" errors=\"%d\" skipped=\"%d\">\n    <testcase",
		error, !error);
	attribute(out, "classname", test);
	attribute(out, "name", id);
	fputs(">\n", out);
	put_reason(out, error ? "error" : "skipped", type, why, NULL);
	fputs("    </testcase>\n  </testsuite>\n", out);
}

/**
 * test_report_junit() - write a run as JUnit XML
 * @t: the run
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_junit(const struct test_report *t, FILE *out)
{
	struct totals all = {.tests = t->missing_count + t->gone_count, .errors = t->missing_count};
	struct test_counts counts;

	test_report_count(t, &counts);
	for (size_t i = 0; i < t->count; i++) {
		struct totals n = count_case(t->results[i]);

		all.tests += n.tests;
		all.failures += n.failures;
		all.errors += n.errors;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
	attribute(out, "name", t->title ? t->title : "ringside test");
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", all.tests, all.failures,
		all.errors);
	put_seconds(out, counts.duration_ns);
	fputs(">\n", out);
	for (size_t i = 0; i < t->count; i++) {
		put_suite(out, t, i);
	}
	for (size_t i = 0; i < t->missing_count; i++) {
		put_absent(out, t->missing[i], true, "missing", "it was to run and has no result");
	}
	for (size_t i = 0; i < t->gone_count; i++) {
		put_absent(out, t->gone[i], false, "vanished", TEST_GONE);
	}
	fputs("</testsuites>\n", out);
	return test_finish(out);
}
