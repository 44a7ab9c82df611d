/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See log.h. The level is the program's only global; it is set once, before any thread starts. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum log_level { LOG_QUIET, LOG_WARN, LOG_INFO, LOG_DEBUG };

static struct {
	enum log_level level;
	char areas[128]; /* ",a,b,"; empty means all */
} log_config = {.level = LOG_INFO};

/**
 * log_setup() - choose what is logged
 * @spec: "quiet", "warn", "info", "debug" or "debug:area[,area]..."
 * @e: set on failure
 *
 * Return: 0, or -EINVAL for a level that does not exist or areas that do not fit.
 * Context: before any thread is started.
 */
int log_setup(const char *spec, struct err *e)
{
	static const char *const names[] = {"quiet", "warn", "info", "debug"};
	size_t n = strcspn(spec, ":");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != n || memcmp(names[i], spec, n) != 0) {
			continue;
		}
		log_config.areas[0] = '\0';
		if (spec[n] == ':') {
			int len = snprintf(log_config.areas, sizeof(log_config.areas), ",%s,",
					   spec + n + 1);

			if (i != LOG_DEBUG || len >= (int)sizeof(log_config.areas)) {
				break;
			}
		}
		log_config.level = (enum log_level)i;
		return 0;
	}
	return err_set(e, -EINVAL,
		       "--log: '%s' is no level: expected quiet, warn, info, debug or "
		       "debug:AREA[,AREA]",
		       spec);
}

/**
 * log_debug_on() - whether debug messages of an area are wanted
 * @area: a short name, such as "bus"
 *
 * Return: true when they are.
 * Context: any thread.
 */
bool log_debug_on(const char *area)
{
	char key[40];

	if (log_config.level < LOG_DEBUG) {
		return false;
	}
	if (!log_config.areas[0]) {
		return true;
	}
	snprintf(key, sizeof(key), ",%s,", area);
	return strstr(log_config.areas, key) != NULL;
}

/* One write(2) a message, so that lines of several threads do not mix. */
static void log_write(const char *tag, const char *fmt, va_list ap)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "ringside: %s", tag);
	int m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);

	n += m < 0 ? 0 : m;
	if ((size_t)n > sizeof(line) - 2) {
		n = sizeof(line) - 2;
	}
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0) {
		/* Nowhere is left to say so. */
		return;
	}
}

#define LOG_FUNCTION(name, min, tag)            \
	void name(const char *fmt, ...)         \
	{                                       \
		va_list ap;                     \
                                                \
		if (log_config.level < (min)) { \
			return;                 \
		}                               \
		va_start(ap, fmt);              \
		log_write(tag, fmt, ap);        \
		va_end(ap);                     \
	}

/**
 * log_error() - say what failed; never silenced
 * @fmt: one line without a newline
 *
 * Context: any thread.
 */
LOG_FUNCTION(log_error, LOG_QUIET, "error: ")

/**
 * log_warn() - say what is doubtful but does not stop the run
 * @fmt: one line without a newline
 *
 * Context: any thread.
 */
LOG_FUNCTION(log_warn, LOG_WARN, "warning: ")

/**
 * log_info() - say what goes on
 * @fmt: one line without a newline
 *
 * Context: any thread.
 */
LOG_FUNCTION(log_info, LOG_INFO, "")

/**
 * log_debug_write() - write a debug message; use log_debug(), which tests the area first
 * @area: the area it belongs to
 * @fmt: one line without a newline
 *
 * Context: any thread.
 */
void log_debug_write(const char *area, const char *fmt, ...)
{
	char tag[48];
	va_list ap;

	snprintf(tag, sizeof(tag), "%s: ", area);
	va_start(ap, fmt);
	log_write(tag, fmt, ap);
	va_end(ap);
}
