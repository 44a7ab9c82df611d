/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run's record says of the machine and of the kernel's file. Finding it out takes long,
 * opens files and makes VMs: too early before the run, and not allowed any more after it, where the
 * process is held by its filters. So a child, parted from the start and without any descriptor of
 * the run, waits until it is asked, and ends with its parent at the latest.
 */
#ifndef CLI_RUN_PROVENANCE_H
#define CLI_RUN_PROVENANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/class_detect.h"

#define PROVENANCE_HOST_TEXT 1024

struct provenance_wish {
	const char *kernel_path;       /* whose hash is wanted, or NULL */
	bool class;                    /* is the execution class wanted */
	void (*look)(const void *ctx); /* what provenance_look() does, there; writes to stderr */
	const void *ctx;
};

struct provenance {
	int error;      /* 0, or why the hash is missing */
	char text[512]; /* of the error */
	struct class_result class;
	char sha256[65];
	char host[PROVENANCE_HOST_TEXT]; /* record_host_to_json() as text, or "" */
};

struct provenance_helper {
	pid_t pid; /* 0: there is none */
	int fd;
};

void provenance_collect(const struct provenance_wish *wish, struct provenance *ret);
int provenance_start(struct provenance_helper *h, const struct provenance_wish *wish,
		     struct err *e) __must_check;
int provenance_fetch(struct provenance_helper *h, struct provenance *ret,
		     struct err *e) __must_check;
int provenance_look(struct provenance_helper *h) __must_check;
void provenance_fini(struct provenance_helper *h);

#endif
