/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan.h. Any thread. */
#include "engine/plan.h"

#include <errno.h>
#include <jansson.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

/**
 * plan_make_schedule() - draw the order of a plan's boots
 * @p: the plan, whole but for its boots
 * @e: set on failure
 *
 * Return: 0, -EBADMSG when a group has no blocks or there are too many boots, -ENOMEM.
 * Context: any thread.
 */
int plan_make_schedule(struct plan *p, struct err *e)
{
	struct schedule_group groups[SCHEDULE_GROUPS_MAX];
	size_t boots;

	for (size_t i = 0; i < p->group_count; i++) {
		const struct plan_group *g = &p->groups[i];

		if (g->blocks == 0) {
			return err_set(e, -EBADMSG, "the plan has no blocks");
		}
		groups[i] = (struct schedule_group){(unsigned int)g->arm_count, g->blocks};
	}
	boots = schedule_boots(groups, p->group_count);
	if (boots > SCHEDULE_BOOTS_MAX) {
		return err_set(e, -EBADMSG, "%zu boots: at most %u are planned", boots,
			       SCHEDULE_BOOTS_MAX);
	}
	if (schedule_make(p->seed, groups, p->group_count, &p->boots) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->boot_count = boots;
	return 0;
}

/**
 * plan_first_boot() - where the boots of a group begin
 * @p: the plan
 * @group: its number, below p->group_count
 *
 * Return: the slot of its first boot; block k begins 2 * arms * k slots behind it.
 * Context: any thread.
 */
size_t plan_first_boot(const struct plan *p, size_t group)
{
	size_t first = 0;

	for (size_t i = 0; i < group; i++) {
		first += 2 * p->groups[i].arm_count * p->groups[i].blocks;
	}
	return first;
}

/**
 * plan_boot_group() - the group of a boot
 * @p: the plan
 * @b: one of its boots
 *
 * Return: the group.
 * Context: any thread.
 */
const struct plan_group *plan_boot_group(const struct plan *p, const struct schedule_boot *b)
{
	return &p->groups[b->group];
}

/**
 * plan_boot_arm() - the arm of a boot
 * @p: the plan
 * @b: one of its boots
 *
 * Return: the arm.
 * Context: any thread.
 */
const struct plan_arm *plan_boot_arm(const struct plan *p, const struct schedule_boot *b)
{
	return &p->groups[b->group].arms[b->arm];
}

static const char *dump(const json_t *v, char **ret)
{
	*ret = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	return *ret ? *ret : "nothing";
}

/**
 * plan_check_same() - whether results are of this plan
 * @wanted: the plan line of now
 * @found: the plan line of the results
 * @e: set on failure, names the first difference and both values
 *
 * Return: 0, or -EEXIST when they differ.
 * Context: any thread.
 */
int plan_check_same(const char *wanted, const char *found, struct err *e)
{
	json_t *w, *f, *value;
	const char *key;
	int r;

	if (strcmp(wanted, found) == 0) {
		return 0;
	}
	w = json_loads(wanted, 0, NULL);
	f = json_loads(found, 0, NULL);
	r = err_set(e, -EEXIST, "these results are of another plan");
	json_object_foreach (w, key, value) {
		const json_t *other = json_object_get(f, key);

		if (!json_equal(value, other)) {
			_cleanup_free_ char *a = NULL;
			_cleanup_free_ char *b = NULL;

			r = err_set(e, -EEXIST,
				    "these results are of another plan: its %s is %.300s, not "
				    "%.300s",
				    key, dump(other, &a), dump(value, &b));
			break;
		}
	}
	json_decref(w);
	json_decref(f);
	return r;
}

static void to_hex(const uint8_t *digest, size_t n, char *ret_hex)
{
	for (size_t i = 0; i < n; i++) {
		sprintf(ret_hex + 2 * i, "%02x", digest[i]);
	}
}

/**
 * plan_key() - a short name for a plan: the beginning of its line's SHA-256
 * @line: the plan line
 * @ret_hex: set, with a NUL
 * @len: size of @ret_hex, 3 to PLAN_SHA256_HEX + 1
 *
 * Context: any thread.
 */
void plan_key(const char *line, char *ret_hex, size_t len)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)line, strlen(line));
	SHA256Final(digest, &ctx);
	to_hex(digest, (len - 1) / 2, ret_hex);
}

static void group_fini(struct plan_group *g)
{
	free(g->name);
	for (size_t i = 0; i < g->arm_count; i++) {
		free(g->arms[i].name);
		arm_fini(&g->arms[i].arm);
	}
	for (size_t i = 0; i < g->claim_count; i++) {
		claim_fini(&g->claims[i]);
	}
	free(g->arms);
	free(g->claims);
}

/**
 * plan_remove_group() - leave a group out of a plan that has no schedule yet
 * @p: the plan
 * @group: its number, below p->group_count
 *
 * Context: any thread.
 */
void plan_remove_group(struct plan *p, size_t group)
{
	group_fini(&p->groups[group]);
	p->group_count--;
	memmove(&p->groups[group], &p->groups[group + 1],
		(p->group_count - group) * sizeof(*p->groups));
}

/**
 * plan_fini() - free what a plan holds
 * @p: the plan; all zero or half built is fine
 *
 * Context: any thread.
 */
void plan_fini(struct plan *p)
{
	free(p->ringside_version);
	free(p->title);
	free(p->runner);
	free(p->backend);
	free(p->size.by);
	free(p->boots);
	for (size_t i = 0; i < p->group_count; i++) {
		group_fini(&p->groups[i]);
	}
	free(p->groups);
	*p = (struct plan){0};
}
