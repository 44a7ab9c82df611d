/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs while ringside is built: turns the rules into BPF by libseccomp, so that a run neither links
 * nor waits for it. What is known only later has slots: constants from SANDBOX_SLOT_BASE on.
 *
 * usage: sandbox_gen c | json
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vmm/sandbox_rules.h"

#define SLOTS_MAX    256
#define INSNS_MAX    BPF_MAXINSNS
#define CALL_NAMES   512 /* of x86-64, with room */
#define PRIORITY_MAX 255

static const char *const class_names[SANDBOX_CLASSES] = {"vcpu", "loop"};

static struct sandbox_slot slots[SLOTS_MAX];
static unsigned int slot_count;
static size_t longest; /* of the filters, in instructions */

static void fail(const struct sandbox_rule *rule, const char *what)
{
	fprintf(stderr, "sandbox_gen: %s (\"%s\"): %s\n", rule ? rule->name : "-",
		rule ? rule->why : "-", what);
	exit(1);
}

static uint32_t add_slot(const struct sandbox_rule *rule, enum sandbox_value kind, uint32_t value)
{
	if (slot_count == SLOTS_MAX) {
		fail(rule, "too many slots");
	}
	slots[slot_count] = (struct sandbox_slot){
		.kind = (uint8_t)kind, .features = rule->features, .value = value};
	return SANDBOX_SLOT_BASE + slot_count++;
}

/* A call that all rules of the class give to the same features only. */
static bool is_whole(const struct sandbox_rule *rule, enum sandbox_class class)
{
	size_t n;
	const struct sandbox_rule *all = sandbox_rules(&n);

	for (size_t i = 0; i < n; i++) {
		if (all[i].classes & (1u << class) && all[i].nr == rule->nr &&
		    all[i].features != rule->features) {
			return false;
		}
	}
	return true;
}

/* One slot for the number of such a call, of however many rules. */
static int number_of(const struct sandbox_rule *rule, uint32_t *numbers)
{
	if (!numbers[rule->nr]) {
		numbers[rule->nr] = add_slot(rule, SANDBOX_CALL, rule->nr);
	}
	return (int)numbers[rule->nr];
}

static void add_rule(scmp_filter_ctx f, const struct sandbox_rule *rule, enum sandbox_class class,
		     uint32_t *numbers)
{
	struct scmp_arg_cmp args[SANDBOX_CONDS_MAX];
	bool gated = rule->features == SANDBOX_ALWAYS;
	unsigned int n = 0;
	int nr = rule->nr, r;

	if (!gated && is_whole(rule, class)) {
		nr = number_of(rule, numbers);
		gated = true;
	}
	for (; n < SANDBOX_CONDS_MAX && rule->conds[n].mask; n++) {
		const struct sandbox_cond *c = &rule->conds[n];
		uint32_t value = c->value;

		if (c->kind != SANDBOX_FIXED || (!gated && c->mask == UINT32_MAX && !c->wide)) {
			value = add_slot(rule, c->kind, c->value);
			gated = true;
		}
		args[n] = c->wide ? SCMP_CMP64(c->arg, SCMP_CMP_EQ, value)
				  : SCMP_CMP64(c->arg, SCMP_CMP_MASKED_EQ, c->mask, value);
	}
	if (!gated) {
		fail(rule,
		     "its features need a condition that is exact, or the call for themselves");
	}
	r = seccomp_rule_add_exact_array(f, SCMP_ACT_ALLOW, nr, n, args);
	if (r < 0) {
		fail(rule, r == -EEXIST ? "stands in the table twice" : strerror(-r));
	}
}

/* Every slot must be there as what sandbox.c looks for. */
static void check_slots(const struct sock_filter *insns, size_t count, unsigned int from)
{
	for (unsigned int slot = from; slot < slot_count; slot++) {
		bool found = false;

		for (size_t i = 0; i < count; i++) {
			bool here = insns[i].k == SANDBOX_SLOT_BASE + slot;

			if (here && insns[i].code != (BPF_JMP | BPF_JEQ | BPF_K)) {
				fail(NULL, "a slot in an instruction that is no comparison");
			}
			found |= here;
		}
		if (!found) {
			fail(NULL, "a slot that is in no instruction");
		}
	}
}

