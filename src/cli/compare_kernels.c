/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_kernels.h. Main thread, before the first boot. */
#include "cli/compare_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "cli/helpers.h"
#include "cli/status.h"
#include "engine/spawn.h"
#include "samples/record.h"

#define SELF       "/proc/self/exe"
#define IMAGES_MAX (SCHEDULE_GROUPS_MAX * SCHEDULE_ARMS_MAX)

static size_t first_arm(const struct plan *p, size_t group)
{
	size_t n = 0;

	for (size_t i = 0; i < group; i++) {
		n += p->groups[i].arm_count;
	}
	return n;
}

/* Which words or which part of a scenario an arm comes from, for messages. */
static void name_arm(const struct plan_group *g, unsigned int arm, char *buf, size_t len)
{
	if (g->name) {
		snprintf(buf, len, "group %s, arm %s", g->name, g->arms[arm].name);
	} else {
		snprintf(buf, len, "--%s", arm_name(arm));
	}
}

static int find_kernel(const struct plan_group *g, unsigned int arm, struct kernel_file *ret,
		       struct err *e)
{
	char name[256];
	int r = cli_find_kernel(g->arms[arm].arm.kernel, ret->path, sizeof(ret->path), e);

	if (r < 0) {
		name_arm(g, arm, name, sizeof(name));
		err_prefix(e, "%s", name);
	}
	return r;
}

/* Fills in an arm's hash, or holds the file against it. Earlier arms may be of the same file. */
static int hash_kernel(const struct compare_kernels *x, struct plan_arm *a,
		       const char *const *hashes, size_t i, char **ret, struct err *e)
{
	int r = 0;

	/* Hashing a kernel takes seconds on an emulated machine: each file once. */
	for (size_t k = 0; k < i && !*ret; k++) {
		if (strcmp(x->files[k].path, x->files[i].path) == 0) {
			*ret = strdup(hashes[k]);
		}
	}
	if (!*ret) {
		r = record_file_sha256(x->files[i].path, ret, e);
	}
	if (r < 0) {
		return r;
	}
	if (*a->sha256 && strcmp(a->sha256, *ret) != 0) {
		return err_set(e, -EXDEV,
			       "%s was changed since the comparison began: its SHA-256 is "
			       "%.16s..., planned was %.16s...",
			       x->files[i].path, *ret, a->sha256);
	}
	snprintf(a->sha256, sizeof(a->sha256), "%s", *ret);
	return 0;
}

/* Whether an image in the cache is of older patches or options than "kernel build" would make. */
static bool is_stale(const char *name)
{
	char *const argv[] = {"ringside", "kernel", "path", (char *)name, NULL};
	const struct spawn_request req = {.program = SELF, .argv = argv, .input = ""};
	struct err e = ERR_INIT;
	struct spawn_result res;
	bool stale;

	if (spawn_run(&req, &res, &e) < 0) {
		return false;
	}
	/* Any other status is of a place that cannot build: what is in the cache is what there is.
	 */
	stale = res.end == SPAWN_EXITED && res.status == STATUS_NO;
	spawn_result_fini(&res);
	return stale;
}

/*
 * Whether an arm's kernel is the name of an image that is to be built. A scenario says what it
 * needs of an image; --a and --b take the one that is there.
 */
static bool is_to_build(const struct plan *p, const char *kernel)
{
	char path[PATH_MAX];
	struct err e = ERR_INIT;

	if (strchr(kernel, '/')) {
		return false;
	}
	return cli_find_kernel(kernel, path, sizeof(path), &e) == -ENOENT ||
	       (p->title && is_stale(kernel));
}

