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

/* Blocks before those of a group. */
static size_t first_block(const struct plan *p, size_t group)
{
	size_t n = 0;

	for (size_t i = 0; i < group; i++) {
		n += p->groups[i].blocks;
	}
	return n;
}

/**
 * plan_check_shards() - whether every shard of a plan has a block
 * @p: the plan
 * @e: set on failure
 *
 * Return: 0, or -EINVAL.
 * Context: any thread.
 */
int plan_check_shards(const struct plan *p, struct err *e)
{
	size_t blocks = first_block(p, p->group_count);

	if (p->shards > blocks) {
		return err_set(e, -EINVAL,
			       "%u shards of %zu blocks: a block is booted whole, so there are at "
			       "most as many shards as blocks",
			       p->shards, blocks);
	}
	return 0;
}

/**
 * plan_shard_of() - which shard boots a boot
 * @p: a plan in shards
 * @slot: of the boot, below p->boot_count
 *
 * The blocks of all groups are dealt out in turn, each whole: a difference is one of boots that
 * stood side by side.
 *
 * Return: from 1 to p->shards.
 * Context: any thread.
 */
unsigned int plan_shard_of(const struct plan *p, size_t slot)
{
	const struct schedule_boot *b = &p->boots[slot];

	return (unsigned int)((first_block(p, b->group) + b->block) % p->shards) + 1;
}

/**
 * plan_is_ours() - whether a boot is one of those that this shard boots
 * @p: the plan
 * @slot: of the boot, below p->boot_count
 *
 * Return: whether; always, where the plan is not in shards.
 * Context: any thread.
 */
bool plan_is_ours(const struct plan *p, size_t slot)
{
	return p->shards == 0 || plan_shard_of(p, slot) == p->shard;
}

/**
 * plan_share() - how many boots are this shard's
 * @p: the plan
 *
 * Return: the number; that of all boots where the plan is not in shards.
 * Context: any thread.
 */
size_t plan_share(const struct plan *p)
{
	size_t n = 0;

	for (size_t slot = 0; slot < p->boot_count; slot++) {
		n += plan_is_ours(p, slot);
	}
	return n;
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

#define PATH_ROOM 128

/* Adds a key or an index to the path of a value. */
static void go_down(char *path, const char *key, size_t index)
{
	size_t len = strlen(path);

	if (key) {
		snprintf(path + len, PATH_ROOM - len, "%s%s", len ? "." : "", key);
	} else {
		snprintf(path + len, PATH_ROOM - len, "[%zu]", index);
	}
}

/* Goes down to the first value in which two that are not equal differ. */
static void find_difference(const json_t **w, const json_t **f, char *path)
{
	const json_t *a = *w, *b = *f, *value;
	const char *key;
	size_t i;

	if (json_is_array(a) && json_array_size(a) == json_array_size(b)) {
		json_array_foreach (a, i, value) {
			if (!json_equal(value, json_array_get(b, i))) {
				*w = value;
				*f = json_array_get(b, i);
				go_down(path, NULL, i);
				find_difference(w, f, path);
				return;
			}
		}
	}
	if (!json_is_object(a) || !json_is_object(b)) {
		return;
	}
	json_object_foreach ((json_t *)a, key, value) {
		if (!json_equal(value, json_object_get(b, key))) {
			*w = value;
			*f = json_object_get(b, key);
			go_down(path, key, 0);
			find_difference(w, f, path);
			return;
		}
	}
	/* What is in both is the same: one has more. */
	json_object_foreach ((json_t *)b, key, value) {
		if (!json_object_get(a, key)) {
			*w = NULL;
			*f = value;
			go_down(path, key, 0);
			return;
		}
	}
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
	_cleanup_free_ char *a = NULL;
	_cleanup_free_ char *b = NULL;
	char path[PATH_ROOM] = "";
	const json_t *in_w, *in_f;
	json_t *w, *f;

	if (strcmp(wanted, found) == 0) {
		return 0;
	}
	w = json_loads(wanted, 0, NULL);
	f = json_loads(found, 0, NULL);
	in_w = w;
	in_f = f;
	find_difference(&in_w, &in_f, path);
	err_set(e, -EEXIST, "these results are of another plan: its %s is %.200s, not %.200s", path,
		dump(in_f, &a), dump(in_w, &b));
	json_decref(w);
	json_decref(f);
	return -EEXIST;
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
	free(g->margins);
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
