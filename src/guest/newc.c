/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See newc.h. Headers, names, small things and padding go to one growing text buffer, everything
 * else stays where it is until it is copied to its place. Pieces of the text buffer are known by
 * offset, for the buffer may move. An archive belongs to one thread. Format: Linux
 * Documentation/driver-api/early-userspace/buffer-format.rst.
 */
#include "guest/newc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define HEADER_BYTES 110
#define ALIGN_BYTES  4
#define TRAILER      "TRAILER!!!"

enum piece_kind {
	PIECE_TEXT, /* in the text buffer, at @offset */
	PIECE_DATA, /* the caller's memory */
	PIECE_FILE, /* all of @fd, which is ours to close */
};

struct piece {
	enum piece_kind kind;
	const void *data;
	int fd;
	size_t offset;
	size_t len;
};

struct name {
	uint32_t hash;
	size_t offset; /* of the NUL-terminated name in the text buffer */
	bool dir;
};

struct newc {
	char *text;
	size_t text_len, text_room;
	struct piece *pieces;
	size_t n_pieces, pieces_room;
	struct name *names;
	size_t n_names, names_room;
	size_t bytes;
	bool closed; /* the trailer is written */
};

/**
 * newc_create() - start an empty archive
 * @ret: set on success; the caller ends it with newc_destroy()
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int newc_create(struct newc **ret)
{
	struct newc *n = calloc(1, sizeof(*n));

	if (!n) {
		return -ENOMEM;
	}
	*ret = n;
	return 0;
}

/**
 * newc_destroy() - free an archive and close its files
 * @n: an archive, or NULL
 *
 * Context: the thread that owns @n.
 */
void newc_destroy(struct newc *n)
{
	if (!n) {
		return;
	}
	for (size_t i = 0; i < n->n_pieces; i++) {
		if (n->pieces[i].kind == PIECE_FILE) {
			close(n->pieces[i].fd);
		}
	}
	free(n->text);
	free(n->pieces);
	free(n->names);
	free(n);
}

static int grow(void **array, size_t *room, size_t want, size_t size)
{
	size_t more = *room ? *room : 64;
	void *p;

	if (want <= *room) {
		return 0;
	}
	while (more < want) {
		more *= 2;
	}
	p = realloc(*array, more * size);
	if (!p) {
		return -ENOMEM;
	}
	*array = p;
	*room = more;
	return 0;
}

static int add_piece(struct newc *n, const struct piece *p)
{
	struct piece *last = n->n_pieces ? &n->pieces[n->n_pieces - 1] : NULL;

	if (p->kind == PIECE_TEXT && last && last->kind == PIECE_TEXT) {
		last->len += p->len; /* the text buffer is filled in order */
	} else {
		int r = grow((void **)&n->pieces, &n->pieces_room, n->n_pieces + 1,
			     sizeof(*n->pieces));

		if (r < 0) {
			return r;
		}
		n->pieces[n->n_pieces++] = *p;
	}
	n->bytes += p->len;
	return 0;
}

static int add_text(struct newc *n, const void *data, size_t len)
{
	int r;

	if (len == 0) {
		return 0;
	}
	r = grow((void **)&n->text, &n->text_room, n->text_len + len, 1);
	if (r < 0) {
		return r;
	}
	memcpy(n->text + n->text_len, data, len);
	n->text_len += len;
	return add_piece(
		n, &(struct piece){.kind = PIECE_TEXT, .offset = n->text_len - len, .len = len});
}

static int add_padding(struct newc *n)
{
	static const char zeros[ALIGN_BYTES];

	return add_text(n, zeros, -n->bytes % ALIGN_BYTES);
}

static uint32_t hash_of(const char *name, size_t len)
{
	uint32_t h = 2166136261U; /* FNV-1a */

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (uint8_t)name[i]) * 16777619U;
	}
	return h;
}

