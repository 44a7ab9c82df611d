/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See class.h. Pure: one table and its accessors. */
#include "samples/class.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *unit; /* of many */
	const char *one;  /* of one */
	const char *about;
	bool judges_speed;
	bool runs_kernels;
} classes[EXEC_CLASS_COUNT] = {
	[EXEC_NATIVE] = {"native", "cycles", "cycle", "KVM on the processor's own virtualisation",
			 true, true},
	[EXEC_NESTED] = {"nested", "cycles (nested)", "cycle (nested)",
			 "KVM on hardware virtualisation, on a host that is itself a guest", true,
			 true},
	[EXEC_EMULATED] = {"emulated", "ticks", "tick",
			   "KVM is present, but guest ring 0 is interpreted: kernels do not boot",
			   false, false},
	[EXEC_TCG] = {"tcg", "ticks", "tick", "QEMU's software processor: functional results only",
		      false, true},
	[EXEC_ICOUNT] = {"icount", "instructions", "instruction",
			 "QEMU's software processor counting instructions: deterministic", true,
			 true},
};

/**
 * exec_class_name() - the word for a class in records, reports and options
 * @c: a class
 *
 * Return: a static string, such as "native".
 * Context: any thread.
 */
const char *exec_class_name(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].name;
}

/**
 * exec_class_parse() - the class behind a word
 * @name: as exec_class_name() gives it
 * @ret: set on success
 *
 * Return: 0, or -EINVAL when there is no such class.
 * Context: any thread.
 */
int exec_class_parse(const char *name, enum exec_class *ret)
{
	for (unsigned int i = 0; i < EXEC_CLASS_COUNT; i++) {
		if (strcmp(classes[i].name, name) == 0) {
			*ret = (enum exec_class)i;
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * exec_class_unit() - the name of the unit that ticks / exec_class_ticks_per_unit() counts
 * @c: a class
 *
 * Return: a static string in the plural, such as "cycles (nested)".
 * Context: any thread.
 */
const char *exec_class_unit(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].unit;
}

/**
 * exec_class_unit_one() - the same in the singular
 * @c: a class
 *
 * Return: a static string.
 * Context: any thread.
 */
const char *exec_class_unit_one(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].one;
}

/**
 * exec_class_has_unit() - whether a word is a class's unit
 * @c: a class
 * @word: such as "cycles" or "cycle"
 *
 * Return: true for its plural and its singular; what stands in brackets is no part of them.
 * Context: any thread.
 */
bool exec_class_has_unit(enum exec_class c, const char *word)
{
	size_t many = strcspn(exec_class_unit(c), " ");
	size_t one = strcspn(exec_class_unit_one(c), " ");
	size_t len = strlen(word);

	return (len == many && strncmp(word, exec_class_unit(c), many) == 0) ||
	       (len == one && strncmp(word, exec_class_unit_one(c), one) == 0);
}

/**
 * exec_class_about() - a class explained in half a sentence
 * @c: a class
 *
 * Return: a static string, without a full stop.
 * Context: any thread.
 */
const char *exec_class_about(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].about;
}

/**
 * exec_class_ticks_per_unit() - how many TSC ticks make one unit
 * @c: a class
 * @icount_shift: QEMU's -icount shift, 0..EXEC_ICOUNT_SHIFT_MAX; only looked at for EXEC_ICOUNT
 *
 * Under -icount shift=N QEMU lets each instruction take 2^N ns of virtual time, and its TSC counts
 * those nanoseconds.
 *
 * Return: 1 but for EXEC_ICOUNT, where it is 2^@icount_shift.
 * Context: any thread.
 */
uint64_t exec_class_ticks_per_unit(enum exec_class c, unsigned int icount_shift)
{
	if (c != EXEC_ICOUNT) {
		return 1;
	}
	assert(icount_shift <= EXEC_ICOUNT_SHIFT_MAX);
	return UINT64_C(1) << icount_shift;
}

/**
 * exec_class_judges_speed() - whether a difference in ticks may become a verdict
 * @c: a class
 *
 * Return: false where ticks do not follow the work that was done.
 * Context: any thread.
 */
bool exec_class_judges_speed(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].judges_speed;
}

/**
 * exec_class_runs_kernels() - whether a guest kernel can boot under KVM on such a machine
 * @c: a class
 *
 * Return: false only where ring 0 is interpreted.
 * Context: any thread.
 */
bool exec_class_runs_kernels(enum exec_class c)
{
	assert((unsigned int)c < EXEC_CLASS_COUNT);
	return classes[c].runs_kernels;
}
