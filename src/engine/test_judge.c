/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See test_judge.h. How the run ended comes first, then what its console has, then the report of
 * the tests in it: each can only make worse what the one before it left. Main thread.
 */
#include "engine/test_judge_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/outcome.h"

#define STATUS_SKIP    4 /* of a kselftest */
#define NAMES_IN_TEXT  3

#define OUR_WARNING    "ringside: warning: "
#define LAST_WORDS_MAX 400  /* bytes that are shown */
#define TAIL_MAX       4096 /* bytes that they are looked for in */

struct judgement {
	enum test_outcome outcome;
	char text[1024];
};

static void set(struct judgement *j, enum test_outcome outcome, const char *fmt, ...)
	__printf(3, 4);

static void set(struct judgement *j, enum test_outcome outcome, const char *fmt, ...)
{
	va_list ap;

	j->outcome = outcome;
	va_start(ap, fmt);
	vsnprintf(j->text, sizeof(j->text), fmt, ap);
	va_end(ap);
}

/* How the run ended. */

static const struct {
	int status;
	const char *kind; /* of the record */
	enum test_outcome outcome;
} ends[] = {
	{OUTCOME_PANIC, "panic", TEST_PANIC},
	{OUTCOME_OOPS, "oops", TEST_OOPS},
	{OUTCOME_BOOT, "boot", TEST_BOOT},
	{OUTCOME_HANG, "hang", TEST_HANG},
	{OUTCOME_TIMEOUT, "timeout", TEST_TIMEOUT},
	{OUTCOME_NO_STATUS, "nostatus", TEST_NO_STATUS},
	{OUTCOME_KVM_ERROR, "kvmerror", TEST_KVM_ERROR},
	{OUTCOME_NO_KVM, "nokvm", TEST_NO_KVM},
	{OUTCOME_VMM_FAULT, "internal", TEST_VMM_FAULT},
	{OUTCOME_USAGE, "usage", TEST_USAGE},
	{OUTCOME_USAGE, "output", TEST_USAGE},
};

/* The last words on stderr, where there is no record to say it. Warnings of "ringside run" are
 * none. */
static const char *last_line(const char *said, char *buf, size_t room)
{
	size_t end = strlen(said), begin;

	for (;;) {
		while (end && said[end - 1] == '\n') {
			end--;
		}
		for (begin = end; begin && said[begin - 1] != '\n'; begin--) {
		}
		if (begin == end || !text_starts_with(said + begin, OUR_WARNING)) {
			break;
		}
		end = begin;
	}
	snprintf(buf, room, "%.*s", (int)(end - begin), said + begin);
	text_make_utf8(buf);
	return text_starts_with(buf, "ringside: error: ") ? buf + 17 : buf;
}

/* What a command that failed said last, on stderr before stdout: mostly it is why. */
static void add_last_words(const struct test_attempt *a, struct judgement *j)
{
	const char *const paths[] = {a->stderr_path, a->stdout_path};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char tail[TAIL_MAX + 1], line[LAST_WORDS_MAX + 1];
		FILE *f = paths[i] ? fopen(paths[i], "re") : NULL;
		size_t n;

		if (!f) {
			continue;
		}
		if (fseek(f, -TAIL_MAX, SEEK_END) < 0) {
			rewind(f);
		}
		n = fread(tail, 1, TAIL_MAX, f);
		fclose(f);
		tail[n] = '\0';
		if (*last_line(tail, line, sizeof(line))) {
			size_t at = strlen(j->text);

			snprintf(j->text + at, sizeof(j->text) - at, "; it said last: %s", line);
			return;
		}
	}
}

static void judge_status(const struct test_attempt *a, const struct test_signals *s,
			 struct judgement *j)
{
	const struct boot_record *rec = s->record;
	const int status = a->spawn->status;
	char buf[TEST_LINE_MAX];

