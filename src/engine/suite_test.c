/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite_file.h: one test, from the defaults and from what it says itself. */
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "engine/suite_file.h"
#include "samples/class.h"

/* What a test is. */
static const struct {
	const char *key;
	size_t at; /* in struct suite_file_test; a text, or of a command a list */
	enum suite_kind kind;
	enum suite_path_kind path;
	bool has_only;
} kinds[] = {
	{"command", offsetof(struct suite_file_test, command), SUITE_COMMAND, SUITE_PATH_ANY,
	 false},
	{"script", offsetof(struct suite_file_test, script), SUITE_SCRIPT, SUITE_PATH_FILE, false},
	{"kselftest", offsetof(struct suite_file_test, kselftest), SUITE_KSELFTEST,
	 SUITE_PATH_FOLDER, true},
	{"scripts", offsetof(struct suite_file_test, scripts), SUITE_SCRIPTS, SUITE_PATH_FOLDER,
	 true},
	{"kunit", offsetof(struct suite_file_test, kunit), SUITE_KUNIT, SUITE_PATH_FOLDER, true},
	{"firmware", offsetof(struct suite_file_test, firmware), SUITE_FIRMWARE, SUITE_PATH_FILE,
	 false},
};

/* The lists of texts; only a guest with user space has use for most of them. */
static const struct {
	const char *key;
	size_t from, to; /* in struct suite_file_test and struct suite_test */
	int (*take)(const struct suite_reading *r, const struct ymap_text *t, char **ret);
	bool of_user_space;
} lists[] = {
	{"files", offsetof(struct suite_file_test, files), offsetof(struct suite_test, files),
	 suite_take_file, true},
	{"env", offsetof(struct suite_file_test, env), offsetof(struct suite_test, env),
	 suite_take_env, true},
	{"shares", offsetof(struct suite_file_test, shares), offsetof(struct suite_test, shares),
	 suite_take_share, true},
	{"initrds", offsetof(struct suite_file_test, initrds), offsetof(struct suite_test, initrds),
	 suite_take_initrd, true},
	{"artifacts", offsetof(struct suite_file_test, artifacts),
	 offsetof(struct suite_test, artifacts), suite_take_artifact, true},
	{"tags", offsetof(struct suite_file_test, tags), offsetof(struct suite_test, tags),
	 suite_take_tag, false},
};

static const void *member(const struct suite_file_test *f, size_t at)
{
	return (const char *)f + at;
}

static bool has_kind(const struct suite_file_test *f, size_t i)
{
	const struct ymap_list *list = member(f, kinds[i].at);
	const struct ymap_text *text = member(f, kinds[i].at);

	return kinds[i].kind == SUITE_COMMAND ? list->n > 0 : text->s != NULL;
}

#define KINDS "command, script, kselftest, scripts, kunit, firmware"

static int find_kind(const struct suite_reading *r, const struct suite_file_test *f, size_t *ret)
{
	size_t found = ARRAY_SIZE(kinds);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!has_kind(f, i)) {
			continue;
		}
		if (found < ARRAY_SIZE(kinds)) {
			return suite_fail(r, f->pos,
					  "test '%s': '%s' and '%s' in it: it is one of " KINDS,
					  f->name.s, kinds[found].key, kinds[i].key);
		}
		found = i;
	}
	if (found == ARRAY_SIZE(kinds)) {
		return suite_fail(r, f->pos, "test '%s': it needs one of " KINDS, f->name.s);
	}
	*ret = found;
	return 0;
}

static int copy_texts(const struct suite_reading *r, const struct ymap_list *from, char ***to)
{
	const struct ymap_text *texts = from->items;

	for (size_t i = 0; i < from->n; i++) {
		if (suite_list_add(to, texts[i].s) < 0) {
			return suite_no_memory(r);
		}
	}
	return 0;
}

