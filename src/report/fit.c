/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text of 80 columns on a narrower terminal: gaps between columns are closed to two spaces, lines
 * that went on with an indentation are one again, and what is still too long is broken between
 * words. Not a word is lost, and where all fits nothing is changed.
 */
#include <stdio.h>
#include <string.h>

#include "report/report_priv.h"

#define INDENT_DEEP 9 /* a line that begins so far in goes on with the one before it */
#define INDENT_MORE 4 /* of what is broken off */

/* Where the line is, and what may stand in it. */
struct fit {
	FILE *out;
	size_t columns, at;
};

/* The columns that so many bytes take: colours take none, and of UTF-8 the first byte of each. */
static size_t width_of(const char *s, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\033') {
			while (i < len && s[i] != 'm') {
				i++;
			}
		} else {
			columns += ((unsigned char)s[i] & 0xc0) != 0x80;
		}
	}
	return columns;
}

/* A word that no line holds is cut between characters. */
static void put_long_word(struct fit *f, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (f->at == f->columns && ((unsigned char)s[i] & 0xc0) != 0x80) {
			fputc('\n', f->out);
			f->at = 0;
		}
		f->at += ((unsigned char)s[i] & 0xc0) != 0x80;
		fputc(s[i], f->out);
	}
}

static void put_words(struct fit *f, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		size_t gap = strspn(s, " ");
		size_t word = strcspn(s + gap, " \n");
		size_t wide = width_of(s + gap, word);

		gap = gap > 2 ? 2 : gap;
		s += strspn(s, " ");
		if (f->at > INDENT_MORE && f->at + gap + wide > f->columns) {
			fprintf(f->out, "\n%*s", INDENT_MORE, "");
			f->at = INDENT_MORE;
			gap = 0;
		}
		fprintf(f->out, "%*s", (int)gap, "");
		f->at += gap;
		if (f->at + wide > f->columns) {
			put_long_word(f, s, word);
		} else {
			fwrite(s, 1, word, f->out);
			f->at += wide;
		}
		s += word;
	}
}

static bool has_gap(const char *s, size_t len)
{
	return memmem(s, len, "  ", 2) != NULL;
}

/* A line that begins anew, as it is where it fits. */
static void put_line(struct fit *f, const char *line, size_t indent, size_t rest)
{
	bool fits = indent + width_of(line + indent, rest) <= f->columns;
	size_t lead = fits || indent < INDENT_DEEP ? indent : INDENT_MORE;

	f->at = 0;
	if (rest == 0) {
		fputc('\n', f->out);
		return;
	}
	fprintf(f->out, "%*s", (int)lead, "");
	f->at = lead;
	if (fits) {
		fwrite(line + indent, 1, rest, f->out);
		f->at += width_of(line + indent, rest);
	} else {
		put_words(f, line + indent, rest);
	}
}

/**
 * report_fit() - write a text for a terminal
 * @text: lines of at most REPORT_COLUMNS, each with its end; words in it may be coloured
 * @columns: that the terminal has
 * @out: where to
 *
 * Context: any thread that owns @out.
 */
void report_fit(const char *text, size_t columns, FILE *out)
{
	struct fit f = {.out = out, .columns = columns > 20 ? columns : 20};

	if (columns >= REPORT_COLUMNS) {
		fputs(text, out);
		return;
	}
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t indent = strspn(text, " ");
		const char *words = text + indent;
		size_t rest = len > indent ? len - indent : 0;

		if (f.at > 0 && rest > 0 && indent >= INDENT_DEEP && !has_gap(words, rest)) {
			put_words(&f, words - 1, rest + 1);
		} else {
			fputs(f.at > 0 ? "\n" : "", out);
			put_line(&f, text, indent, rest);
		}
		text += len + (text[len] == '\n');
	}
	fputs(f.at > 0 ? "\n" : "", out);
}