	if (rec && rec->status != status) {
		set(j, TEST_BROKEN, "the run ended with status %d, but its record says %d", status,
		    (int)rec->status);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (ends[i].status == status &&
		    (!rec || strcmp(rec->outcome_kind, ends[i].kind) == 0)) {
			set(j, ends[i].outcome, "%s",
			    rec ? rec->outcome_text : last_line(a->spawn->said, buf, sizeof(buf)));
			if (!j->text[0]) {
				set(j, ends[i].outcome, "the run ended with status %d", status);
			}
			return;
		}
	}
	if (!rec) {
		/* No guest can do that: it was not ringside, or not all of it. */
		set(j, TEST_VMM_FAULT, "the run ended with status %d, but %s", status,
		    s->record_error);
	} else if (status > OUTCOME_GUEST_MAX || strcmp(rec->outcome_kind, "exit") != 0) {
		set(j, TEST_BROKEN, "the run ended with status %d, but its record says '%s'",
		    status, rec->outcome_kind);
	} else if (status) {
		set(j, TEST_FAIL, "%s", rec->outcome_text);
		add_last_words(a, j);
	} else {
		set(j, TEST_PASS, "%s", "");
	}
}

static void judge_run(const struct test_attempt *a, const struct test_signals *s,
		      struct judgement *j)
{
	const struct spawn_result *spawn = a->spawn;

	if (a->ended) {
		set(j, TEST_TIMEOUT, "%s", a->ended);
		return;
	}
	switch (spawn->end) {
	case SPAWN_EXITED:
		judge_status(a, s, j);
		break;
	case SPAWN_TIMED_OUT:
		set(j, TEST_TIMEOUT, "the run had not ended after %.1f s, and was killed",
		    (double)a->wall_ns / 1e9);
		break;
	case SPAWN_TOO_LONG:
		set(j, TEST_VMM_FAULT, "the run's record had no end, and it was killed");
		break;
	case SPAWN_INTERRUPTED:
		set(j, TEST_NO_STATUS, "interrupted by signal %d (%s)", spawn->signal,
		    strsignal(spawn->signal));
		break;
	case SPAWN_KILLED:
		set(j, TEST_VMM_FAULT, "the run was ended by signal %d (%s)", spawn->status,
		    strsignal(spawn->status));
		break;
	}
}

/* Which of a test's times ran out; NULL: none of them. */
static const char *name_timeout(const struct suite_test *t, const struct test_attempt *a,
				const struct judgement *j, struct ymap_pos *ret_pos)
{
	if (j->outcome == TEST_BOOT && strstr(j->text, "--boot-timeout")) {
		*ret_pos = t->boot_timeout_pos;
		return "boot";
	}
	if (j->outcome != TEST_TIMEOUT || (a->ended && !a->silent)) {
		return NULL;
	}
	*ret_pos = a->silent ? t->idle_timeout_pos : t->timeout_pos;
	return a->silent ? "idle" : "whole";
}

/* Where the time stands that ran out, which may be too short for this machine. */
static void add_timeout(const struct suite_test *t, const struct test_attempt *a, const char *file,
			struct judgement *j)
{
	size_t at = strlen(j->text);
	struct ymap_pos pos = {0};
	const char *name = name_timeout(t, a, j, &pos);
	char *to = j->text + at;
	size_t room = sizeof(j->text) - at;

	if (!name) {
		return;
	}
	if (pos.line) {
		snprintf(to, room, " ('%s' of its timeouts, %s:%u:%u)", name, file, pos.line,
			 pos.column);
	} else if (file && *file) {
		snprintf(to, room, " (the default of '%s' of its timeouts)", name);
	} else if (a->spawn->end == SPAWN_TIMED_OUT) {
		/* The run itself says which option it was. */
		snprintf(to, room, " (--timeout)");
	}
}

/* What the console has. */

/* A run whose time is over asks its guest where it is by an NMI, at which the kernel panics so. */
static bool is_answer(const struct test_signals *s, enum test_outcome outcome)
{
	return (outcome == TEST_HANG || outcome == TEST_TIMEOUT) && s->record &&
	       strstr(s->panic, "NMI: Not continuing");
}

