/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 'ringside doctor' in three parts: doctor_collect() looks at the machine, doctor_judge() decides
 * what can be done on it, the printers tell. Only the first touches anything but memory.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "cli/class_detect.h"

#define DOCTOR_CHECKS_MAX 96

enum check_status {
	CHECK_OK,
	CHECK_WARN, /* something is lost, or only another route is left */
	CHECK_FAIL, /* no route is left, and this is a reason */
	CHECK_SKIP, /* could not be looked at, or does not matter here */
};

/* The ways to the main job: comparing two kernels. A check is needed by some of them, or by none.
 */
enum doctor_route {
	ROUTE_NATIVE = 1 << 0, /* our VMM on this machine's KVM */
	ROUTE_LAB = 1 << 1,    /* our VMM on an emulated host's KVM */
	ROUTE_QEMU = 1 << 2,   /* --backend qemu */
	ROUTE_ALL = ROUTE_NATIVE | ROUTE_LAB | ROUTE_QEMU,
};

/* What was seen: the status is CHECK_OK, CHECK_FAIL, CHECK_WARN or CHECK_SKIP before judging. */
struct check {
	char id[64];
	enum check_status status;
	unsigned int routes; /* that cannot do without it */
	char found[256];
	const char *needed; /* static, or NULL */
	char advice[256];   /* "" when there is nothing to do */
};

struct doctor {
	struct class_facts facts;
	struct class_result class;
	struct check checks[DOCTOR_CHECKS_MAX];
	size_t count;
	unsigned int routes; /* open ones; doctor_judge() sets it */
};

/* Every check but the capabilities, whose ids are "kvm-cap-" and the name that KVM's table has. */
struct check_kind {
	const char *id;
	unsigned int routes;
	const char *needed;
};

const struct check_kind *doctor_kinds(size_t *ret_count);
struct check *doctor_add(struct doctor *d, const char *id, enum check_status status,
			 const char *fmt, ...) __printf(4, 5);
void doctor_advise(struct check *c, const char *fmt, ...) __printf(2, 3);

void doctor_collect(struct doctor *ret);
void doctor_collect_host(struct doctor *d);
void doctor_judge(struct doctor *d);
void doctor_print(const struct doctor *d, FILE *out);
json_t *doctor_json(const struct doctor *d);
int doctor_exit_status(const struct doctor *d);

#endif
