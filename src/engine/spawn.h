/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One boot as one process: started in its own session, so that it can be ended as a whole with
 * whatever it started, and ended by the kernel when we are. Its record is read from a pipe.
 */
#ifndef ENGINE_SPAWN_H
#define ENGINE_SPAWN_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

/* Descriptors that the process finds open, beside 0, 1 and 2. */
#define SPAWN_RECORD_FD  3 /* it writes its record here */
#define SPAWN_INPUT_FD   4 /* it reads its job from here */

#define SPAWN_RECORD_MAX (16u << 20) /* bytes */
#define SPAWN_SAID_MAX   2048        /* bytes kept of what it says on stderr: the last ones */

enum spawn_end {
	SPAWN_EXITED,      /* with a status */
	SPAWN_KILLED,      /* by a signal that is not ours */
	SPAWN_TIMED_OUT,   /* we ended it */
	SPAWN_INTERRUPTED, /* we were told to stop, and ended it */
	SPAWN_TOO_LONG,    /* its record had no end, and we ended it */
};

struct spawn_result {
	enum spawn_end end;
	int status;   /* SPAWN_EXITED: exit status; SPAWN_KILLED: signal */
	int signal;   /* SPAWN_INTERRUPTED: which one we got */
	char *record; /* all that came on SPAWN_RECORD_FD, with a NUL; NULL when nothing did */
	size_t record_len;
	uint64_t wall_ns;
	char said[SPAWN_SAID_MAX + 1]; /* nothing where there is an err_fd */
};

struct spawn_request {
	const char *program;
	char *const *argv;
	const void *input; /* what SPAWN_INPUT_FD holds */
	size_t input_len;
	uint64_t timeout_ns;     /* 0: none */
	uint64_t grace_ns;       /* asked to end, it may take so long; 0: three seconds */
	int out_fd, err_fd;      /* files that it has as descriptors 1 and 2; 0: none */
	char *const *env;        /* its environment, or NULL: ours */
	const cpu_set_t *cpus;   /* the processors that it may run on, or NULL: ours */
	bool record_is_stdout;   /* it writes its record to descriptor 1, as any program does */
	void (*tick)(void *ctx); /* of spawn_run(): called once a second, or NULL */
	void *ctx;
};

struct spawn_pool;

void spawn_hold_signals(sigset_t *ret_held, sigset_t *ret_before);
int spawn_pool_create(void (*tick)(void *ctx), void *ctx, struct spawn_pool **ret,
		      struct err *e) __must_check;
int spawn_pool_tick_every(struct spawn_pool *pool, uint64_t ns) __must_check;
int spawn_pool_start(struct spawn_pool *pool, const struct spawn_request *req, void *tag,
		     struct err *e) __must_check;
int spawn_pool_wait(struct spawn_pool *pool, struct spawn_result *ret, void **ret_tag,
		    struct err *e) __must_check;
void spawn_pool_end(struct spawn_pool *pool, const void *tag);
void spawn_pool_destroy(struct spawn_pool *pool);
DEFINE_CLEANUP(struct spawn_pool *, spawn_pool_destroy)

int spawn_run(const struct spawn_request *req, struct spawn_result *ret,
	      struct err *e) __must_check;
void spawn_result_fini(struct spawn_result *r);

#endif