/* Programs of a directory, modules, or a glob of KUnit suites: names, no paths. */
static int take_only(const struct suite_reading *r, const struct suite_file_test *f,
		     struct suite_test *to)
{
	const struct ymap_text *texts = f->only.items;
	_cleanup_free_ char *path = NULL;
	int code = 0;

	if (!to->path && f->only.n > 1) {
		return suite_fail(r, texts[1].pos,
				  "'only': suites that are built in are one glob (the kernel's "
				  "kunit.filter_glob), got %zu",
				  f->only.n);
	}
	for (size_t i = 0; code == 0 && i < f->only.n; i++) {
		if (!to->path) {
			code = suite_check_line(r, "only", &texts[i]);
		} else if (*texts[i].s == '/' || strstr(texts[i].s, "..")) {
			code = suite_fail(r, texts[i].pos,
					  "'only': expected a name in %s, got '%s'", to->path,
					  texts[i].s);
		} else if (asprintf(&path, "%s/%s", to->path, texts[i].s) < 0) {
			path = NULL;
			code = suite_no_memory(r);
		} else {
			_cleanup_free_ char *found = NULL;

			code = suite_find_path(r, "only", texts[i].pos, path, SUITE_PATH_FILE,
					       &found);
			free(TAKE_PTR(path));
		}
	}
	return code == 0 ? copy_texts(r, &f->only, &to->list) : code;
}

/* As the guest's runner chooses them (guest/runner/list.c). */
static bool is_test(int dir_fd, const char *name, bool modules)
{
	_cleanup_close_ int fd = -1;
	size_t len = strlen(name);
	char head[2] = {0};
	struct stat st;

	if (name[0] == '.' || fstatat(dir_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode)) {
		return false;
	}
	if (modules) {
		return len > 3 && strcmp(name + len - 3, ".ko") == 0;
	}
	if (st.st_mode & 0111) {
		return len <= 3 || strcmp(name + len - 3, ".so") != 0;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
	       memcmp(head, "#!", sizeof(head)) == 0;
}

/* A directory of which nothing was built yet is no fault of a kernel. */
static int check_has_tests(const struct suite_reading *r, const char *key, struct ymap_pos pos,
			   const struct suite_test *t)
{
	bool modules = t->kind == SUITE_KUNIT, found = false;
	const struct dirent *entry;
	DIR *dir = opendir(t->path);

	if (!dir) {
		return suite_fail(r, pos, "'%s': %s: %s", key, t->path, strerror(errno));
	}
	while (!found && (entry = readdir(dir))) {
		found = is_test(dirfd(dir), entry->d_name, modules);
	}
	closedir(dir);
	return found ? 0
		     : suite_fail(r, pos, "'%s': %s: there is no %s in it; is it built?", key,
				  t->path, modules ? "module (*.ko)" : "program");
}

static int take_kind(const struct suite_reading *r, const struct suite_file_test *f,
		     struct suite_test *to)
{
	const struct ymap_text *text;
	size_t i = 0;
	int code = find_kind(r, f, &i);

	if (code < 0) {
		return code;
	}
	to->kind = kinds[i].kind;
	if (f->only.n && !kinds[i].has_only) {
		return suite_fail(r, f->only.pos,
				  "test '%s': 'only' is for kselftest, scripts and kunit",
				  f->name.s);
	}
	if (to->kind == SUITE_COMMAND) {
		text = f->command.items;
		if (!*text->s) {
			return suite_fail(r, text->pos, "'command': its first word is empty");
		}
		return copy_texts(r, &f->command, &to->argv);
	}
	text = member(f, kinds[i].at);
	if (to->kind != SUITE_KUNIT || strcmp(text->s, SUITE_KUNIT_BUILTIN) != 0) {
		code = suite_find_path(r, kinds[i].key, text->pos, text->s, kinds[i].path,
				       &to->path);
	}
	if (code == 0 && to->path && kinds[i].path == SUITE_PATH_FOLDER && !f->only.n) {
		code = check_has_tests(r, kinds[i].key, text->pos, to);
	}
	return code == 0 ? take_only(r, f, to) : code;
}

/* Whether two entries of a list are one: of NAME=VALUE the name counts. */
static bool same_entry(const char *a, const char *b, bool is_env)
{
	size_t len = strcspn(a, "=");

	return is_env ? strcspn(b, "=") == len && memcmp(a, b, len) == 0 : strcmp(a, b) == 0;
}

/* Of "HOST:GUEST" the guest's part. */
static const char *place_of(const char *s)
{
	return s + text_host_len(s) + 1;
}

/* Puts entries behind those of the defaults; one that is there already takes its place. */
static int take_list(const struct suite_reading *r, size_t which, const struct ymap_list *from,
		     char ***to)
{
	const struct ymap_text *texts = from->items;
	bool is_env = lists[which].take == suite_take_env;
	bool is_file = lists[which].take == suite_take_file;
	size_t before = suite_list_count(*to);

	for (size_t i = 0; i < from->n; i++) {
		_cleanup_free_ char *s = NULL;
		size_t n = suite_list_count(*to), k = 0;
		int code = lists[which].take(r, &texts[i], &s);

		if (code < 0) {
			return code;
		}
		while (k < n && !same_entry(s, (*to)[k], is_env)) {
			if (is_file && strcmp(place_of(s), place_of((*to)[k])) == 0) {
				return suite_fail(r, texts[i].pos,
						  "'files': two at %s in the guest", place_of(s));
			}
			k++;
		}
		if (k < n && k >= before) {
			return suite_fail(r, texts[i].pos, "'%s': '%.*s' stands twice in it",
					  lists[which].key,
					  (int)(is_env ? strcspn(s, "=") : strlen(s)), s);
		}
		if (k < n) {
			free((*to)[k]);
			(*to)[k] = TAKE_PTR(s);
		} else if (suite_list_add(to, s) < 0) {
			return suite_no_memory(r);
		}
	}
	return 0;
}

static int take_lists(const struct suite_reading *r, const struct suite_file_test *f, bool own,
		      struct suite_test *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct ymap_list *from = member(f, lists[i].from);
		int code;

		if (from->n && lists[i].of_user_space && to->kind == SUITE_FIRMWARE) {
			if (!own) {
				continue;
			}
			return suite_fail(r, from->pos, "'%s' is of no use to a firmware payload",
					  lists[i].key);
		}
		code = take_list(r, i, from, (char ***)((char *)to + lists[i].to));
		if (code < 0) {
			return code;
		}
	}
	return 0;
}

