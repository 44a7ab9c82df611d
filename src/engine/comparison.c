/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See comparison.h. Main thread. */
#include "engine/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/outcome.h"
#include "samples/results.h"

/**
 * comparison_set_plan() - begin with a plan
 * @c: all zero
 * @take: the plan; taken over, and all zero afterwards, on success
 * @e: set on failure
 *
 * Return: 0, -EINVAL when the plan cannot be written, -ENOMEM.
 * Context: main thread.
 */
int comparison_set_plan(struct comparison *c, struct plan *take, struct err *e)
{
	struct boot_record **boots = calloc(take->boot_count, sizeof(struct boot_record *));
	size_t *failed = calloc(take->group_count, sizeof(*failed));
	char *text = NULL;
	int r = boots && failed ? plan_line(take, &text, e) : err_set(e, -ENOMEM, "out of memory");

	if (r < 0) {
		free(boots);
		free(failed);
		return r;
	}
	c->boots = boots;
	c->failed = failed;
	c->plan_text = text;
	c->plan = *take;
	*take = (struct plan){0};
	return 0;
}

/* Whether an outcome is the machine's or the user's doing and says nothing about the guest. */
static bool is_our_failure(const char *kind)
{
	static const enum outcome_kind ours[] = {
		OUTCOME_KIND_NO_KVM, OUTCOME_KIND_INTERNAL, OUTCOME_KIND_USAGE,
		OUTCOME_KIND_OUTPUT, OUTCOME_KIND_SIGNAL,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		if (strcmp(kind, outcome_kind_name(ours[i])) == 0) {
			return true;
		}
	}
	return false;
}

/**
 * comparison_judge() - what a boot's record is good for
 * @c: the comparison
 * @r: the record, of one of its boots
 * @ret_why: set, one sentence for people; empty for a whole boot
 * @len: size of @ret_why
 *
 * Return: the use.
 * Context: any thread.
 */
enum boot_use comparison_judge(const struct comparison *c, const struct boot_record *r,
			       char *ret_why, size_t len)
{
	const char *colon = *r->outcome_text ? ": " : "";

	ret_why[0] = '\0';
	if (is_our_failure(r->outcome_kind)) {
		snprintf(ret_why, len, "%s%s%s", r->outcome_kind, colon, r->outcome_text);
		return BOOT_NOT_THERE;
	}
	if (r->status != 0 || strcmp(r->outcome_kind, outcome_kind_name(OUTCOME_KIND_EXIT)) != 0) {
		/* A benchmark that refused to run says more than the status that came of it. */
		for (size_t i = 0; i < r->bench_count; i++) {
			if (r->benches[i].error && !r->benches[i].is_probe) {
				snprintf(ret_why, len, "%s: %s", r->benches[i].name,
					 r->benches[i].error);
				return BOOT_FAILED;
			}
		}
		snprintf(ret_why, len, "%s (status %" PRId64 ")%s%s", r->outcome_kind, r->status,
			 colon, r->outcome_text);
		return BOOT_FAILED;
	}
	for (size_t i = 0; i < benchmark_count(); i++) {
		const struct boot_bench *b = boot_record_find(r, benchmark_name(i));

		if (!benchmark_in(c->plan.groups[r->group].benches, i)) {
			continue;
		}
		if (!b || b->error) {
			snprintf(ret_why, len, "%s: %s", benchmark_name(i),
				 b ? b->error : "the guest sent no result");
			return BOOT_FAILED;
		}
	}
	return BOOT_WHOLE;
}

