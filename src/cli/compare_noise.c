/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See compare_noise.h. Main thread, after the last boot. The comparison does not hang on it: what
 * goes wrong here is a warning.
 */
#include "cli/compare_noise.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "cli/helpers.h"
#include "engine/summary.h"

/* Of this host, by its name: several may share a cache. */
static int path_of_host(char *ret, size_t len, struct err *e)
{
	char dir[PATH_MAX];
	struct utsname u;
	int r = cli_cache_dir(dir, sizeof(dir), e);

	if (r < 0) {
		return r;
	}
	if (uname(&u) < 0) {
		return err_errno(e, -errno, "uname");
	}
	for (char *p = u.nodename; *p; p++) {
		*p = *p == '/' ? '_' : *p;
	}
	if (snprintf(ret, len, "%s/aa/%s.ndjson", dir, u.nodename) >= (int)len) {
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", dir);
	}
	return cli_make_cache_parents(ret, e);
}

/* The floors of now into the results, so that no report of them needs this host again. */
static int record_floors(struct comparison *c, struct results *results, const char *path,
			 const struct noise_key *key, struct err *e)
{
	_cleanup_free_ char *line = NULL;
	struct noise n = {0};
	size_t bad = 0;
	int r = noise_read(path, key, &n, &bad, e);

	if (r < 0) {
		return r == -ENOENT ? 0 : r;
	}
	if (bad > 0) {
		log_warn("%s: %zu line%s cannot be read, and %s passed over", path, bad,
			 bad == 1 ? "" : "s", bad == 1 ? "is" : "are");
	}
	if (n.n > 0) {
		r = noise_line(&n, &line, e);
	}
	noise_fini(&n);
	if (r == 0 && line) {
		r = comparison_add_line(c, line, strlen(line), e);
	}
	return r < 0 || !line ? r : results_append(results, line, strlen(line), e);
}

/* What an arm compared with itself has shown. */
static int add_effects(const struct comparison *c, const char *path, const struct noise_key *key,
		       struct err *e)
{
	_cleanup_(summary_destroy_p) struct summary *s = NULL;
	char plan[PLAN_KEY_HEX + 1];
	int r = summary_create(c, &s, e);

	if (r < 0) {
		return r == -ENODATA ? 0 : r;
	}
	plan_key(c->plan_text, plan, sizeof(plan));
	return noise_add(path, key, plan, summary_set(s), e);
}

/**
 * compare_noise_record() - record what this host makes of no difference
 * @c: the comparison; where all of its boots, or its shard's, are recorded, its noise floors are
 * set
 * @results: its file, which gets them; NULL: they were due in an earlier run
 *
 * The effects of a comparison of an arm with itself are added to the host's file, after the floors
 * were taken from it: it is not held against itself.
 *
 * Context: main thread; waits for the disk.
 */
void compare_noise_record(struct comparison *c, struct results *results)
{
	struct err e = ERR_INIT;
	char path[PATH_MAX];
	struct noise_key key;
	int r;

	if (c->plan.pilot || c->done < plan_share(&c->plan) || !c->first ||
	    !exec_class_judges_speed(c->first->exec_class)) {
		return;
	}
	key = (struct noise_key){
		.cpu = c->first->host_cpu,
		.class = c->first->exec_class,
		.ticks_per_unit = c->first->ticks_per_unit,
	};
	r = path_of_host(path, sizeof(path), &e);
	if (r == 0 && results && !c->has_noise) {
		r = record_floors(c, results, path, &key, &e);
	}
	if (r == 0 && c->plan.aa && c->plan.shards == 0) {
		r = add_effects(c, path, &key, &e);
	}
	if (r < 0) {
		log_warn("noise floors: %s", e.text);
	}
}
