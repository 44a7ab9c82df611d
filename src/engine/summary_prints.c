/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the boots of a pair do not have in common, of what a comparison does not refuse: it may be
 * resumed after an update of its host, and put together from shards. Two boots of one block that
 * differ in it are told apart by more than their arms.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/summary_priv.h"

/* What two boots should have in common, unless it is not known. */
struct fact {
	const char *name;
	size_t at;   /* offset of the record's text */
	bool of_arm; /* arms differ in it on purpose: only boots of one arm are held together */
	bool told;   /* else it only counts inside a block */
};

#define TEXT(member) .at = offsetof(struct boot_record, member)

static const struct fact facts[] = {
	{"version of ringside", TEXT(ringside_version), .told = true},
	{"host's kernel", TEXT(host_kernel), .told = true},
	{"host's microcode", TEXT(host_microcode), .told = true},
	{"host's clock source", TEXT(host_clock), .told = true},
	{"version of QEMU", TEXT(qemu_version), .told = true},
	{"host", TEXT(host_name)},
	{"command line", TEXT(append), .of_arm = true, .told = true},
	{"version of the kernel", TEXT(kernel_version), .of_arm = true, .told = true},
};

static const char *text_of(const struct boot_record *r, const struct fact *f)
{
	return *(char *const *)((const char *)r + f->at);
}

/* A word of the command line that we measure for each boot: see run_guest.c. */
#define OWN_WORD "tsc_early_khz="

/* The next word at or after *@at, which is left behind it; its length, 0 at the end. */
static size_t next_word(const char **at, const char **ret_word)
{
	size_t len;

	do {
		*at += strspn(*at, " ");
		*ret_word = *at;
		len = strcspn(*at, " ");
		*at += len;
	} while (text_starts_with(*ret_word, OWN_WORD));
	return len;
}

/* Whether two texts differ, and the first word of each that does. */
static bool differ(const char *a, const char *b, const char **ret_a, const char **ret_b)
{
	size_t len_a, len_b;

	do {
		len_a = next_word(&a, ret_a);
		len_b = next_word(&b, ret_b);
		if (len_a != len_b || memcmp(*ret_a, *ret_b, len_a) != 0) {
			return true;
		}
	} while (len_a);
	return false;
}

/* The first boot from @slot on, below @end, whose text is known and that is of @arm (0: any). */
static const struct boot_record *next(const struct summary_pair *p, const struct fact *f, char arm,
				      size_t slot, size_t end)
{
	for (; slot < end; slot++) {
		const struct boot_record *r = summary_is_ours(p, slot) ? p->c->boots[slot] : NULL;

		if (r && *text_of(r, f) && (!arm || r->arm == arm)) {
			return r;
		}
	}
	return NULL;
}

/* A boot within @slot to @end that is not as the first one of them, if there is one. */
static const struct boot_record *odd_one(const struct summary_pair *p, const struct fact *f,
					 char arm, size_t slot, size_t end,
					 const struct boot_record **ret_first)
{
	const struct boot_record *first = next(p, f, arm, slot, end);
	const struct boot_record *r = first;
	const char *mine, *other;

	while (r && !differ(text_of(r, f), text_of(first, f), &mine, &other)) {
		r = next(p, f, arm, (size_t)r->slot + 1, end);
	}
	*ret_first = first;
	return r;
}

/* The same of both arms, or of each by itself. */
static const struct boot_record *odd_of_arms(const struct summary_pair *p, const struct fact *f,
					     size_t slot, size_t end,
					     const struct boot_record **ret_first)
{
	const struct boot_record *odd;

	if (!f->of_arm) {
		return odd_one(p, f, 0, slot, end, ret_first);
	}
	odd = odd_one(p, f, *arm_name(p->arm), slot, end, ret_first);
	return odd ? odd : odd_one(p, f, *arm_name(p->base), slot, end, ret_first);
}

static size_t mixed_blocks(const struct summary_pair *p)
{
	size_t mixed = 0;

	for (unsigned int k = 0; k < summary_group_of(p)->blocks; k++) {
		const struct boot_record *first;
		bool odd = false;

		for (size_t i = 0; !odd && i < ARRAY_SIZE(facts); i++) {
			odd = odd_of_arms(p, &facts[i], summary_first_slot(p, k),
					  summary_first_slot(p, k + 1), &first) != NULL;
		}
		mixed += odd;
	}
	return mixed;
}

/**
 * summary_compare_prints() - find what the boots of a pair do not have in common
 * @p: the pair; its report's fingerprints are set
 *
 * Context: main thread.
 */
void summary_compare_prints(struct summary_pair *p)
{
	size_t end = summary_first_slot(p, summary_group_of(p)->blocks);
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(facts) && len < sizeof(p->prints); i++) {
		const struct boot_record *first, *odd;
		const char *a, *b;

		odd = facts[i].told
			      ? odd_of_arms(p, &facts[i], summary_first_slot(p, 0), end, &first)
			      : NULL;
		if (odd && differ(text_of(first, &facts[i]), text_of(odd, &facts[i]), &a, &b)) {
			len += (size_t)snprintf(
				p->prints + len, sizeof(p->prints) - len,
				"%sthe %s is '%.40s' in boot %zu and '%.40s' in boot %zu",
				len ? ", " : "", facts[i].name, a, (size_t)first->slot + 1, b,
				(size_t)odd->slot + 1);
		}
	}
	p->report.unequal = *p->prints ? p->prints : NULL;
	p->report.blocks_mixed = mixed_blocks(p);
}
