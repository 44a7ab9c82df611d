/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calibrate.h. Main thread. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/calibrate.h"
#include "cli/helpers.h"
#include "engine/spawn.h"
#include "samples/record.h"
#include "vmm/calibrate.h"

#define SELF       "/proc/self/exe"
#define TIMEOUT_NS (600 * NS_PER_SEC)

static const unsigned int rings[CALIBRATE_PRIMITIVE_COUNT] = {
#define ROW(id, name, ring, copies, loops, about) [CALIBRATE_##id] = ring,
	CALIBRATE_PRIMITIVES(ROW)
#undef ROW
};

static void no_point(struct calibration_point *p, const char *reason)
{
	*p = (struct calibration_point){.core_cycles = NAN, .ticks_per_cycle = NAN};
	snprintf(p->reason, sizeof(p->reason), "%s", reason);
}

static void make_point(const struct calibrate_result *r, struct calibration_point *ret)
{
	struct calibration_batch batches[CALIBRATE_BATCHES_MAX];
	struct calibration_window windows[CALIBRATE_BATCHES_MAX];

	for (uint64_t i = 0; i < r->batches; i++) {
		const struct calibrate_window *w = &r->windows[i];

		memcpy(batches[i].ticks, r->ticks[i], sizeof(batches[i].ticks));
		windows[i] =
			(struct calibration_window){w->kvm_exits, w->irqs, w->steal_ns, w->nivcsw};
	}
	calibration_judge(batches, windows, r->batches);
	calibration_point_make(batches, r->batches, r->operations, ret);
}

static void measure(const char *payload, const struct calibrate_plan *plan,
		    enum calibrate_primitive which, struct calibrate_result *r,
		    struct calibration_point *ret)
{
	if (rings[which] == 0 && !plan->ring0) {
		no_point(ret, "ring 0 is interpreted here");
		return;
	}
	calibrate_run(NULL, payload, which, plan->batches, r);
	if (r->error) {
		no_point(ret, r->text);
	} else {
		make_point(r, ret);
	}
}

/**
 * calibrate_one() - be one replicate: time everything once, and write it
 * @plan: 'replicates' is not looked at
 * @fd: where it is written to, one line
 * @e: set on failure
 *
 * Return: 0 also when no primitive could be timed; -ENOENT without the payload, -ENOMEM, or the
 * errno of write(2).
 * Context: main thread.
 */
int calibrate_one(const struct calibrate_plan *plan, int fd, struct err *e)
{
	_cleanup_free_ struct calibration_replicate *rep = calloc(1, sizeof(*rep));
	_cleanup_free_ struct calibrate_result *result = calloc(1, sizeof(*result));
	char payload[PATH_MAX];
	json_t *line;
	int r = cli_find_helper("firmware/calibrate.elf", payload, sizeof(payload), e);

	if (r < 0) {
		return r;
	}
	if (!rep || !result) {
		return err_errno(e, -ENOMEM, "calibrate");
	}
	for (unsigned int i = 0; i < CALIBRATE_PRIMITIVE_COUNT; i++) {
		measure(payload, plan, (enum calibrate_primitive)i, result, &rep->points[i]);
	}
	line = calibration_replicate_json(rep);
	r = line ? record_json_write_line(fd, line) : -ENOMEM;
	json_decref(line);
	return r < 0 ? err_errno(e, r, "--one %d", fd) : 0;
}

static int take_replicate(const struct spawn_result *res, struct calibration_replicate *ret,
			  int *ret_signal, struct err *e)
{
	switch (res->end) {
	case SPAWN_INTERRUPTED:
		*ret_signal = res->signal;
		return CALIBRATE_INTERRUPTED;
	case SPAWN_KILLED:
		return err_set(e, -EIO, "a replicate was ended by signal %d (%s); it said: %s",
			       res->status, strsignal(res->status), res->said);
	case SPAWN_TIMED_OUT:
		return err_set(e, -ETIMEDOUT, "a replicate did not end within %llu s",
			       (unsigned long long)(TIMEOUT_NS / NS_PER_SEC));
	default:
		break;
	}
	if (res->end != SPAWN_EXITED || res->status != 0 || !res->record) {
		return err_set(e, -EIO, "a replicate left no numbers and status %d; it said: %s",
			       res->status, res->said);
	}
	return calibration_replicate_parse(res->record, res->record_len, ret, e);
}

/**
 * calibrate_all() - measure all replicates, each in a process of its own
 * @plan: how many, and what
 * @ret: room for so many
 * @ret_signal: set when a signal ended it
 * @e: set on failure
 *
 * Return: 0, CALIBRATE_INTERRUPTED, -EIO or -ETIMEDOUT for a replicate that failed, -EBADMSG, or
 * the errno of starting one.
 * Context: main thread.
 */
int calibrate_all(const struct calibrate_plan *plan, struct calibration_replicate *ret,
		  int *ret_signal, struct err *e)
{
	char fd[16], batches[24];
	char *argv[] = {"ringside",
			"calibrate",
			"--one",
			fd,
			"--batches",
			batches,
			plan->ring0 ? "--ring0" : "--no-ring0",
			NULL};
	const struct spawn_request req = {
		.program = SELF,
		.argv = argv,
		.timeout_ns = TIMEOUT_NS,
	};
	int r = 0;

	snprintf(fd, sizeof(fd), "%d", SPAWN_RECORD_FD);
	snprintf(batches, sizeof(batches), "%" PRIu64, plan->batches);
	for (uint64_t i = 0; i < plan->replicates && r == 0; i++) {
		struct spawn_result res;

		r = spawn_run(&req, &res, e);
		if (r == 0) {
			r = take_replicate(&res, &ret[i], ret_signal, e);
			spawn_result_fini(&res);
		}
	}
	return r;
}
