/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors with a text for people. The caller owns a struct err (fixed size, no heap) and passes it
 * down; whoever fails first sets it, and everyone on the way up may put context before it. The
 * setter returns the code, so code and text cannot part: "return err_set(e, -EINVAL, ...)".
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/cleanup.h"

#define ERR_TEXT_MAX 1024

struct err {
	int code; /* 0, or a negative errno */
	char text[ERR_TEXT_MAX];
};

#define ERR_INIT                      \
	{                             \
		.code = 0, .text = "" \
	}

int err_set(struct err *e, int code, const char *fmt, ...) __printf(3, 4);
int err_prefix(struct err *e, const char *fmt, ...) __printf(2, 3);
int err_errno(struct err *e, int code, const char *fmt, ...) __printf(3, 4);

#endif
