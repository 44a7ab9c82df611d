/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One answer for a run, for CI. A difference fails the gate when it is beyond its margin and holds
 * among all rows of the run: an exact one by itself, any other by its p after Holm. What the data
 * leave open is neither a pass nor a failure, unless that was asked for.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/report_priv.h"

#define ALPHA 0.05

__printf(2, 3) static void add(struct report_gate *g, const char *fmt, ...)
{
	size_t len = strlen(g->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(g->text + len, sizeof(g->text) - len, fmt, ap);
	va_end(ap);
}

/**
 * report_gate_parse() - what fails a gate, by its name
 * @name: "worse", "changed" or "inconclusive"
 * @ret: set on success
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int report_gate_parse(const char *name, enum report_gate_on *ret)
{
	for (int on = 0; on < REPORT_GATE_ON_COUNT; on++) {
		if (strcmp(name, report_gate_on_name((enum report_gate_on)on)) == 0) {
			*ret = (enum report_gate_on)on;
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * report_gate_on_name() - the word for what fails a gate
 * @on: what
 *
 * Return: a static text.
 * Context: any thread.
 */
const char *report_gate_on_name(enum report_gate_on on)
{
	static const char *const names[REPORT_GATE_ON_COUNT] = {
		[REPORT_GATE_WORSE] = "worse",
		[REPORT_GATE_CHANGED] = "changed",
		[REPORT_GATE_INCONCLUSIVE] = "inconclusive",
	};

	return names[on];
}

/**
 * report_gate_name() - the word for what a gate says
 * @r: what
 *
 * Return: a static text, the same in every format.
 * Context: any thread.
 */
const char *report_gate_name(enum report_gate_result r)
{
	static const char *const names[] = {
		[REPORT_GATE_NONE] = "none",
		[REPORT_GATE_PASSED] = "passed",
		[REPORT_GATE_FAILED] = "failed",
		[REPORT_GATE_OPEN] = "inconclusive",
	};

	return names[r];
}

/* Whether a difference of this row by itself is one among all rows of the run too. */
static bool holds_in_run(const struct stats_comparison *c)
{
	return c->exact || c->p_holm <= ALPHA;
}

static enum report_gate_result judge_row(const struct report_bench *b, enum report_gate_on on)
{
	enum report_gate_result open =
		on == REPORT_GATE_INCONCLUSIVE ? REPORT_GATE_FAILED : REPORT_GATE_OPEN;

	switch (b->result.verdict) {
	case VERDICT_WORSE:
		return holds_in_run(&b->result) ? REPORT_GATE_FAILED : open;
	case VERDICT_BETTER:
		return on != REPORT_GATE_CHANGED  ? REPORT_GATE_PASSED
		       : holds_in_run(&b->result) ? REPORT_GATE_FAILED
						  : REPORT_GATE_OPEN;
	case VERDICT_EQUIVALENT:
		return REPORT_GATE_PASSED;
	case VERDICT_INCONCLUSIVE:
		break;
	}
	return open;
}

/* By which the rows that did not pass are ranked: differences first, in margins. */
static double weight(const struct report_bench *b)
{
	const struct stats_comparison *c = &b->result;

	return c->verdict == VERDICT_INCONCLUSIVE || !isfinite(c->effect)
		       ? -1
		       : fabs(c->effect) / c->margin;
}

struct worst {
	const struct report *r;
	const struct report_bench *b;
};

static void judge_rows(const struct report_set *s, struct report_gate *g, struct worst *ret)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];

		for (size_t k = 0; k < r->n_benches; k++) {
			struct report_bench *b = &r->benches[k];
			struct worst *w;

			b->gate = judge_row(b, g->on);
			g->rows[b->gate]++;
			w = &ret[b->gate];
			if (!w->b || weight(b) > weight(w->b)) {
				*w = (struct worst){r, b};
			}
		}
	}
}

/* Which row, of which arm where there are several, and what it says. */
static void add_row(const struct report_set *s, struct report_gate *g, const struct worst *w)
{
	const struct stats_comparison *c = &w->b->result;
	char sentence[REPORT_SENTENCE_MAX];
	size_t more = g->rows[w->b->gate] - 1;

	if (!report_set_is_plain(s)) {
		add(g, "%.100s, %.100s: ", w->r->group ? w->r->group : "compare",
		    w->r->arms[STATS_B].label);
	}
	report_sentence(w->r, w->b, sentence, sizeof(sentence));
	add(g, "%.200s %s: %s", w->b->name, stats_verdict_name(c->verdict), sentence);
	if (w->r->family == 1 && !c->exact) {
		add(g, " p %s.", report_p(c->p).text);
	} else if (!isnan(c->p_holm) && c->p_holm <= ALPHA) {
		add(g, " p %s among all %zu rows (Holm).", report_p(c->p_holm).text, w->r->family);
	}
	if (more) {
		add(g, " And %zu more.", more);
	}
}

