/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where running machines are found: a folder of the user's own, with a Unix socket for each name.
 * A socket whose machine is gone, killed maybe, is taken away by the next who meets it, under a
 * lock, so that a new machine's is never mistaken for it.
 */
#ifndef ENGINE_CONTROL_PATH_H
#define ENGINE_CONTROL_PATH_H

#include <sys/un.h>

#include "base/cleanup.h"
#include "base/err.h"

#define CONTROL_NAME_MAX   40 /* bytes */
#define CONTROL_PATIENCE_S 2  /* for a machine that does not answer to be taken in */

/* A machine's own socket, while it runs. */
struct control_socket {
	int fd; /* listening; −1: none */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

typedef void (*control_name_fn)(void *ctx, const char *name, int fd);

int control_name_check(const char *name, struct err *e) __must_check;
int control_socket_open(const char *name, struct control_socket *ret, struct err *e) __must_check;
void control_socket_close(struct control_socket *s);
int control_connect(const char *name, int *ret_fd, struct err *e) __must_check;
int control_each(control_name_fn fn, void *ctx, struct err *e) __must_check;

#endif
