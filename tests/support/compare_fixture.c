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

void fixture_comparison(struct comparison *c, unsigned int blocks)
{
	struct plan p = {
		.ringside_version = strdup("0.1.0"),
		.backend = strdup("qemu"),
		.icount = 3,
		.timeout_ns = 60000000000,
		.seed = 1,
		.blocks = blocks,
		.batches = 4,
		.warmup = 3,
		.benches = 1,
		.arms = {{{strdup("base"), strdup("nofsgsbase")}, SHA},
			 {{strdup("base"), strdup("")}, SHA}},
		.boot_count = (size_t)blocks * SCHEDULE_BLOCK_BOOTS,
	};
	struct err e = ERR_INIT;
	int r;

	*c = (struct comparison){0};
	r = schedule_make(p.seed, blocks, &p.boots);
	assert(r == 0);
	r = comparison_set_plan(c, &p, &e);
	assert(r == 0);
}

static void put_bench(FILE *f, const struct fixture_boot *b, int ticks_per_unit)
{
	int batches = b->batches ? b->batches : 4;

	fprintf(f,
		"{\"type\":\"bench\",\"name\":\"syscall.null\",\"per_call\":\"call\","
		"\"calls\":%d,\"empty\":%d,\"ticks\":[",
		CALLS, EMPTY_TICKS);
	for (int i = 0; i < batches; i++) {
		double units = b->units + (i >= batches - b->dirty ? 1000 : 0);

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
		"{\"slot\":%zu,\"block\":%u,\"arm\":\"%s\",\"schema_version\":1,"
		"\"type\":\"boot\",\"provenance\":{\"kernel\":{\"sha256\":\"%s\","
		"\"version\":\"6.12\"},\"host\":{\"cpu\":\"%s\"},\"class\":\"%s\","
		"\"ticks_per_unit\":%d},\"guest\":[",
		slot, s->block, arm, b->sha256 ? b->sha256 : SHA, b->cpu ? b->cpu : "Fake CPU",
		b->class ? b->class : "icount", ticks_per_unit);
	if (!b->no_bench) {
		put_bench(f, b, ticks_per_unit);
	}
	fprintf(f, "],\"outcome\":{\"status\":%d,\"kind\":\"%s\",\"text\":\"\"}}", b->status,
		b->kind ? b->kind : "exit");
	fclose(f);
	return line;
}
