/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The initramfs of a boot with a job: the agent as /init, the job, what the job needs, and behind
 * them the user's own archives. It is put together at every start, so what it is made of is opened
 * and read straight into its place, and no program is run.
 */
#ifndef GUEST_INITRAMFS_H
#define GUEST_INITRAMFS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "guest/closure.h"
#include "guest/job.h"

/* Where things are in the guest. */
/* The agent, where archives of the user follow: they may have an /init of their own. */
#define GUEST_AGENT_PATH   "/ringside/agent"
#define GUEST_BENCH_PATH   "/ringside/bench"
#define GUEST_BUSYBOX_PATH "/bin/busybox"
#define GUEST_NOPTI_PATH   "/ringside/nopti"
#define GUEST_FILES_PATH   "/ringside/files" /* what the agent copies into the command's root */
#define GUEST_RUNNER_NAME  "ringside-runner"

/* For the benchmark kvmwalk: ringside itself, and its payload. */
#define GUEST_RINGSIDE_PATH "/ringside/ringside"
#define GUEST_PAGEWALK_PATH "/ringside/pagewalk.elf"

struct initramfs_file {
	const char *name;   /* in the guest, without the leading slash */
	const char *path;   /* the host's file */
	const char *target; /* of a link, which has no file; or NULL */
	mode_t perm;
};

/* What a file is to those who may run it. */
enum initramfs_program {
	INITRAMFS_NO_PROGRAM, /* for x86-64 */
	INITRAMFS_STATIC,
	INITRAMFS_DYNAMIC, /* needs an interpreter, and mostly libraries */
};

struct initramfs_spec {
	const char *agent_path;   /* the host's ringside-agent */
	const char *bench_path;   /* the host's ringside-bench; NULL: not taken along */
	const char *busybox_path; /* from initramfs_find_busybox(); NULL: not taken along */
	const struct job *job;
	const struct initramfs_file *files; /* anything else */
	size_t n_files;
	const struct initramfs_file *given; /* the user's */
	size_t n_given;
	const struct closure *closure; /* programs with what they need; or NULL */
	const char *const *appended;   /* the user's initrds, NULL-terminated; or NULL */
};

struct initramfs;

int initramfs_create(const struct initramfs_spec *spec, struct initramfs **ret,
		     struct err *e) __must_check;
void initramfs_destroy(struct initramfs *i);
DEFINE_CLEANUP(struct initramfs *, initramfs_destroy)

size_t initramfs_bytes(const struct initramfs *i);
int initramfs_copy(const struct initramfs *i, void *dest, struct err *e) __must_check;
int initramfs_write(const struct initramfs *i, int fd, struct err *e) __must_check;

enum initramfs_program initramfs_program_kind(const char *path);
int initramfs_find_busybox(const char **ret_path, struct err *e) __must_check;

#endif