static const struct {
	const char *name;
	enum suite_need_kind kind;
	bool has_value;
} needs[] = {
	{"kvm", SUITE_NEED_KVM, false},      {"class", SUITE_NEED_CLASS, true},
	{"config", SUITE_NEED_CONFIG, true}, {"file", SUITE_NEED_FILE, true},
	{"cpus", SUITE_NEED_CPUS, true},     {"memory", SUITE_NEED_MEMORY, true},
};

/* An option of the kernel: "KUNIT", "KUNIT=y", "KUNIT=m". */
static bool is_config(const char *s)
{
	size_t len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return len > 0 && (!s[len] || strcmp(s + len, "=y") == 0 || strcmp(s + len, "=m") == 0);
}

static bool is_need_value(struct suite_need *n)
{
	enum exec_class class;

	switch (n->kind) {
	case SUITE_NEED_KVM:
		return true;
	case SUITE_NEED_CLASS:
		if (exec_class_parse(n->value, &class) < 0) {
			return false;
		}
		n->number = class;
		return true;
	case SUITE_NEED_CONFIG:
		return is_config(n->value);
	case SUITE_NEED_FILE:
		return *n->value == '/';
	case SUITE_NEED_CPUS:
		return text_parse_u64(n->value, &n->number) == 0 && n->number >= 1;
	case SUITE_NEED_MEMORY:
		break;
	}
	return text_parse_bytes(n->value, &n->number) == 0 && n->number >= 1;
}