static int differs(struct err *e, const char *what, const char *found, const char *first)
{
	return err_set(e, -EXDEV,
		       "this boot's %s is '%s', that of the boots before it '%s': one "
		       "comparison is of one machine",
		       what, found, first);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Processors may differ only between arms of which one asks for it. */
static int check_cpu(const struct comparison *c, const struct boot_record *r, struct err *e)
{
	const struct schedule_boot *mine = &c->plan.boots[r->slot];
	const char *cpu = plan_boot_arm(&c->plan, mine)->arm.cpu;

	for (size_t i = 0; *r->cpu_print && i < c->plan.boot_count; i++) {
		const struct schedule_boot *other = &c->plan.boots[i];
		const struct boot_record *o = c->boots[i];

		if (!o || !*o->cpu_print || strcmp(o->cpu_print, r->cpu_print) == 0 ||
		    !same_text(plan_boot_arm(&c->plan, other)->arm.cpu, cpu)) {
			continue;
		}
		return err_set(e, -EXDEV,
			       "CPUID of this boot of arm %s (%s) is not that of boot %zu of arm "
			       "%s (%s), and neither arm asks for a difference with cpu=",
			       arm_name(mine->arm), r->cpu_print, i + 1, arm_name(other->arm),
			       o->cpu_print);
	}
	return 0;
}

/*
 * Cycles are those of a processor. What QEMU counts depends on its version, not on what it runs on.
 */
static int check_host(const struct boot_record *r, const struct boot_record *first, struct err *e)
{
	if (r->exec_class == EXEC_ICOUNT && *r->qemu_version && *first->qemu_version) {
		return strcmp(r->qemu_version, first->qemu_version) == 0
			       ? 0
			       : differs(e, "QEMU", r->qemu_version, first->qemu_version);
	}
	return strcmp(r->host_cpu, first->host_cpu) == 0
		       ? 0
		       : differs(e, "host CPU", r->host_cpu, first->host_cpu);
}

/**
 * comparison_check_alike() - whether a boot belongs to those that are there
 * @c: the comparison
 * @r: the record, of one of its boots
 * @e: set on failure
 *
 * It must be of the kernel that was planned, and on a machine like that of the others.
 *
 * Return: 0, or -EXDEV.
 * Context: any thread.
 */
int comparison_check_alike(const struct comparison *c, const struct boot_record *r, struct err *e)
{
	const struct schedule_boot *b = &c->plan.boots[r->slot];
	const struct boot_record *first = c->first;
	char ticks[2][24];
	int code;

	if (*r->kernel_sha256 &&
	    strcmp(r->kernel_sha256, plan_boot_arm(&c->plan, b)->sha256) != 0) {
		return err_set(e, -EXDEV,
			       "it booted the kernel %.16s..., arm %s is %.16s...: the "
			       "file was changed",
			       r->kernel_sha256, arm_name(b->arm),
			       plan_boot_arm(&c->plan, b)->sha256);
	}
	if (!first || !r->has_class) {
		return 0;
	}
	if (r->exec_class != first->exec_class) {
		return differs(e, "execution class", exec_class_name(r->exec_class),
			       exec_class_name(first->exec_class));
	}
	code = check_host(r, first, e);
	if (code < 0) {
		return code;
	}
	if (r->ticks_per_unit != first->ticks_per_unit) {
		snprintf(ticks[0], sizeof(ticks[0]), "%" PRIu64, r->ticks_per_unit);
		snprintf(ticks[1], sizeof(ticks[1]), "%" PRIu64, first->ticks_per_unit);
		return differs(e, "number of ticks per unit", ticks[0], ticks[1]);
	}
	return check_cpu(c, r, e);
}

static void keep_boot(struct comparison *c, struct boot_record *r, enum boot_use use)
{
	c->done++;
	c->failed[r->group] += use == BOOT_FAILED;
	if (!c->first && r->has_class) {
		c->first = r;
	}
	c->boots[r->slot] = r;
}

static int add_boot(struct comparison *c, const char *text, size_t len, struct err *e)
{
	_cleanup_(boot_record_destroy_p) struct boot_record *r = NULL;
	const struct schedule_boot *b;
	enum boot_use use;
	int code = boot_record_parse(text, len, &r, e);

	if (code < 0) {
		return code;
	}
	if (r->slot < 0 || (uint64_t)r->slot >= c->plan.boot_count) {
		return err_set(e, -EBADMSG, "boot %" PRId64 " is not in the plan", r->slot);
	}
	b = &c->plan.boots[r->slot];
	if (r->group != b->group || r->block != b->block || r->arm != *arm_name(b->arm)) {
		return err_set(e, -EBADMSG,
			       "boot %" PRId64 " is not of the group, block and arm that the "
			       "plan says",
			       r->slot);
	}
	if (!plan_is_ours(&c->plan, (size_t)r->slot)) {
		return err_set(e, -EBADMSG,
			       "boot %" PRId64 " is of shard %u, these are of shard %u", r->slot,
			       plan_shard_of(&c->plan, (size_t)r->slot), c->plan.shard);
	}
	use = comparison_judge(c, r, c->last_why, sizeof(c->last_why));
	c->last_use = use;
	if (use == BOOT_NOT_THERE) {
		return 0;
	}
	if (c->boots[r->slot]) {
		return err_set(e, -EBADMSG, "boot %" PRId64 " stands twice in it", r->slot);
	}
	code = comparison_check_alike(c, r, e);
	if (code < 0) {
		return code;
	}
	c->last_slot = r->slot;
	keep_boot(c, TAKE_PTR(r), use);
	return 0;
}

/**
 * comparison_take() - take over the boots of another part of a comparison
 * @c: of the same plan, whatever the shard; has none of these boots, and is alike
 * @from: has no boots afterwards
 *
 * Context: main thread.
 */
void comparison_take(struct comparison *c, struct comparison *from)
{
	char why[COMPARISON_WHY_MAX];

	from->first = NULL;
	for (size_t slot = 0; slot < from->plan.boot_count; slot++) {
		struct boot_record *r = TAKE_PTR(from->boots[slot]);

		if (r) {
			keep_boot(c, r, comparison_judge(c, r, why, sizeof(why)));
			from->done--;
		}
	}
	if (!c->calibration) {
		c->calibration = TAKE_PTR(from->calibration);
	}
	if (!c->no_calibration) {
		c->no_calibration = TAKE_PTR(from->no_calibration);
	}
	if (!c->has_noise) {
		c->noise = from->noise;
		c->has_noise = from->has_noise;
		from->noise = (struct noise){0};
		from->has_noise = false;
	}
}

/* Whether a line is of a type; each writes it as its second key, behind the schema's version. */
static bool is_of_type(const char *text, size_t len, const char *type)
{
	char want[64];
	int n = snprintf(want, sizeof(want), "\"type\":\"%s\"", type);

	return memmem(text, len < sizeof(want) ? len : sizeof(want), want, (size_t)n) != NULL;
}

static int add_calibration(struct comparison *c, const char *text, size_t len, struct err *e)
{
	struct calibration *read;
	int r = calibration_parse(text, len, "the calibration", &read, e);

	if (r == 0) {
		free(c->calibration);
		c->calibration = read;
	}
	return r;
}

static int add_no_calibration(struct comparison *c, const char *text, size_t len, struct err *e)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	const char *reason = json_string_value(json_object_get(root, "reason"));
	char *copy = reason ? strdup(reason) : NULL;

	json_decref(root);
	if (!copy) {
		return reason ? err_set(e, -ENOMEM, "out of memory")
			      : err_set(e, -EBADMSG, "it does not say why there is no calibration");
	}
	free(c->calibration);
	free(c->no_calibration);
	c->calibration = NULL;
	c->no_calibration = copy;
	return 0;
}

