/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes a program with the flag: usage: test_nopti_exec [--again] PROGRAM [ARG]... With --again
 * it asks for nothing, and only executes: what had the flag itself hands nothing on. A program that
 * is run this way has to be found with the flag set, so the request is read back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nopti.h"

int main(int argc, char **argv)
{
	bool again = argc > 1 && strcmp(argv[1], "--again") == 0;
	unsigned long bits = 0;
	int r = 0;

	argv += again ? 2 : 1;
	if (!*argv) {
		fprintf(stderr, "usage: test_nopti_exec [--again] PROGRAM [ARG]...\n");
		return 2;
	}
	if (again) {
		r = nopti_get(&bits);
		if (r < 0 || bits != NOPTI_GET_ON) {
			fprintf(stderr, "--again: bits 0x%lx\n", bits);
			return 3;
		}
	} else {
		r = nopti_set(NOPTI_SET_EXEC);
		if (r == 0) {
			r = nopti_get(&bits);
		}
		if (r < 0 || bits != NOPTI_GET_EXEC) {
			fprintf(stderr, "request: %s, bits 0x%lx\n", strerror(-r), bits);
			return 3;
		}
	}
	execv(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	return 127;
}