/* Blocks that would have been enough for a p that holds among so many rows. */
static void add_advice(struct report_gate *g, const struct worst *w)
{
	const struct stats_comparison *c = &w->b->result;
	unsigned int needed = 1;

	if (w->b->gate != REPORT_GATE_OPEN || c->verdict == VERDICT_INCONCLUSIVE) {
		return;
	}
	while (needed < 64 && ldexp(2 * (double)w->r->family, -(int)needed) > ALPHA) {
		needed++;
	}
	if (c->blocks < needed) {
		add(g, " With %zu blocks it cannot be below %s: it takes %u, or fewer rows.",
		    c->blocks, report_p(ALPHA).text, needed);
	}
}

/* Boots whose guest failed left their blocks out: what is missing may be what is bad. */
static size_t blocks_lost(const struct report_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_reports; i++) {
		n += s->reports[i]->blocks_planned - s->reports[i]->blocks_complete;
	}
	return n;
}

/* Why nothing is decided, where that is not a row's doing; an empty text where it is. */
static void say_missing(const struct report_set *s, char *ret, size_t len)
{
	size_t lost = blocks_lost(s);

	*ret = '\0';
	if (s->boots_recorded < s->boots_planned) {
		snprintf(ret, len,
			 "%zu of %zu boots are recorded: what they say so far is no verdict.",
			 s->boots_recorded, s->boots_planned);
	} else if (s->reports[0]->family == 0) {
		snprintf(ret, len, "nothing was compared.");
	} else if (lost > 0) {
		snprintf(ret, len, "%zu block%s not complete: a guest failed there.", lost,
			 lost == 1 ? " is" : "s are");
	}
}

/**
 * report_gate_judge() - judge a run
 * @s: of computed reports; each row's own part is set in them
 * @on: what fails the gate
 * @ret: set; its text is one line
 *
 * Where boots are missing nothing is decided, whatever the others say: when a run stops must not
 * depend on what it has found.
 *
 * Context: any thread.
 */
void report_gate_judge(const struct report_set *s, enum report_gate_on on, struct report_gate *ret)
{
	struct worst worst[REPORT_GATE_RESULTS] = {0};
	char missing[160];
	const struct worst *w;
	size_t rows;

	*ret = (struct report_gate){.on = on};
	judge_rows(s, ret, worst);
	say_missing(s, missing, sizeof(missing));
	ret->result = s->boots_recorded < s->boots_planned ? REPORT_GATE_OPEN
		      : ret->rows[REPORT_GATE_FAILED]      ? REPORT_GATE_FAILED
		      : ret->rows[REPORT_GATE_OPEN]        ? REPORT_GATE_OPEN
		      : *missing                           ? REPORT_GATE_OPEN
							   : REPORT_GATE_PASSED;
	w = &worst[ret->result];
	rows = ret->rows[REPORT_GATE_PASSED];
	if (ret->result == REPORT_GATE_OPEN && on == REPORT_GATE_INCONCLUSIVE) {
		ret->result = REPORT_GATE_FAILED;
	}
	add(ret, "gate %s: ", report_gate_name(ret->result));
	if (ret->result == REPORT_GATE_PASSED) {
		add(ret, "none of %zu row%s %s beyond its margin.", rows, rows == 1 ? "" : "s",
		    on == REPORT_GATE_CHANGED ? "has changed" : "is worse");
	} else if (*missing &&
		   (ret->rows[REPORT_GATE_FAILED] == 0 || s->boots_recorded < s->boots_planned)) {
		add(ret, "%s", missing);
	} else {
		add_row(s, ret, w);
		add_advice(ret, w);
	}
}

/**
 * report_gate_status() - the exit status of a gate
 * @g: judged
 *
 * Return: 0 passed, 1 failed, 3 inconclusive.
 * Context: any thread.
 */
int report_gate_status(const struct report_gate *g)
{
	return g->result == REPORT_GATE_PASSED ? 0 : g->result == REPORT_GATE_FAILED ? 1 : 3;
}
