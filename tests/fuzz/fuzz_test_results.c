/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results files of test runs. An input that begins with '!' is a file as it stands. Any other has
 * in its first line the ids of a plan, with spaces between them, so that what comes behind need
 * not find a SHA-256 to be looked at. What is read is checked by fuzz_set.c.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_set.h"

#define IDS_MAX 16

static void add_plan(struct test_set *s, char *line)
{
	char *ids[IDS_MAX];
	struct test_plan p = {.title = "t", .shard = 1, .shards = 1, .ids = ids};
	struct err e = ERR_INIT;
	char *rest = line, *word;
	json_t *json;
	char *text;

	while (p.id_count < IDS_MAX && (word = strsep(&rest, " "))) {
		ids[p.id_count++] = word;
	}
	/* A word of its own says what else a plan can be. */
	p.until_failure = strcmp(ids[0], "again") == 0;
	p.shards = strcmp(ids[0], "part") == 0 ? 2 : 1;
	json = test_plan_to_json(&p);
	text = json_dumps(json, JSON_COMPACT);
	must(text);
	(void)!test_set_add_line(s, text, strlen(text), &e);
	free(text);
	json_decref(json);
}

/* Each line by itself; those that are refused leave no trace. */
static void add_lines(struct test_set *s, char *text)
{
	struct err e = ERR_INIT;
	bool raw = *text == '!';
	char *rest = text + raw, *line;

	if (!raw && (line = strsep(&rest, "\n"))) {
		add_plan(s, line);
	}
	while ((line = strsep(&rest, "\n"))) {
		(void)!test_set_add_line(s, line, strlen(line), &e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct err e = ERR_INIT;
	struct test_set *s;

	must(text && test_set_create(&s, &e) == 0);
	add_lines(s, text);
	if (test_set_plan(s)) {
		fuzz_check_set(s);
	}
	test_set_destroy(s);
	free(text);
	return 0;
}
