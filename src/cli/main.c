/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside: finds the subcommand and hands over. The only file that may end the process. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/status.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
} commands[] = {
	{"calibrate", cmd_calibrate,
	 "time the primitives that kernel changes trade, on this machine"},
	{"compare", cmd_compare, "boot two arms alternately, and say which one is faster"},
	{"ctl", cmd_ctl,
	 "pause, resume, stop or look at a running machine, or attach to its console"},
	{"doctor", cmd_doctor, "look at this machine: what works on it, what it lacks"},
	{"kernel", cmd_kernel, "list, build and find the kernel images that are booted"},
	{"report", cmd_report, "print the report of a comparison's results file"},
	{"run", cmd_run, "boot a kernel, or run a command in a guest"},
	{"test", cmd_test, "boot the cases of a test suite, and say what came of them"},
};

static void print_usage(FILE *out)
{
	fputs("usage: ringside [--log LEVEL] COMMAND [OPTION]...\n\n"
	      "A KVM virtual machine monitor, and the bench that compares guest kernels in it.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
	}
	fputs("\n'ringside COMMAND --help' tells more. --log is quiet, warn, info, debug or "
	      "debug:AREA,...\n",
	      out);
}

/*
 * A program may be started without stdin, stdout or stderr. Their numbers must not go to other
 * files, or a report goes into the results file; and writing to them must fail as it would have.
 */
static void fill_closed_descriptors(void)
{
	int fd;

	/* Mostly all are there, which costs less to ask than to try. */
	if (fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0 &&
	    fcntl(STDERR_FILENO, F_GETFD) >= 0) {
		return;
	}
	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0) {
		close(fd);
	}
}

static int run_command(int argc, char **argv)
{
	int first = 1;

	if (argc > 1 && strcmp(argv[1], "--log") == 0) {
		struct err e = ERR_INIT;

		if (argc == 2) {
			log_error("--log: a value (LEVEL) is missing");
			return STATUS_USAGE;
		}
		if (log_setup(argv[2], &e) < 0) {
			log_error("%s", e.text);
			return STATUS_USAGE;
		}
		first = 3;
	}
	if (first >= argc) {
		print_usage(stderr);
		return STATUS_USAGE;
	}
	if (strcmp(argv[first], "--version") == 0) {
		puts("ringside " RINGSIDE_VERSION);
		return STATUS_OK;
	}
	if (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "help") == 0) {
		print_usage(stdout);
		return STATUS_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[first]) == 0) {
			return commands[i].run(argc - first, argv + first);
		}
	}
	log_error("'%s' is no command of ringside; 'ringside --help' lists them", argv[first]);
	return STATUS_USAGE;
}

/* What was printed but never arrived must not count as told. */
int main(int argc, char **argv)
{
	int status;

	fill_closed_descriptors();
	status = run_command(argc, argv);

	if ((fflush(stdout) == EOF || ferror(stdout)) && status == STATUS_OK) {
		log_error("stdout cannot be written");
		status = STATUS_ENVIRONMENT;
	}
	return status;
}
