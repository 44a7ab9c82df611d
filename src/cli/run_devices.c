/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_devices.h. */
#include "cli/run_devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Takes ",word" off the end of a value of len bytes; a file's own commas stay. */
static bool take_word(const char *value, size_t *len, const char *word)
{
	size_t n = strlen(word);

	if (*len <= n || memcmp(value + *len - n, word, n) != 0) {
		return false;
	}
	*len -= n;
	return true;
}

static int parse_disk(const char *value, struct backend_disk *ret, struct err *e)
{
	size_t len = strlen(value);
	struct backend_disk d = {.path = NULL};

	for (;;) {
		if (take_word(value, &len, ",ro")) {
			d.read_only = true;
		} else if (take_word(value, &len, ",direct")) {
			d.direct = true;
		} else {
			break;
		}
	}
	if (len == 0 || value[0] == ',') {
		return err_set(e, -EINVAL, "--disk: expected FILE[,ro][,direct], got '%s'", value);
	}
	d.path = strndup(value, len);
	if (!d.path) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret = d;
	return 0;
}

/**
 * run_disks_parse() - read the values of --disk
 * @values: as they were given
 * @ret: set, also on failure; end it with run_disks_fini()
 * @e: set on failure
 *
 * Return: 0, -EINVAL for a value without a file, -E2BIG for too many, -ENOMEM.
 * Context: main thread.
 */
int run_disks_parse(const struct opt_list *values, struct run_disks *ret, struct err *e)
{
	int r = 0;

	*ret = (struct run_disks){.count = 0};
	if (values->count > BACKEND_DISKS_MAX) {
		return err_set(e, -E2BIG, "--disk: %zu disks, at most %d can be given",
			       values->count, BACKEND_DISKS_MAX);
	}
	for (size_t i = 0; i < values->count && r == 0; i++) {
		r = parse_disk(values->items[i], &ret->disk[i], e);
		ret->count += r == 0;
	}
	return r;
}

/**
 * run_disks_fini() - free what run_disks_parse() made
 * @d: set by it, or zeroed
 *
 * Context: main thread.
 */
void run_disks_fini(struct run_disks *d)
{
	while (d->count > 0) {
		free(d->disk[--d->count].path);
	}
}

/**
 * run_vsock_parse() - read the value of --vsock
 * @value: as it was given, or NULL
 * @ret: set, also on failure; end it with run_vsock_fini()
 * @e: set on failure
 *
 * Whether there can be such a socket and such an address is for the device to say.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: main thread.
 */
int run_vsock_parse(const char *value, struct run_vsock *ret, struct err *e)
{
	static const char word[] = ",cid=";
	size_t len = value ? strlen(value) : 0;
	const char *cid = value ? strstr(value, word) : NULL;
	uint64_t n = 0;

	*ret = (struct run_vsock){.path = NULL};
	if (!value) {
		return 0;
	}
	/* Of a path that has the word in it too, the last one counts. */
	for (const char *next = cid; next; next = strstr(next + 1, word)) {
		cid = next;
	}
	if (cid) {
		len = (size_t)(cid - value);
		if (text_parse_u64(cid + strlen(word), &n) < 0 || n == 0 || n > UINT32_MAX) {
			return err_set(e, -EINVAL,
				       "--vsock: expected PATH[,cid=N] with a number from 3, "
				       "got '%s'",
				       value);
		}
	}
	if (len == 0) {
		return err_set(e, -EINVAL, "--vsock: expected PATH[,cid=N], got '%s'", value);
	}
	ret->path = strndup(value, len);
	ret->cid = (uint32_t)n;
	return ret->path ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/**
 * run_vsock_fini() - free what run_vsock_parse() made
 * @v: set by it, or zeroed
 *
 * Context: main thread.
 */
void run_vsock_fini(struct run_vsock *v)
{
	free(v->path);
	v->path = NULL;
}
