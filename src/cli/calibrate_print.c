/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calibrate.h: the text. */
#include "cli/calibrate.h"

#include <math.h>
#include <string.h>

#define NUMBER_MAX 32

/* Four digits that count, but never more than three behind the point. 'x' is not infinite. */
static void put(char *ret, double x)
{
	double size = fabs(x);

	if (isnan(x)) {
		snprintf(ret, NUMBER_MAX, "-");
	} else {
		snprintf(ret, NUMBER_MAX, "%.*f",
			 size < 10     ? 3
			 : size < 100  ? 2
			 : size < 1000 ? 1
				       : 0,
			 x);
	}
}

/* Too few replicates have no interval. */
static void put_interval(char *ret, size_t len, double low, double high)
{
	char a[NUMBER_MAX], b[NUMBER_MAX];

	if (isinf(low) || isinf(high)) {
		snprintf(ret, len, "-");
		return;
	}
	put(a, low);
	put(b, high);
	snprintf(ret, len, "[%s, %s]", a, b);
}

static void print_primitive(const struct calibration_primitive *p, FILE *out)
{
	char median[NUMBER_MAX], core[NUMBER_MAX], interval[2 * NUMBER_MAX + 8];

	if (isnan(p->number.median)) {
		fprintf(out, "  %-24s %4u  not measured: %s\n", p->name, p->ring, p->reason);
		return;
	}
	put(median, p->number.median);
	put(core, p->core_cycles.median);
	put_interval(interval, sizeof(interval), p->number.low, p->number.high);
	fprintf(out, "  %-24s %4u  %-6s %10s  %-22s %10s %4llu  %s\n", p->name, p->ring,
		p->native ? "yes" : "no", median, interval, core, (unsigned long long)p->n,
		p->unit);
}

static void print_floor(const struct calibration_floor *f, FILE *out)
{
	char value[NUMBER_MAX], interval[2 * NUMBER_MAX + 8];

	if (isnan(f->value)) {
		fprintf(out, "  %-16s none: %s\n", f->id, f->reason);
	} else {
		put(value, f->value);
		put_interval(interval, sizeof(interval), f->low, f->high);
		fprintf(out, "  %-16s %s %s %s\n", f->id, value, f->unit, interval);
	}
	fprintf(out, "  %-16s = %s\n", "", f->formula);
}

/* Where the class has a unit of its own, and where ring 3 has another one. */
static void print_units(const struct calibration *c, FILE *out)
{
	char ratio[NUMBER_MAX], interval[2 * NUMBER_MAX + 8];
	const uint64_t ticks = exec_class_ticks_per_unit(c->class, c->icount_shift);

	if (c->class == EXEC_EMULATED) {
		fputs("  Ring 3 is run by the processor itself (native), ring 0 is interpreted: what "
		      "needs ring 0\n  is not measured.\n",
		      out);
	}
	if (ticks > 1) {
		fprintf(out, "  %llu ticks of the TSC make one of the %s.\n",
			(unsigned long long)ticks, exec_class_unit(c->class));
	}
	if (c->class == EXEC_ICOUNT) {
		fputs("  Every instruction counts as one: a fence, a WRMSR and a write of CR3 too.\n",
		      out);
	}
	if (isfinite(c->ticks_per_cycle.median)) {
		put(ratio, c->ticks_per_cycle.median);
		put_interval(interval, sizeof(interval), c->ticks_per_cycle.low,
			     c->ticks_per_cycle.high);
		fprintf(out,
			"  A cycle is a tick of the TSC. A core cycle, from a chain of additions, is "
			"%s of them %s.\n",
			ratio, interval);
	}
}

/**
 * calibrate_print() - a calibration as text
 * @c: a calibration
 * @out: gets it
 *
 * Context: any thread.
 */
void calibrate_print(const struct calibration *c, FILE *out)
{
	fprintf(out, "Calibration: class %s: %s\n", exec_class_name(c->class),
		exec_class_about(c->class));
	if (c->evidence[0]) {
		fprintf(out, "  %s\n", c->evidence);
	}
	if (c->host_cpu[0]) {
		fprintf(out, "  host: %s, Linux %s\n", c->host_cpu, c->host_kernel);
	}
	print_units(c, out);
	fprintf(out,
		"\nPrimitives, one operation each: median of %llu replicates, 95 %% interval\n"
		"  %-24s %4s  %-6s %10s  %-22s %10s %4s  %s\n",
		(unsigned long long)c->replicates, "name", "ring", "native", "median", "interval",
		"core cyc.", "n", "unit");
	for (size_t i = 0; i < c->primitive_count; i++) {
		print_primitive(&c->primitives[i], out);
	}
	fputs("\nFloors: what a change can save at best on this machine (below 0: what it costs)\n",
	      out);
	for (size_t i = 0; i < c->floor_count; i++) {
		print_floor(&c->floors[i], out);
	}
}
