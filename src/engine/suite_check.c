/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite_file.h: one text of the file each, judged and made what the engine wants. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "engine/session.h"
#include "engine/suite_file.h"
#include "samples/class.h"

#define NAME_MAX_BYTES 80
/* What regcomp() makes of a pattern is as large as its repetitions say. */
#define PATTERN_MAX_BYTES   512
#define PATTERN_MAX_REPEATS 1000
#define MEMORY_MAX          (UINT64_C(1) << 44)

/**
 * suite_fail() - an error that says where it stands
 * @r: the file
 * @pos: of what is wrong
 * @fmt: what is wrong, as for printf()
 *
 * Return: -EINVAL.
 * Context: any thread.
 */
int suite_fail(const struct suite_reading *r, struct ymap_pos pos, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = ymap_fail(r->path, pos, r->e, fmt, ap);
	va_end(ap);
	return code;
}

/**
 * suite_no_memory() - the error of all allocations
 * @r: the file
 *
 * Return: -ENOMEM.
 * Context: any thread.
 */
int suite_no_memory(const struct suite_reading *r)
{
	return err_set(r->e, -ENOMEM, "out of memory");
}

static int copy(const struct suite_reading *r, const char *s, char **ret)
{
	*ret = strdup(s);
	return *ret ? 0 : suite_no_memory(r);
}

/**
 * suite_check_line() - whether a text is one line, as ids and reports have it
 * @r: the file
 * @key: what it is the value of
 * @t: the text
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_check_line(const struct suite_reading *r, const char *key, const struct ymap_text *t)
{
	for (const char *s = t->s; *s; s++) {
		if (iscntrl((unsigned char)*s)) {
			return suite_fail(r, t->pos, "'%s': a control character in it", key);
		}
	}
	return 0;
}

/**
 * suite_check_name() - whether a text can be a name: of a test, or a tag
 * @r: the file
 * @key: what it is the value of
 * @t: the text
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_check_name(const struct suite_reading *r, const char *key, const struct ymap_text *t)
{
	/* The first three may not stand first. */
	static const char letters[] = ".+-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789";
	size_t len = strlen(t->s);

	if (strspn(t->s, letters) != len || !strchr(letters + 3, *t->s) || len > NAME_MAX_BYTES) {
		return suite_fail(r, t->pos,
				  "'%s': expected up to %d letters, digits and any of ._+-, the "
				  "first no sign, got '%s'",
				  key, NAME_MAX_BYTES, t->s);
	}
	return 0;
}