/* @plain: of a machine that has none of the features, and so needs no instruction for them. */
static void make_filter(enum sandbox_class class, bool plain)
{
	static struct sock_filter insns[INSNS_MAX];
	static uint32_t numbers[UINT16_MAX + 1];
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_TRAP);
	size_t n, count;
	const struct sandbox_rule *rule = sandbox_rules(&n);
	unsigned int first_slot = slot_count;
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t bytes;
	int r;

	memset(numbers, 0, sizeof(numbers));
	r = f ? seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRAP) : -ENOMEM;
	/* From the last to the first: libseccomp tests the arguments of what came last first. */
	for (size_t i = n; i-- > 0 && r == 0;) {
		if (rule[i].classes & (1u << class) &&
		    !(plain && rule[i].features != SANDBOX_ALWAYS)) {
			add_rule(f, &rule[i], class, numbers);
			r = seccomp_syscall_priority(
				f, numbers[rule[i].nr] ? (int)numbers[rule[i].nr] : rule[i].nr,
				(uint8_t)(i < PRIORITY_MAX ? PRIORITY_MAX - i : 0));
		}
	}
	if (r < 0 || fd < 0 || seccomp_export_bpf(f, fd) < 0) {
		fail(NULL, "the filter cannot be made");
	}
	bytes = pread(fd, insns, sizeof(insns), 0);
	close(fd);
	seccomp_release(f);
	if (bytes <= 0 || (size_t)bytes % sizeof(*insns) || (size_t)bytes == sizeof(insns)) {
		fail(NULL, "the filter is too long, or empty");
	}
	count = (size_t)bytes / sizeof(*insns);
	longest = count + 1 > longest ? count + 1 : longest;
	check_slots(insns, count, first_slot);
	printf("static const struct sock_filter sandbox_%s_%s[] = {\n", class_names[class],
	       plain ? "plain" : "filter");
	/*
	 * A load of a constant. When a filter is put on, the kernel tries for each system call
	 * there is whether it is let through whatever its arguments, as far as it understands the
	 * filter: this it does not. So a start does not wait for it, nearly half of the time that a
	 * filter takes, and the few calls of the loop that have no conditions go through the
	 * filter, each 0.1 us.
	 */
	printf("\t{0x%x, 0, 0, 0},\n", BPF_LD | BPF_W | BPF_IMM);
	for (size_t i = 0; i < count; i++) {
		printf("\t{0x%x, %u, %u, 0x%x},\n", insns[i].code, insns[i].jt, insns[i].jf,
		       insns[i].k);
	}
	printf("};\n");
}

static void print_c(void)
{
	printf("/* Made by sandbox_gen from sandbox_rules.c. */\n");
	for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
		make_filter(class, false);
		make_filter(class, true);
	}
	printf("#define SANDBOX_INSNS_MAX %zu\n", longest);
	printf("static const struct sandbox_slot sandbox_slots[] = {\n");
	for (unsigned int i = 0; i < slot_count; i++) {
		printf("\t{%u, 0x%x, 0x%x},\n", slots[i].kind, slots[i].features, slots[i].value);
	}
	printf("};\nstatic const char *const sandbox_call_names[] = {\n");
	for (int nr = 0; nr < CALL_NAMES; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, nr);

		if (name) {
			printf("\t[%d] = \"%s\",\n", nr, name);
		}
		free(name);
	}
	printf("};\n");
}

static void print_json(void)
{
	size_t n;
	const struct sandbox_rule *rule = sandbox_rules(&n);

	for (size_t i = 0; i < n; i++) {
		printf("%s{\"classes\": %u, \"features\": %u, \"nr\": %u, \"name\": \"%s\", "
		       "\"why\": \"%s\", \"conds\": [",
		       i ? ",\n " : "[", rule[i].classes, rule[i].features, rule[i].nr,
		       rule[i].name, rule[i].why);
		for (unsigned int k = 0; k < SANDBOX_CONDS_MAX && rule[i].conds[k].mask; k++) {
			const struct sandbox_cond *c = &rule[i].conds[k];

			printf("%s{\"arg\": %u, \"mask\": %u, \"kind\": %u, \"wide\": %s, "
			       "\"value\": %u}",
			       k ? ", " : "", c->arg, c->mask, c->kind, c->wide ? "true" : "false",
			       c->value);
		}
		printf("]}");
	}
	printf("]\n");
}

int main(int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "c") != 0 && strcmp(argv[1], "json") != 0)) {
		fputs("usage: sandbox_gen c | json\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "c") == 0) {
		print_c();
	} else {
		print_json();
	}
	return ferror(stdout) || fflush(stdout) == EOF;
}
