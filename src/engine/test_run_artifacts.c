/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that a guest gave back: out of its record, into the case's directory. A guest may say
 * anything: what it names stays below "artifacts". See test_run_priv.h. Main thread.
 */
#include "engine/test_run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/io.h"

#define FOLDER "artifacts"

/* Of those that did not come back, so many are named. */
#define NAMED_MAX 20

struct missing {
	FILE *out;
	size_t count;
	const char *last; /* of several pieces one is enough */
};

/* Folder by folder below one, each made if it is not there: never up, and never over a link. */
static int open_below(int parent, const char *path, int *ret_fd)
{
	int at = fcntl(parent, F_DUPFD_CLOEXEC, 0);

	for (;;) {
		_cleanup_free_ char *name = NULL;
		size_t len;
		int next;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		name = strndup(path, len);
		if (at < 0 || !name) {
			next = name ? -errno : -ENOMEM;
		} else if (len == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
			next = -EINVAL;
		} else if (path[len] == '\0') {
			next = openat(at, name,
				      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
			next = next < 0 ? -errno : next;
		} else {
			(void)!mkdirat(at, name, 0755);
			next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			next = next < 0 ? -errno : next;
		}
		if (at >= 0) {
			close(at);
		}
		if (next < 0 || path[len] == '\0') {
			*ret_fd = next;
			return next < 0 ? next : 0;
		}
		path += len;
		at = next;
	}
}

static void tell_missing(struct missing *m, const char *path, const char *what, const char *why)
{
	if (m->last && strcmp(m->last, path) == 0) {
		return;
	}
	m->last = path;
	if (m->count++ < NAMED_MAX) {
		fprintf(m->out, "artifact %.256s %s: %.128s\n", path, what, why);
	}
}

/* One piece of a file. That it cannot be kept is told: it is not what is tested. */
static void take_piece(int folder, const json_t *line, struct missing *m)
{
	const json_t *data = json_object_get(line, "data");
	const char *path = json_string_value(json_object_get(line, "path"));
	_cleanup_free_ void *bytes = NULL;
	_cleanup_close_ int fd = -1;
	size_t len = json_string_length(data);
	int r = -EBADMSG;

	if (!path) {
		return;
	}
	bytes = malloc(len / 4 * 3 + 1);
	if (bytes && json_is_string(data)) {
		r = base64_decode(json_string_value(data), len, bytes, &len);
	}
	if (r == 0) {
		r = open_below(folder, path, &fd);
	}
	if (r == 0) {
		r = io_write_all(fd, bytes, len);
	}
	if (r < 0) {
		tell_missing(m, path, "cannot be kept", strerror(-r));
	}
}

static bool is_piece(const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));

	return type && strcmp(type, "artifact") == 0 && json_object_get(line, "data");
}

static int open_folder(const struct test_dir *d, int *ret_fd, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/" FOLDER, d->path) < 0) {
		path = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST) {
		return err_errno(e, -errno, "%s", path);
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	*ret_fd = fd;
	return 0;
}

/* That a file could not be had, as a line. */
static void take_error(struct missing *m, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *path = json_string_value(json_object_get(line, "path"));
	const char *why = json_string_value(json_object_get(line, "error"));

	if (type && path && why && strcmp(type, "artifact") == 0) {
		tell_missing(m, path, "did not come back", why);
	}
}

/* Takes the pieces out of the record's lines, into the folder. */
static void take_pieces(int folder, json_t *lines, struct missing *m)
{
	json_t *kept = json_array();
	json_t *line;
	size_t i;

	json_array_foreach (lines, i, line) {
		if (is_piece(line)) {
			take_piece(folder, line, m);
		} else {
			json_array_append(kept, line);
			take_error(m, line);
		}
	}
	if (m->count > NAMED_MAX) {
		fprintf(m->out, "%zu more artifacts did not come back\n", m->count - NAMED_MAX);
	}
	json_array_clear(lines);
	json_array_extend(lines, kept);
	json_decref(kept);
}

static int take_all(const struct test_dir *d, json_t *record, char **ret_missing, struct err *e)
{
	_cleanup_close_ int folder = -1;
	size_t len = 0;
	struct missing m = {NULL};
	int r = open_folder(d, &folder, e);

	if (r < 0) {
		return r;
	}
	m.out = open_memstream(ret_missing, &len);
	if (!m.out) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	take_pieces(folder, json_object_get(record, "guest"), &m);
	return fclose(m.out) == 0 ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/**
 * test_artifacts_take() - keep the files that a guest gave back
 * @d: the case's directory: they go below its "artifacts", by their paths in the guest
 * @s: how its process ended; they are taken out of its record. A record that is none is left as it
 *	is
 * @ret_missing: set to a line for each that did not come back, or NULL; the caller frees it, also
 *	after a failure
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of mkdir(2).
 * Context: main thread.
 */
int test_artifacts_take(const struct test_dir *d, struct spawn_result *s, char **ret_missing,
			struct err *e)
{
	json_t *record;
	char *text;
	int r;

	*ret_missing = NULL;
	if (!s->record || !strstr(s->record, "\"type\":\"artifact\"")) {
		return 0;
	}
	record = json_loadb(s->record, s->record_len, 0, NULL);
	if (!record) {
		return 0;
	}
	r = take_all(d, record, ret_missing, e);
	if (r == 0) {
		text = json_dumps(record, JSON_COMPACT);
		r = text ? 0 : err_set(e, -ENOMEM, "out of memory");
		if (text) {
			free(s->record);
			s->record = text;
			s->record_len = strlen(text);
		}
	}
	json_decref(record);
	return r;
}
