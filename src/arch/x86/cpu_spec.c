/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cpu_spec.h. Pure; any thread. */
#include "arch/x86/cpu_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAF_PMU              0xa
#define LEAF_FEATURES         0x1
#define LEAF_XSTATE           0xd
#define LEAF_EXTENDED         0x80000001
#define ECX_PDCM              (1u << 15)            /* leaf 1: IA32_PERF_CAPABILITIES */
#define ECX_PERFCTR           (7u << 23 | 1u << 28) /* 0x80000001: core, NB, LLC counters */
#define MSR_MISC_ENABLE       0x1a0
#define MISC_ENABLE_MWAIT     (UINT64_C(1) << 18)
#define MSR_ARCH_CAPABILITIES 0x10a
#define MSR_PERF_CAPABILITIES 0x345
#define NAME_MAX_BYTES        31
#define QEMU_LACKS            "flush-l1d" /* not even the name (QEMU 7.2) */
#define PMU_NAME              "pmu"

/* Which state components of XCR0 go with a feature (SDM 1, 13.1). */
static const struct {
	const char *name;
	uint32_t bits;
} components[] = {
	{"avx", 1u << 2}, {"mpx", 3u << 3},       {"avx512f", 7u << 5},
	{"pku", 1u << 9}, {"amx-tile", 3u << 17},
};

static const struct {
	const char *name;
	enum x86_level level; /* 0: as the host */
} bases[] = {
	{"host", X86_LEVEL_SYSTEM}, {"x86-64-v1", X86_LEVEL_1}, {"x86-64-v2", X86_LEVEL_2},
	{"x86-64-v3", X86_LEVEL_3}, {"x86-64-v4", X86_LEVEL_4},
};

/* Underscores are dashes, as QEMU has it: /proc/cpuinfo writes the former. */
static bool same_name(const char *name, const char *word, size_t len)
{
	if (strlen(name) != len) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		char c = word[i] == '_' ? '-' : word[i];

		if (c != name[i]) {
			return false;
		}
	}
	return true;
}

static int find_feature(const char *word, size_t len)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; i < count; i++) {
		if (same_name(f[i].name, word, len)) {
			return (int)i;
		}
	}
	return -1;
}

/* How many characters to change, add or leave out to get from one to the other. */
static unsigned int distance(const char *a, const char *b, size_t len_b)
{
	unsigned int row[NAME_MAX_BYTES + 1];

	for (size_t j = 0; j <= len_b; j++) {
		row[j] = (unsigned int)j;
	}
	for (size_t i = 0; a[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < len_b; j++) {
			unsigned int change = diagonal + (a[i] != b[j]);
			unsigned int step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = change < step ? change : step;
		}
	}
	return row[len_b];
}

static int unknown_feature(const char *word, size_t len, struct err *e)
{
	const char *best = NULL;
	unsigned int best_distance = len < 6 ? (unsigned int)len / 2 + 1 : 4;
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; len <= NAME_MAX_BYTES && i < count; i++) {
		unsigned int d = distance(f[i].name, word, len);

		if (d < best_distance) {
			best_distance = d;
			best = f[i].name;
		}
	}
	return err_set(e, -EINVAL,
		       "--cpu: '%.*s' is no feature%s%s%s 'ringside run --cpu help' lists them",
		       (int)(len <= NAME_MAX_BYTES ? len : NAME_MAX_BYTES), word,
		       best ? "; did you mean '" : ";", best ? best : "", best ? "'?" : "");
}

static int take_base(struct x86_cpu_spec *s, const char *word, size_t len, struct err *e)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t b = 0; b < ARRAY_SIZE(bases); b++) {
		if (!same_name(bases[b].name, word, len)) {
			continue;
		}
		for (size_t i = 0; bases[b].level && i < count; i++) {
			if (f[i].level != X86_LEVEL_SYSTEM) {
				s->wish[i] = f[i].level > bases[b].level ? X86_WITHOUT : X86_WITH;
			}
		}
		return 0;
	}
	return err_set(e, -EINVAL,
		       "--cpu: '%.*s' is no processor to start from; there are: host, x86-64-v1, "
		       "x86-64-v2, x86-64-v3, x86-64-v4, and behind it -FEATURE or +FEATURE",
		       (int)len, word);
}

