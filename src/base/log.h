/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages for people on stderr. cli and engine log errors, warnings and progress; the libraries
 * below them only log at debug level, by area: --debug virtio,bus, or --log debug:virtio,bus. An
 * area stands in the table of log.c.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"

/* True while any area may be wanted: the one branch that a message costs that is not. */
extern bool log_debugging;

int log_debug_setup(const char *areas, const char *option, struct err *e) __must_check;
void log_print_areas(void);
int log_setup(const char *spec, struct err *e) __must_check;
bool log_debug_on(const char *area);

void log_error(const char *fmt, ...) __printf(1, 2);
void log_warn(const char *fmt, ...) __printf(1, 2);
void log_info(const char *fmt, ...) __printf(1, 2);
void log_debug_write(const char *area, const char *fmt, ...) __printf(2, 3);

/* The arguments are not evaluated when the area is off. */
#define log_debug(area, ...)                                \
	do {                                                \
		if (log_debugging && log_debug_on(area)) {  \
			log_debug_write(area, __VA_ARGS__); \
		}                                           \
	} while (0)

/* The same, of what a guest can cause without end: @told counts, up to LOG_DEBUG_FEW. */
#define LOG_DEBUG_FEW 64

#define log_debug_few(told, area, ...)                          \
	do {                                                    \
		if (log_debugging && *(told) < LOG_DEBUG_FEW) { \
			++*(told);                              \
			log_debug(area, __VA_ARGS__);           \
		}                                               \
	} while (0)

#endif
