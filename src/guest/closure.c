/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See closure.h. Adding a program walks what it loads breadth first, as ld.so does, so that a name
 * means the same object here and there. A closure belongs to one thread.
 *
 * Paths are "seen" (as a program of the host sees them) or have the root put before them.
 */
#include "guest/closure.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/closure_priv.h"

#define OBJECTS_MAX 512

/* Debian's ld.so has the first two and the last two; elsewhere it is the four without "x86_64". */
static const char *const default_dirs[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
};

/* What $LIB stands for in Debian. */
#define LIB_TOKEN "lib/x86_64-linux-gnu"

struct closure {
	char root[PATH_MAX]; /* a real path, or empty */
	struct closure_dirs conf;
	bool conf_read;
	struct closure_entry *entries;
	size_t n, room;
};

/* An object that a program has loaded. */
struct object {
	char *asked;                /* the name it was first asked for by */
	char host_origin[PATH_MAX]; /* the directory that $ORIGIN is, seen */
	char guest_origin[PATH_MAX];
	size_t loader; /* index of the object that asked; its own for the program */
	struct closure_elf elf;
};

struct load {
	struct closure *closure;
	struct object *objects[OBJECTS_MAX];
	size_t n;
};

/* A place where an object is, seen on the host, and where it must be in the guest. */
struct place {
	char host[PATH_MAX], guest[PATH_MAX];
};

/**
 * closure_create() - start with nothing
 * @root: directory that holds the programs' file tree; "" for this machine
 * @ret: set on success; the caller ends it with closure_destroy()
 *
 * Return: 0, -ENOMEM, or the errno of realpath(3).
 * Context: any thread.
 */
int closure_create(const char *root, struct closure **ret)
{
	_cleanup_(closure_destroy_p) struct closure *c = calloc(1, sizeof(*c));

	if (!c) {
		return -ENOMEM;
	}
	if (*root && !realpath(root, c->root)) {
		return -errno;
	}
	*ret = TAKE_PTR(c);
	return 0;
}

/**
 * closure_destroy() - free a closure
 * @c: a closure, or NULL
 *
 * Context: the thread that owns @c.
 */
void closure_destroy(struct closure *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		free(c->entries[i].name);
		free(c->entries[i].path);
		free(c->entries[i].target);
	}
	free(c->entries);
	closure_dirs_fini(&c->conf);
	free(c);
}

static int join(char *ret, const char *a, const char *b, struct err *e)
{
	if ((size_t)snprintf(ret, PATH_MAX, "%s%s", a, b) >= PATH_MAX) {
		return err_set(e, -ENAMETOOLONG, "%s%s: File name too long", a, b);
	}
	return 0;
}

/* Take ".", ".." and doubled slashes out of an absolute path. */
static void normalize(char *path)
{
	char *end = path;

	for (const char *p = path; *p;) {
		size_t len;

		p += strspn(p, "/");
		len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.') {
			while (end > path && *--end != '/') {
			}
		} else if (len > 0 && !(len == 1 && p[0] == '.')) {
			*end++ = '/';
			memmove(end, p, len);
			end += len;
		}
		p += len;
	}
	if (end == path) {
		*end++ = '/';
	}
	*end = '\0';
}

static void make_dirname(char *ret, const char *path)
{
	snprintf(ret, PATH_MAX, "%s", path);
	*strrchr(ret, '/') = '\0';
	if (!*ret) {
		strcpy(ret, "/");
	}
}

static const struct closure_entry *find_entry(const struct closure *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->entries[i].name, name) == 0) {
			return &c->entries[i];
		}
	}
	return NULL;
}

/* A file (@target NULL) or a link; what is there already must be the same. */
static int add_entry(struct closure *c, const char *name, const char *path, const char *target,
		     mode_t perm, struct err *e)
{
	const struct closure_entry *have = find_entry(c, name);
	const char *source = target ? target : path;
	struct closure_entry *en;

	if (have) {
		const char *other = target ? have->target : have->path;

		return other && strcmp(other, source) == 0
			       ? 0
			       : err_set(e, -EEXIST,
					 "the guest cannot have both %s and %s as its %s", source,
					 have->path ? have->path : have->target, name);
	}
	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : 32;

		en = realloc(c->entries, room * sizeof(*en));
		if (!en) {
			return err_errno(e, -ENOMEM, "%s", source);
		}
		c->entries = en;
		c->room = room;
	}
	en = &c->entries[c->n++];
	*en = (struct closure_entry){.name = strdup(name), .perm = perm};
	*(target ? &en->target : &en->path) = strdup(source);
	return en->name && (en->path || en->target) ? 0 : err_errno(e, -ENOMEM, "%s", source);
}

