/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the guest that the host wants back, after the command: as lines of the results stream,
 * a piece of a file each. See agent.h.
 */
#include "guest/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"

#define PIECE     (48u << 10)
#define DEPTH_MAX 16

/* Where the files are, and how much of them may still be sent. */
struct sender {
	struct link *l;
	const char *root; /* "" or the command's */
	uint64_t left;
	unsigned int depth;
};

static int send_piece(struct sender *x, const char *path, const void *data, size_t len)
{
	static char text[BASE64_LEN(PIECE) + 1];

	base64_encode(data, len, text);
	return link_send_line(x->l, json_pack("{s:s, s:s, s:s}", "type", "artifact", "path", path,
					      "data", text));
}

/* That one cannot be had is no failure of the agent's: the host is told why. */
static int send_error(struct sender *x, const char *path, const char *why)
{
	return link_send_line(x->l, json_pack("{s:s, s:s, s:s}", "type", "artifact", "path", path,
					      "error", why));
}

static int send_file(struct sender *x, const char *from, const char *path, const struct stat *st)
{
	static char buf[PIECE];
	_cleanup_close_ int fd = -1;
	ssize_t n;
	int r = 0;

	if ((uint64_t)st->st_size > x->left) {
		return send_error(x, path, "it is too large");
	}
	fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		return send_error(x, path, strerror(errno));
	}
	/* Files of /proc and /sys tell no size: they are read until they end, or it is too much. */
	do {
		n = read(fd, buf, sizeof(buf));
		if (n < 0) {
			return send_error(x, path, strerror(errno));
		}
		if ((uint64_t)n > x->left) {
			return send_error(x, path, "it is too large");
		}
		x->left -= (uint64_t)n;
		r = send_piece(x, path, buf, (size_t)n);
	} while (r == 0 && n > 0);
	return r;
}

static int send_any(struct sender *x, const char *path);

static int send_folder(struct sender *x, const char *from, const char *path)
{
	DIR *dir = x->depth < DEPTH_MAX ? opendir(from) : NULL;
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		return send_error(x, path, x->depth < DEPTH_MAX ? strerror(errno) : "too deep");
	}
	x->depth++;
	while (r == 0 && (entry = readdir(dir))) {
		char inner[PATH_MAX];

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) <
			    (int)sizeof(inner)) {
			r = send_any(x, inner);
		}
	}
	x->depth--;
	closedir(dir);
	return r;
}

static int send_any(struct sender *x, const char *path)
{
	char from[PATH_MAX];
	struct stat st;

	if (snprintf(from, sizeof(from), "%s%s", x->root, path) >= (int)sizeof(from)) {
		return send_error(x, path, strerror(ENAMETOOLONG));
	}
	if (lstat(from, &st) < 0) {
		return send_error(x, path, strerror(errno));
	}
	if (S_ISDIR(st.st_mode)) {
		return send_folder(x, from, path);
	}
	return S_ISREG(st.st_mode) ? send_file(x, from, path, &st)
				   : send_error(x, path, "neither a file nor a folder");
}

/**
 * artifacts_send() - bring back the files that the job asks for
 * @l: an open link
 * @job: the job
 * @root: of its command; NULL: the agent's own
 *
 * Return: 0, or the errno of the link.
 * Context: the agent, when the command has ended.
 */
int artifacts_send(struct link *l, const struct job *job, const char *root)
{
	struct sender x = {.l = l, .root = root ? root : "", .left = JOB_ARTIFACTS_MAX_BYTES};
	int r = 0;

	for (size_t i = 0; r == 0 && job->artifacts && job->artifacts[i]; i++) {
		r = send_any(&x, job->artifacts[i]);
	}
	return r;
}