static const char *what_it_is(mode_t mode)
{
	return S_ISDIR(mode)    ? "a directory"
	       : S_ISREG(mode)  ? "a file"
	       : S_ISFIFO(mode) ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

/* What is read to its end must have one; a root may also be a disk. */
static const char *wrong_kind(enum suite_path_kind kind, mode_t mode)
{
	switch (kind) {
	case SUITE_PATH_FILE:
		return S_ISREG(mode) ? NULL : "a file";
	case SUITE_PATH_FOLDER:
		return S_ISDIR(mode) ? NULL : "a directory";
	case SUITE_PATH_ROOT:
		return S_ISDIR(mode) || S_ISREG(mode) || S_ISBLK(mode)
			       ? NULL
			       : "a directory, a file or a disk";
	default:
		return S_ISDIR(mode) || S_ISREG(mode) ? NULL : "a file or a directory";
	}
}

/**
 * suite_find_path() - a path of this machine, from the folder of the suite
 * @r: the file
 * @key: what it is the value of
 * @pos: where it stands
 * @name: the path as it stands there
 * @kind: what must be there
 * @ret: set on success, absolute; the caller frees it
 *
 * Return: 0, -EINVAL when it is not there or is something else, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_find_path(const struct suite_reading *r, const char *key, struct ymap_pos pos,
		    const char *name, enum suite_path_kind kind, char **ret)
{
	_cleanup_free_ char *path = NULL;
	const char *wrong;
	struct stat st;
	int n = *name == '/' ? asprintf(&path, "%s", name)
			     : asprintf(&path, "%s/%s", r->folder, name);

	if (n < 0) {
		path = NULL;
		return suite_no_memory(r);
	}
	if (stat(path, &st) < 0) {
		return suite_fail(r, pos, "'%s': %s: %s", key, path, strerror(errno));
	}
	wrong = wrong_kind(kind, st.st_mode);
	if (wrong) {
		return suite_fail(r, pos, "'%s': %s: expected %s, got %s", key, path, wrong,
				  what_it_is(st.st_mode));
	}
	*ret = TAKE_PTR(path);
	return 0;
}

/* Of "HOST:GUEST" the guest's part: it is absolute, so colons of the host's part stay. */
static const char *guest_part(const char *s, size_t len)
{
	for (size_t i = len; i > 1; i--) {
		if (s[i - 1] == ':' && s[i] == '/' && i < len) {
			return s + i;
		}
	}
	return NULL;
}

/* A path of the guest as it is: one file has one name, and none leads out of where it is put. */
static int check_guest_path(const struct suite_reading *r, const char *key, struct ymap_pos pos,
			    const char *path)
{
	for (const char *p = path; *p;) {
		size_t len = strcspn(++p, "/");

		if (len == 0 || strncmp(p, "..", len) == 0) {
			return suite_fail(r, pos,
					  "'%s': expected an absolute path of the guest without "
					  "'//', '.', '..' or a '/' at its end, got '%s'",
					  key, path);
		}
		p += len;
	}
	return 0;
}

static const char *base_of(const char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] != '/') {
		len--;
	}
	return path + len;
}

/* HOST[:GUEST], of len bytes, as HOST:GUEST, with HOST absolute and followed by a suffix. */
static int take_pair(const struct suite_reading *r, const char *key, const struct ymap_text *t,
		     size_t len, enum suite_path_kind kind, const char *folder, char **ret)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *host = NULL;
	const char *guest = guest_part(t->s, len);
	const char *base;
	int code, n;

	name = strndup(t->s, guest ? (size_t)(guest - t->s) - 1 : len);
	if (!name) {
		return suite_no_memory(r);
	}
	while (strlen(name) > 1 && name[strlen(name) - 1] == '/') {
		name[strlen(name) - 1] = '\0';
	}
	code = suite_find_path(r, key, t->pos, name, kind, &host);
	if (code < 0) {
		return code;
	}
	base = base_of(host);
	if (!guest && (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)) {
		return suite_fail(r, t->pos,
				  "'%s': '%s' has no name of its own: say where it "
				  "goes, as in %s:%s/NAME",
				  key, name, name, folder);
	}
	if (guest && kind == SUITE_PATH_FOLDER &&
	    memchr(guest, ',', (size_t)(t->s + len - guest))) {
		return suite_fail(r, t->pos,
				  "'%s': a comma in '%s': only ',rw' may stand behind a place of "
				  "the guest; without it, it is for reading only",
				  key, guest);
	}
	if (guest) {
		_cleanup_free_ char *place = strndup(guest, (size_t)(t->s + len - guest));

		code = place ? check_guest_path(r, key, t->pos, place) : suite_no_memory(r);
		if (code < 0) {
			return code;
		}
	}
	n = guest ? asprintf(ret, "%s:%.*s%s", host, (int)(t->s + len - guest), guest, t->s + len)
		  : asprintf(ret, "%s:%s/%s%s", host, folder, base, t->s + len);
	if (n < 0) {
		*ret = NULL;
		return suite_no_memory(r);
	}
	return 0;
}

/**
 * suite_take_file() - HOST[:GUEST] of a file or folder that is copied into the guest
 * @r: the file
 * @t: the text
 * @ret: set on success, "HOST:GUEST", both absolute; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_take_file(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	return take_pair(r, "files", t, strlen(t->s), SUITE_PATH_ANY, SUITE_FILES_FOLDER, ret);
}

/* How long a text is without its ",rw". */
static size_t without_rw(const char *s)
{
	size_t len = strlen(s);

	return len > 3 && strcmp(s + len - 3, ",rw") == 0 ? len - 3 : len;
}

