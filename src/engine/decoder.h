/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of ringside-decode (src/decode/decode.h): a child that is started before the guest,
 * as nothing can be started behind the filter of system calls, and that reads nothing before it is
 * asked. What comes of it is checked as any stranger's words, and waited for up to a moment.
 */
#ifndef ENGINE_DECODER_H
#define ENGINE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

#define DECODER_QUERIES_MAX 256
#define DECODER_TEXT_MAX    256

struct decoder {
	pid_t pid; /* 0: none was started */
	int fd;
};

struct decoder_query {
	char what[DECODER_TEXT_MAX];  /* as decode.h has it */
	char name[DECODER_TEXT_MAX];  /* set: function and offset; empty: not known */
	char place[DECODER_TEXT_MAX]; /* set: file and line; empty: not known */
};

bool decoder_pays(int fd);
int decoder_start(const char *program, int fd, struct decoder *ret, struct err *e) __must_check;
int decoder_ask(struct decoder *d, struct decoder_query *queries, size_t count,
		uint64_t deadline_ns) __must_check;
void decoder_end(struct decoder *d);

#endif
