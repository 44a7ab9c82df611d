/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each class of threads may ask of the kernel, one rule a row, with the reason beside it.
 * sandbox_gen.c turns the table into BPF while ringside is built; sandbox.c fills in what is only
 * known when it runs. Constant data, for any thread.
 */
#ifndef VMM_SANDBOX_RULES_H
#define VMM_SANDBOX_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SANDBOX_CONDS_MAX 4

/* The loop's thread is the main one; its filter stays on it until the process ends. */
enum sandbox_class { SANDBOX_VCPU, SANDBOX_LOOP, SANDBOX_CLASSES };

#define SANDBOX_ON_VCPU (1u << SANDBOX_VCPU)
#define SANDBOX_ON_LOOP (1u << SANDBOX_LOOP)
#define SANDBOX_ON_ALL  (SANDBOX_ON_VCPU | SANDBOX_ON_LOOP)

/* What a machine may have beside what all have. A rule of these holds when one of them is there. */
#define SANDBOX_ALWAYS 0u
#define SANDBOX_DISKS  (1u << 0)
#define SANDBOX_RNG    (1u << 1)
#define SANDBOX_NET    (1u << 2)
#define SANDBOX_VSOCK  (1u << 3)
#define SANDBOX_SHARE  (1u << 4)
#define SANDBOX_CTL    (1u << 5)
#define SANDBOX_GDB    (1u << 6)
#define SANDBOX_STATS  (1u << 7)
#define SANDBOX_CORE   (1u << 8)

/* Values that are only known at run time. */
enum sandbox_value {
	SANDBOX_FIXED,
	SANDBOX_PID,     /* this process */
	SANDBOX_VCPU_FD, /* the vCPU of the thread */
	SANDBOX_VM_FD,
	SANDBOX_KVM_FD, /* the device */
	SANDBOX_CALL,   /* of slots only: the number of a system call */
};

/*
 * An argument of the call, under @mask, is @value. All but wide ones are int or unsigned int to the
 * kernel, which does not look at the register's upper half, and so does the filter.
 */
struct sandbox_cond {
	uint32_t mask; /* 0: no condition, and the end of a rule's */
	uint8_t arg;   /* 0 to 5 */
	uint8_t kind;  /* enum sandbox_value */
	bool wide;     /* all 64 bits are compared, with a mask of all ones */
	uint32_t value;
};

struct sandbox_rule {
	uint8_t classes;   /* SANDBOX_ON_* */
	uint16_t features; /* any of them; SANDBOX_ALWAYS */
	uint16_t nr;
	const char *name; /* of the system call */
	const char *why;
	struct sandbox_cond conds[SANDBOX_CONDS_MAX]; /* all of them */
};

/* What the generated filters have in the place of a value that sandbox.c fills in. */
struct sandbox_slot {
	uint8_t kind; /* enum sandbox_value */
	uint16_t features;
	uint32_t value; /* of a FIXED one, when one of the features is there */
};

#define SANDBOX_SLOT_BASE 0x25ec0000u
/* In place of a value whose features are not there: no descriptor, no flags and no request of ours.
 */
#define SANDBOX_NO_VALUE UINT32_MAX
/* In place of a system call's number: the kernel has none such. */
#define SANDBOX_NO_CALL 0x3fffffffu

const struct sandbox_rule *sandbox_rules(size_t *ret_count);

#endif
