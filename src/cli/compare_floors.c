/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_floors.h. Main thread, before the first boot. */
#include "cli/compare_floors.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/calibration.h"
#include "engine/spawn.h"

#define SELF       "/proc/self/exe"
#define TIMEOUT_NS (1800 * NS_PER_SEC)

static bool wants_floors(const struct plan *p)
{
	for (size_t g = 0; g < p->group_count; g++) {
		for (size_t i = 0; i < p->groups[g].claim_count; i++) {
			if (p->groups[g].claims[i].floor) {
				return true;
			}
		}
	}
	return false;
}

/* A calibration as one line; what a file says beyond it is dropped. */
static int to_line(const struct calibration *c, char **ret, struct err *e)
{
	json_t *root = calibration_json(c);

	*ret = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* The last line of what a program said, without "ringside: error: ". */
static const char *reason_of(char *said)
{
	static const char prefix[] = "ringside: error: ";
	size_t len = strlen(said);
	char *line;

	while (len > 0 && said[len - 1] == '\n') {
		said[--len] = '\0';
	}
	line = strrchr(said, '\n');
	line = line ? line + 1 : said;
	text_make_utf8(line);
	return text_starts_with(line, prefix) ? line + sizeof(prefix) - 1 : line;
}

static int why_not_line(const char *reason, char **ret, struct err *e)
{
	json_t *root = json_pack("{s:i, s:s, s:s}", "schema_version", CALIBRATION_SCHEMA_VERSION,
				 "type", COMPARISON_NO_CALIBRATION, "reason",
				 *reason ? reason : "'ringside calibrate' gave nothing");

	*ret = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* Asks this host, as a user would. What it cannot tell is an answer too, and recorded as one. */
static int calibrate(char **ret, struct err *e)
{
	static char *const argv[] = {"ringside", "calibrate", "--json", NULL};
	const struct spawn_request req = {
		.program = SELF,
		.argv = argv,
		.input = "",
		.timeout_ns = TIMEOUT_NS,
		.record_is_stdout = true,
	};
	_cleanup_free_ struct calibration *c = NULL;
	struct err why = ERR_INIT;
	struct spawn_result res;
	int r;

	log_info("timing the primitives of this host, for the floors (ringside calibrate)");
	r = spawn_run(&req, &res, e);
	if (r < 0) {
		return r;
	}
	if (res.end == SPAWN_INTERRUPTED) {
		r = err_set(e, -EINTR, "stopped by %s", strsignal(res.signal));
	} else if (res.end != SPAWN_EXITED || res.status != 0 || !res.record) {
		r = why_not_line(reason_of(res.said), ret, e);
	} else if (calibration_parse(res.record, res.record_len, "ringside calibrate", &c, &why) <
		   0) {
		r = why_not_line(why.text, ret, e);
	} else {
		r = to_line(c, ret, e);
	}
	spawn_result_fini(&res);
	return r;
}

/**
 * compare_floors_line() - the line that a comparison's results still need for its floors
 * @option: what --calibration names: a file, "none", or NULL to ask this host
 * @c: the comparison, with what is recorded of it
 * @ret_line: set on success: the line, without a newline, for the caller to free; or NULL where
 *            none is needed, as no claim asks for a floor or they are recorded already
 * @e: set on failure
 *
 * Return: 0; -EINTR when a signal stopped it; -ENOMEM; what calibration_read() returns.
 * Context: main thread; asking the host takes seconds, and minutes on an emulated one.
 */
int compare_floors_line(const char *option, const struct comparison *c, char **ret_line,
			struct err *e)
{
	_cleanup_free_ struct calibration *read = NULL;
	int r;

	*ret_line = NULL;
	if (!wants_floors(&c->plan) || (!option && (c->calibration || c->no_calibration))) {
		return 0;
	}
	if (!option) {
		return calibrate(ret_line, e);
	}
	if (strcmp(option, "none") == 0) {
		return why_not_line("not asked for (--calibration none)", ret_line, e);
	}
	r = calibration_read(option, &read, e);
	return r < 0 ? r : to_line(read, ret_line, e);
}
