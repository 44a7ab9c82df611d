/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where "ringside test" runs: which backend, how many at once, what this machine lacks for a case.
 */
#ifndef CLI_TEST_MACHINE_H
#define CLI_TEST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/test_options.h"
#include "engine/suite.h"
#include "engine/test_run.h"
#include "samples/class.h"

/* A kernel of the plan, or a payload. */
struct test_kernel {
	const char *name; /* as the suite has it; NULL: the default */
	char *path;
	char *sha256;
	char *config; /* its configuration, once one was asked for; or NULL */
	bool looked;  /* for the configuration */
	bool payload; /* @name is a path already */
};

struct test_machine {
	bool kvm;          /* kernels run on KVM */
	bool kvm_payloads; /* payloads do */
	bool has_class;
	enum exec_class class; /* of what kernels run on */
	char why[512];         /* it is not KVM; begins with doctor's check id */
	size_t processors;
	uint64_t memory_bytes;      /* of this machine, or of our cgroup */
	uint64_t memory_free_bytes; /* what is available of it now */
	struct test_kernel *kernels;
	size_t kernel_count;
};

int test_machine_find(const struct test_options *o, const struct suite_plan *plan,
		      struct test_machine *ret, struct err *e) __must_check;
void test_machine_fini(struct test_machine *m);
void test_machine_limits(const struct test_machine *m, const struct test_options *o,
			 struct test_run_config *cfg);
struct test_run_boot test_machine_boot(const struct test_machine *m, const struct suite_case *c);
bool test_machine_lacks(struct test_machine *m, const struct suite_case *c, char *ret_why,
			size_t len);

#endif
