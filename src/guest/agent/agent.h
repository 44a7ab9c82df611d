/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: PID 1 of a guest with a job. It sets the machine up, tells the host what it found,
 * runs the job's benchmarks and command with their output forwarded byte-exact, reports the status
 * and ends the VM. One thread; nothing here runs on the host.
 *
 * Order: mark, mounts, drivers from the initrd, link to the host, job, "agent" line, root and
 * shares, benchmarks, command, the kernel's log, "exit" line, drain, exit port, reboot (should
 * nobody listen at the exit port).
 */
#ifndef GUEST_AGENT_H
#define GUEST_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "guest/job.h"

/* main.c */
#define AGENT_STATUS_NOEXEC  126 /* as sh has it */
#define AGENT_STATUS_MISSING 127

/* setup.c */
#define AGENT_NEW_ROOT "/newroot" /* root.c's */
#define AGENT_LAB_ROOT "/lab"     /* lab.c's */

enum setup_root {
	SETUP_OWN_ROOT,
	SETUP_GIVEN_ROOT, /* what "--root" brings */
	SETUP_LAB_ROOT,
};

int setup_mounts(enum setup_root which, struct err *e) __must_check;
void setup_unmount(enum setup_root which);
int setup_make_dirs(const char *path, struct err *e) __must_check;
void setup_loopback(void);

/* modules.c: drivers that the kernel has as modules, from the user's initrd. */
#define MODULES_CHAIN_MAX 32

struct modules_chain {
	const char *path[MODULES_CHAIN_MAX]; /* in modules.dep's text; not terminated there */
	size_t len[MODULES_CHAIN_MAX];
	size_t count; /* in the order in which they are to be loaded */
};

int modules_chain(const char *dep, const char *name, struct modules_chain *ret) __must_check;
void modules_load_virtio(void);

/* link.c: the way to the host, whichever device carries it. */
#define LINK_FRAMES 7 /* sent with one write; a virtio port takes at most 32 KiB at once */
#define LINK_CHUNK  (LINK_FRAMES * CHANNEL_PAYLOAD_MAX)

struct link {
	int fd;                           /* for frames; -1: there is no way at all */
	int own[CHANNEL_STREAM_LAST + 1]; /* by stream, when apart */
	bool apart;                       /* each stream has its own */
	bool serial;
	uint64_t sent; /* bytes */
	uint8_t buf[LINK_FRAMES * CHANNEL_FRAME_MAX];
};

int link_open(struct link *l, struct err *e) __must_check;
int link_send(struct link *l, uint8_t stream, const void *data, size_t len) __must_check;
int link_send_line(struct link *l, json_t *o) __must_check;
int link_log(struct link *l, const char *fmt, ...) __printf(2, 3);
int link_drain(struct link *l) __must_check;

/* net.c */
int net_set_up(const struct job *job, struct err *e) __must_check;
int net_bring_names(const struct job *job, const char *root, bool private,
		    struct err *e) __must_check;
void net_leave_names(const char *root);

/* facts.c */
int facts_send(struct link *l, struct err *e) __must_check;

/* command.c */
#define TASK_RESULTS_FD 3

struct task {
	const char *const *argv; /* NULL-terminated */
	const char *const *env;  /* "NAME=value", NULL-terminated, over the defaults; or NULL */
	const char *cwd;         /* inside @root */
	const char *root;        /* NULL: the agent's own */
	unsigned int beat_ms;    /* tell the host so often that we live; 0: not */
	bool results;            /* has a socket for result lines as TASK_RESULTS_FD */
};

struct task_end {
	int status; /* exit status, 128 + signal for one that was killed */
	int signal; /* 0: it ended by itself */
};

int task_run(struct link *l, const struct task *t, struct task_end *ret,
	     struct err *e) __must_check;

/* bench.c */
int bench_run(struct link *l, const struct job *job, struct task_end *ret,
	      struct err *e) __must_check;

/* root.c */
int root_enter(const struct job *job, const char **ret_root, struct err *e) __must_check;
void root_leave(const struct job *job);

/* files.c */
int files_enter(const char *root, struct err *e) __must_check;

/* artifacts.c */
int artifacts_send(struct link *l, const struct job *job, const char *root) __must_check;

/* kernel_log.c */
uint64_t kernel_log_tainted(void);
json_t *kernel_log_read(int fd);
int kernel_log_send(struct link *l, uint64_t tainted_before) __must_check;

/* init.c */
int init_start(char *name, const char *root, const char **ret_root, struct err *e) __must_check;

/* lab.c */
int lab_enter(const struct job *job, const char **ret_root, struct err *e) __must_check;

#endif