static int take_need(const struct suite_reading *r, const struct ymap_text *t,
		     struct suite_need *ret)
{
	size_t len = strcspn(t->s, "=");

	ret->pos = t->pos;
	ret->text = strdup(t->s);
	if (!ret->text) {
		return suite_no_memory(r);
	}
	ret->value = ret->text[len] ? ret->text + len + 1 : NULL;
	/* As it stands in a .config, too. */
	if (ret->value && text_starts_with(ret->text, "config=CONFIG_")) {
		ret->value += strlen("CONFIG_");
	}
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		if (strlen(needs[i].name) != len || memcmp(needs[i].name, t->s, len) != 0 ||
		    needs[i].has_value != (ret->value != NULL)) {
			continue;
		}
		ret->kind = needs[i].kind;
		if (is_need_value(ret)) {
			return 0;
		}
	}
	return suite_fail(r, t->pos,
			  "'needs': expected kvm, class=native|nested|emulated|tcg|icount, "
			  "config=OPTION[=y|m], file=/PATH, cpus=N or memory=SIZE, got '%s'",
			  t->s);
}

static int take_needs(const struct suite_reading *r, const struct ymap_list *from,
		      struct suite_test *to)
{
	const struct ymap_text *texts = from->items;
	struct suite_need *more;

	more = realloc(to->needs, (to->need_count + from->n + 1) * sizeof(*more));
	if (!more) {
		return suite_no_memory(r);
	}
	to->needs = more;
	for (size_t i = 0; i < from->n; i++) {
		struct suite_need *n = &more[to->need_count++];
		int code;

		*n = (struct suite_need){0};
		code = take_need(r, &texts[i], n);
		if (code < 0) {
			return code;
		}
	}
	return 0;
}

static int take_allows(const struct suite_reading *r, const struct ymap_list *from,
		       struct suite_test *to)
{
	const struct suite_file_allow *allows = from->items;
	struct suite_allow *more;

	more = realloc(to->allows, (to->allow_count + from->n + 1) * sizeof(*more));
	if (!more) {
		return suite_no_memory(r);
	}
	to->allows = more;
	for (size_t i = 0; i < from->n; i++) {
		struct suite_allow *a = &more[to->allow_count];
		int code = suite_check_pattern(r, &allows[i].pattern);

		if (code == 0) {
			code = suite_check_line(r, "reason", &allows[i].reason);
		}
		if (code < 0) {
			return code;
		}
		to->allow_count++;
		a->pattern = strdup(allows[i].pattern.s);
		a->reason = strdup(allows[i].reason.s);
		if (!a->pattern || !a->reason) {
			return suite_no_memory(r);
		}
	}
	return 0;
}

static int take_timeouts(const struct suite_reading *r, const struct suite_file_timeouts *f,
			 struct suite_test *to)
{
	int code = 0;

	if (f->boot.s) {
		to->boot_timeout_pos = f->boot.pos;
		code = suite_take_time(r, "boot", &f->boot, false, &to->boot_timeout_ns);
	}
	if (code == 0 && f->idle.s) {
		to->idle_timeout_pos = f->idle.pos;
		code = suite_take_time(r, "idle", &f->idle, true, &to->idle_timeout_ns);
	}
	if (code == 0 && f->whole.s) {
		to->timeout_pos = f->whole.pos;
		code = suite_take_time(r, "whole", &f->whole, false, &to->timeout_ns);
	}
	return code;
}

static int replace(const struct suite_reading *r, const char *s, char **to)
{
	char *copy = s ? strdup(s) : NULL;

	if (s && !copy) {
		return suite_no_memory(r);
	}
	free(*to);
	*to = copy;
	return 0;
}

static int take_known(const struct suite_reading *r, const struct suite_file_known *f,
		      struct suite_test *to)
{
	int code;

