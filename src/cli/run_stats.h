/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "ringside run --stats": what a machine's exits, its threads and KVM have counted, as a JSON
 * document or as a table for people. docs/observability.md describes both.
 */
#ifndef CLI_RUN_STATS_H
#define CLI_RUN_STATS_H

#include "base/cleanup.h"
#include "base/err.h"

#define RUN_STATS_SCHEMA_VERSION 1

struct machine;

int run_stats_open(const char *option, const char *path, int *ret_fd, struct err *e) __must_check;
int run_stats_write(const char *path, int fd, const struct machine *m, struct err *e) __must_check;
int run_stats_table(const struct machine *m, char **ret) __must_check; /* run_stats_table.c */

#endif
