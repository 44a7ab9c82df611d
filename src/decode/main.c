/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See decode.h. */
#include "decode/decode.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The questions, up to the empty line; false when they end before that. */
static bool read_questions(char *buf, size_t room)
{
	size_t len = 0;

	while (len + 1 < room) {
		ssize_t n = read(STDIN_FILENO, buf + len, room - len - 1);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return false;
		}
		len += (size_t)n;
		buf[len] = '\0';
		if ((len == 1 && buf[0] == '\n') ||
		    (len > 1 && strcmp(buf + len - 2, "\n\n") == 0)) {
			return true;
		}
	}
	return false;
}

/* "0x12ab", or "name+0x12/0x34". */
static bool parse_place(const struct decode_file *f, char *text, uint64_t *ret)
{
	char *plus = strchr(text, '+'), *end;
	uint64_t offset, size = 0, start;

	if (!plus) {
		*ret = strtoull(text, &end, 16);
		return end != text && !*end;
	}
	*plus = '\0';
	offset = strtoull(plus + 1, &end, 16);
	if (*end == '/') {
		size = strtoull(end + 1, NULL, 16);
	}
	if (!decode_find_name(f, text, size, &start)) {
		return false;
	}
	*ret = start + offset;
	return true;
}

/* What the file says is for a terminal, too. */
static void put(const char *text)
{
	for (; *text; text++) {
		putchar(isprint((unsigned char)*text) ? *text : '?');
	}
}

static void answer(const struct decode_file *f, char *question)
{
	char name[DECODE_TEXT_MAX] = "?", line[DECODE_TEXT_MAX] = "?";
	uint64_t address;

	if ((*question == '=' || *question == '-') && parse_place(f, question + 1, &address)) {
		(void)decode_name_of(f, address, name, sizeof(name));
		(void)decode_line_of(f, address - (*question == '-'), line, sizeof(line));
	}
	put(name);
	putchar('\t');
	put(line);
	putchar('\n');
}

int main(void)
{
	static char input[DECODE_INPUT_MAX], output[DECODE_INPUT_MAX];
	struct decode_file f;
	char *rest = input, *line;
	size_t n = 0;

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (decode_jail() < 0) {
		return 1;
	}
	if (!read_questions(input, sizeof(input))) {
		return 0; /* nobody wants to know any more */
	}
	decode_open(&f, DECODE_FILE_FD);
	while ((line = strsep(&rest, "\n")) && *line && n++ < DECODE_QUERIES_MAX) {
		answer(&f, line);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