static int take_feature(struct x86_cpu_spec *s, uint8_t *named, const char *word, size_t len,
			struct err *e)
{
	enum x86_wish wish = *word == '+' ? X86_WITH : X86_WITHOUT;
	const char *name = word + 1;
	int i;

	len--;
	if (same_name(PMU_NAME, name, len)) {
		if (s->pmu_named && s->pmu != (wish == X86_WITH)) {
			return err_set(e, -EINVAL, "--cpu: both +pmu and -pmu");
		}
		s->pmu_named = true;
		s->pmu = wish == X86_WITH;
		return 0;
	}
	i = len ? find_feature(name, len) : -1;
	if (i < 0) {
		return unknown_feature(name, len, e);
	}
	if (named[i] && named[i] != wish) {
		return err_set(e, -EINVAL, "--cpu: both +%.*s and -%.*s", (int)len, name, (int)len,
			       name);
	}
	named[i] = (uint8_t)wish;
	s->wish[i] = (uint8_t)wish;
	return 0;
}

/*
 * What needs a feature that is taken away goes with it; what a demanded one needs is demanded. An
 * explicit wish wins over that of the base, and two explicit ones may not contradict.
 */
static int settle(struct x86_cpu_spec *s, const uint8_t *named, struct err *e)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; i < count; i++) {
		int need = f[i].needs ? find_feature(f[i].needs, strlen(f[i].needs)) : -1;

		if (need < 0 || s->wish[need] != X86_WITHOUT) {
			continue;
		}
		if (named[i] == X86_WITH) {
			return err_set(e, -EINVAL, "--cpu: +%s needs %s, which is taken away",
				       f[i].name, f[need].name);
		}
		s->wish[i] = X86_WITHOUT;
	}
	for (size_t i = count; i-- > 0;) {
		if (s->wish[i] == X86_WITH && f[i].needs) {
			s->wish[find_feature(f[i].needs, strlen(f[i].needs))] = X86_WITH;
		}
	}
	for (size_t i = 0; i < count; i++) {
		s->demands |= s->wish[i] == X86_WITH;
	}
	s->demands |= s->pmu;
	return 0;
}

/**
 * x86_cpu_spec_parse() - read which processor a guest is to see
 * @text: BASE[,-FEATURE|+FEATURE]..., or without a base; NULL: as the host, without counters
 * @ret: set on success
 * @e: set on failure; names the closest feature to one that there is not
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int x86_cpu_spec_parse(const char *text, struct x86_cpu_spec *ret, struct err *e)
{
	uint8_t named[X86_FEATURES_MAX] = {0};
	struct x86_cpu_spec s = {.asked = text != NULL};
	int r = 0;

	for (const char *p = text; p && r == 0;) {
		size_t len = strcspn(p, ",");

		if (*p == '+' || *p == '-') {
			r = take_feature(&s, named, p, len, e);
		} else if (p == text) {
			r = take_base(&s, p, len, e);
		} else {
			r = err_set(e, -EINVAL, "--cpu: expected -FEATURE or +FEATURE, got '%.*s'",
				    (int)len, p);
		}
		p = p[len] ? p + len + 1 : NULL;
	}
	if (r == 0) {
		r = settle(&s, named, e);
	}
	if (r == 0) {
		*ret = s;
	}
	return r;
}

static struct kvm_cpuid_entry2 *find_leaf(struct kvm_cpuid_table *t, uint32_t leaf, uint32_t index)
{
	for (uint32_t i = 0; i < t->head.nent; i++) {
		if (t->entries[i].function == leaf && t->entries[i].index == index) {
			return &t->entries[i];
		}
	}
	return NULL;
}

static uint32_t *reg_of(struct kvm_cpuid_entry2 *e, enum cpuid_reg reg)
{
	switch (reg) {
	case CPUID_EAX:
		return &e->eax;
	case CPUID_EBX:
		return &e->ebx;
	case CPUID_ECX:
		return &e->ecx;
	default:
		return &e->edx;
	}
}

/* The leaf of a state component tells its size: one that cannot be turned on has none. */
static void drop_components(struct kvm_cpuid_table *t, uint32_t bits)
{
	struct kvm_cpuid_entry2 *x = find_leaf(t, LEAF_XSTATE, 0);

	if (x) {
		x->eax &= ~bits;
	}
	for (uint32_t i = 2; i < 32; i++) {
		x = bits >> i & 1 ? find_leaf(t, LEAF_XSTATE, i) : NULL;
		if (x) {
			x->eax = x->ebx = x->ecx = x->edx = 0;
		}
	}
}

