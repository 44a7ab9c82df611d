/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See doctor.h: the table of checks, the judgement and the printers. Pure. */
#include "cli/doctor.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "cli/status.h"

/* docs/doctor.md explains each of them; a test compares the two. */
static const struct check_kind kinds[] = {
	{"kvm-device", ROUTE_NATIVE, "/dev/kvm"},
	{"kvm-permission", ROUTE_NATIVE, "permission to read and write it"},
	{"kvm-api", ROUTE_NATIVE, "version 12"},
	{"cpu-virt", 0, "svm or vmx in /proc/cpuinfo"},
	{"ring0", ROUTE_NATIVE, "guest ring 0 as fast as ring 3"},
	{"class", 0, "ticks that follow the work done"},
	{"tsc", 0, "constant_tsc and nonstop_tsc"},
	{"qemu", ROUTE_LAB | ROUTE_QEMU, "qemu-system-x86_64 with the machine microvm"},
	{"qemu-9p", ROUTE_LAB, "QEMU's device virtio-9p-device"},
	{"kernel", ROUTE_ALL, "an image named base in the cache"},
	{"busybox", ROUTE_ALL, "a statically linked busybox"},
	{"agent", ROUTE_ALL, "ringside-agent beside ringside"},
	{"bench", ROUTE_ALL, "ringside-bench beside ringside"},
	{"memory", 0, "1536 MiB available"},
	{"cpus", 0, "2 CPUs, one of them for everything else"},
	{"huge-pages", 0, NULL},
	{"thp", 0, "always or madvise"},
	{"governor", 0, "performance"},
	{"smt", 0, "off"},
};

static const char *const status_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_WARN] = "warn",
	[CHECK_FAIL] = "fail",
	[CHECK_SKIP] = "skip",
};

static const struct {
	enum doctor_route route;
	const char *name;
	const char *about;
} routes[] = {
	{ROUTE_NATIVE, "native", "ringside's own VMM on this machine (ringside compare)"},
	{ROUTE_LAB, "lab",
	 "ringside's own VMM on an emulated host (tools/lab -- ringside compare)"},
	{ROUTE_QEMU, "qemu", "QEMU's software processor (ringside compare --backend qemu)"},
};

/**
 * doctor_kinds() - every check but the capabilities
 * @ret_count: their number
 *
 * Return: a static table.
 * Context: any thread.
 */
const struct check_kind *doctor_kinds(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(kinds);
	return kinds;
}

/**
 * doctor_add() - note a check
 * @d: the examination
 * @id: one of doctor_kinds(), or "kvm-cap-" and a capability's name
 * @status: as seen, before judging
 * @fmt: what was found
 *
 * Return: the new row, for doctor_advise(); never NULL.
 * Context: one thread.
 */
struct check *doctor_add(struct doctor *d, const char *id, enum check_status status,
			 const char *fmt, ...)
{
	struct check *c = &d->checks[d->count];
	va_list ap;

	assert(d->count < DOCTOR_CHECKS_MAX);
	d->count++;
	*c = (struct check){.status = status};
	snprintf(c->id, sizeof(c->id), "%s", id);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].id, id) == 0) {
			c->routes = kinds[i].routes;
			c->needed = kinds[i].needed;
		}
	}
	va_start(ap, fmt);
	vsnprintf(c->found, sizeof(c->found), fmt, ap);
	va_end(ap);
	return c;
}

/**
 * doctor_advise() - say what to do about a check that is not well
 * @c: from doctor_add()
 * @fmt: an instruction
 *
 * Context: one thread.
 */
void doctor_advise(struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->advice, sizeof(c->advice), fmt, ap);
	va_end(ap);
}

/**
 * doctor_judge() - find the routes that are open, and weigh each failure by that
 * @d: with all its checks
 *
 * A route is open when no check that it needs failed. As long as one is open a failure only takes
 * the others away, which is a warning.
 *
 * Context: pure.
 */