static const struct name *find(const struct newc *n, const char *name, size_t len)
{
	uint32_t hash = hash_of(name, len);

	for (size_t i = 0; i < n->n_names; i++) {
		const char *other = n->text + n->names[i].offset;

		if (n->names[i].hash == hash && strncmp(other, name, len) == 0 &&
		    other[len] == '\0') {
			return &n->names[i];
		}
	}
	return NULL;
}

struct entry {
	const char *name;
	size_t name_len;
	mode_t mode;
	size_t size;
	unsigned int dev_major, dev_minor;
};

static int add_entry(struct newc *n, const struct entry *en, bool listed, struct err *e)
{
	char header[HEADER_BYTES + 1];
	int r;

	/* magic ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor
	 * namesize check */
	snprintf(header, sizeof(header),
		 "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		 listed ? (unsigned int)n->n_names + 1 : 0, (unsigned int)en->mode, 0, 0,
		 S_ISDIR(en->mode) ? 2 : 1, 0, (unsigned int)en->size, 0, 0, en->dev_major,
		 en->dev_minor, (unsigned int)en->name_len + 1, 0);
	r = add_text(n, header, HEADER_BYTES);
	if (r == 0 && listed) {
		r = grow((void **)&n->names, &n->names_room, n->n_names + 1, sizeof(*n->names));
	}
	if (r == 0 && listed) {
		n->names[n->n_names++] = (struct name){.hash = hash_of(en->name, en->name_len),
						       .offset = n->text_len,
						       .dir = S_ISDIR(en->mode)};
	}
	if (r == 0) {
		r = add_text(n, en->name, en->name_len);
	}
	if (r == 0) {
		r = add_text(n, "", 1);
	}
	if (r == 0) {
		r = add_padding(n);
	}
	return r < 0 ? err_errno(e, r, "initramfs: %.*s", (int)en->name_len, en->name) : 0;
}

static int check_name(const char *name, struct err *e)
{
	const char *part = name;

	if (strlen(name) > NEWC_NAME_MAX) {
		return err_set(e, -ENAMETOOLONG,
			       "initramfs: a name of %zu bytes, at most %d can be used",
			       strlen(name), NEWC_NAME_MAX);
	}
	if (strcmp(name, TRAILER) == 0) {
		return err_set(e, -EINVAL, "initramfs: '%s' is the end mark, not a file name",
			       name);
	}
	while (part) {
		const char *slash = strchr(part, '/');
		size_t len = slash ? (size_t)(slash - part) : strlen(part);

		if (len == 0 || (len == 1 && part[0] == '.') ||
		    (len == 2 && part[0] == '.' && part[1] == '.')) {
			return err_set(e, -EINVAL,
				       "initramfs: bad name '%s': expected a relative path without "
				       "empty parts, '.' and '..'",
				       name);
		}
		part = slash ? slash + 1 : NULL;
	}
	return 0;
}

/* Directories that are not there yet are made, so that they always come before what is in them. */
static int add_parents(struct newc *n, const char *name, struct err *e)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct entry en = {
			.name = name, .name_len = (size_t)(slash - name), .mode = S_IFDIR | 0755};
		const struct name *have = find(n, name, en.name_len);
		int r;

		if (have && !have->dir) {
			return err_set(e, -ENOTDIR, "initramfs: '%s': '%.*s' is not a directory",
				       name, (int)en.name_len, name);
		}
		r = have ? 0 : add_entry(n, &en, true, e);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static int begin(struct newc *n, const char *name, mode_t mode, size_t size, unsigned int dev_major,
		 unsigned int dev_minor, struct err *e)
{
	struct entry en = {.name = name,
			   .name_len = strlen(name),
			   .mode = mode,
			   .size = size,
			   .dev_major = dev_major,
			   .dev_minor = dev_minor};
	int r;

	assert(!n->closed);
	r = check_name(name, e);
	if (r < 0) {
		return r;
	}
	if (find(n, name, en.name_len)) {
		return err_set(e, -EEXIST, "initramfs: '%s' is there twice", name);
	}
	if (size > NEWC_FILE_MAX) {
		return err_set(e, -EFBIG, "initramfs: '%s' has %zu bytes, at most %u fit", name,
			       size, NEWC_FILE_MAX);
	}
	r = add_parents(n, name, e);
	return r < 0 ? r : add_entry(n, &en, true, e);
}

