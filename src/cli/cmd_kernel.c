/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ringside kernel: the images that are booted. The work, but for inspect's, is that of
 * guest-kernel-config/build, which takes this process over: its progress, its signals and its exit
 * status are ours.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/helpers.h"
#include "cli/kernel_inspect.h"
#include "cli/options.h"
#include "cli/status.h"

#define NAMES_MAX    64
#define VERB_INSPECT "inspect"

static const struct {
	const char *word;
	const char *flag; /* of the script; NULL: it builds when nothing else is said */
	bool builds;
	int least, most; /* names */
} verbs[] = {
	{"list", "--list", false, 0, 0},
	{"build", NULL, true, 0, NAMES_MAX},
	{"path", "--path", false, 1, NAMES_MAX},
	{VERB_INSPECT, NULL, false, 1, 1},
};

static int find_verb(const struct opt_rest *rest, bool build_options, size_t *ret, struct err *e)
{
	const char *word = rest->word_count > 0 ? rest->words[0] : NULL;
	int names = rest->word_count - 1;

	for (size_t i = 0; word && i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verbs[i].word, word) != 0) {
			continue;
		}
		if (names < verbs[i].least) {
			return err_set(e, -EINVAL, "kernel %s: %s is missing", word,
				       strcmp(word, VERB_INSPECT) == 0 ? "a file"
								       : "the name of an image");
		}
		if (names > verbs[i].most) {
			return err_set(e, -EINVAL, "kernel %s: unexpected '%s'", word,
				       rest->words[verbs[i].most + 1]);
		}
		if (build_options && !verbs[i].builds) {
			return err_set(e, -EINVAL, "kernel %s takes no options", word);
		}
		*ret = i;
		return 0;
	}
	return err_set(e, -EINVAL, "kernel: %s%s%s; there is: list, build, path, inspect",
		       word ? "'" : "what to do is missing", word ? word : "",
		       word ? "' is nothing it does" : "");
}

/**
 * cmd_kernel() - the subcommand
 * @argc: of the words from "kernel" on
 * @argv: those words
 *
 * Return: only when the build script cannot be started or the words are wrong: STATUS_ENVIRONMENT,
 * STATUS_USAGE; and STATUS_OK after --help.
 * Context: the main thread.
 */
int cmd_kernel(int argc, char **argv)
{
	uint64_t jobs = 0;
	bool clean = false, json = false;
	const char *config = NULL;
	const struct opt_row rows[] = {
		{OPT_U64, "jobs", 'j', &jobs, .min = 1, .max = 1024, .arg = "N",
		 .help = "build: how many compilers at once [one a processor]"},
		{OPT_FLAG, "clean", 0, &clean,
		 .help = "build: compile everything, also what is built already"},
		{OPT_STRING, "config", 0, &config, .arg = "FILE",
		 .help = "inspect: the kernel's configuration, when it has none in it"},
		{OPT_FLAG, "json", 0, &json, .help = "inspect: for programs"},
		{OPT_END},
	};
	const struct opt_command command = {
		.name = "kernel",
		.usage =
			"list | build [OPTION]... [NAME]... | path NAME... | inspect [OPTION]... FILE|NAME",
		.about =
			"Lists the kernel images that can be booted, builds them (without names: "
			"all) into the cache unless they are there, or prints where they are. Exit "
			"status 0: done; 1: one is not built, or its build failed; 4: something is "
			"missing here. inspect prints what a kernel is and what a guest would lack for its "
			"configuration: 0 nothing, 1 something that it needs, 3 the configuration "
			"is not known.",
		.rows = rows,
		.max_words = 1 + NAMES_MAX,
	};
	char script[PATH_MAX], jobs_text[24];
	char *args[NAMES_MAX + 8];
	struct opt_rest rest;
	struct err e = ERR_INIT;
	size_t verb = 0, n = 0;
	int r = opt_parse(&command, argc, argv, &rest, &e);

	if (r == OPT_SHOWN_HELP) {
		return STATUS_OK;
	}
	if (r == 0) {
		r = find_verb(&rest, jobs || clean, &verb, &e);
	}
	if (r == 0 && (config || json) && strcmp(verbs[verb].word, VERB_INSPECT) != 0) {
		r = err_set(&e, -EINVAL, "kernel %s takes neither --config nor --json",
			    verbs[verb].word);
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	if (strcmp(verbs[verb].word, VERB_INSPECT) == 0) {
		return kernel_inspect(rest.words[1], config, json);
	}
	r = cli_find_kernel_script(script, sizeof(script), &e);
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	args[n++] = script;
	if (verbs[verb].flag) {
		args[n++] = (char *)verbs[verb].flag;
	}
	if (clean) {
		args[n++] = (char *)"--clean";
	}
	if (jobs) {
		snprintf(jobs_text, sizeof(jobs_text), "%" PRIu64, jobs);
		args[n++] = (char *)"--jobs";
		args[n++] = jobs_text;
	}
	for (int i = 1; i < rest.word_count; i++) {
		args[n++] = rest.words[i];
	}
	args[n] = NULL;
	execv(script, args);
	log_error("%s: %s", script, strerror(errno));
	return STATUS_ENVIRONMENT;
}
