/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_status.h. Runs on the main thread. */
#include "cli/run_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/text.h"

static int failed(const struct status_file *f, int code, struct err *e)
{
	return err_errno(e, code, "--status-file %s", f->path);
}

/**
 * status_file_open() - make the file
 * @f: set; status_file_close() it
 * @path: where, or NULL
 * @e: gets one line
 *
 * A regular file says from the start what holds if we never come to say it: that ringside itself
 * failed.
 *
 * Return: 0 or −errno.
 */
int status_file_open(struct status_file *f, const char *path, struct err *e)
{
	const char *name = outcome_kind_name(OUTCOME_KIND_INTERNAL);
	struct stat st;

	*f = (struct status_file){.path = path, .fd = -1};
	if (!path) {
		return 0;
	}
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (f->fd < 0 || fstat(f->fd, &st) < 0) {
		return failed(f, -errno, e);
	}
	f->filled = S_ISREG(st.st_mode);
	if (f->filled && dprintf(f->fd, "%s\n", name) < 0) {
		return failed(f, -errno, e);
	}
	return 0;
}

/**
 * status_file_write() - put down how it ended
 * @f: the file; opened now if it could not be before
 * @o: how
 * @e: gets one line
 *
 * Return: 0 or −errno.
 */
int status_file_write(struct status_file *f, const struct outcome *o, struct err *e)
{
	char text[64];
	int r = 0;

	if (!f->path) {
		return 0;
	}
	if (o->has_guest_status) {
		snprintf(text, sizeof(text), "%d\n", o->guest_status);
	} else {
		snprintf(text, sizeof(text), "%s\n", outcome_kind_name(o->kind));
	}
	if (f->fd < 0) {
		r = status_file_open(f, f->path, e);
	}
	if (r == 0 && f->filled && (lseek(f->fd, 0, SEEK_SET) < 0 || ftruncate(f->fd, 0) < 0)) {
		return failed(f, -errno, e);
	}
	if (r == 0) {
		r = io_write_all(f->fd, text, strlen(text));
		r = r < 0 ? failed(f, r, e) : 0;
	}
	return r;
}

/**
 * status_file_close() - let go of the file
 * @f: opened, or one that has no path
 */
void status_file_close(struct status_file *f)
{
	if (f->path && f->fd >= 0) {
		close(f->fd);
		f->fd = -1;
	}
}

/**
 * run_status_of_error() - what a run came to whose guest never started, which is told
 * @e: why
 * @ret: set
 */
void run_status_of_error(const struct err *e, struct outcome *ret)
{
	/* Ids of doctor's checks. */
	bool kvm = text_starts_with(e->text, "kvm-") || text_starts_with(e->text, "ring0:");

	ret->status = kvm ? OUTCOME_NO_KVM : OUTCOME_USAGE;
	ret->kind = kvm ? OUTCOME_KIND_NO_KVM : OUTCOME_KIND_USAGE;
	snprintf(ret->text, sizeof(ret->text), "%s", e->text);
	log_error("%s", e->text);
}
