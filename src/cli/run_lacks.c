/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_lacks.h. Runs when the machine is gone. */
#include "cli/run_lacks.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "vmm/inspect.h"

/**
 * run_lacks_due() - whether user space, or the agent if there is a job, never got to say anything
 * @o: parsed options
 * @outcome: of the run
 * @record: of the run
 *
 * Return: true when run_lacks_tell() may know why.
 * Context: any thread.
 */
bool run_lacks_due(const struct run_options *o, const struct outcome *outcome,
		   const struct record_boot *record)
{
	bool silent = record->phase_ns[RECORD_USER_MARK] == RECORD_NEVER;

	switch (outcome->kind) {
	case OUTCOME_KIND_BOOT:
		return true;
	case OUTCOME_KIND_TIMEOUT:
	case OUTCOME_KIND_HANG:
		return silent;
	case OUTCOME_KIND_NO_STATUS:
		return silent || (run_options_has_job(o) && json_array_size(record->guest) == 0);
	default:
		return false;
	}
}

/* Was what an area of options is for asked for? What every boot needs always is. */
static bool is_asked(const struct run_options *o, const char *area)
{
	const bool shares = o->shares.count > 0 || o->root;
	const struct {
		const char *area;
		bool asked;
	} table[] = {
		{"boot", true},
		{"console", true},
		{"init", run_options_has_job(o) || o->initrds.count > 0},
		{"virtio", o->disks.count > 0 || o->rng || o->nets.count > 0 || shares || o->vsock},
		{"disk", o->disks.count > 0},
		{"entropy", o->rng},
		{"cpus", o->cpus > 1},
		{"net", o->nets.count > 0},
		{"share", shares},
		{"root", o->root != NULL},
		{"vsock", o->vsock != NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].area, area) == 0) {
			return table[i].asked;
		}
	}
	return false;
}

/* Options that only make things nicer are not why a boot failed, but for those that were asked for.
 */
static bool may_be_why(const struct inspect_option *option)
{
	static const char *const asked_for[] = {"entropy", "cpus", "net", "share", "root", "vsock"};

	for (size_t i = 0; i < ARRAY_SIZE(asked_for); i++) {
		if (strcmp(asked_for[i], option->area) == 0) {
			return true;
		}
	}
	return option->need == INSPECT_NEEDED;
}

static void tell_options(const struct run_options *o, const char *config)
{
	size_t count, told = 0;
	const struct inspect_option *options = inspect_options(&count);

	for (size_t i = 0; i < count; i++) {
		const struct inspect_option *x = &options[i];
		bool module = inspect_value(config, x->name) == INSPECT_MODULE;

		if (!is_asked(o, x->area) || !may_be_why(x) || !inspect_lacks(config, x)) {
			continue;
		}
		log_warn("kernel: CONFIG_%s is %s (%s): %s", x->name,
			 module ? "a module, which the initrd must bring along" : "not set",
			 x->area, x->without);
		told++;
	}
	if (told == 0) {
		log_warn("kernel: its configuration has all that was asked for");
	}
}

/**
 * run_lacks_tell() - say which options a boot that came to nothing may have failed for
 * @o: parsed options
 * @kernel_fd: the kernel, closed here; -1 when it could not be opened: nothing is said
 *
 * One line each on stderr. Opens nothing, so the filter of the loop's thread does not mind.
 *
 * Context: the main thread, or a process that has only one.
 */
void run_lacks_tell(const struct run_options *o, int kernel_fd)
{
	struct inspection in;
	struct err e = ERR_INIT;

	if (kernel_fd < 0 || inspect_read(kernel_fd, &in, &e) < 0) {
		if (kernel_fd >= 0) {
			close(kernel_fd);
		}
		return;
	}
	if (in.config) {
		tell_options(o, in.config);
	} else {
		log_warn("kernel: whether it lacks an option cannot be known: no configuration in "
			 "it (%s)",
			 in.no_config);
	}
	inspect_close(&in);
}
