/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See initramfs.h. An initramfs belongs to one thread. */
#include "guest/initramfs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/initramfs_priv.h"
#include "guest/newc.h"

struct initramfs {
	struct newc *newc;
	char *job_text; /* the archive points into it */
};

static int add_busybox(struct newc *n, const char *path, struct err *e)
{
	char name[64];
	int r = newc_add_path(n, &GUEST_BUSYBOX_PATH[1], 0755, path, e);

	for (size_t i = 0; r == 0 && initramfs_applets[i]; i++) {
		snprintf(name, sizeof(name), "bin/%s", initramfs_applets[i]);
		r = newc_add_symlink(n, name, "busybox", e);
	}
	return r;
}

static int add_files(struct newc *n, const struct initramfs_file *files, size_t count,
		     struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct initramfs_file *f = &files[i];

		r = f->target ? newc_add_symlink(n, f->name, f->target, e)
			      : newc_add_path(n, f->name, f->perm, f->path, e);
	}
	return r;
}

static int compose(struct initramfs *i, const struct initramfs_spec *spec, struct err *e)
{
	/* The agent's mark is its first act, before devtmpfs is there, hence a node for the ports.
	 * The kernel opens /dev/console for PID 1 on its own account. */
	static const char *const dirs[] = {"dev", "proc", "sys", "tmp", "run", "root", "etc"};
	struct newc *n = i->newc;
	bool foreign = spec->appended && spec->appended[0];
	size_t len = 0;
	int r = 0;

	for (size_t d = 0; r == 0 && d < ARRAY_SIZE(dirs); d++) {
		r = newc_add_dir(n, dirs[d], 0755, e);
	}
	if (r < 0 || (r = newc_add_node(n, "dev/console", S_IFCHR | 0600, 5, 1, e)) < 0 ||
	    (r = newc_add_node(n, "dev/port", S_IFCHR | 0600, 1, 4, e)) < 0 ||
	    (r = newc_add_path(n, foreign ? &GUEST_AGENT_PATH[1] : "init", 0755, spec->agent_path,
			       e)) < 0 ||
	    (r = job_write(spec->job, &i->job_text, &len, e)) < 0 ||
	    (r = newc_add_data(n, JOB_PATH, 0644, i->job_text, len, e)) < 0) {
		return r;
	}
	if (spec->bench_path) {
		r = newc_add_path(n, &GUEST_BENCH_PATH[1], 0755, spec->bench_path, e);
	}
	if (r == 0 && spec->busybox_path) {
		r = add_busybox(n, spec->busybox_path, e);
	}
	if (r == 0) {
		r = add_files(n, spec->files, spec->n_files, e);
	}
	if (r == 0) {
		r = add_files(n, spec->given, spec->n_given, e);
	}
	if (r == 0 && spec->closure) {
		r = closure_write(spec->closure, n, e);
	}
	if (r == 0) {
		r = newc_add_trailer(n, e);
	}
	for (size_t a = 0; r == 0 && spec->appended && spec->appended[a]; a++) {
		r = newc_append_path(n, spec->appended[a], e);
	}
	return r;
}

/**
 * initramfs_create() - put the initramfs of one boot together
 * @spec: what goes into it; not needed afterwards, but for the files it names: they stay open
 * @ret: set on success; the caller ends it with initramfs_destroy()
 * @e: set on failure, names the file
 *
 * Return: 0, -EINVAL for a bad job or name, -EEXIST for a file that is there twice, -ENODATA for an
 * empty archive of the user's, -ENOMEM, or the errno of open(2).
 * Context: a thread that may block.
 */
int initramfs_create(const struct initramfs_spec *spec, struct initramfs **ret, struct err *e)
{
	_cleanup_(initramfs_destroy_p) struct initramfs *i = calloc(1, sizeof(*i));
	int r = i ? newc_create(&i->newc) : -ENOMEM;

	if (r < 0) {
		return err_errno(e, r, "initramfs");
	}
	r = compose(i, spec, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(i);
	return 0;
}

/**
 * initramfs_destroy() - close the files of an initramfs
 * @i: an initramfs, half built, or NULL
 *
 * Context: the thread that owns @i.
 */
void initramfs_destroy(struct initramfs *i)
{
	if (i) {
		newc_destroy(i->newc);
		free(i->job_text);
		free(i);
	}
}

/**
 * initramfs_bytes() - how much guest memory it takes
 * @i: an initramfs
 *
 * Return: bytes.
 * Context: the thread that owns @i.
 */
size_t initramfs_bytes(const struct initramfs *i)
{
	return newc_bytes(i->newc);
}

/**
 * initramfs_copy() - put it into guest memory
 * @i: an initramfs
 * @dest: room for initramfs_bytes() bytes
 * @e: set on failure
 *
 * Return: as newc_copy().
 * Context: a thread that may block.
 */
int initramfs_copy(const struct initramfs *i, void *dest, struct err *e)
{
	return newc_copy(i->newc, dest, e);
}

/**
 * initramfs_write() - write it to a file, for a VMM that takes one (QEMU)
 * @i: an initramfs
 * @fd: open for writing
 * @e: set on failure
 *
 * Return: as newc_copy(), -ENOMEM, or the errno of write(2).
 * Context: a thread that may block.
 */
int initramfs_write(const struct initramfs *i, int fd, struct err *e)
{
	size_t len = initramfs_bytes(i);
	_cleanup_free_ void *data = malloc(len);
	int r;

	if (!data) {
		return err_errno(e, -ENOMEM, "initramfs");
	}
	r = initramfs_copy(i, data, e);
	if (r < 0) {
		return r;
	}
	r = io_write_all(fd, data, len);
	return r < 0 ? err_errno(e, r, "initramfs: writing %zu bytes", len) : 0;
}

/**
 * initramfs_program_kind() - what a file is to those who may run it
 * @path: the file; one that cannot be read is no program
 *
 * Return: the kind.
 * Context: any thread.
 */
enum initramfs_program initramfs_program_kind(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr ph;
	Elf64_Ehdr eh;

	if (fd < 0 || io_pread_exact(fd, &eh, sizeof(eh), 0) < 0 ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_machine != EM_X86_64 || eh.e_phentsize != sizeof(ph)) {
		return INITRAMFS_NO_PROGRAM;
	}
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		if (io_pread_exact(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) < 0) {
			return INITRAMFS_NO_PROGRAM;
		}
		if (ph.p_type == PT_INTERP) {
			return INITRAMFS_DYNAMIC;
		}
	}
	return INITRAMFS_STATIC;
}

/**
 * initramfs_find_busybox() - where this machine has a busybox that runs in the guest
 * @ret_path: set on success, a constant
 * @e: set on failure, names the package
 *
 * Return: 0 or -ENOENT.
 * Context: any thread.
 */
int initramfs_find_busybox(const char **ret_path, struct err *e)
{
	static const char *const paths[] = {"/usr/bin/busybox", "/bin/busybox"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		/* Debian's package busybox has the same path but needs libraries. */
		if (initramfs_program_kind(paths[i]) == INITRAMFS_STATIC) {
			*ret_path = paths[i];
			return 0;
		}
	}
	return err_set(e, -ENOENT,
		       "no statically linked busybox for the guest's tools (looked for %s and "
		       "%s): install the package busybox-static",
		       paths[0], paths[1]);
}