/* The first line counts: what the host knew when the comparison ended. */
static int add_noise(struct comparison *c, const char *text, size_t len, struct err *e)
{
	struct noise n;
	int r = noise_parse(text, len, &n, e);

	if (r < 0) {
		return r;
	}
	if (c->has_noise) {
		noise_fini(&n);
		return 0;
	}
	c->noise = n;
	c->has_noise = true;
	return 0;
}

/**
 * comparison_add_line() - take in a line of a results file
 * @c: the comparison; without a plan yet, the line must be one
 * @text: the line
 * @len: its length, bytes
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no such line, -EPROTO for a newer schema, -EXDEV for a boot of
 * another kernel or machine and for a second plan, -EINVAL, -ENOMEM.
 * Context: main thread.
 */
int comparison_add_line(struct comparison *c, const char *text, size_t len, struct err *e)
{
	struct plan p;
	int r;

	c->last_slot = COMPARISON_NO_BOOT;
	if (c->plan_text && is_of_type(text, len, "calibration")) {
		c->last_slot = COMPARISON_FLOORS;
		return add_calibration(c, text, len, e);
	}
	if (c->plan_text && is_of_type(text, len, COMPARISON_NO_CALIBRATION)) {
		c->last_slot = COMPARISON_FLOORS;
		return add_no_calibration(c, text, len, e);
	}
	if (c->plan_text && is_of_type(text, len, "plan")) {
		return err_set(e, -EXDEV,
			       "a second plan: a file has the results of one comparison");
	}
	if (c->plan_text && is_of_type(text, len, NOISE_LINE)) {
		c->last_slot = COMPARISON_NOISE;
		return add_noise(c, text, len, e);
	}
	if (c->plan_text) {
		return add_boot(c, text, len, e);
	}
	r = plan_parse(text, len, &p, e);
	if (r < 0) {
		return r;
	}
	r = comparison_set_plan(c, &p, e);
	if (r < 0) {
		plan_fini(&p);
	}
	return r;
}

static int on_line(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	return comparison_add_line(ctx, text, len, e);
}

/**
 * comparison_read() - read a results file without touching it
 * @c: all zero; end it with comparison_fini(), also on failure
 * @path: the file
 * @e: set on failure
 *
 * Return: 0, -ENODATA for a file without a plan, or as comparison_add_line() and results_read().
 * Context: main thread.
 */
int comparison_read(struct comparison *c, const char *path, struct err *e)
{
	struct results_scan scan;
	int r = results_read(path, on_line, c, &scan, e);

	if (r < 0) {
		return r;
	}
	if (!c->plan_text) {
		return err_set(e, -ENODATA, "%s: there is no plan in it", path);
	}
	if (scan.dropped > 0) {
		log_warn("%s: the last record is cut off after %" PRIu64 " bytes, and left out",
			 path, scan.dropped);
	}
	return 0;
}

/**
 * comparison_fini() - free what a comparison holds
 * @c: the comparison; all zero is fine
 *
 * Context: main thread.
 */
void comparison_fini(struct comparison *c)
{
	for (size_t i = 0; c->boots && i < c->plan.boot_count; i++) {
		boot_record_destroy(c->boots[i]);
	}
	free(c->boots);
	free(c->failed);
	free(c->calibration);
	free(c->no_calibration);
	noise_fini(&c->noise);
	free(c->plan_text);
	plan_fini(&c->plan);
	*c = (struct comparison){0};
}