	if (!f->reason.s) {
		return 0;
	}
	code = suite_check_line(r, "reason", &f->reason);
	if (code == 0 && f->until.s) {
		code = suite_check_date(r, &f->until);
	}
	if (code == 0) {
		code = replace(r, f->reason.s, &to->known);
	}
	return code == 0 ? replace(r, f->until.s, &to->known_until) : code;
}

static enum suite_expect expect_of(const char *s)
{
	return *s == 's'                 ? SUITE_EXPECT_SKIP
	       : *s == 'f'               ? SUITE_EXPECT_FAIL
	       : strcmp(s, "panic") == 0 ? SUITE_EXPECT_PANIC
					 : SUITE_EXPECT_PASS;
}

/* The root and what on the console is a failure. */
static int take_texts(const struct suite_reading *r, const struct suite_file_test *f, bool own,
		      struct suite_test *to)
{
	char *s = NULL;
	int code = 0;

	if (f->root.s && to->kind == SUITE_FIRMWARE && own) {
		return suite_fail(r, f->root.pos, "'root' is of no use to a firmware payload");
	}
	if (f->root.s && to->kind != SUITE_FIRMWARE) {
		code = suite_take_root(r, &f->root, &s);
		if (code < 0) {
			return code;
		}
		free(to->root);
		to->root = s;
	}
	if (f->fail_on.s) {
		code = suite_take_fail_on(r, &f->fail_on, &s);
		if (code < 0) {
			return code;
		}
		free(to->fail_on);
		to->fail_on = s;
	}
	return 0;
}

/* Programs of a directory and KUnit report in one way only. */
static int take_format(const struct suite_reading *r, const struct suite_file_test *f, bool own,
		       struct suite_test *to)
{
	bool has_one =
		to->kind == SUITE_COMMAND || to->kind == SUITE_SCRIPT || to->kind == SUITE_FIRMWARE;

	if (f->format.s && has_one) {
		to->format = *f->format.s == 't'   ? SUITE_FORMAT_TAP
			     : *f->format.s == 'n' ? SUITE_FORMAT_NONE
						   : SUITE_FORMAT_AUTO;
	} else if (f->format.s && own) {
		return suite_fail(r, f->format.pos,
				  "'format' is for command, script and firmware: the others have "
				  "one that is given");
	}
	return 0;
}

/* What both the defaults and a test may say; own: it is the test that does. */
static int apply(const struct suite_reading *r, const struct suite_file_test *f, bool own,
		 struct suite_test *to)
{
	int code = take_lists(r, f, own, to);

	if (code == 0) {
		code = take_needs(r, &f->needs, to);
	}
	if (code == 0) {
		code = take_allows(r, &f->allow, to);
	}
	if (code == 0) {
		code = take_texts(r, f, own, to);
	}
	if (code == 0) {
		code = take_format(r, f, own, to);
	}
	if (code == 0) {
		code = take_timeouts(r, &f->timeouts, to);
	}
	if (code == 0) {
		code = take_known(r, &f->known, to);
	}
	if (f->expect.s) {
		to->expect = expect_of(f->expect.s);
	}
	if (f->retries.given) {
		to->retries = (unsigned int)f->retries.v;
	}
	return code;
}

/**
 * suite_take_test() - make a test of what the file says
 * @r: the file
 * @f: the same, as it stands there
 * @from: the test in it
 * @to: all zero; filled, and half filled on failure
 *
 * Return: 0, -EINVAL, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_take_test(const struct suite_reading *r, const struct suite_file *f,
		    const struct suite_file_test *from, struct suite_test *to)
{
	int code = suite_check_name(r, "name", &from->name);

	suite_test_init(to);
	to->pos = from->pos;
	to->name = strdup(from->name.s);
	to->fail_on = strdup(SUITE_FAIL_ON);
	if (!to->name || !to->fail_on) {
		return suite_no_memory(r);
	}
	if (code == 0) {
		code = take_kind(r, from, to);
	}
	if (code == 0) {
		code = apply(r, &f->defaults, false, to);
	}
	if (code == 0) {
		code = apply(r, from, true, to);
	}
	return code;
}
