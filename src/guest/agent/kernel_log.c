/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel said and the console need not have shown: a command may turn that down ("dmesg -n
 * 1"). Read once, when the command has ended: its log from the oldest record that there still is
 * (Documentation/ABI/testing/dev-kmsg), and whether it became tainted, of which no log can run
 * over.
 */
#include "guest/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAINTED       "/proc/sys/kernel/tainted"
#define RECORD_MAX    8192  /* bytes; the kernel has no longer ones */
#define LOG_BYTES_MAX 65536 /* of text that is sent */
#define LEVEL_WARNING 4     /* of syslog; what is worse is below it */
#define LEVEL_BITS    3

/**
 * kernel_log_tainted() - the kernel's taint
 *
 * Return: the bits of Documentation/admin-guide/tainted-kernels.rst, 0 also when it cannot be read.
 * Context: the agent.
 */
uint64_t kernel_log_tainted(void)
{
	unsigned long long bits = 0;
	FILE *f = fopen(TAINTED, "re");

	if (f) {
		if (fscanf(f, "%llu", &bits) != 1) {
			bits = 0;
		}
		fclose(f);
	}
	return bits;
}

/* "4,318,1234567,-;text\n KEY=value\n": the text, if it is the kernel's own and a warning or worse.
 */
static char *text_of(char *record)
{
	char *text = strchr(record, ';');
	unsigned int prefix;

	if (!text || sscanf(record, "%u,", &prefix) != 1 || prefix > LEVEL_WARNING) {
		return NULL; /* anybody's, of another facility, has a number above all levels */
	}
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * kernel_log_read() - the warnings and worse of a kernel's log
 * @fd: /dev/kmsg, non-blocking, at its start; each read gives a record
 *
 * Return: an array of texts, the first 64 KiB of them; NULL without memory.
 * Context: the agent.
 */
json_t *kernel_log_read(int fd)
{
	static char record[RECORD_MAX + 1];
	json_t *lines = json_array();
	size_t bytes = 0;

	for (;;) {
		ssize_t n = read(fd, record, RECORD_MAX);
		char *text;

		if (n < 0 && (errno == EPIPE || errno == EINTR)) {
			continue; /* records went while we read: on with the oldest that is left */
		}
		if (n <= 0) {
			return lines;
		}
		record[n] = '\0';
		text = text_of(record);
		if (text && bytes + strlen(text) <= LOG_BYTES_MAX) {
			bytes += strlen(text);
			/* The kernel writes what is no ASCII as \xNN: it is always text. */
			json_array_append_new(lines, json_string(text));
		}
	}
}

/**
 * kernel_log_send() - tell the host
 * @l: an open link
 * @tainted_before: as it was before the command
 *
 * Return: 0, -ENOMEM, or the errno of write(2). A log that cannot be read is an empty one.
 * Context: the agent.
 */
int kernel_log_send(struct link *l, uint64_t tainted_before)
{
	_cleanup_close_ int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	json_t *lines = fd >= 0 ? kernel_log_read(fd) : json_array();

	return link_send_line(l, json_pack("{s:s, s:I, s:I, s:o}", "type", "kernel",
					   "tainted_before", (json_int_t)tainted_before, "tainted",
					   (json_int_t)kernel_log_tainted(), "lines", lines));
}
