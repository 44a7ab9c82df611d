/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's machine protocol on a connected socket: events as they come, and a command with its answer
 * for the moment when the guest has failed (QEMU 7.2 docs/interop/qmp-spec.txt).
 */
#ifndef ENGINE_QMP_H
#define ENGINE_QMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

#define QMP_LINE_MAX (1U << 20) /* bytes; the registers of many vCPUs come in one line */

struct qmp {
	int fd; /* not owned */
	char *buf;
	size_t len, room;
	char version[64]; /* from the greeting, empty until it came */
	void (*event)(void *ctx, const char *name, json_t *data);
	void *ctx;
	json_t *answer; /* of the command that is waited for */
};

void qmp_init(struct qmp *q, int fd, void (*event)(void *ctx, const char *name, json_t *data),
	      void *ctx);
void qmp_fini(struct qmp *q);
int qmp_greet(struct qmp *q, bool run) __must_check;
int qmp_read(struct qmp *q) __must_check;
int qmp_monitor_command(struct qmp *q, const char *command, unsigned int timeout_ms,
			char **ret_text) __must_check;
int qmp_command(struct qmp *q, const char *command, unsigned int timeout_ms) __must_check;

#endif
