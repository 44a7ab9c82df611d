/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU as a child: in a process group of its own, so that the terminal's signals are ours alone,
 * and killed by the kernel when we die. Private to the QEMU backend.
 */
#ifndef ENGINE_QEMU_PROCESS_PRIV_H
#define ENGINE_QEMU_PROCESS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

#define QEMU_STDERR_MAX 2048

struct qemu_process {
	pid_t pid;     /* 0: not started */
	int pid_fd;    /* readable when it has ended; -1: not started */
	int stderr_fd; /* its stdout and stderr, non-blocking */
	bool reaped;
	int wait_status;
	char stderr_text[QEMU_STDERR_MAX]; /* the last of it */
	size_t stderr_len;
};

void qemu_process_init(struct qemu_process *p);
void qemu_process_fini(struct qemu_process *p);
int qemu_process_start(struct qemu_process *p, char **argv, const int *inherited, size_t count,
		       struct err *e) __must_check;
bool qemu_process_read_stderr(struct qemu_process *p);
void qemu_process_reap(struct qemu_process *p);
void qemu_process_signal(struct qemu_process *p, int sig);
void qemu_process_describe_end(struct qemu_process *p, char *buf, size_t len);

#endif
