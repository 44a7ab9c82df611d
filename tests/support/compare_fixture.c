/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_fixture.h. */
#include "compare_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS       100
#define EMPTY_TICKS 80

#define SHA         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct plan_arm make_arm(const char *name, const char *append)
{
	struct plan_arm arm = {.arm = {.kernel = strdup("base"), .append = strdup(append)}};

	arm.name = name ? strdup(name) : NULL;
	strcpy(arm.sha256, SHA);
	return arm;
}

static struct plan_group make_group(const char *name, unsigned int blocks, size_t arms)
{
	struct plan_group g = {
		.name = name ? strdup(name) : NULL,
		.blocks = blocks,
		.benches = 1,
		.arms = calloc(arms, sizeof(*g.arms)),
		.arm_count = arms,
	};

	for (size_t i = 0; i < arms; i++) {
		const char *labels[] = {"nofsgsbase", NULL, "third"};

		g.arms[i] = make_arm(name ? (labels[i] ? labels[i] : "base") : NULL,
				     labels[i] ? labels[i] : "");
	}
	return g;
}

static void set_plan(struct comparison *c, const char *title, struct plan_group *groups, size_t n)
{
	struct plan p = {
		.ringside_version = strdup("0.1.0"),
		.title = title ? strdup(title) : NULL,
		.backend = strdup("qemu"),
		.icount = 3,
		.timeout_ns = 60000000000,
		.seed = 1,
		.batches = 4,
		.warmup = 3,
		.group_count = n,
		.groups = groups,
	};
	struct err e = ERR_INIT;
	int r;

	*c = (struct comparison){0};
	r = plan_make_schedule(&p, &e);
	assert(r == 0);
	r = comparison_set_plan(c, &p, &e);
	assert(r == 0);
}

void fixture_comparison(struct comparison *c, unsigned int blocks)
{
	struct plan_group *groups = calloc(1, sizeof(*groups));

	assert(groups);
	groups[0] = make_group(NULL, blocks, 2);
	set_plan(c, NULL, groups, 1);
}

static void add_claim(struct plan_group *g, const char *text, const char *bench, unsigned int arm)
{
	struct claim *more = realloc(g->claims, (g->claim_count + 1) * sizeof(*more));

	assert(more);
	g->claims = more;
	claim_init(&more[g->claim_count]);
	more[g->claim_count].text = strdup(text);
	more[g->claim_count].source = strdup("a mail");
	more[g->claim_count].hardware = strdup("a laptop");
	more[g->claim_count].bench = strdup(bench);
	more[g->claim_count++].arm = arm;
}

void fixture_scenario(struct comparison *c, unsigned int blocks)
{
	struct plan_group *groups = calloc(2, sizeof(*groups));

	assert(groups);
	groups[0] = make_group("three", blocks, 3);
	groups[1] = make_group("two", blocks + 1, 2);
	add_claim(&groups[0], "the third saves much", "syscall.null", 2);
	groups[0].claims[0].floor = strdup("f");
	add_claim(&groups[1], "nobody measures this", "probe@syscall.null", 1);
	groups[1].claims[0].floor = strdup("g");
	add_claim(&groups[1], "it takes no more than itself", "syscall.null", 1);
	groups[1].claims[1].against = strdup("syscall.null");
	groups[1].claims[1].no_floor = strdup("it is itself");
	set_plan(c, "Two groups", groups, 2);
}

static void put_bench(FILE *f, const struct fixture_boot *b, int ticks_per_unit)
{
	int batches = b->batches ? b->batches : 4;

	fprintf(f,
		"{\"type\":\"bench\",\"name\":\"syscall.null\",\"per_call\":\"call\","
		"\"calls\":%d,\"empty\":%d,\"ticks\":[",
		CALLS, EMPTY_TICKS);
	for (int i = 0; i < batches; i++) {
		double units = b->units + (i % 2 ? b->spread : -b->spread) +
			       (i >= batches - b->dirty ? 1000 : 0);

		fprintf(f, "%s%.0f", i ? "," : "", units * CALLS * ticks_per_unit + EMPTY_TICKS);
	}
	fprintf(f, "],\"irqs\":[");
	for (int i = 0; i < batches; i++) {
		fprintf(f, "%s%d", i ? "," : "", i >= batches - b->dirty);
	}
	fprintf(f, "]}");
}

char *fixture_line(const struct comparison *c, size_t slot, const struct fixture_boot *b)
{
	const struct schedule_boot *s =
		&c->plan.boots[slot < c->plan.boot_count ? slot : c->plan.boot_count - 1];
	int ticks_per_unit = b->ticks_per_unit ? b->ticks_per_unit : 8;
	const char *arm = arm_name(s->arm);
	size_t len;
	char *line;
	FILE *f = open_memstream(&line, &len);

	assert(f);
	if (b->wrong_arm) {
		arm = arm_name(s->arm == ARM_A ? ARM_B : ARM_A);
	}
	fprintf(f,
		"{\"slot\":%zu,\"group\":%u,\"block\":%u,\"arm\":\"%s\",\"schema_version\":1,"
		"\"type\":\"boot\",\"provenance\":{\"kernel\":{\"sha256\":\"%s\","
		"\"version\":\"6.12\"},\"host\":{\"cpu\":\"%s\"},\"cpu\":"
		"{\"fingerprint\":\"%s\"},\"class\":\"%s\","
		"\"ticks_per_unit\":%d},\"phases_ns\":{\"user_mark\":%llu,\"exit\":%llu},\"guest\":[",
		slot, s->group, s->block, arm, b->sha256 ? b->sha256 : SHA,
		b->cpu ? b->cpu : "Fake CPU", b->print ? b->print : "",
		b->class ? b->class : "icount", ticks_per_unit, (unsigned long long)b->user_ns,
		(unsigned long long)b->exit_ns);
	if (!b->no_bench) {
		put_bench(f, b, ticks_per_unit);
	}
	fprintf(f, "],\"outcome\":{\"status\":%d,\"kind\":\"%s\",\"text\":\"\"}}", b->status,
		b->kind ? b->kind : "exit");
	fclose(f);
	return line;
}

void fixture_add(struct comparison *c, size_t slot, const struct fixture_boot *b)
{
	struct err e = ERR_INIT;
	char *line = fixture_line(c, slot, b);
	int r = comparison_add_line(c, line, strlen(line), &e);

	if (r < 0) {
		fprintf(stderr, "%s\n", e.text);
	}
	assert(r == 0);
	free(line);
}
