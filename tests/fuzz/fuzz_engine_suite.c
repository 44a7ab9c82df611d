/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suite files and filters: the first line of an input is the filter, what follows is the file.
 * Whatever is read makes cases with an id each; shards part them; and what is printed is a file of
 * the same cases, which is printed the same again.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/suite.h"

#define SHARDS     3
#define PAIRED_MAX 2000 /* cases whose ids are held against each other */

static char path[64];
static int fd = -1;

static int read_suite(const void *bytes, size_t len, struct suite **ret, struct err *e)
{
	if (fd < 0) {
		fd = memfd_create("suite", MFD_CLOEXEC);
		must(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(ftruncate(fd, (off_t)len) == 0 && pwrite(fd, bytes, len, 0) == (ssize_t)len);
	return suite_read(path, ret, e);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each id is one line, and no two are the same. */
static void check_ids(const struct suite_plan *p)
{
	const char **ids = calloc(p->count + 1, sizeof(*ids));

	must(ids);
	for (size_t i = 0; i < p->count; i++) {
		ids[i] = p->cases[i].id;
		must(*ids[i] && !strpbrk(ids[i], "\n\r\t"));
	}
	qsort(ids, p->count, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < p->count; i++) {
		must(strcmp(ids[i - 1], ids[i]) != 0);
	}
	free(ids);
}

static void check_shards(const struct suite *s, size_t count)
{
	struct suite_select sel = {.shards = SHARDS, .shuffle = true};
	struct err e = ERR_INIT;
	size_t sum = 0;

	for (sel.shard = 1; sel.shard <= SHARDS; sel.shard++) {
		struct suite_plan p;

		sel.seed = sel.shard;
		must(suite_expand(s, &sel, &p, &e) == 0);
		sum += p.count;
		suite_plan_fini(&p);
	}
	must(sum == count);
}

/* All of a filter and all of its opposite are all. */
static void check_filter(const struct suite *s, const char *filter, size_t count)
{
	struct suite_select sel = {.filter = filter};
	struct suite_plan p = {0}, rest = {0};
	struct err e = ERR_INIT;
	char opposite[512];
	int code = suite_expand(s, &sel, &p, &e);

	must(code == 0 || e.text[0]);
	if (code == 0 && strlen(filter) < sizeof(opposite) - 4) {
		snprintf(opposite, sizeof(opposite), "!(%s)", filter);
		sel.filter = opposite;
		code = suite_expand(s, &sel, &rest, &e);
		must(code == 0 || p.count == count || strstr(e.text, "deep"));
		must(code < 0 || p.count + rest.count == count);
		suite_plan_fini(&rest);
	}
	suite_plan_fini(&p);
}

static char *print(const struct suite *s, size_t *ret_len)
{
	struct err e = ERR_INIT;
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	must(f);
	must(suite_print(s, f, &e) == 0);
	must(fclose(f) == 0);
	return text;
}

static void check_print(const struct suite *s, const struct suite_plan *p)
{
	const struct suite_select all = {0};
	struct suite_plan again;
	struct err e = ERR_INIT;
	struct suite *copy;
	char *text, *second;
	size_t len, second_len;

	text = print(s, &len);
	if (len > YMAP_BYTES_MAX) {
		free(text);
		return;
	}
	must(read_suite(text, len, &copy, &e) == 0);
	must(suite_expand(copy, &all, &again, &e) == 0);
	must(again.count == p->count);
	for (size_t i = 0; i < p->count; i++) {
		must(strcmp(again.cases[i].id, p->cases[i].id) == 0);
	}
	second = print(copy, &second_len);
	must(second_len == len && memcmp(second, text, len) == 0);
	suite_plan_fini(&again);
	suite_destroy(copy);
	free(second);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct suite_select all = {0};
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t filter_len = end ? (size_t)(end - data) : size;
	char *filter = strndup((const char *)data, filter_len);
	struct err e = ERR_INIT;
	struct suite_plan p;
	struct suite *s;

	must(filter);
	data += end ? filter_len + 1 : size;
	size -= end ? filter_len + 1 : size;
	if (read_suite(data, size, &s, &e) < 0) {
		must(e.text[0]);
		free(filter);
		return 0;
	}
	must(suite_expand(s, &all, &p, &e) == 0);
	must(p.count >= 1 && p.count <= SUITE_CASES_MAX);
	if (p.count <= PAIRED_MAX) {
		check_ids(&p);
		check_shards(s, p.count);
		check_filter(s, filter, p.count);
		check_print(s, &p);
	}
	suite_plan_fini(&p);
	suite_destroy(s);
	free(filter);
	return 0;
}