static void drop_all_state(struct kvm_cpuid_table *t)
{
	for (uint32_t i = 0; i < t->head.nent; i++) {
		struct kvm_cpuid_entry2 *x = &t->entries[i];

		if (x->function == LEAF_XSTATE) {
			x->eax = x->ebx = x->ecx = x->edx = 0;
		}
	}
}

static void drop(struct kvm_cpuid_table *t, const struct x86_feature *f)
{
	struct kvm_cpuid_entry2 *leaf = find_leaf(t, f->leaf, f->index);

	if (leaf) {
		*reg_of(leaf, f->reg) &= ~(UINT32_C(1) << f->bit);
	}
	for (size_t i = 0; i < ARRAY_SIZE(components); i++) {
		if (strcmp(components[i].name, f->name) == 0) {
			drop_components(t, components[i].bits);
		}
	}
	if (strcmp(f->name, "xsave") == 0) {
		drop_all_state(t);
	}
}

static int set_pmu(const struct x86_cpu_spec *s, struct kvm_cpuid_table *t, struct err *e)
{
	struct kvm_cpuid_entry2 *pmu = find_leaf(t, LEAF_PMU, 0);
	struct kvm_cpuid_entry2 *basic = find_leaf(t, LEAF_FEATURES, 0);
	struct kvm_cpuid_entry2 *extended = find_leaf(t, LEAF_EXTENDED, 0);

	if (s->pmu) {
		if ((pmu && pmu->eax & 0xff) || (extended && extended->ecx & ECX_PERFCTR)) {
			return 0;
		}
		return err_set(e, -ENOTSUP, "--cpu: this machine's KVM does not offer pmu");
	}
	if (pmu) {
		pmu->eax = pmu->ebx = pmu->ecx = pmu->edx = 0;
	}
	if (basic) {
		basic->ecx &= ~ECX_PDCM;
	}
	if (extended) {
		extended->ecx &= ~ECX_PERFCTR;
	}
	return 0;
}

/**
 * x86_cpu_spec_apply() - take from KVM's offer what the guest is not to see
 * @s: the specification
 * @t: the leaves that KVM supports; changed in place
 * @e: set on failure, names all that is not offered
 *
 * Return: 0, or -ENOTSUP when a feature is demanded that KVM does not offer.
 * Context: any thread.
 */
int x86_cpu_spec_apply(const struct x86_cpu_spec *s, struct kvm_cpuid_table *t, struct err *e)
{
	char missing[ERR_TEXT_MAX / 2] = "";
	size_t count, used = 0;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; i < count; i++) {
		struct kvm_cpuid_entry2 *leaf = find_leaf(t, f[i].leaf, f[i].index);

		if (s->wish[i] == X86_WITHOUT) {
			drop(t, &f[i]);
		}
		/* The machine itself makes that timer, whatever KVM's leaves say. */
		if (s->wish[i] != X86_WITH || strcmp(f[i].name, "tsc-deadline") == 0 ||
		    (leaf && *reg_of(leaf, f[i].reg) >> f[i].bit & 1)) {
			continue;
		}
		if (used < sizeof(missing)) {
			used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
						 used ? ", " : "", f[i].name);
		}
	}
	if (used) {
		return err_set(e, -ENOTSUP, "--cpu: this machine's KVM does not offer %s", missing);
	}
	return set_pmu(s, t, e);
}

/**
 * x86_cpu_spec_without() - whether a feature is to be taken away
 * @s: the specification
 * @name: of the feature, as in the table
 *
 * Return: that.
 * Context: any thread.
 */
bool x86_cpu_spec_without(const struct x86_cpu_spec *s, const char *name)
{
	int i = find_feature(name, strlen(name));

	return i >= 0 && s->wish[i] == X86_WITHOUT;
}

/**
 * x86_cpu_spec_qemu() - the same for QEMU, as what is behind "-cpu max"
 * @s: the specification
 * @ret: set on success: empty, or ",-pcid,..."
 * @e: set on failure
 *
 * Where features are demanded, QEMU is told not to start without them.
 *
 * Return: 0, or -ENOTSUP for counters and what else QEMU's software processor never has.
 * Context: any thread.
 */
