/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Result lines. Short, for each byte may cost the guest an exit. See bench.h. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void put_numbers(FILE *f, const char *key, const uint64_t *v, unsigned int n)
{
	fprintf(f, ",\"%s\":[", key);
	for (unsigned int i = 0; i < n; i++) {
		fprintf(f, i ? ",%" PRIu64 : "%" PRIu64, v[i]);
	}
	fputc(']', f);
}

static void put_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\') {
			fprintf(f, "\\%c", *p);
		} else if (*p < ' ' || *p > '~') {
			fprintf(f, "\\u%04x", *p);
		} else {
			fputc(*p, f);
		}
	}
	fputc('"', f);
}

static int finish(FILE *f, char **text)
{
	if (fclose(f) != 0) {
		free(*text);
		*text = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * result_line() - the line of a benchmark that went well
 * @r: a run that is complete
 * @ret: set on success, ends with a newline; the caller frees it
 * @ret_len: set on success, bytes
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int result_line(const struct run *r, char **ret, size_t *ret_len)
{
	FILE *f = open_memstream(ret, ret_len);
	char bank[16] = "null";

	if (!f) {
		return -ENOMEM;
	}
	if (r->bank >= 0) {
		snprintf(bank, sizeof(bank), "%d", r->bank);
	}
	fprintf(f,
		"{\"type\":\"bench\",\"name\":\"%s\",\"calls\":%u,\"per_call\":\"%s\",\"window0\":%u,"
		"\"batches\":%u",
		r->bench->name, r->calls, r->bench->unit, r->window0, r->batches);
	put_numbers(f, "ticks", r->ticks, r->batches);
	put_numbers(f, "empty", r->empty, r->batches);
	put_numbers(f, "irqs", r->irqs, r->batches);
	put_numbers(f, "nivcsw", r->nivcsw, r->batches);
	if (r->ticks_hz) {
		fprintf(f, ",\"ticks_hz\":%" PRIu64, r->ticks_hz);
	}
	fprintf(f,
		",\"calltime_bank\":%s,\"facts\":{\"fsgsbase\":%s,\"pti\":%s,\"nopti\":%s,\"policy\":\"%s\",\"cpu\":%d,"
		"\"tick\":%" PRIu64 ",\"stackpad\":%u}}\n",
		bank, r->machine->fsgsbase ? "true" : "false", r->machine->pti ? "true" : "false",
		r->machine->nopti ? "true" : "false", r->machine->fifo ? "fifo" : "other",
		r->machine->cpu, r->machine->tick_ticks, r->machine->stack_pad);
	return finish(f, ret);
}

/**
 * result_error_line() - the line of a benchmark that failed an assertion
 * @name: the benchmark
 * @text: what was wrong
 * @ret: set on success, ends with a newline; the caller frees it
 * @ret_len: set on success, bytes
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int result_error_line(const char *name, const char *text, char **ret, size_t *ret_len)
{
	FILE *f = open_memstream(ret, ret_len);

	if (!f) {
		return -ENOMEM;
	}
	fputs("{\"type\":\"bench\",\"name\":", f);
	put_text(f, name);
	fputs(",\"error\":", f);
	put_text(f, text);
	fputs("}\n", f);
	return finish(f, ret);
}
