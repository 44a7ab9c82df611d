/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands. Each parses its own words, and returns the program's exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cmd_calibrate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_kernel(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_test(int argc, char **argv);

#endif