/* Runs "ringside kernel build NAME..."; what it says of its progress is for the user to see. */
static int build_images(const char *const *names, size_t n, struct err *e)
{
	const char *argv[IMAGES_MAX + 4] = {"ringside", "kernel", "build"};
	int status = 0;
	const pid_t parent = getpid();
	pid_t pid;

	for (size_t i = 0; i < n; i++) {
		log_info("image %s is not built as it is now: it is built first", names[i]);
		argv[3 + i] = names[i];
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		return err_errno(e, -errno, "starting ringside kernel build");
	}
	if (pid == 0) {
		process_die_with(parent);
		/* stdout is for the report. */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
			execv(SELF, (char *const *)argv);
		}
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		return err_set(e, -EIO,
			       "'ringside kernel build' failed (%s %d); --no-build does without",
			       WIFEXITED(status) ? "status" : "signal",
			       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	return 0;
}

static int build_missing(const struct plan *p, struct err *e)
{
	const char *seen[IMAGES_MAX];
	const char *names[IMAGES_MAX];
	size_t seen_count = 0, n = 0;

	for (size_t g = 0; g < p->group_count; g++) {
		for (size_t arm = 0; arm < p->groups[g].arm_count; arm++) {
			const char *name = p->groups[g].arms[arm].arm.kernel;
			size_t i = 0;

			while (i < seen_count && strcmp(seen[i], name) != 0) {
				i++;
			}
			if (i < seen_count) {
				continue;
			}
			seen[seen_count++] = name;
			if (is_to_build(p, name)) {
				names[n++] = name;
			}
		}
	}
	return n ? build_images(names, n, e) : 0;
}

/* Finds each arm's file and hashes it. */
static int find_all(struct compare_kernels *x, struct plan *p, char **hashes, struct err *e)
{
	size_t i = 0;

	for (size_t g = 0; g < p->group_count; g++) {
		for (unsigned int arm = 0; arm < p->groups[g].arm_count; arm++, i++) {
			int r = find_kernel(&p->groups[g], arm, &x->files[i], e);

			if (r == 0) {
				r = hash_kernel(x, &p->groups[g].arms[arm],
						(const char *const *)hashes, i, &hashes[i], e);
			}
			if (r < 0) {
				return r;
			}
		}
	}
	return 0;
}

/**
 * compare_kernels_find() - find the kernels of a plan
 * @x: all zero; end it with compare_kernels_fini(), also on failure
 * @p: the plan; its hashes are filled in, or must be what they are already
 * @build: build the images that are not in the cache, which may take many minutes
 * @e: set on failure
 *
 * Return: 0; -ENOENT for a kernel that is not there; -EXDEV for one that was changed; -EIO when
 * building failed; -ENOMEM; the errno of reading one.
 * Context: main thread.
 */
int compare_kernels_find(struct compare_kernels *x, struct plan *p, bool build, struct err *e)
{
	size_t arms = first_arm(p, p->group_count);
	char **hashes = calloc(arms, sizeof(char *));
	int r = build ? build_missing(p, e) : 0;

	x->files = calloc(arms, sizeof(*x->files));
	if (r == 0 && (!hashes || !x->files)) {
		r = err_set(e, -ENOMEM, "out of memory");
	}
	if (r == 0) {
		x->count = arms;
		r = find_all(x, p, hashes, e);
	}
	for (size_t i = 0; hashes && i < arms; i++) {
		free(hashes[i]);
	}
	free(hashes);
	return r;
}

/**
 * compare_kernels_path() - the kernel's file of a boot
 * @x: of the boot's plan
 * @p: the plan
 * @b: one of its boots
 *
 * Return: a path, valid until compare_kernels_fini().
 * Context: any thread.
 */
const char *compare_kernels_path(const struct compare_kernels *x, const struct plan *p,
				 const struct schedule_boot *b)
{
	return x->files[first_arm(p, b->group) + b->arm].path;
}

/**
 * compare_kernels_fini() - free what was found
 * @x: the kernels; all zero is fine
 *
 * Context: any thread.
 */
void compare_kernels_fini(struct compare_kernels *x)
{
	free(x->files);
	*x = (struct compare_kernels){0};
}