int x86_cpu_spec_qemu(const struct x86_cpu_spec *s, char ret[X86_CPU_QEMU_MAX], struct err *e)
{
	size_t count, used = 0;
	const struct x86_feature *f = x86_features(&count);

	ret[0] = '\0';
	if (s->pmu) {
		return err_set(e, -ENOTSUP,
			       "--cpu: QEMU's software CPU has no performance counters (+pmu)");
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(f[i].name, QEMU_LACKS) == 0 && s->wish[i] == X86_WITH) {
			return err_set(e, -ENOTSUP, "--cpu: QEMU's software CPU has no %s",
				       f[i].name);
		}
		if (s->wish[i] != X86_AS_HOST && strcmp(f[i].name, QEMU_LACKS) != 0) {
			used += (size_t)snprintf(ret + used, X86_CPU_QEMU_MAX - used, ",%c%s",
						 s->wish[i] == X86_WITH ? '+' : '-', f[i].name);
		}
	}
	if (s->demands) {
		snprintf(ret + used, X86_CPU_QEMU_MAX - used, ",enforce");
	}
	return 0;
}

static uint32_t word_of(const struct kvm_cpuid_table *t, const struct cpuid_print_word *w)
{
	const struct kvm_cpuid_table *table = t;

	for (uint32_t i = 0; i < table->head.nent; i++) {
		struct kvm_cpuid_entry2 e = table->entries[i];

		if (e.function == w->leaf && e.index == w->index) {
			return *reg_of(&e, (enum cpuid_reg)w->reg);
		}
	}
	return 0;
}

/**
 * x86_cpuid_print() - the fingerprint of what leaves say
 * @t: the leaves of one processor
 *
 * Return: what cpuid_print_here() of abi/cpuid_print.h gives in a guest with these leaves.
 * Context: any thread.
 */
uint64_t x86_cpuid_print(const struct kvm_cpuid_table *t)
{
	uint64_t print = CPUID_PRINT_BASIS;

	for (size_t i = 0; i < CPUID_PRINT_WORDS; i++) {
		print = cpuid_print_add(print, &cpuid_print_words[i],
					word_of(t, &cpuid_print_words[i]));
	}
	return print;
}

/**
 * x86_cpu_spec_msrs() - clear what model-specific registers say of features that are taken away
 * @s: the specification
 * @offered: the leaves that KVM supports, as it gave them
 * @msrs: those that a machine sets; one that has a row is changed, others get one
 *
 * KVM refuses a guest the registers of most features that its CPUID lacks; these it fills in from
 * the host instead. A register is only written where the host has it.
 *
 * Context: any thread.
 */
void x86_cpu_spec_msrs(const struct x86_cpu_spec *s, const struct kvm_cpuid_table *offered,
		       struct kvm_msr_table *msrs)
{
	const struct kvm_cpuid_entry2 *x = NULL;
	const struct {
		uint32_t msr;
		bool clear;
		uint32_t leaf;
		enum cpuid_reg reg;
		uint32_t bit;
	} rows[] = {
		{MSR_ARCH_CAPABILITIES, x86_cpu_spec_without(s, "arch-capabilities"), 7, CPUID_EDX,
		 29},
		{MSR_PERF_CAPABILITIES, !s->pmu, LEAF_FEATURES, CPUID_ECX, 15},
	};

	for (uint32_t i = 0; i < msrs->head.nmsrs; i++) {
		if (msrs->entries[i].index == MSR_MISC_ENABLE &&
		    x86_cpu_spec_without(s, "monitor")) {
			msrs->entries[i].data &= ~MISC_ENABLE_MWAIT;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows) && msrs->head.nmsrs < KVM_MSRS_MAX; i++) {
		x = NULL;
		for (uint32_t j = 0; j < offered->head.nent && !x; j++) {
			if (offered->entries[j].function == rows[i].leaf &&
			    offered->entries[j].index == 0) {
				x = &offered->entries[j];
			}
		}
		if (x && rows[i].clear) {
			struct kvm_cpuid_entry2 copy = *x;

			if (*reg_of(&copy, rows[i].reg) >> rows[i].bit & 1) {
				msrs->entries[msrs->head.nmsrs++] =
					(struct kvm_msr_entry){.index = rows[i].msr};
			}
		}
	}
}
