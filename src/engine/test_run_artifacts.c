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

/* One piece of a file. What cannot be kept is left out: it is not what is tested. */
static void take_piece(int folder, const json_t *line)
{
	const json_t *data = json_object_get(line, "data");
	const char *path = json_string_value(json_object_get(line, "path"));
	_cleanup_free_ void *bytes = NULL;
	_cleanup_close_ int fd = -1;
	size_t len = json_string_length(data);

	bytes = malloc(len / 4 * 3 + 1);
	if (!path || !bytes || !json_is_string(data) ||
	    base64_decode(json_string_value(data), len, bytes, &len) < 0 ||
	    open_below(folder, path, &fd) < 0) {
		return;
	}
	if (io_write_all(fd, bytes, len) < 0) {
		return;
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
static void take_error(FILE *missing, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *path = json_string_value(json_object_get(line, "path"));
	const char *why = json_string_value(json_object_get(line, "error"));

	if (type && path && why && strcmp(type, "artifact") == 0) {
		fprintf(missing, "artifact %.256s did not come back: %.128s\n", path, why);
	}
}

/* Takes the pieces out of the record's lines, into the folder. */
static void take_pieces(int folder, json_t *lines, FILE *missing)
{
	json_t *kept = json_array();
	json_t *line;
	size_t i;

	json_array_foreach (lines, i, line) {
		if (is_piece(line)) {
			take_piece(folder, line);
		} else {
			json_array_append(kept, line);
			take_error(missing, line);
		}
	}
	json_array_clear(lines);
	json_array_extend(lines, kept);
	json_decref(kept);
}

static int take_all(const struct test_dir *d, json_t *record, char **ret_missing, struct err *e)
{
	_cleanup_close_ int folder = -1;
	size_t len = 0;
	FILE *missing;
	int r = open_folder(d, &folder, e);

	if (r < 0) {
		return r;
	}
	missing = open_memstream(ret_missing, &len);
	if (!missing) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	take_pieces(folder, json_object_get(record, "guest"), missing);
	return fclose(missing) == 0 ? 0 : err_set(e, -ENOMEM, "out of memory");
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
