/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user types, or a file or pipe on stdin, on its way to the guest's console. Whatever
 * stdin is, reading it neither spins nor stops the program. Ctrl-A is the escape on a terminal:
 * then 'x' ends the run, and Ctrl-A sends one to the guest.
 */
#ifndef ENGINE_INPUT_H
#define ENGINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/evloop.h"

#define INPUT_ESCAPE 0x01

struct input {
	struct evloop *loop;
	int fd; /* not owned */
	bool terminal, escaped, ended;
	struct evloop_source *source, *retry;
	size_t (*send)(void *ctx, const void *data, size_t len); /* returns how many it took */
	void (*quit)(void *ctx);
	void *ctx;
	unsigned char waiting[256];
	size_t waiting_len;
};

int input_init(struct input *in, struct evloop *loop, int fd,
	       size_t (*send)(void *ctx, const void *data, size_t len), void (*quit)(void *ctx),
	       void *ctx) __must_check;
void input_fini(struct input *in);
void input_room(struct input *in);
void input_continued(struct input *in);

#endif