/*
 * Put one file into the guest. Where it is seen at the same path on both sides it comes by its real
 * path, with a link from every other name. @ret_real is where it is then.
 */
static int put_file(struct closure *c, const struct place *at, char *ret_real, struct err *e)
{
	char literal[PATH_MAX], full[PATH_MAX], real[PATH_MAX];
	size_t root_len = strlen(c->root);
	struct stat st;
	int r = join(full, c->root, at->host, e);

	if (r < 0) {
		return r;
	}
	if (!realpath(full, real) || stat(real, &st) < 0) {
		return err_errno(e, -errno, "%s", full);
	}
	strcpy(literal, at->host);
	normalize(literal);
	if (strcmp(literal, at->guest) != 0 || strncmp(real, c->root, root_len) != 0 ||
	    real[root_len] != '/') {
		strcpy(ret_real, at->guest);
	} else {
		strcpy(ret_real, real + root_len);
	}
	r = add_entry(c, ret_real, real, NULL, st.st_mode & 0777, e);
	if (r == 0 && strcmp(ret_real, at->guest) != 0) {
		r = add_entry(c, at->guest, NULL, ret_real, 0777, e);
	}
	return r;
}

/* Expand $ORIGIN and $LIB in one directory of a DT_RUNPATH; false when it cannot be searched. */
static bool expand(char *ret, const char *text, size_t len, const char *origin)
{
	const struct {
		const char *token, *value;
	} tokens[] = {
		{"$ORIGIN", origin},
		{"${ORIGIN}", origin},
		{"$LIB", LIB_TOKEN},
		{"${LIB}", LIB_TOKEN},
	};
	size_t used = 0;

	for (const char *p = text; p < text + len;) {
		const char *value = NULL;
		size_t take = 1;

		for (size_t i = 0; *p == '$' && i < ARRAY_SIZE(tokens); i++) {
			size_t n = strlen(tokens[i].token);

			if (n <= (size_t)(text + len - p) && strncmp(p, tokens[i].token, n) == 0) {
				value = tokens[i].value;
				take = n;
			}
		}
		if (used + (value ? strlen(value) : 1) >= PATH_MAX) {
			return false;
		}
		if (value) {
			strcpy(ret + used, value);
			used += strlen(value);
		} else {
			ret[used++] = *p;
		}
		p += take;
	}
	ret[used] = '\0';
	return used > 0 && ret[0] == '/';
}

/*
 * Try @dir/@name. Return 1 with @elf and @at filled in when it is what ld.so would take, 0 to look
 * on, or a negative errno.
 */
static int try_place(const struct closure *c, const char *host_dir, const char *guest_dir,
		     const char *name, struct place *at, struct closure_elf *elf, struct err *e)
{
	char full[PATH_MAX];
	struct err ignored;
	int r;

	if ((size_t)snprintf(at->host, PATH_MAX, "%s/%s", host_dir, name) >= PATH_MAX ||
	    (size_t)snprintf(at->guest, PATH_MAX, "%s/%s", guest_dir, name) >= PATH_MAX ||
	    join(full, c->root, at->host, &ignored) < 0 || access(full, R_OK) < 0) {
		return 0;
	}
	normalize(at->guest);
	r = closure_elf_read(full, elf, e);
	return r == -ENOEXEC ? 0 : r < 0 ? r : 1;
}

static int try_list(const struct closure *c, const struct object *o, const char *list,
		    const char *name, struct place *at, struct closure_elf *elf, struct err *e)
{
	while (list) {
		char host[PATH_MAX], guest[PATH_MAX];
		size_t len = strcspn(list, ":");
		int r = 0;

		if (expand(host, list, len, o->host_origin) &&
		    expand(guest, list, len, o->guest_origin)) {
			r = try_place(c, host, guest, name, at, elf, e);
		}
		if (r != 0) {
			return r;
		}
		list = list[len] ? list + len + 1 : NULL;
	}
	return 0;
}