static void judge_console(const struct test_signals *s, struct judgement *j)
{
	switch (j->outcome) {
	case TEST_PASS:
	case TEST_FAIL:
	case TEST_BROKEN:
	case TEST_NO_STATUS:
	case TEST_OOPS:
	case TEST_HANG:
	case TEST_TIMEOUT:
	case TEST_KVM_ERROR:
		if (s->panic[0] && !is_answer(s, j->outcome)) {
			set(j, TEST_PANIC, "the guest kernel panicked: %s", s->panic);
			return;
		}
		break;
	default:
		return; /* that is what it was, or the guest was not what failed */
	}
	if (s->bad[0] && (j->outcome == TEST_PASS || j->outcome == TEST_FAIL ||
			  j->outcome == TEST_BROKEN || j->outcome == TEST_NO_STATUS)) {
		set(j, TEST_OOPS, "the guest kernel said: %s", s->bad);
	}
}

/* What the tests in it report. */

static bool is_skipped(const struct ktap *k)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->results[i].directive != KTAP_SKIP) {
			return false;
		}
	}
	return k->skipped || k->count;
}

static const char *skip_reason(const struct ktap *k)
{
	if (k->count == 0) {
		return k->say;
	}
	return k->results[0].reason;
}

/* "2 of 9 results failed: a, b"; returns how many did. */
static size_t tell_failed(const struct ktap *k, char *buf, size_t room)
{
	size_t failed = 0;
	size_t len;

	for (size_t i = 0; i < k->count; i++) {
		failed += ktap_result_failed(&k->results[i]);
	}
	len = (size_t)snprintf(buf, room, "%zu of %zu results failed:", failed, k->count);
	for (size_t i = 0, named = 0; i < k->count && named < NAMES_IN_TEXT; i++) {
		if (ktap_result_failed(&k->results[i]) && len < room) {
			len += (size_t)snprintf(buf + len, room - len, "%s %.100s",
						named ? "," : "", k->results[i].name);
			named++;
		}
	}
	if (failed > NAMES_IN_TEXT && len < room) {
		snprintf(buf + len, room - len, ", ...");
	}
	return failed;
}

static bool report_is_due(const struct suite_test *t)
{
	return t->kind == SUITE_KSELFTEST || t->kind == SUITE_SCRIPTS || t->kind == SUITE_KUNIT ||
	       t->format == SUITE_FORMAT_TAP;
}

static void judge_no_report(const struct suite_test *t, int status, struct judgement *j)
{
	if (!report_is_due(t) || (status && status != STATUS_SKIP)) {
		return;
	}
	if (t->kind == SUITE_KSELFTEST && status == STATUS_SKIP) {
		set(j, TEST_SKIP, "it ended with status %d, which is a kselftest's for a skip",
		    STATUS_SKIP);
	} else if (!status) {
		set(j, TEST_BROKEN, "there is no report of results, though one is due%s",
		    t->kind == SUITE_KUNIT && !t->path
			    ? ": has the kernel KUNIT and a suite built in, and does 'only' name it?"
			    : "");
	}
}

static void judge_report(enum suite_kind kind, int status, const struct ktap *k,
			 struct judgement *j)
{
	char text[512];
	size_t failed = tell_failed(k, text, sizeof(text));

	if (k->bailed) {
		set(j, TEST_FAIL, "the tests gave up: %s", k->say ? k->say : "no reason given");
	} else if (k->problem_count) {
		set(j, TEST_BROKEN, "the report cannot be believed: %s%s%s%s", k->problems[0],
		    k->problem_count > 1 ? ", and more" : "", failed ? "; " : "",
		    failed ? text : "");
	} else if (failed) {
		set(j, TEST_FAIL, "%s", text);
	} else if ((!status || status == STATUS_SKIP) && is_skipped(k)) {
		set(j, TEST_SKIP, "%s", skip_reason(k) ? skip_reason(k) : "no reason given");
	} else if (status == STATUS_SKIP && kind == SUITE_KSELFTEST) {
		set(j, TEST_SKIP, "it ended with status %d, which is a kselftest's for a skip",
		    STATUS_SKIP);
	} else if (status) {
		set(j, TEST_FAIL, "it ended with status %d, though none of %zu results failed",
		    status, k->count);
	}
}

