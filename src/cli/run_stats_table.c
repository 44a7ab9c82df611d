/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of --stats -: all vCPUs together, one line a place, what took longest first. */
#include "cli/run_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vmm/vmm.h"

struct line {
	char place[40];
	char device[24];
	uint64_t counts[MACHINE_PHASES];
	uint64_t count, total_ns, min_ns, max_ns;
};

struct table {
	struct line *lines;
	size_t count;
	bool failed;
};

static struct line *line_of(struct table *t, const char *place)
{
	struct line *more;

	for (size_t i = 0; i < t->count; i++) {
		if (strcmp(t->lines[i].place, place) == 0) {
			return &t->lines[i];
		}
	}
	more = reallocarray(t->lines, t->count + 1, sizeof(*more));
	if (!more) {
		t->failed = true;
		return NULL;
	}
	t->lines = more;
	more = &t->lines[t->count++];
	*more = (struct line){.min_ns = UINT64_MAX};
	snprintf(more->place, sizeof(more->place), "%s", place);
	return more;
}

static void add(void *ctx, const struct machine_exit_stat *s)
{
	struct line *l;
	char place[40];

	if (s->access) {
		snprintf(place, sizeof(place), "%s 0x%" PRIx64, s->access, s->address);
	} else {
		snprintf(place, sizeof(place), "%s", s->reason);
	}
	l = line_of(ctx, place);
	if (!l) {
		return;
	}
	snprintf(l->device, sizeof(l->device), "%s", s->device ? s->device : "-");
	l->counts[s->phase] += s->count;
	l->count += s->count;
	l->total_ns += s->total_ns;
	l->min_ns = s->min_ns < l->min_ns ? s->min_ns : l->min_ns;
	l->max_ns = s->max_ns > l->max_ns ? s->max_ns : l->max_ns;
}

static bool comes_before(const struct line *a, const struct line *b)
{
	return a->total_ns != b->total_ns ? a->total_ns > b->total_ns
					  : strcmp(a->place, b->place) < 0;
}

/* Not qsort(), which asks the kernel how much memory there is: there are few lines. */
static void sort(struct table *t)
{
	for (size_t i = 1; i < t->count; i++) {
		struct line l = t->lines[i];
		size_t at = i;

		for (; at > 0 && comes_before(&l, &t->lines[at - 1]); at--) {
			t->lines[at] = t->lines[at - 1];
		}
		t->lines[at] = l;
	}
}

static void print_lines(FILE *f, const struct machine *m, const struct table *t)
{
	uint64_t count = 0, ns = 0, wall = 0;

	for (size_t i = 0; i < t->count; i++) {
		count += t->lines[i].count;
		ns += t->lines[i].total_ns;
	}
	for (unsigned int p = 0; p < MACHINE_PHASES; p++) {
		wall += machine_phase_ns(m, p);
	}
	fprintf(f,
		"exits to user space: %" PRIu64 ", which took %.3f ms of the guest's %.3f ms\n"
		"%-20s %-16s %9s %9s %9s %7s %9s %9s %9s\n",
		count, (double)ns / 1e6, (double)wall / 1e6, "exit", "device", "boot", "job",
		"batch", "time", "min us", "mean us", "max us");
	for (size_t i = 0; i < t->count; i++) {
		const struct line *l = &t->lines[i];

		fprintf(f,
			"%-20s %-16s %9" PRIu64 " %9" PRIu64 " %9" PRIu64
			" %6.2f%% %9.2f %9.2f %9.2f\n",
			l->place, l->device, l->counts[MACHINE_PHASE_BOOT],
			l->counts[MACHINE_PHASE_JOB], l->counts[MACHINE_PHASE_BATCH],
			ns ? 100.0 * (double)l->total_ns / (double)ns : 0.0,
			(double)l->min_ns / 1e3, (double)l->total_ns / 1e3 / (double)l->count,
			(double)l->max_ns / 1e3);
	}
}

static void print_known(FILE *f, const char *before, uint64_t value, double unit, const char *after)
{
	if (value == MACHINE_NO_VALUE) {
		fprintf(f, "%s?%s", before, after);
	} else {
		fprintf(f, "%s%.*f%s", before, unit > 1 ? 3 : 0, (double)value / unit, after);
	}
}

static void print_threads(FILE *f, const struct machine *m)
{
	for (unsigned int i = 0; i < machine_vcpus(m); i++) {
		fprintf(f, "vCPU %u:", i);
		for (unsigned int p = 0; p < MACHINE_PHASES; p++) {
			struct machine_thread_stat t;

			machine_thread_stat(m, i, p, &t);
			fprintf(f, "%s %s", p ? ";" : "", machine_phase_name(p));
			print_known(f, " waited ", t.steal_ns, 1e6, " ms for a CPU,");
			print_known(f, " preempted ", t.nivcsw, 1, " times");
		}
		fputc('\n', f);
	}
}

/**
 * run_stats_table() - the statistics for people
 * @m: a machine with exit_stats that has ended
 * @ret: set on success, lines; the caller frees it
 *
 * Return: 0 or −ENOMEM.
 */
int run_stats_table(const struct machine *m, char **ret)
{
	struct table t = {0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		return -ENOMEM;
	}
	machine_exit_stats_each(m, add, &t);
	sort(&t);
	print_lines(f, m, &t);
	print_threads(f, m);
	free(t.lines);
	if (fclose(f) != 0 || t.failed) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}