/**
 * newc_add_dir() - add a directory
 * @n: an archive without its trailer
 * @name: relative path; missing parents are added with mode 0755
 * @perm: permission bits
 * @e: set on failure
 *
 * Return: 0, -EINVAL or -ENAMETOOLONG for a bad name, -EEXIST for a second one, -ENOTDIR for a
 * parent that is something else, -ENOMEM. After an error the archive can only be destroyed.
 * Context: the thread that owns @n.
 */
int newc_add_dir(struct newc *n, const char *name, mode_t perm, struct err *e)
{
	return begin(n, name, S_IFDIR | (perm & 07777), 0, 0, 0, e);
}

/**
 * newc_add_data() - add a regular file from memory
 * @n: an archive without its trailer
 * @name: as for newc_add_dir()
 * @perm: permission bits
 * @data: the content; not copied, must outlive @n
 * @len: bytes, at most NEWC_FILE_MAX
 * @e: set on failure
 *
 * Return: as newc_add_dir(), and -EFBIG.
 * Context: the thread that owns @n.
 */
int newc_add_data(struct newc *n, const char *name, mode_t perm, const void *data, size_t len,
		  struct err *e)
{
	int r = begin(n, name, S_IFREG | (perm & 07777), len, 0, 0, e);

	if (r < 0) {
		return r;
	}
	if (len > 0) {
		r = add_piece(n, &(struct piece){.kind = PIECE_DATA, .data = data, .len = len});
	}
	if (r == 0) {
		r = add_padding(n);
	}
	return r < 0 ? err_errno(e, r, "initramfs: %s", name) : 0;
}

