/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_inspect.h. Main thread. */
#include "cli/kernel_inspect.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/helpers.h"
#include "cli/status.h"
#include "vmm/inspect.h"

static const char *const value_names[] = {
	[INSPECT_NO] = "not set", [INSPECT_MODULE] = "a module", [INSPECT_YES] = "y"};

static json_t *text_or_null(const char *s)
{
	return *s ? json_string(s) : json_null();
}

static json_t *options_to_json(const struct inspection *in)
{
	json_t *array = json_array();
	size_t count;
	const struct inspect_option *o = inspect_options(&count);

	for (size_t i = 0; in->config && i < count; i++) {
		enum inspect_value v = inspect_value(in->config, o[i].name);

		json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:s, s:s}", "option",
						       o[i].name, "value", value_names[v], "needed",
						       (int)(o[i].need == INSPECT_NEEDED), "area",
						       o[i].area, "without", o[i].without));
	}
	return array;
}

static int print_json(const char *path, const struct inspection *in)
{
	char pvh[24] = "";
	json_t *root;
	int r;

	if (in->has_pvh) {
		snprintf(pvh, sizeof(pvh), "0x%" PRIx64, in->pvh_entry);
	}
	root = json_pack(
		"{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
		"schema_version", 1, "type", "kernel", "path", path, "what", in->image.what,
		"version", text_or_null(in->version), "banner", text_or_null(in->banner),
		"build_id", text_or_null(in->image.build_id), "packed", in->packed, "unreadable",
		text_or_null(in->unreadable), "file_bytes", (json_int_t)in->image.file_bytes,
		"payload_bytes", (json_int_t)in->payload_bytes, "unpacked_bytes",
		(json_int_t)in->unpacked_bytes, "memory_bytes",
		(json_int_t)(in->image.end - in->image.start), "pvh_entry", text_or_null(pvh),
		"no_config", text_or_null(in->no_config), "options", options_to_json(in));
	r = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;
	json_decref(root);
	putchar('\n');
	return r;
}

/* Each option that is not built in, and what for: the needed ones first. */
static void print_options(const struct inspection *in)
{
	size_t count;
	const struct inspect_option *o = inspect_options(&count);

	for (int need = INSPECT_NEEDED; need <= INSPECT_USEFUL; need++) {
		for (size_t i = 0; i < count; i++) {
			enum inspect_value v = inspect_value(in->config, o[i].name);

			if ((int)o[i].need != need || !inspect_lacks(in->config, &o[i])) {
				continue;
			}
			printf("%-8s  %s: CONFIG_%s is %s: %s%s\n",
			       need == INSPECT_NEEDED ? "missing" : "note", o[i].area, o[i].name,
			       value_names[v], o[i].without,
			       v == INSPECT_MODULE ? ", unless the initrd loads it" : "");
		}
	}
}

static void print_text(const char *path, const struct inspection *in)
{
	char a[32], b[32], c[32];

	printf("file      %s: %s\n", path, in->image.what);
	printf("version   %s\n", *in->version ? in->version : "not found");
	if (*in->banner) {
		printf("banner    %s\n", in->banner);
	}
	if (*in->image.build_id) {
		printf("build id  %s\n", in->image.build_id);
	}
	printf("sizes     file %s, kernel %s, memory %s\n",
	       text_bytes(in->image.file_bytes, a, sizeof(a)),
	       in->unpacked_bytes ? text_bytes(in->unpacked_bytes, b, sizeof(b)) : "unknown",
	       text_bytes(in->image.end - in->image.start, c, sizeof(c)));
	if (*in->unreadable) {
		printf("payload   %s, unreadable: %s\n", in->packed, in->unreadable);
	} else {
		printf("payload   %s\n",
		       strcmp(in->packed, "none") == 0 ? "not packed" : in->packed);
	}
	if (in->has_pvh) {
		printf("pvh       entry at 0x%" PRIx64 "\n", in->pvh_entry);
	} else if (!*in->unreadable) {
		printf("pvh       no note\n");
	}
	if (in->config) {
		printf("config    %zu bytes\n", in->config_bytes);
		print_options(in);
	} else {
		printf("config    unknown: %s (--config FILE gives it)\n", in->no_config);
	}
}

/* Built in or not: a module is for the initrd to load, which ringside's own does not. */
static bool has_what_is_needed(const struct inspection *in)
{
	size_t count;
	const struct inspect_option *o = inspect_options(&count);

	for (size_t i = 0; in->config && i < count; i++) {
		if (o[i].need == INSPECT_NEEDED && inspect_lacks(in->config, &o[i])) {
			return false;
		}
	}
	return true;
}

/**
 * kernel_inspect() - print what a kernel is
 * @file: a path, or the name of an image in the cache
 * @config: a file with its configuration, or NULL for the one inside it
 * @json: for programs
 *
 * Return: STATUS_OK; STATUS_NO when it lacks what a guest needs; STATUS_INCONCLUSIVE when its
 * configuration is not known; STATUS_ENVIRONMENT for a file that cannot be booted or read.
 * Context: the main thread.
 */
int kernel_inspect(const char *file, const char *config, bool json)
{
	char path[PATH_MAX];
	struct inspection in;
	struct err e = ERR_INIT;
	int status = STATUS_OK;

	if (cli_find_kernel(file, path, sizeof(path), &e) < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	if (inspect_open(path, &in, &e) < 0) {
		log_error("%s: %s", path, e.text);
		return STATUS_ENVIRONMENT;
	}
	if (config && inspect_use_config(&in, config, &e) < 0) {
		log_error("--config: %s", e.text);
		status = STATUS_ENVIRONMENT;
	} else {
		if (json) {
			status = print_json(path, &in) < 0 ? STATUS_ENVIRONMENT : STATUS_OK;
		} else {
			print_text(path, &in);
		}
		if (status == STATUS_OK && !in.config) {
			status = STATUS_INCONCLUSIVE;
		} else if (status == STATUS_OK && !has_what_is_needed(&in)) {
			status = STATUS_NO;
		}
	}
	inspect_close(&in);
	return status;
}
