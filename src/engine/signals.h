/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals as events of the loop. Those that would stop or kill a program for where its input and
 * output are (SIGTTIN, SIGTTOU, SIGPIPE) are ignored while it runs: the calls tell it by errno.
 */
#ifndef ENGINE_SIGNALS_H
#define ENGINE_SIGNALS_H

#include <signal.h>

#include "base/cleanup.h"
#include "base/evloop.h"

struct signals {
	int fd;
	struct evloop_source *source;
	sigset_t caught, old_mask;
	struct sigaction old_ttin, old_ttou, old_pipe;
	void (*fn)(void *ctx, int sig);
	void *ctx;
};

int signals_init(struct signals *s, struct evloop *loop, void (*fn)(void *ctx, int sig),
		 void *ctx) __must_check;
void signals_fini(struct signals *s);

#endif
