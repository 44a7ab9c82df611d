/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target on its corpus: a text file with an input a line, in hexadecimal; '#' begins a
 * remark. tests/fuzz/corpus.py turns such a file into libFuzzer's folder and back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int digit(int c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "re") : NULL;
	char *line = NULL;
	size_t room = 0, inputs = 0;

	if (!f) {
		fprintf(stderr, "usage: %s CORPUS.hex\n", argv[0]);
		return 2;
	}
	while (getline(&line, &room, f) > 0) {
		uint8_t *bytes = malloc(room);
		size_t n = 0;

		for (const char *p = line; digit(p[0]) >= 0 && digit(p[1]) >= 0; p += 2) {
			bytes[n++] = (uint8_t)(digit(p[0]) << 4 | digit(p[1]));
		}
		if (n > 0) {
			LLVMFuzzerTestOneInput(bytes, n);
			inputs++;
		}
		free(bytes);
	}
	free(line);
	fclose(f);
	printf("%zu inputs\n", inputs);
	return inputs == 0;
}
