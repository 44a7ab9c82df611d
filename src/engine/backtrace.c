/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See backtrace.h. Lines of the console are the guest's: what looks like a function and an offset
 * is asked for, and nothing else is believed of it. Runs on the event loop's thread.
 */
#include "engine/backtrace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/symbols.h"
#include "samples/record.h"

#define NAME_CHARS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$"
#define ADDRESS_DIGITS 16
/* What the console has must find room, too. */
#define CPU_LINES_MAX (BACKTRACE_LINES_MAX / 2)

static struct backtrace_line *add(struct backtrace *b)
{
	struct backtrace_line *l;

	if (b->count == BACKTRACE_LINES_MAX) {
		return NULL;
	}
	l = &b->lines[b->count++];
	*l = (struct backtrace_line){.query = -1};
	return l;
}

static void ask(struct backtrace *b, struct backtrace_line *l, char how, const char *what,
		size_t len)
{
	struct decoder_query *q = &b->queries[b->query_count];

	if (len + 2 <= sizeof(q->what)) {
		*q = (struct decoder_query){.what = ""};
		snprintf(q->what, sizeof(q->what), "%c%.*s", how, (int)len, what);
		l->query = (int)b->query_count++;
	}
}

static size_t hex_digits(const char *p)
{
	size_t n = 0;

	while (isxdigit((unsigned char)p[n])) {
		n++;
	}
	return n;
}

/* "name+0x12/0x34": its length, with the name's before it; 0: there is none at this plus. */
static size_t code_at(const char *line, const char *plus, const char **ret_start)
{
	const char *start = plus, *p = plus + 3;
	size_t n;

	while (start > line && strchr(NAME_CHARS, start[-1])) {
		start--;
	}
	n = start < plus && strncmp(plus, "+0x", 3) == 0 ? hex_digits(p) : 0;
	if (n == 0 || strncmp(p + n, "/0x", 3) != 0) {
		return 0;
	}
	p += n + 3;
	n = hex_digits(p);
	*ret_start = start;
	return n ? (size_t)(p + n - start) : 0;
}

static const char *find_code(const char *line, size_t *ret_len)
{
	const char *start;

	for (const char *plus = strchr(line, '+'); plus; plus = strchr(plus + 1, '+')) {
		*ret_len = code_at(line, plus, &start);
		if (*ret_len) {
			return start;
		}
	}
	return NULL;
}

/* An address of the kernel's that stands for itself, as in "RIP: 0010:0xffffffff81000000". */
static const char *find_address(const char *line)
{
	const char *at = strstr(line, "ffffffff");

	for (; at; at = strstr(at + 1, "ffffffff")) {
		bool alone = at == line || !isxdigit((unsigned char)at[-1]);

		if (alone && hex_digits(at) == ADDRESS_DIGITS) {
			return at;
		}
	}
	return NULL;
}

static bool is_heading(const char *line)
{
	return text_starts_with(line, "Call Trace:") ||
	       text_starts_with(line, "NMI backtrace for cpu") || text_starts_with(line, "CPU: ");
}

static void read_line(struct backtrace *b, const char *raw)
{
	const char *line = console_watch_text(raw), *code, *address = NULL;
	bool rip = strstr(line, "RIP:") != NULL;
	struct backtrace_line *l;
	size_t len = 0;

	code = find_code(line, &len);
	if (!code && (rip || strstr(line, "[<"))) {
		address = find_address(line);
	}
	l = code || address || is_heading(line) ? add(b) : NULL;
	if (!l) {
		return;
	}
	snprintf(l->text, sizeof(l->text), "%s", line);
	text_make_utf8(l->text);
	if (code && strncmp(code + len, " [", 2) != 0) { /* else it is a module's */
		ask(b, l, rip ? '=' : '-', code, len);
	} else if (address) {
		char what[ADDRESS_DIGITS + 3];

		snprintf(what, sizeof(what), "0x%.16s", address);
		ask(b, l, rip ? '=' : '-', what, strlen(what));
	}
}

