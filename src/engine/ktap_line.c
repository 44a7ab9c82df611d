/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single lines of KTAP, see ktap.h. Pure; any thread. */
#include "engine/ktap_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static const char *const directives[] = {
	[KTAP_PLAIN] = "",      [KTAP_SKIP] = "SKIP",       [KTAP_TODO] = "TODO",
	[KTAP_XFAIL] = "XFAIL", [KTAP_TIMEOUT] = "TIMEOUT", [KTAP_ERROR] = "ERROR",
};

/* Digits only, and no more than can be counted. */
static const char *read_number(const char *s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *begin = s;

	while (isdigit((unsigned char)*s)) {
		n = n < UINT32_MAX ? n * 10 + (uint64_t)(*s - '0') : n;
		s++;
	}
	*ret = n;
	return s > begin ? s : NULL;
}

/**
 * ktap_is_version() - does a document begin here?
 * @s: a line without its indentation
 *
 * Return: true for "KTAP version N" and "TAP version N".
 */
bool ktap_is_version(const char *s)
{
	uint64_t n;
	const char *end = NULL;

	if (text_starts_with(s, "KTAP version ")) {
		end = read_number(s + 13, &n);
	} else if (text_starts_with(s, "TAP version ")) {
		end = read_number(s + 12, &n);
	}
	return end && (*end == '\0' || *end == ' ');
}

/**
 * ktap_line_read() - what a line is
 * @s: it, without its document's indentation; the result points into it
 *
 * Return: its kind and parts.
 */
struct ktap_line ktap_line_read(const char *s)
{
	struct ktap_line l = {.kind = KTAP_LINE_OTHER, .text = s};
	const char *end;

	if (text_starts_with(s, "1..") && (end = read_number(s + 3, &l.number)) != NULL &&
	    (*end == '\0' || isspace((unsigned char)*end))) {
		l.kind = KTAP_LINE_PLAN;
		l.text = end;
	} else if (text_starts_with(s, "Bail out!")) {
		l.kind = KTAP_LINE_BAIL;
		l.text = s + 9;
	} else if (text_starts_with(s, "# Subtest:")) {
		l.kind = KTAP_LINE_SUBTEST;
		l.text = s + 10;
	} else if (*s == '#') {
		l.kind = KTAP_LINE_NOTE;
		l.text = s + 1;
	} else if (text_starts_with(s, "ok") || text_starts_with(s, "not ok")) {
		l.ok = *s == 'o';
		s += l.ok ? 2 : 6;
		if (*s != '\0' && *s != ' ') {
			return l;
		}
		l.kind = KTAP_LINE_RESULT;
		s += strspn(s, " ");
		end = read_number(s, &l.number);
		l.has_number = end && (*end == '\0' || *end == ' ');
		l.text = l.has_number ? end : s;
	}
	return l;
}

/**
 * ktap_take_directive() - the directive of a result or plan
 * @text: what stands behind the number; the directive is cut off
 * @ret_reason: set: what stands behind the directive, into @text; NULL: there is none
 *
 * Return: the directive.
 */
enum ktap_directive ktap_take_directive(char *text, const char **ret_reason)
{
	*ret_reason = NULL;
	for (char *h = strchr(text, '#'); h; h = strchr(h + 1, '#')) {
		const char *word = h + 1 + strspn(h + 1, " ");

		if (h > text && h[-1] != ' ') {
			continue; /* "\#", or in a word */
		}
		for (size_t i = KTAP_SKIP; i < ARRAY_SIZE(directives); i++) {
			size_t n = strlen(directives[i]);

			/* "# SKIPPED" is as good as "# SKIP"; Perl's are written small. */
			if (strncasecmp(word, directives[i], n) == 0 &&
			    (i == KTAP_SKIP || !isalnum((unsigned char)word[n]))) {
				word += n;
				while (isalpha((unsigned char)*word)) {
					word++;
				}
				*ret_reason = word + strspn(word, " :-");
				*h = '\0';
				return (enum ktap_directive)i;
			}
		}
	}
	return KTAP_PLAIN;
}

/**
 * ktap_directive_name() - the word for it
 * @d: a directive
 *
 * Return: a static text, empty for KTAP_PLAIN.
 */
const char *ktap_directive_name(enum ktap_directive d)
{
	return directives[d];
}