/* What it counts as. */

static bool is_expected(enum suite_expect expect, enum test_outcome outcome)
{
	switch (expect) {
	case SUITE_EXPECT_PASS:
		return outcome == TEST_PASS;
	case SUITE_EXPECT_FAIL:
		return outcome == TEST_FAIL;
	case SUITE_EXPECT_PANIC:
		return outcome == TEST_PANIC;
	default:
		return outcome == TEST_SKIP;
	}
}

static const char *expect_name(enum suite_expect expect)
{
	static const char *const names[] = {
		[SUITE_EXPECT_PASS] = "pass",
		[SUITE_EXPECT_FAIL] = "fail",
		[SUITE_EXPECT_PANIC] = "panic",
		[SUITE_EXPECT_SKIP] = "skip",
	};

	return names[expect];
}

/* A known failure is the guest's: that a case cannot be run here is never known. */
static bool may_be_known(enum test_outcome o)
{
	return !test_outcome_is_environment(o);
}

static int keep_known(const struct suite_test *t, struct test_result *r)
{
	free(r->known);
	r->known = strdup(t->known);
	return r->known ? 0 : -ENOMEM;
}

/* Holds the judgement against what the suite expects; may add to its text. */
static int weigh(const struct suite_test *t, const char *today, struct judgement *j,
		 struct test_result *r)
{
	char before[sizeof(j->text)];
	bool over = t->known && t->known_until && strcmp(today, t->known_until) > 0;

	r->verdict = TEST_OK;
	if (is_expected(t->expect, j->outcome)) {
		if (j->outcome == TEST_SKIP) {
			r->verdict = TEST_SKIPPED;
		}
		if (t->known && j->outcome != TEST_SKIP) {
			snprintf(j->text, sizeof(j->text),
				 "as expected, though 'known' says that it is not: %.900s",
				 t->known);
			return keep_known(t, r);
		}
		return 0;
	}
	if (j->outcome == TEST_SKIP) {
		r->verdict = TEST_SKIPPED;
		return 0;
	}
	r->verdict = TEST_NOT_OK;
	if (t->expect != SUITE_EXPECT_PASS) {
		memcpy(before, j->text, sizeof(before));
		snprintf(j->text, sizeof(j->text), "%s, expected %s%s%.900s",
			 test_outcome_name(j->outcome), expect_name(t->expect),
			 before[0] ? ": " : "", before);
	}
	if (t->known && may_be_known(j->outcome)) {
		if (over) {
			memcpy(before, j->text, sizeof(before));
			snprintf(j->text, sizeof(j->text),
				 "%.800s%s(was known until %s, which is over: %s)", before,
				 before[0] ? " " : "", t->known_until, t->known);
			return 0;
		}
		r->verdict = TEST_KNOWN;
		return keep_known(t, r);
	}
	return 0;
}

/* The result. */

static enum test_verdict verdict_of(const struct ktap_result *k)
{
	if (k->directive == KTAP_SKIP) {
		return TEST_SKIPPED;
	}
	if (ktap_result_failed(k)) {
		return TEST_NOT_OK;
	}
	/* One that passes though it was not to has nothing to excuse. */
	return k->ok && k->directive != KTAP_XFAIL ? TEST_OK : TEST_KNOWN;
}

