/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_backend.h. Runs on the main thread. */
#include "cli/run_backend.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cli/class_detect.h"
#include "engine/backend_qemu.h"

/**
 * run_backend_is_qemu() - decide for --backend auto, and say why
 * @o: parsed options
 *
 * Return: true for QEMU, false for our own VMM.
 * Context: with "auto" it measures this machine, which takes up to a tenth of a second.
 */
bool run_backend_is_qemu(const struct run_options *o)
{
	struct class_result class;

	if (o->lab || o->icount != RUN_ICOUNT_OFF || strcmp(o->backend, "qemu") == 0) {
		return true;
	}
	if (strcmp(o->backend, "kvm") == 0) {
		return false;
	}
	class_detect(&class);
	if (class.known && exec_class_runs_kernels(class.class)) {
		log_info("backend kvm: %s", class.evidence);
		return false;
	}
	log_info("backend qemu: %s", class.evidence);
	return true;
}

/**
 * run_backend_create() - make the backend, not yet started
 * @o: parsed options
 * @qemu: what run_backend_is_qemu() said
 * @common: what both backends need; its pointers must live as long as the backend
 * @ret: set on success; end it with backend_destroy()
 * @e: set on failure
 *
 * Return: 0, or the negative errno of what is missing or wrong.
 */
int run_backend_create(const struct run_options *o, bool qemu, const struct backend_config *common,
		       struct backend **ret, struct err *e)
{
	const struct backend_qemu_config cfg = {
		.common = *common,
		.icount_shift =
			o->icount == RUN_ICOUNT_OFF ? BACKEND_QEMU_ICOUNT_OFF : (int)o->icount,
		.lab = o->lab,
		.rw = o->rw.items,
	};

	if (!qemu) {
		return err_set(e, -ENOSYS, "--backend kvm: not in this build");
	}
	return backend_qemu_create(&cfg, ret, e);
}