static void add_address(struct backtrace *b, const char *text, char how, uint64_t address)
{
	struct backtrace_line *l = add(b);
	char what[32];

	if (l) {
		snprintf(l->text, sizeof(l->text), "%s", text);
		snprintf(what, sizeof(what), "0x%" PRIx64, address);
		ask(b, l, how, what, strlen(what));
	}
}

/**
 * backtrace_read() - find out what there is to tell
 * @b: set
 * @cpus: the vCPUs
 * @cpu_count: how many
 * @stacks: what is on the stack of each, or NULL
 * @console: what the guest said
 */
void backtrace_read(struct backtrace *b, const struct backend_cpu_state *cpus, size_t cpu_count,
		    const struct stack_scan *stacks, const struct console_watch *console)
{
	b->count = b->query_count = 0;
	b->decoded = b->scanned = false;
	for (size_t i = 0; i < cpu_count && b->count < CPU_LINES_MAX; i++) {
		char text[64];

		snprintf(text, sizeof(text), "vCPU %zu: RIP 0x%016" PRIx64, i, cpus[i].rip);
		add_address(b, text, '=', cpus[i].rip);
		for (size_t k = 0; stacks && k < stacks[i].count; k++) {
			snprintf(text, sizeof(text), " ? 0x%016" PRIx64, stacks[i].calls[k]);
			add_address(b, text, '-', stacks[i].calls[k]);
			b->scanned = true;
		}
	}
	for (size_t i = 0; i < console_watch_line_count(console); i++) {
		read_line(b, console_watch_line(console, i));
	}
}

static void append(struct backtrace_line *l, const char *format, const char *text) __printf(2, 0);

static void append(struct backtrace_line *l, const char *format, const char *text)
{
	size_t n = strlen(l->text);

	snprintf(l->text + n, sizeof(l->text) - n, format, text);
}

/* As many as one look into the file's table takes. */
static void name_some(int symbols_fd, struct symbol_query *names, struct backtrace_line **of,
		      size_t n)
{
	if (n == 0 || symbols_lookup(symbols_fd, names, n) < 0) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (names[i].text[0]) {
			append(of[i], " = %s", names[i].text);
		}
	}
}

/**
 * backtrace_name() - put functions and offsets behind addresses that stand alone
 * @b: read
 * @symbols_fd: the kernel's file, or -1
 */
void backtrace_name(struct backtrace *b, int symbols_fd)
{
	struct symbol_query names[SYMBOLS_MAX];
	struct backtrace_line *of[SYMBOLS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct backtrace_line *l = &b->lines[i];
		const char *what = l->query >= 0 ? b->queries[l->query].what : "";

		if (!*what || !text_starts_with(what + 1, "0x")) {
			continue;
		}
		names[n].address = strtoull(what + 1, NULL, 16);
		of[n++] = l;
		if (n == SYMBOLS_MAX) {
			name_some(symbols_fd, names, of, n);
			n = 0;
		}
	}
	name_some(symbols_fd, names, of, n);
}

/**
 * backtrace_decode() - put file and line behind each line
 * @b: read, and named
 * @d: who knows them, or none
 * @deadline_ns: monotonic: how long to wait for it
 */
void backtrace_decode(struct backtrace *b, struct decoder *d, uint64_t deadline_ns)
{
	if (d->pid == 0 || b->query_count == 0) {
		return;
	}
	/* Of one that fails or is late, what has come is good. */
	(void)!decoder_ask(d, b->queries, b->query_count, deadline_ns);
	for (size_t i = 0; i < b->count; i++) {
		struct backtrace_line *l = &b->lines[i];

		if (l->query >= 0 && b->queries[l->query].place[0]) {
			append(l, " (%s)", b->queries[l->query].place);
			b->decoded = true;
		}
	}
}

/**
 * backtrace_to_json() - for the record
 * @b: read
 *
 * Return: an array of texts, a new reference, or NULL when there is no memory.
 */
json_t *backtrace_to_json(const struct backtrace *b)
{
	json_t *all = json_array();

	for (size_t i = 0; i < b->count; i++) {
		json_array_append_new(all, record_text_to_json(b->lines[i].text));
	}
	return all;
}
