/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside doctor: what this machine can do, what it lacks, and what to do about it. */
#include <stdlib.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "cli/status.h"

static int print_json(const struct doctor *d)
{
	json_t *root = doctor_json(d);
	int r = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;

	json_decref(root);
	putchar('\n');
	return r;
}

/**
 * cmd_doctor() - the subcommand
 * @argc: of the words from "doctor" on
 * @argv: those words
 *
 * Return: STATUS_OK when two kernels can be compared on this machine in some way,
 * STATUS_ENVIRONMENT when in none, STATUS_USAGE.
 * Context: the main thread.
 */
int cmd_doctor(int argc, char **argv)
{
	bool json = false;
	const struct opt_row rows[] = {
		{OPT_FLAG, "json", .value = &json, .help = "print one JSON object"},
		{OPT_END},
	};
	const struct opt_command command = {
		.name = "doctor",
		.usage = "[--json]",
		.about = "Looks at this machine: what it has, what ringside needs, and what to do "
			 "about the difference. Exit status 0: two kernels can be compared here; "
			 "4: they cannot. docs/doctor.md explains each check.",
		.rows = rows,
	};
	_cleanup_free_ struct doctor *d = NULL;
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
	d = malloc(sizeof(*d));
	if (!d) {
		log_error("out of memory");
		return STATUS_ENVIRONMENT;
	}
	doctor_collect(d);
	doctor_judge(d);
	if (!json) {
		doctor_print(d, stdout);
	} else if (print_json(d) < 0) {
		log_error("cannot write the JSON object");
		return STATUS_ENVIRONMENT;
	}
	return doctor_exit_status(d);
}
