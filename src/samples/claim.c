/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See claim.h. Pure; any thread. */
#include "samples/claim.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Every member by its name in JSON: writing, reading and freeing go by these tables. */
static const struct {
	const char *key;
	size_t at;
	bool required;
} texts[] = {
	{"text", offsetof(struct claim, text), true},
	{"source", offsetof(struct claim, source), true},
	{"hardware", offsetof(struct claim, hardware), true},
	{"unit", offsetof(struct claim, unit), false},
	{"of", offsetof(struct claim, of), false},
	{"bench", offsetof(struct claim, bench), true},
	{"against", offsetof(struct claim, against), false},
	{"floor", offsetof(struct claim, floor), false},
	{"no_floor", offsetof(struct claim, no_floor), false},
	{"note", offsetof(struct claim, note), false},
};

static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{"from", offsetof(struct claim, from)},
	{"to", offsetof(struct claim, to)},
	{"change_low", offsetof(struct claim, change_low)},
	{"change_high", offsetof(struct claim, change_high)},
	{"percent_low", offsetof(struct claim, percent_low)},
	{"percent_high", offsetof(struct claim, percent_high)},
};

static char **text_at(struct claim *c, size_t i)
{
	return (char **)((char *)c + texts[i].at);
}

static double *number_at(struct claim *c, size_t i)
{
	return (double *)((char *)c + numbers[i].at);
}

/**
 * claim_init() - a claim that says nothing yet
 * @c: the caller's memory; end it with claim_fini()
 *
 * Context: any thread.
 */
void claim_init(struct claim *c)
{
	*c = (struct claim){0};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		*number_at(c, i) = NAN;
	}
}

/**
 * claim_fini() - free what a claim holds
 * @c: an initialised claim, or all zero
 *
 * Context: any thread.
 */
void claim_fini(struct claim *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		free(*text_at(c, i));
	}
	claim_init(c);
}

/**
 * claim_to_json() - a claim as an object
 * @c: the claim
 *
 * What was not given is null. Return: a new reference; NULL without memory or where a text is not
 * UTF-8.
 * Context: any thread.
 */
json_t *claim_to_json(const struct claim *c)
{
	struct claim copy = *c;
	json_t *o = json_pack("{s:i}", "arm", (int)c->arm);
	int r = o ? 0 : -1;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *s = *text_at(&copy, i);

		r |= json_object_set_new(o, texts[i].key, s ? json_string(s) : json_null());
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		double x = *number_at(&copy, i);

		r |= json_object_set_new(o, numbers[i].key,
					 isfinite(x) ? json_real(x) : json_null());
	}
	if (r < 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int read_claim(const json_t *o, struct claim *c, struct err *e)
{
	const json_t *arm = json_object_get(o, "arm");

	if (!json_is_integer(arm) || json_integer_value(arm) < 0 || json_integer_value(arm) > 99) {
		return err_set(e, -EBADMSG, "a claim's 'arm' is not a number from 0 to 99");
	}
	c->arm = (unsigned int)json_integer_value(arm);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *s = json_string_value(json_object_get(o, texts[i].key));

		if (!s && texts[i].required) {
			return err_set(e, -EBADMSG, "a claim's '%s' is not a text", texts[i].key);
		}
		*text_at(c, i) = s ? strdup(s) : NULL;
		if (s && !*text_at(c, i)) {
			return err_set(e, -ENOMEM, "out of memory");
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const json_t *v = json_object_get(o, numbers[i].key);

		if (json_is_number(v)) {
			*number_at(c, i) = json_number_value(v);
		}
	}
	return 0;
}

/**
 * claim_from_json() - read a claim as claim_to_json() writes it
 * @o: the object
 * @ret: set on success; end it with claim_fini()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 * Context: any thread.
 */
int claim_from_json(const json_t *o, struct claim *ret, struct err *e)
{
	struct claim c;
	int r;

	claim_init(&c);
	r = read_claim(o, &c, e);
	if (r < 0) {
		claim_fini(&c);
		return r;
	}
	*ret = c;
	return 0;
}