static bool is_default(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(default_dirs); i++) {
		if (strcmp(dir, default_dirs[i]) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * The directories of the cache, then the default ones. The guest has no cache, so what only that
 * would find gets a name in a default directory.
 */
static int try_system(struct closure *c, bool defaults, const char *name, struct place *at,
		      struct closure_elf *elf, struct err *e)
{
	char link[PATH_MAX];
	int r = 0;

	if (!c->conf_read) {
		r = closure_dirs_read(c->root, &c->conf, e);
		c->conf_read = r == 0;
	}
	for (size_t i = 0; r == 0 && i < c->conf.n; i++) {
		if (!defaults && is_default(c->conf.dirs[i])) {
			continue;
		}
		r = try_place(c, c->conf.dirs[i], c->conf.dirs[i], name, at, elf, e);
		if (r == 1 && !is_default(c->conf.dirs[i])) {
			int added = join(link, "/usr/lib/", name, e);

			if (added == 0) {
				added = add_entry(c, link, NULL, at->guest, 0777, e);
			}
			r = added < 0 ? added : 1;
		}
	}
	for (size_t i = 0; r == 0 && defaults && i < ARRAY_SIZE(default_dirs); i++) {
		r = try_place(c, default_dirs[i], default_dirs[i], name, at, elf, e);
	}
	return r;
}

/* The order of ld.so(8), without the environment. */
static int find_needed(const struct load *l, size_t asker, const char *name, struct place *at,
		       struct closure_elf *elf, struct err *e)
{
	const struct object *o = l->objects[asker];
	int r = 0;

	if (strchr(name, '/')) {
		return try_place(l->closure, "", "", name, at, elf, e);
	}
	if (!o->elf.runpath) {
		for (size_t i = asker; r == 0; i = l->objects[i]->loader) {
			const struct object *up = l->objects[i];

			if (up->elf.rpath && !up->elf.runpath) {
				r = try_list(l->closure, up, up->elf.rpath, name, at, elf, e);
			}
			if (up->loader == i) {
				break;
			}
		}
	} else {
		r = try_list(l->closure, o, o->elf.runpath, name, at, elf, e);
	}
	return r != 0 ? r : try_system(l->closure, !o->elf.nodeflib, name, at, elf, e);
}

static bool is_loaded(const struct load *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct object *o = l->objects[i];

		if (strcmp(o->asked, name) == 0 ||
		    (o->elf.soname && strcmp(o->elf.soname, name) == 0)) {
			return true;
		}
	}
	return false;
}

/* Takes @elf over, also on failure. */
static int load_object(struct load *l, const char *asked, size_t loader, const struct place *at,
		       struct closure_elf *elf, struct err *e)
{
	struct object *o = l->n < OBJECTS_MAX ? calloc(1, sizeof(*o)) : NULL;
	char real[PATH_MAX];
	int r;

	if (!o) {
		closure_elf_fini(elf);
		return l->n < OBJECTS_MAX
			       ? err_errno(e, -ENOMEM, "%s", asked)
			       : err_set(e, -E2BIG, "%s: the program has more than %d objects",
					 asked, OBJECTS_MAX);
	}
	o->elf = *elf;
	o->loader = loader;
	o->asked = strdup(asked);
	l->objects[l->n++] = o;
	r = o->asked ? put_file(l->closure, at, real, e) : err_errno(e, -ENOMEM, "%s", asked);
	if (r < 0) {
		return r;
	}
	make_dirname(o->host_origin, at->host);
	make_dirname(o->guest_origin, at->guest);
	if (l->n == 1) { /* the program's is by its real path */
		char full[PATH_MAX + 1];

		make_dirname(o->guest_origin, real);
		if (join(full, l->closure->root, at->host, e) == 0 && realpath(full, real) &&
		    strncmp(real, l->closure->root, strlen(l->closure->root)) == 0) {
			make_dirname(o->host_origin, real + strlen(l->closure->root));
		}
	}
	return 0;
}

static int load_interp(struct load *l, struct err *e)
{
	const char *interp = l->objects[0]->elf.interp;
	struct closure_elf elf = {0};
	struct place at;
	int r;

	if (!interp) {
		return 0;
	}
	if (interp[0] != '/') {
		return err_set(e, -ENOENT, "the interpreter '%s' is no absolute path", interp);
	}
	r = try_place(l->closure, "", "", interp + 1, &at, &elf, e);
	if (r <= 0) {
		return r < 0 ? r
			     : err_set(e, -ENOENT, "the interpreter %s%s is not there",
				       l->closure->root, interp);
	}
	return load_object(l, interp, 0, &at, &elf, e);
}

static int load_all(struct load *l, struct err *e)
{
	int r = load_interp(l, e);

	for (size_t i = 0; r == 0 && i < l->n; i++) {
		const struct object *o = l->objects[i];

		for (size_t k = 0; r == 0 && k < o->elf.n_needed; k++) {
			const char *name = o->elf.needed[k];
			struct closure_elf elf = {0};
			struct place at;

			if (is_loaded(l, name)) {
				continue;
			}
			r = find_needed(l, i, name, &at, &elf, e);
			if (r == 0) {
				r = err_set(e, -ENOENT, "%s, needed by %s, is nowhere", name,
					    o->asked);
			} else if (r == 1) {
				r = load_object(l, name, i, &at, &elf, e);
			}
		}
	}
	return r;
}

/**
 * closure_add() - add a program, or a shared object, and all it needs
 * @c: a closure
 * @path: absolute, as seen in the closure's root
 * @name: where it is to be in the guest, absolute; NULL: at @path
 * @e: set on failure, names the file
 *
 * Return: 0, -EINVAL for a path that is not absolute, -ENOENT for an object that is nowhere (the
 * text says which, and who needs it), -EEXIST for two files of one name, -ENOEXEC or -EBADMSG for
 * what is no ELF file for x86-64, -E2BIG, -ENOMEM, or the errno of open(2). After an error the
 * closure can only be destroyed.
 * Context: the thread that owns @c; reads files.
 */
int closure_add(struct closure *c, const char *path, const char *name, struct err *e)
{
	struct load l = {.closure = c};
	struct closure_elf elf;
	char full[PATH_MAX];
	struct place at;
	int r;

	if (path[0] != '/' || (name && name[0] != '/')) {
		return err_set(e, -EINVAL, "%s: expected an absolute path",
			       path[0] != '/' ? path : name);
	}
	r = join(full, c->root, path, e);
	if (r == 0) {
		r = join(at.host, path, "", e);
	}
	if (r == 0) {
		r = join(at.guest, name ? name : path, "", e);
	}
	if (r == 0) {
		normalize(at.guest);
		r = closure_elf_read(full, &elf, e);
	}
	if (r < 0) {
		return r;
	}
	r = load_object(&l, path, 0, &at, &elf, e);
	if (r == 0) {
		r = load_all(&l, e);
		if (r < 0) {
			err_prefix(e, "%s", path);
		}
	}
	for (size_t i = 0; i < l.n; i++) {
		closure_elf_fini(&l.objects[i]->elf);
		free(l.objects[i]->asked);
		free(l.objects[i]);
	}
	return r;
}

/**
 * closure_count() - how many files and links there are
 * @c: a closure
 *
 * Return: the number.
 * Context: the thread that owns @c.
 */
size_t closure_count(const struct closure *c)
{
	return c->n;
}

/**
 * closure_at() - one file or link
 * @c: a closure
 * @i: below closure_count()
 *
 * Return: what closure_write() would add, valid until the closure changes.
 * Context: the thread that owns @c.
 */
const struct closure_entry *closure_at(const struct closure *c, size_t i)
{
	return &c->entries[i];
}

/**
 * closure_write() - add everything to an archive
 * @c: a closure
 * @n: an archive without its trailer
 * @e: set on failure, names the file
 *
 * Return: 0, or as newc_add_path() and newc_add_symlink().
 * Context: the thread that owns @n.
 */
int closure_write(const struct closure *c, struct newc *n, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++) {
		const struct closure_entry *en = &c->entries[i];

		r = en->path ? newc_add_path(n, en->name + 1, en->perm, en->path, e)
			     : newc_add_symlink(n, en->name + 1, en->target, e);
	}
	return r;
}