static int open_file(const char *path, int *ret_fd, size_t *ret_len, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	if (!S_ISREG(st.st_mode)) {
		return err_set(e, -EINVAL, "%s: not a regular file", path);
	}
	*ret_len = (size_t)st.st_size;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Takes @fd over on success. */
static int add_file(struct newc *n, int *fd, size_t len, const char *path, struct err *e)
{
	int r = 0;

	if (len > 0) {
		r = add_piece(n, &(struct piece){.kind = PIECE_FILE, .fd = *fd, .len = len});
		if (r == 0) {
			*fd = -1;
		}
	}
	if (r == 0) {
		r = add_padding(n);
	}
	return r < 0 ? err_errno(e, r, "initramfs: %s", path) : 0;
}

/**
 * newc_add_path() - add a regular file whose content is a file of the host
 * @n: an archive without its trailer
 * @name: as for newc_add_dir()
 * @perm: permission bits
 * @path: the host's file, open until newc_destroy()
 * @e: set on failure
 *
 * Return: as newc_add_data(), and the errno of open(2); -EINVAL for what is not a
 * regular file.
 * Context: the thread that owns @n.
 */
int newc_add_path(struct newc *n, const char *name, mode_t perm, const char *path, struct err *e)
{
	_cleanup_close_ int fd = -1;
	size_t len = 0;
	int r = open_file(path, &fd, &len, e);

	if (r < 0) {
		return r;
	}
	r = begin(n, name, S_IFREG | (perm & 07777), len, 0, 0, e);
	return r < 0 ? r : add_file(n, &fd, len, path, e);
}

/**
 * newc_add_symlink() - add a symbolic link
 * @n: an archive without its trailer
 * @name: as for newc_add_dir()
 * @target: what it points to, not empty, at most NEWC_NAME_MAX bytes; copied
 * @e: set on failure
 *
 * Return: as newc_add_dir().
 * Context: the thread that owns @n.
 */
int newc_add_symlink(struct newc *n, const char *name, const char *target, struct err *e)
{
	size_t len = strlen(target);
	int r;

	if (len == 0 || len > NEWC_NAME_MAX) {
		return err_set(e, -EINVAL,
			       "initramfs: '%s': a link target of %zu bytes, expected 1 to %d",
			       name, len, NEWC_NAME_MAX);
	}
	r = begin(n, name, S_IFLNK | 0777, len, 0, 0, e);
	if (r < 0) {
		return r;
	}
	r = add_text(n, target, len);
	if (r == 0) {
		r = add_padding(n);
	}
	return r < 0 ? err_errno(e, r, "initramfs: %s", name) : 0;
}

/**
 * newc_add_node() - add a device node
 * @n: an archive without its trailer
 * @name: as for newc_add_dir()
 * @mode: S_IFCHR or S_IFBLK, and permission bits
 * @dev_major: major number of the device
 * @dev_minor: minor number of the device
 * @e: set on failure
 *
 * Return: as newc_add_dir().
 * Context: the thread that owns @n.
 */
int newc_add_node(struct newc *n, const char *name, mode_t mode, unsigned int dev_major,
		  unsigned int dev_minor, struct err *e)
{
	assert(S_ISCHR(mode) || S_ISBLK(mode));
	return begin(n, name, mode, 0, dev_major, dev_minor, e);
}

/**
 * newc_add_trailer() - close the archive; only newc_append_path() may follow
 * @n: an archive without its trailer
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 * Context: the thread that owns @n.
 */
int newc_add_trailer(struct newc *n, struct err *e)
{
	struct entry en = {.name = TRAILER, .name_len = strlen(TRAILER)};

	assert(!n->closed);
	n->closed = true;
	return add_entry(n, &en, false, e);
}

/**
 * newc_append_path() - put another, finished archive behind this one
 * @n: an archive with its trailer
 * @path: the host's file, compressed or not: the guest's kernel unpacks one after the other, and
 * later files replace earlier ones of the same name
 * @e: set on failure
 *
 * Return: 0, -ENODATA for an empty file, -ENOMEM, or as newc_add_path().
 * Context: the thread that owns @n.
 */
int newc_append_path(struct newc *n, const char *path, struct err *e)
{
	_cleanup_close_ int fd = -1;
	size_t len = 0;
	int r = open_file(path, &fd, &len, e);

	assert(n->closed);
	if (r < 0) {
		return r;
	}
	if (len == 0) {
		return err_set(e, -ENODATA, "%s: empty, expected an initramfs archive", path);
	}
	return add_file(n, &fd, len, path, e);
}

/**
 * newc_bytes() - how large the archive is
 * @n: an archive
 *
 * Return: bytes so far.
 * Context: the thread that owns @n.
 */
size_t newc_bytes(const struct newc *n)
{
	return n->bytes;
}

/**
 * newc_copy() - put the archive where it is wanted
 * @n: an archive with its trailer
 * @dest: room for newc_bytes() bytes; guest memory, for one: files are read straight into it
 * @e: set on failure
 *
 * Return: 0, -EIO when a file has become shorter than it was when it was added, or the errno of
 * pread(2).
 * Context: a thread that may block.
 */
int newc_copy(const struct newc *n, void *dest, struct err *e)
{
	uint8_t *to = dest;

	assert(n->closed);
	for (size_t i = 0; i < n->n_pieces; i++) {
		const struct piece *p = &n->pieces[i];
		int r = 0;

		switch (p->kind) {
		case PIECE_TEXT:
			memcpy(to, n->text + p->offset, p->len);
			break;
		case PIECE_DATA:
			memcpy(to, p->data, p->len);
			break;
		case PIECE_FILE:
			r = io_pread_exact(p->fd, to, p->len, 0);
			break;
		}
		if (r < 0) {
			return err_errno(e, r, "initramfs: reading a file of %zu bytes", p->len);
		}
		to += p->len;
	}
	return 0;
}
