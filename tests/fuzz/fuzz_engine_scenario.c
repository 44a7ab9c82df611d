/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenario files: what stands before a line "%%" is the file, and what follows it the one that it
 * may include, by the name "101". Whatever is read makes groups whose claims are of arms and
 * benchmarks that they have, and a plan that reads back as it was written, and as it is printed.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/scenario.h"
#include "engine/ymap.h"

#define FILE_NAME    "100"
#define INCLUDE_NAME "101"
#define SPLIT        "\n%%\n"
#define BOOTS_MAX    400 /* of a plan that is written and read */

/* A folder of the two files and nothing else, so that an include reads nothing of the machine's. */
static char folder[] = "/tmp/ringside-fuzz-XXXXXX";
static char path[64];
static int files[2];

static void remove_folder(void)
{
	char include[64];

	snprintf(include, sizeof(include), "%s/" INCLUDE_NAME, folder);
	unlink(include);
	unlink(path);
	rmdir(folder);
}

static int link_file(const char *name)
{
	int fd = memfd_create("scenario", MFD_CLOEXEC);
	char target[64];

	must(fd >= 0);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	must(symlink(target, path) == 0);
	return fd;
}

static void put(int fd, const void *bytes, size_t len)
{
	must(ftruncate(fd, (off_t)len) == 0 && pwrite(fd, bytes, len, 0) == (ssize_t)len);
}

static void put_files(const uint8_t *data, size_t size)
{
	const uint8_t *split = memmem(data, size, SPLIT, strlen(SPLIT));
	size_t first = split ? (size_t)(split - data) + 1 : size;
	size_t behind = split ? first - 1 + strlen(SPLIT) : size;

	if (!*path) {
		must(mkdtemp(folder));
		files[1] = link_file(INCLUDE_NAME);
		files[0] = link_file(FILE_NAME);
		must(atexit(remove_folder) == 0);
	}
	put(files[0], data, first);
	put(files[1], data + behind, size - behind);
}

static void check_group(const struct plan_group *g)
{
	must((!g->name || *g->name) && g->benches);
	must(g->arm_count >= 2 && g->arm_count <= SCHEDULE_ARMS_MAX);
	must(g->blocks <= SCHEDULE_BLOCKS_MAX && g->claim_count <= PLAN_CLAIMS_MAX);
	for (size_t i = 0; i < g->claim_count; i++) {
		const struct claim *c = &g->claims[i];

		must(c->arm < g->arm_count && (c->arm != ARM_A || c->against));
		must(*c->text && *c->source && *c->hardware && *c->bench);
	}
}

/* What the command adds to a scenario before it is a plan. */
static void make_plan(struct scenario *s, struct plan *p)
{
	*p = (struct plan){
		.ringside_version = strdup("0.1.0"),
		.title = TAKE_PTR(s->title),
		.runner = TAKE_PTR(s->runner),
		.backend = s->backend ? TAKE_PTR(s->backend) : strdup("qemu"),
		.icount = s->has_icount ? (int)s->icount : PLAN_NO_ICOUNT,
		.timeout_ns = s->has_timeout ? s->timeout_ns : NS_PER_SEC,
		.aa = s->aa,
		.seed = s->has_seed ? s->seed : 1,
		.batches = s->has_batches ? (unsigned int)s->batches : 1,
		.group_count = s->group_count,
		.groups = TAKE_PTR(s->groups),
	};
	s->group_count = 0;
	for (size_t i = 0; i < p->group_count; i++) {
		struct plan_group *g = &p->groups[i];

		g->blocks = g->blocks ? g->blocks : 1;
		for (size_t k = 0; k < g->arm_count; k++) {
			memset(g->arms[k].sha256, '0', PLAN_SHA256_HEX);
		}
	}
}

static size_t boots_of(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		n += 2 * p->groups[i].arm_count * p->groups[i].blocks;
	}
	return n;
}

/* The plan as a line, drawn anew. */
static char *line_of(struct plan *p)
{
	struct err e = ERR_INIT;
	char *line;

	must(plan_make_schedule(p, &e) == 0);
	must(plan_line(p, &line, &e) == 0);
	return line;
}

/* What a scenario is printed as is a scenario of the same plan. */
static void check_print(const struct plan *p, const char *line)
{
	struct scenario s;
	struct err e = ERR_INIT;
	struct plan again;
	char *text = NULL, *second;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f && scenario_print(p, f, &e) == 0 && fclose(f) == 0);
	if (len <= YMAP_BYTES_MAX) {
		put(files[0], text, len);
		must(scenario_read(path, &s, &e) == 0);
		make_plan(&s, &again);
		scenario_fini(&s);
		second = line_of(&again);
		must(strcmp(line, second) == 0);
		plan_fini(&again);
		free(second);
	}
	free(text);
}

static void check_plan(struct plan *p)
{
	struct plan again;
	struct err e = ERR_INIT;
	char *line = line_of(p), *second;

	must(plan_parse(line, strlen(line), &again, &e) == 0);
	must(plan_line(&again, &second, &e) == 0);
	must(strcmp(line, second) == 0);
	plan_fini(&again);
	free(second);
	check_print(p, line);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct scenario s;
	struct plan p;

	put_files(data, size);
	if (scenario_read(path, &s, &e) < 0) {
		must(*e.text == '/' && strchr(e.text, ':'));
		return 0;
	}
	must(s.title ? *s.title : s.group_count == 1 && s.groups[0].arm_count == 2);
	must(s.group_count >= 1 && s.group_count <= SCHEDULE_GROUPS_MAX);
	for (size_t i = 0; i < s.group_count; i++) {
		check_group(&s.groups[i]);
	}
	make_plan(&s, &p);
	if (boots_of(&p) <= BOOTS_MAX) {
		check_plan(&p);
	}
	plan_fini(&p);
	scenario_fini(&s);
	return 0;
}
