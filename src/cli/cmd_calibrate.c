/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside calibrate: what the primitives of the kernel changes take here, and the floors. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/calibrate.h"
#include "cli/class_detect.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/status.h"
#include "samples/record.h"

#define REPLICATES_DEFAULT 12
#define BATCHES_DEFAULT    60
#define NO_FD              UINT64_MAX

static void name_host(struct calibration *c)
{
	json_t *host = record_host_to_json();
	const char *cpu = json_string_value(json_object_get(host, "cpu"));
	const char *kernel = json_string_value(json_object_get(host, "kernel"));

	snprintf(c->host_cpu, sizeof(c->host_cpu), "%s", cpu ? cpu : "");
	snprintf(c->host_kernel, sizeof(c->host_kernel), "%s", kernel ? kernel : "");
	json_decref(host);
}

static int print(const struct calibration *c, bool json)
{
	json_t *root;
	int r;

	if (!json) {
		calibrate_print(c, stdout);
		return 0;
	}
	root = calibration_json(c);
	r = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;
	json_decref(root);
	return r < 0 || putchar('\n') == EOF ? -1 : 0;
}

static bool measured_any(const struct calibration *c)
{
	for (size_t i = 0; i < c->primitive_count; i++) {
		if (c->primitives[i].n > 0) {
			return true;
		}
	}
	return false;
}

static int calibrate(struct calibrate_plan *plan, bool json)
{
	_cleanup_free_ struct calibration_replicate *replicates = NULL;
	_cleanup_free_ struct calibration *c = NULL;
	struct class_result class;
	struct err e = ERR_INIT;
	int signal = 0;
	int r;

	class_detect(&class);
	if (!class.known) {
		log_error("%s", class.evidence);
		return STATUS_ENVIRONMENT;
	}
	plan->ring0 = exec_class_runs_kernels(class.class);
	replicates = calloc(plan->replicates, sizeof(*replicates));
	if (!replicates) {
		log_error("out of memory");
		return STATUS_ENVIRONMENT;
	}
	r = calibrate_all(plan, replicates, &signal, &e);
	if (r == CALIBRATE_INTERRUPTED) {
		/* As any program that a signal ends. */
		raise(signal);
		return STATUS_ENVIRONMENT;
	}
	r = r < 0 ? r
		  : calibration_make(replicates, plan->replicates, class.class, class.icount_shift,
				     &c, &e);
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	snprintf(c->evidence, sizeof(c->evidence), "%s", class.evidence);
	name_host(c);
	if (!measured_any(c)) {
		log_error("nothing could be measured: %s", c->primitives[0].reason);
		return STATUS_ENVIRONMENT;
	}
	if (print(c, json) < 0) {
		log_error("cannot write the JSON object");
		return STATUS_ENVIRONMENT;
	}
	return STATUS_OK;
}

/**
 * cmd_calibrate() - the subcommand
 * @argc: of the words from "calibrate" on
 * @argv: those words
 *
 * Return: STATUS_OK when something was measured, STATUS_ENVIRONMENT without a KVM that runs guest
 * code, STATUS_USAGE.
 * Context: the main thread.
 */
int cmd_calibrate(int argc, char **argv)
{
	struct calibrate_plan plan = {
		.replicates = REPLICATES_DEFAULT,
		.batches = BATCHES_DEFAULT,
	};
	uint64_t fd = NO_FD;
	bool json = false;
	const struct opt_row rows[] = {
		{OPT_FLAG, "json", .value = &json, .help = "print one JSON object"},
		{OPT_U64, "replicates", .value = &plan.replicates, .min = 1,
		 .max = CALIBRATION_REPLICATES_MAX, .arg = "N",
		 .help = "processes that measure, one number each; fewer than 6 have no 95 % "
			 "interval [12]"},
		{OPT_U64, "batches", .value = &plan.batches, .min = CALIBRATION_CLEAN_MIN,
		 .max = CALIBRATE_BATCHES_MAX, .arg = "N",
		 .help = "batches of each primitive in each process [60]"},
		{OPT_GROUP, .help = "For ringside itself:"},
		{OPT_U64, "one", .value = &fd, .max = 1 << 20, .arg = "FD",
		 .help = "be one of those processes, and write its numbers there"},
		{OPT_FLAG, "ring0", .value = &plan.ring0, .help = "with --one: time ring 0, too"},
		{OPT_END},
	};
	const struct opt_command command = {
		.name = "calibrate",
		.usage = "[--json] [--replicates N] [--batches N]",
		.about =
			"Times, on this machine's KVM, the primitives that the guest-kernel changes "
			"trade for one another, and derives from them the floors: what each change "
			"can save here at best. What is legal in ring 3 is timed natively even "
			"where KVM interprets ring 0. docs/calibrate.md explains each number. Exit "
			"status 0: measured; 4: this machine cannot.",
		.rows = rows,
	};
	struct opt_rest rest;
	struct err e = ERR_INIT;
	int r = opt_parse(&command, argc, argv, &rest, &e);

	if (r == OPT_SHOWN_HELP) {
		return STATUS_OK;
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	if (fd == NO_FD) {
		return calibrate(&plan, json);
	}
	r = calibrate_one(&plan, (int)fd, &e);
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	return STATUS_OK;
}
