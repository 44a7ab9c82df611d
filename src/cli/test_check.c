/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_check.h. Main thread. */
#include "cli/test_check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/helpers.h"
#include "cli/run_words.h"

struct check {
	const struct test_options *o;
	struct test_machine *m;
	bool qemu_found;
};

static int check_qemu(struct check *x, const struct suite_case *c, struct err *e)
{
	if (x->qemu_found || x->o->runner || strcmp(test_machine_boot(x->m, c).backend, "qemu")) {
		return 0;
	}
	x->qemu_found = cli_in_path(CLI_QEMU_PROGRAM);
	return x->qemu_found
		       ? 0
		       : err_set(e, -ENODEV,
				 "qemu: there is no " CLI_QEMU_PROGRAM " in PATH, and no other way "
				 "to run kernels (%s): install the package qemu-system-x86",
				 x->m->why);
}

/* A guest that touches all of it would have the kernel kill what it likes. */
static int check_memory(const struct check *x, const struct suite_case *c, struct err *e)
{
	char asked[32], has[32];

	if (c->memory_bytes <= x->m->memory_bytes || !x->m->memory_bytes) {
		return 0;
	}
	return err_set(e, -ENOMEM,
		       "%s of guest memory, and this machine has %s; 'needs: [memory=%" PRIu64
		       "M]' skips what does not fit",
		       text_bytes(c->memory_bytes, asked, sizeof(asked)),
		       text_bytes(x->m->memory_bytes >> 20 << 20, has, sizeof(has)),
		       c->memory_bytes >> 20);
}

static int check_words(int argc, char **argv, struct err *e)
{
	/* It would be shown, not taken for a processor. */
	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], "--cpu") == 0 && strcmp(argv[i + 1], "help") == 0) {
			return err_set(e, -EINVAL,
				       "--cpu help is for 'ringside run', which lists them");
		}
	}
	return run_words_check(argc, argv, e);
}

static int check_case(void *ctx, const struct suite_case *c, int argc, char **argv, struct err *e)
{
	struct check *x = ctx;
	char why[ERR_TEXT_MAX];
	int r;

	if (test_machine_lacks(x->m, c, why, sizeof(why))) {
		return 0; /* it is skipped */
	}
	r = check_words(argc, argv, e);
	if (r == 0) {
		r = check_memory(x, c, e);
	}
	if (r == 0) {
		return check_qemu(x, c, e);
	}
	if (x->o->suite) {
		(void)err_prefix(e, "%s:%u:%u: %s", x->o->suite, c->test->pos.line,
				 c->test->pos.column, c->id);
	}
	return r;
}

/**
 * test_check() - see that each case has words that "ringside run" takes, and a machine to boot on
 * @o: parsed options
 * @m: this machine
 * @cfg: the run that is to come
 * @e: set on failure: what, and of which test
 *
 * Return: 0; -EINVAL where the words or the suite are wrong; -ENODEV without QEMU where it is
 * needed; -ENOMEM; the errno of a file that is not there.
 * Context: main thread.
 */
int test_check(const struct test_options *o, struct test_machine *m,
	       const struct test_run_config *cfg, struct err *e)
{
	struct check x = {.o = o, .m = m};

	return test_run_check(cfg, check_case, &x, e);
}