/**
 * suite_take_share() - DIR[:MOUNT][,rw]
 * @r: the file
 * @t: the text
 * @ret: set on success, with an absolute DIR and a MOUNT; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_take_share(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	return take_pair(r, "shares", t, without_rw(t->s), SUITE_PATH_FOLDER, "/mnt", ret);
}

/**
 * suite_take_root() - "initramfs", or DIR|IMAGE[,rw]
 * @r: the file
 * @t: the text
 * @ret: set on success, NULL for the initramfs; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_take_root(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	size_t len = without_rw(t->s);
	_cleanup_free_ char *name = strndup(t->s, len);
	_cleanup_free_ char *path = NULL;
	int code;

	*ret = NULL;
	if (!name) {
		return suite_no_memory(r);
	}
	if (strcmp(t->s, "initramfs") == 0) {
		return 0;
	}
	code = suite_find_path(r, "root", t->pos, name, SUITE_PATH_ROOT, &path);
	if (code == 0 && asprintf(ret, "%s%s", path, t->s + len) < 0) {
		*ret = NULL;
		code = suite_no_memory(r);
	}
	return code;
}

/**
 * suite_take_initrd() - a file
 * @r: the suite's file
 * @t: the text
 * @ret: set on success, absolute; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_take_initrd(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	return suite_find_path(r, "initrds", t->pos, t->s, SUITE_PATH_FILE, ret);
}

/**
 * suite_take_env() - NAME=VALUE
 * @r: the file
 * @t: the text
 * @ret: set on success; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: any thread.
 */
int suite_take_env(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	if (*t->s == '=' || !strchr(t->s, '=')) {
		return suite_fail(r, t->pos, "'env': expected NAME=VALUE, got '%s'", t->s);
	}
	return copy(r, t->s, ret);
}

/**
 * suite_take_artifact() - an absolute path of the guest
 * @r: the file
 * @t: the text
 * @ret: set on success; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: any thread.
 */
int suite_take_artifact(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	/* Folders of what is no file, and has no end. */
	static const char *const none[] = {"/dev", "/proc", "/sys"};
	int code;

	if (*t->s != '/') {
		return suite_fail(r, t->pos,
				  "'artifacts': expected an absolute path of the guest, got '%s'",
				  t->s);
	}
	code = check_guest_path(r, "artifacts", t->pos, t->s);
	for (size_t i = 0; code == 0 && i < ARRAY_SIZE(none); i++) {
		if (strcmp(t->s, none[i]) == 0) {
			code = suite_fail(
				r, t->pos,
				"'artifacts': %s is the kernel's, and not brought back as "
				"a whole: name what is meant in it",
				t->s);
		}
	}
	return code < 0 ? code : copy(r, t->s, ret);
}

/**
 * suite_take_tag() - a name
 * @r: the file
 * @t: the text
 * @ret: set on success; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: any thread.
 */
int suite_take_tag(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	int code = suite_check_name(r, "tags", t);

	return code < 0 ? code : copy(r, t->s, ret);
}

/**
 * suite_take_fail_on() - what --fail-on takes, or "none"
 * @r: the file
 * @t: the text
 * @ret: set on success, NULL for none; the caller frees it
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: any thread.
 */
int suite_take_fail_on(const struct suite_reading *r, const struct ymap_text *t, char **ret)
{
	unsigned int mask;

	*ret = NULL;
	if (strcmp(t->s, SUITE_FAIL_ON_NONE) == 0) {
		return 0;
	}
	if (session_fail_on_parse(t->s, &mask, r->e) < 0) {
		return err_prefix(r->e, "%s:%u:%u: 'fail_on'", r->path, t->pos.line, t->pos.column);
	}
	return copy(r, t->s, ret);
}

