/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of a directory. See runner.h. */
#include "guest/runner/runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_in(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len > n && strcmp(s + len - n, end) == 0;
}

/* A script that has lost its mode is still a test: it fails, and is not passed over. */
static bool is_script(int dir_fd, const char *name)
{
	char head[2] = {0};
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0) {
		close(fd);
	}
	return n == sizeof(head) && memcmp(head, "#!", sizeof(head)) == 0;
}

static bool is_wanted(int dir_fd, const char *name, bool modules)
{
	struct stat st;

	if (name[0] == '.' || fstatat(dir_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode)) {
		return false;
	}
	if (modules) {
		return ends_in(name, ".ko");
	}
	return (st.st_mode & 0111) ? !ends_in(name, ".so") : is_script(dir_fd, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/**
 * runner_list_free() - free what runner_list() made
 * @names: NULL-terminated, or NULL
 */
void runner_list_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++) {
		free(names[i]);
	}
	free(names);
}

/**
 * runner_list() - the programs of a directory
 * @dir: the directory
 * @modules: modules instead
 * @ret_names: set on success: sorted, NULL-terminated; the caller's runner_list_free()
 *
 * Return: 0, -ENOMEM, or the errno of opendir(3).
 */
int runner_list(const char *dir, bool modules, char ***ret_names)
{
	DIR *d = opendir(dir);
	char **names = calloc(1, sizeof(*names));
	const struct dirent *entry;
	size_t n = 0;
	int r = 0;

	if (!d || !names) {
		r = d ? -ENOMEM : -errno;
	}
	while (r == 0 && (entry = readdir(d))) {
		char **more;

		if (!is_wanted(dirfd(d), entry->d_name, modules)) {
			continue;
		}
		more = realloc(names, (n + 2) * sizeof(*names));
		if (more) {
			names = more;
			names[n] = strdup(entry->d_name);
		}
		if (!more || !names[n]) {
			r = -ENOMEM;
			break;
		}
		names[++n] = NULL;
	}
	if (d) {
		closedir(d);
	}
	if (r < 0) {
		runner_list_free(names);
		return r;
	}
	qsort(names, n, sizeof(*names), by_name);
	*ret_names = names;
	return 0;
}