static int take_subs(const struct ktap *k, struct test_result *r)
{
	r->subs = calloc(k->count + 1, sizeof(*r->subs));
	if (!r->subs) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < k->count; i++) {
		const struct ktap_result *from = &k->results[i];
		struct test_sub *to = &r->subs[r->sub_count++];

		to->verdict = verdict_of(from);
		to->name = strdup(from->name ? from->name : "");
		if (from->directive != KTAP_PLAIN &&
		    asprintf(&to->directive, "%s%s%s", ktap_directive_name(from->directive),
			     from->reason ? " " : "", from->reason ? from->reason : "") < 0) {
			to->directive = NULL;
			return -ENOMEM;
		}
		to->message = from->message ? strdup(from->message) : NULL;
		if (!to->name || (from->message && !to->message)) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int take_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy) {
		return -ENOMEM;
	}
	text_make_utf8(copy);
	free(*to);
	*to = copy;
	return 0;
}

/* What helps to understand a case that is not as expected. */
static int take_details(const struct test_signals *s, struct test_result *r)
{
	int code = 0;

	if (r->verdict != TEST_NOT_OK && r->verdict != TEST_KNOWN) {
		return 0;
	}
	if (s->record && *s->record->backtrace) {
		code = take_text(&r->backtrace, s->record->backtrace);
	}
	return code == 0 && s->console_tail ? take_text(&r->console_tail, s->console_tail) : code;
}

static int fill_in(const struct test_attempt *a, const struct judgement *j,
		   const struct test_signals *s, struct test_result *r)
{
	const struct boot_record *rec = s->record;
	int code = 0;

	r->outcome = j->outcome;
	r->status = a->spawn->end == SPAWN_EXITED ? a->spawn->status : -1;
	code = take_text(&r->message, j->text);
	code = code ? code : take_text(&r->backend, rec ? rec->backend : "");
	code = code ? code : take_text(&r->kernel_sha256, rec ? rec->kernel_sha256 : "");
	r->has_class = rec && rec->has_class;
	r->exec_class = r->has_class ? rec->exec_class : r->exec_class;
	r->boot_ns = rec ? rec->user_ns : 0;
	code = code ? code : take_subs(s->ktap, r);
	code = code ? code : take_details(s, r);
	if (!code && s->warnings_left_out) {
		/* There is always room for this one. */
		code = asprintf(&r->warnings[r->warning_count], "%zu more", s->warnings_left_out) <
				       0
			       ? -ENOMEM
			       : 0;
		r->warning_count += !code;
	}
	return code;
}

static int judge(const struct suite_case *c, const struct test_attempt *a, const char *today,
		 struct test_signals *s, struct test_result *r, struct err *e)
{
	const struct suite_test *t = c->test;
	struct judgement j = {.outcome = TEST_PASS};
	int code = test_signals_read(c, a, s, r, e);

	if (code < 0) {
		return code;
	}
	judge_run(a, s, &j);
	add_timeout(t, a, r->file, &j);
	judge_console(s, &j);
	if (j.outcome == TEST_PASS || j.outcome == TEST_FAIL) {
		if (s->ktap->found) {
			judge_report(t->kind, a->spawn->status, s->ktap, &j);
		} else {
			judge_no_report(t, a->spawn->status, &j);
		}
	}
	code = weigh(t, today, &j, r);
	code = code ? code : fill_in(a, &j, s, r);
	return code ? err_set(e, code, "out of memory") : 0;
}

/**
 * test_judge() - what happened, and what it counts as
 * @c: the case
 * @a: what its attempt left
 * @today: "2026-12-01", to hold a known failure's date against
 * @r: its id, test, axes and place are set; outcome, verdict, message, status, subs, warnings,
 *     boot_ns, class, backend, kernel_sha256, backtrace and console_tail are filled in here
 * @e: set on failure
 *
 * Nothing is a pass by one signal alone: the run's exit status and its record have to agree, the
 * console has to be free of what fail_on names, and a report of tests has to be whole.
 *
 * Return: 0, or a negative errno: a file that cannot be read, -ENOMEM.
 * Context: the main thread.
 */
int test_judge(const struct suite_case *c, const struct test_attempt *a, const char *today,
	       struct test_result *r, struct err *e)
{
	struct test_signals s = {.record = NULL};
	int code = judge(c, a, today, &s, r, e);

	test_signals_fini(&s);
	return code;
}
