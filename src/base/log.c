/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See log.h. What is logged is the program's only global; it is set once, before any thread starts.
 */
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

enum log_level { LOG_QUIET, LOG_WARN, LOG_INFO, LOG_DEBUG };

static struct {
	enum log_level level;
	char areas[128]; /* ",a,b,"; empty means all */
	uint64_t start_ns;
} log_config = {.level = LOG_INFO};

bool log_debugging;

static const struct {
	const char *name;
	const char *about;
} log_areas[] = {
	{"acpi", "whether tables tell the kernel of its devices, and why"},
	{"agent", "what the guest's agent says of its work"},
	{"bus", "accesses to ports and addresses that no device has"},
	{"kvm", "what the machine asks of KVM while it is built"},
	{"load", "where kernel, initrd and command line go"},
	{"loop", "descriptors and timers that the event loop is to look at, and no more"},
	{"net", "networks: what they are plugged into, and how many frames went"},
	{"qemu", "the other backend's events"},
	{"run", "marks of the guest, and how a run ends"},
	{"share", "shared directories: which virtiofsd serves them"},
	{"virtio", "drivers: status, features, queues, broken rings"},
	{"vsock", "connections of the guest's sockets: from where to where, refused, ended"},
};

static void start_debugging(void)
{
	log_config.level = LOG_DEBUG;
	log_debugging = true;
	log_config.start_ns = clock_now_ns(&clock_monotonic);
}

static bool is_area(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(log_areas); i++) {
		if (strlen(log_areas[i].name) == len && memcmp(log_areas[i].name, name, len) == 0) {
			return true;
		}
	}
	return false;
}

/**
 * log_print_areas() - list the areas on stdout, a line each
 */
void log_print_areas(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(log_areas); i++) {
		printf("%-8s %s\n", log_areas[i].name, log_areas[i].about);
	}
}

/**
 * log_debug_setup() - say what goes on in some areas
 * @areas: their names with commas between them, or "all"; NULL or empty: nothing changes
 * @option: where that was said, for messages
 * @e: set on failure
 *
 * Return: 0, or -EINVAL for an area that there is not, or too many.
 * Context: before any thread is started.
 */
int log_debug_setup(const char *areas, const char *option, struct err *e)
{
	int len;

	if (!areas || !*areas) {
		return 0;
	}
	for (const char *p = areas; strcmp(areas, "all") != 0;) {
		size_t n = strcspn(p, ",");

		if (!is_area(p, n)) {
			return err_set(e, -EINVAL,
				       "%s: there is no area '%.*s'; --debug help lists them",
				       option, (int)n, p);
		}
		if (!p[n]) {
			break;
		}
		p += n + 1;
	}
	if (strcmp(areas, "all") == 0) {
		areas = "";
	}
	len = snprintf(log_config.areas, sizeof(log_config.areas), *areas ? ",%s," : "%s", areas);
	if (len >= (int)sizeof(log_config.areas)) {
		return err_set(e, -EINVAL, "%s: the list is too long; all is all of them", option);
	}
	start_debugging();
	return 0;
}

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
		if (i == LOG_DEBUG) {
			start_debugging();
		}
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

/* A path or a guest's word must not move the cursor of who reads of it; lines are ours. */
static void hide_controls(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t bytes = line[i] == '\n' || line[i] == '\t' ? 0 : text_control_len(line + i);

		for (size_t k = 0; k < bytes && i + k < len; k++) {
			line[i + k] = '?';
		}
	}
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
	hide_controls(line, (size_t)n);
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
	uint64_t ns = clock_now_ns(&clock_monotonic) - log_config.start_ns;
	char tag[64];
	va_list ap;

	snprintf(tag, sizeof(tag), "[%5" PRIu64 ".%06" PRIu64 "] %s: ", ns / NS_PER_SEC,
		 ns % NS_PER_SEC / 1000, area);
	va_start(ap, fmt);
	log_write(tag, fmt, ap);
	va_end(ap);
}