/* At most how often a part of an expression is copied for its "{m,n}": they multiply. */
static uint64_t repeats(const char *s)
{
	uint64_t all = 1;

	for (s = strchr(s, '{'); s && all <= PATTERN_MAX_REPEATS; s = strchr(s + 1, '{')) {
		uint64_t most = 1;

		for (const char *p = s + 1; isdigit((unsigned char)*p) || *p == ','; p++) {
			uint64_t n = isdigit((unsigned char)*p) ? strtoull(p, NULL, 10) : 0;

			most = n > most ? n : most;
		}
		all = most > PATTERN_MAX_REPEATS ? most : all * most;
	}
	return all;
}

/**
 * suite_check_pattern() - whether a text is a POSIX extended regular expression
 * @r: the file
 * @t: the text
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_check_pattern(const struct suite_reading *r, const struct ymap_text *t)
{
	char why[128];
	regex_t regex;
	int bad;

	if (strlen(t->s) > PATTERN_MAX_BYTES || repeats(t->s) > PATTERN_MAX_REPEATS) {
		return suite_fail(r, t->pos,
				  "'pattern': more than %d bytes, or than %d repetitions by {}",
				  PATTERN_MAX_BYTES, PATTERN_MAX_REPEATS);
	}
	bad = regcomp(&regex, t->s, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		regerror(bad, &regex, why, sizeof(why));
		return suite_fail(r, t->pos, "'pattern': '%s' is no regular expression: %s", t->s,
				  why);
	}
	regfree(&regex);
	return 0;
}

static bool is_date(const char *s)
{
	static const unsigned int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	static const char form[] = "0000-00-00";
	unsigned int year, month, day;

	for (size_t i = 0; i < sizeof(form); i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)s[i]) : form[i] != s[i]) {
			return false;
		}
	}
	year = (unsigned int)strtoul(s, NULL, 10);
	month = (unsigned int)strtoul(s + 5, NULL, 10);
	day = (unsigned int)strtoul(s + 8, NULL, 10);
	if (month < 1 || month > 12 || day < 1 || day > days[month - 1]) {
		return false;
	}
	return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/**
 * suite_check_date() - whether a text is a day
 * @r: the file
 * @t: the text
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_check_date(const struct suite_reading *r, const struct ymap_text *t)
{
	if (!is_date(t->s)) {
		return suite_fail(r, t->pos, "'until': expected a day as in 2026-12-31, got '%s'",
				  t->s);
	}
	return 0;
}

/**
 * suite_take_time() - a timeout
 * @r: the file
 * @key: what it is the value of
 * @t: the text
 * @may_be_none: whether "none" is one
 * @ret_ns: set on success, nanoseconds, whole milliseconds; 0: none
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_take_time(const struct suite_reading *r, const char *key, const struct ymap_text *t,
		    bool may_be_none, uint64_t *ret_ns)
{
	uint64_t ns;

	if (may_be_none && strcmp(t->s, "none") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if (text_parse_seconds(t->s, &ns) < 0 || ns < NS_PER_MSEC ||
	    ns > SUITE_SECONDS_MAX * NS_PER_SEC) {
		return suite_fail(r, t->pos,
				  "'%s': expected a time from 1ms to %us (seconds, or with ms, s, "
				  "m)%s, got '%s'",
				  key, SUITE_SECONDS_MAX, may_be_none ? ", or none" : "", t->s);
	}
	*ret_ns = (ns + NS_PER_MSEC / 2) / NS_PER_MSEC * NS_PER_MSEC;
	return 0;
}

/**
 * suite_take_memory() - a size of guest memory
 * @r: the file
 * @t: the text
 * @ret_bytes: set on success
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_take_memory(const struct suite_reading *r, const struct ymap_text *t, uint64_t *ret_bytes)
{
	if (text_parse_bytes(t->s, ret_bytes) < 0 || *ret_bytes < 1 << 20 ||
	    *ret_bytes > MEMORY_MAX) {
		return suite_fail(r, t->pos,
				  "'memory': expected a size from 1M to 16T (without a unit: MiB), "
				  "got '%s'",
				  t->s);
	}
	return 0;
}
