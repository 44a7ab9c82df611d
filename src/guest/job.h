/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job of one boot: what the agent finds as /ringside/job.json in its initramfs. The host writes
 * it, the agent reads it; both go through this one struct.
 */
#ifndef GUEST_JOB_H
#define GUEST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

#define JOB_VERSION 1
#define JOB_PATH    "ringside/job.json" /* in the archive, without the leading slash */

/* Far above any real job; what is larger is refused on both sides. */
#define JOB_STRINGS_MAX 4096
#define JOB_BYTES_MAX   (1 << 20)

/* Counts that a benchmark plan may ask for. */
#define JOB_BATCHES_MAX 100000
#define JOB_CALLS_MAX   100000000
#define JOB_BEAT_MAX_MS 3600000

/* What files that are brought back may have, all together: the record carries them. */
#define JOB_ARTIFACTS_MAX_BYTES (8u << 20)

struct job_bench {
	const char **names; /* benchmark names or prefixes; NULL-terminated; NULL: no benchmarks */
	unsigned int batches; /* 1 to JOB_BATCHES_MAX */
	unsigned int warmup;  /* batches thrown away before, 0 to JOB_BATCHES_MAX */
	unsigned int calls;   /* units in a batch; 0: each benchmark's own default */
	bool calltime;        /* a pass with the kernel's counters after each benchmark */
	bool nopti;           /* each benchmark's process asks for it: abi/nopti.h */
	uint64_t seed;        /* below 2^63, JSON's integers are signed */
};

struct job_lab {
	const char *cwd; /* NULL: not a lab job */
	const char **rw; /* host directories shared for writing, tags rw0, rw1, …; or NULL */
};

#define JOB_SHARES_MAX 16

/* A directory of the host, shared under a tag. */
struct job_share {
	const char *tag;
	const char *at; /* where the command finds it, absolute */
	bool read_only;
};

/* Where the command finds its files: a directory of the host, or a disk. */
struct job_root {
	const char *share; /* its tag; or NULL */
	const char *disk;  /* its serial; or NULL. Both NULL: the agent's own files */
	bool read_only;    /* what it writes stays in memory */
	bool init;         /* the root's own init is the first process */
};

#define JOB_NETS_MAX 4

/* An interface that the agent sets up. */
struct job_net {
	char mac[18];        /* "02:00:00:12:34:56": which one it is */
	const char *address; /* "ADDRESS/PREFIX", IPv4 */
	const char *gateway; /* of the default route; NULL: none */
	const char *dns;     /* address of a name server; NULL: none */
};

struct job {
	const char **command; /* argument vector, NULL-terminated; NULL: none */
	const char **env;     /* "NAME=value", NULL-terminated; or NULL */
	const char *cwd;      /* absolute; NULL: / */
	unsigned int beat_ms; /* while the command runs, a sign of life so often; 0: none */
	bool kernel_log;      /* tell, at the end, what the kernel said and whether it is tainted */
	const char **artifacts; /* absolute paths to bring back after the command; or NULL */
	struct job_bench bench;
	struct job_lab lab;
	const struct job_share *shares;
	size_t share_count;
	struct job_root root;
	struct job_net nets[JOB_NETS_MAX];
	size_t net_count;
	void *parsed; /* what job_read() allocated; job_fini() frees it */
};

int job_write(const struct job *job, char **ret_text, size_t *ret_len, struct err *e) __must_check;
int job_read(const char *text, size_t len, struct job *ret, struct err *e) __must_check;
void job_fini(struct job *job);

#endif
