/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of reports as annotations of GitHub Actions: an error for each row that is worse, or fails
 * the gate where there is one, a warning for what is not decided, and what the gate says.
 */
#include <string.h>

#include "report/report_priv.h"
#include "report/test_report_priv.h"

/* A row's command, or NULL: there is nothing to say of it. */
static const char *command_of(const struct report_bench *b)
{
	enum stats_verdict v = b->result.verdict;

	switch (b->gate) {
	case REPORT_GATE_FAILED:
		return "error";
	case REPORT_GATE_OPEN:
		return "warning";
	case REPORT_GATE_PASSED:
		return NULL;
	case REPORT_GATE_NONE:
		break;
	}
	return v == VERDICT_WORSE ? "error" : v == VERDICT_INCONCLUSIVE ? "warning" : NULL;
}

static void put_host(FILE *out, const struct report_set *s)
{
	if (s->host) {
		test_put(out, s->host, TEST_TITLE_MAX, test_put_data);
		fputs(": ", out);
	}
}

static void annotate(FILE *out, const char *command, const struct report_set *s,
		     const struct report *r, const struct report_bench *b)
{
	char text[REPORT_SENTENCE_MAX];

	report_sentence(r, b, text, sizeof(text));
	fprintf(out, "::%s title=", command);
	test_put(out, b->name, TEST_TITLE_MAX, test_put_property);
	fprintf(out, " %s::", stats_verdict_name(b->result.verdict));
	put_host(out, s);
	if (r->group) {
		test_put(out, r->group, TEST_TITLE_MAX, test_put_data);
		fputs(": ", out);
	}
	test_put(out, text, TEST_TITLE_MAX, test_put_data);
	fputc('\n', out);
}

static void annotate_all(const struct report_set *s, FILE *out, const char *command)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];

		for (size_t k = 0; k < r->n_benches; k++) {
			const char *wanted = command_of(&r->benches[k]);

			if (wanted && strcmp(wanted, command) == 0) {
				annotate(out, command, s, r, &r->benches[k]);
			}
		}
	}
}

/**
 * report_set_github() - write the verdicts as annotations of GitHub Actions
 * @s: of computed reports
 * @out: where to; an action's stdout takes them
 *
 * GitHub shows ten of each kind a step: the gate and what is worse stand first.
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int report_set_github(const struct report_set *s, FILE *out)
{
	if (s->gate) {
		fprintf(out, "::%s title=gate::",
			s->gate->result == REPORT_GATE_PASSED   ? "notice"
			: s->gate->result == REPORT_GATE_FAILED ? "error"
								: "warning");
		put_host(out, s);
		test_put(out, s->gate->text, TEST_TITLE_MAX, test_put_data);
		fputc('\n', out);
	}
	annotate_all(s, out, "error");
	annotate_all(s, out, "warning");
	return test_finish(out);
}
