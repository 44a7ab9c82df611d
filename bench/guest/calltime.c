/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calltime pass: the benchmark's loop once more, outside of all batches, with the kernel's own
 * counters on and going to a bank of this benchmark alone. The host reads the bank from guest
 * memory. See bench.h and abi/calltime.h.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

#define CONTROL "/sys/kernel/debug/calltime/"

static int control(const char *name, const char *text, struct err *e)
{
	char path[64];
	_cleanup_close_ int fd = -1;
	int r;

	snprintf(path, sizeof(path), CONTROL "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));
	return r < 0 ? err_errno(e, r, "%s: writing '%s'", path, text) : 0;
}

/**
 * calltime_present() - does this kernel have the counters?
 *
 * Return: true when it does.
 * Context: any thread.
 */
bool calltime_present(void)
{
	return access(CONTROL "enable", W_OK) == 0;
}

/**
 * calltime_pass() - run the loop with the counters on
 * @r: a benchmark that was set up and measured; its bank is set
 * @bank: where the samples are to go
 * @e: set on failure
 *
 * Return: 0, or the errno of debugfs.
 * Context: the measuring thread, after the last batch.
 */
int calltime_pass(struct run *r, int bank, struct err *e)
{
	const struct bench *b = r->bench;
	unsigned int calls = b->pass_calls ? b->pass_calls : CALLTIME_PASS_CALLS;
	char text[16];
	int ret;

	snprintf(text, sizeof(text), "%d", bank);
	ret = control("bank", text, e);
	if (ret == -EINVAL) {
		/* The kernel has no more of them: this benchmark goes without its counters. */
		fprintf(stderr, "ringside-bench: %s: no bank %d for the kernel's counters\n",
			b->name, bank);
		*e = (struct err)ERR_INIT;
		return 0;
	}
	if (ret == 0) {
		ret = control("enable", b->probe, e);
	}
	if (ret < 0) {
		return ret;
	}
	b->loop(r->state, calls / b->calls_of_loop);
	ret = control("enable", "0", e);
	if (ret == 0) {
		ret = control("bank", "0", e); /* where nobody looks */
	}
	if (ret == 0) {
		r->bank = bank;
	}
	return ret;
}