void doctor_judge(struct doctor *d)
{
	d->routes = ROUTE_ALL;
	for (size_t i = 0; i < d->count; i++) {
		if (d->checks[i].status == CHECK_FAIL) {
			d->routes &= ~d->checks[i].routes;
		}
	}
	for (size_t i = 0; i < d->count; i++) {
		struct check *c = &d->checks[i];

		if (c->status == CHECK_FAIL && (d->routes || !c->routes)) {
			c->status = CHECK_WARN;
		}
	}
}

/**
 * doctor_exit_status() - the program's exit status
 * @d: a judged examination
 *
 * Return: STATUS_OK when a route is open, else STATUS_ENVIRONMENT.
 * Context: pure.
 */
int doctor_exit_status(const struct doctor *d)
{
	return d->routes ? STATUS_OK : STATUS_ENVIRONMENT;
}

static void print_routes(const struct doctor *d, FILE *out)
{
	fputs("\nWays to compare two kernels on this machine:\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		fprintf(out, "  %-3s  %-6s  %s\n", d->routes & routes[i].route ? "yes" : "no",
			routes[i].name, routes[i].about);
	}
	if (!d->routes) {
		fputs("None of them is open: see the lines that say fail.\n", out);
	}
}

/**
 * doctor_print() - the examination for people: one line a check, advice below it
 * @d: a judged examination
 * @out: where to
 *
 * Context: any thread.
 */
void doctor_print(const struct doctor *d, FILE *out)
{
	int width = 0;

	for (size_t i = 0; i < d->count; i++) {
		int n = (int)strlen(d->checks[i].id);

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < d->count; i++) {
		const struct check *c = &d->checks[i];

		fprintf(out, "%-4s  %-*s  %s", status_names[c->status], width, c->id, c->found);
		if ((c->status == CHECK_WARN || c->status == CHECK_FAIL) && c->needed) {
			fprintf(out, " (needed: %s)", c->needed);
		}
		fputc('\n', out);
		if (c->status != CHECK_OK && c->advice[0]) {
			fprintf(out, "%*s%s\n", 8 + width, "", c->advice);
		}
	}
	if (d->class.known) {
		fprintf(out, "\nExecution class %s: %s. Unit: %s.\n",
			exec_class_name(d->class.class), exec_class_about(d->class.class),
			exec_class_unit(d->class.class));
	}
	print_routes(d, out);
}

static json_t *class_json(const struct class_result *c)
{
	if (!c->known) {
		return json_pack("{s:n, s:n, s:n, s:s}", "name", "unit", "ticks_per_unit",
				 "evidence", c->evidence);
	}
	return json_pack("{s:s, s:s, s:I, s:s}", "name", exec_class_name(c->class), "unit",
			 exec_class_unit(c->class), "ticks_per_unit",
			 (json_int_t)exec_class_ticks_per_unit(c->class, c->icount_shift),
			 "evidence", c->evidence);
}

/**
 * doctor_json() - the examination as one JSON object
 * @d: a judged examination
 *
 * Return: a new object, or NULL when memory is short.
 * Context: any thread.
 */
json_t *doctor_json(const struct doctor *d)
{
	json_t *root =
		json_pack("{s:i, s:s, s:s, s:o, s:[], s:{}, s:i}", "schema_version", 1, "type",
			  "doctor", "version", RINGSIDE_VERSION, "class", class_json(&d->class),
			  "checks", "routes", "exit_status", doctor_exit_status(d));
	json_t *checks = json_object_get(root, "checks");

	for (size_t i = 0; i < d->count; i++) {
		const struct check *c = &d->checks[i];
		bool well = c->status == CHECK_OK;

		json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "id", c->id,
							"status", status_names[c->status], "found",
							c->found, "needed", c->needed, "advice",
							well || !c->advice[0] ? NULL : c->advice));
	}
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		json_object_set_new(json_object_get(root, "routes"), routes[i].name,
				    json_boolean(d->routes & routes[i].route));
	}
	return root;
}
