/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel file is, by its first bytes; and files for the initrd. Any thread that may block.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "loader/loader_priv.h"

#define ACCEPTED "accepted are an uncompressed ELF64 vmlinux and a bzImage, both for x86-64"

struct magic {
	unsigned int offset;
	unsigned int len;
	const char *bytes;
	const char *name;
};

/* What the kernel itself may be packed with. */
static const struct magic compressions[] = {
	{0, 2, "\x1f\x8b", "gzip"},
	{0, 4, "\x28\xb5\x2f\xfd", "zstd"},
	{0, 6,
	 "\xfd"
	 "7zXZ",
	 "xz"},
	{0, 3, "BZh", "bzip2"},
	{0, 4, "\x02\x21\x4c\x18", "lz4"},
	{0, 4, "\x04\x22\x4d\x18", "lz4"},
	{0, 3, "\x5d\x00\x00", "lzma"},
	{0, 4, "\x89LZO", "lzo"},
};

/* What people pass by mistake. A PE file comes last: kernels of other machines look like one too.
 */
static const struct magic others[] = {
	{0x38, 4, "ARM\x64", "a Linux Image for arm64"},
	{0x24, 4, "\x18\x28\x6f\x01", "a Linux zImage for 32-bit ARM"},
	{0x38, 4, "RSC\x05", "a Linux Image for RISC-V"},
	{0, 4, "\x27\x05\x19\x56", "a U-Boot image"},
	{0, 6, "070701", "a cpio archive, which would be an initrd"},
	{0, 6, "070702", "a cpio archive, which would be an initrd"},
	{0, 4, "QFI\xfb", "a qcow2 disk image"},
	{0, 4, "hsqs", "a squashfs image"},
	{0x438, 2, "\x53\xef", "an ext2/3/4 file system"},
	{0, 8, "!<arch>\n", "an ar archive"},
	{0, 2, "#!", "a script"},
	{0, 2, "MZ", "a PE program for DOS, Windows or EFI"},
};

static bool has_magic(const uint8_t *p, const struct magic *m)
{
	return memcmp(p + m->offset, m->bytes, m->len) == 0;
}

/**
 * magic_compression() - what compressed these bytes
 * @p: at least 6 of them
 *
 * Return: a word ("zstd"), or NULL.
 * Context: any thread.
 */
const char *magic_compression(const uint8_t *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(compressions); i++) {
		if (has_magic(p, &compressions[i])) {
			return compressions[i].name;
		}
	}
	return NULL;
}

/**
 * magic_name() - what a file is that is no kernel we can load
 * @h: its first bytes
 *
 * Return: some words with an article, or NULL.
 * Context: any thread.
 */
static const char *magic_name(const struct head *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (has_magic(h->bytes, &others[i])) {
			return others[i].name;
		}
	}
	return NULL;
}

static const char *kind_name(mode_t mode)
{
	if (S_ISDIR(mode)) {
		return "a directory";
	}
	if (S_ISFIFO(mode)) {
		return "a pipe";
	}
	if (S_ISSOCK(mode)) {
		return "a socket";
	}
	return "a device";
}

static int check_regular(int fd, uint64_t *ret_bytes, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		return err_errno(e, -errno, "cannot be examined");
	}
	if (!S_ISREG(st.st_mode)) {
		return err_set(e, -EINVAL, "this is %s, expected a regular file",
			       kind_name(st.st_mode));
	}
	if (st.st_size == 0) {
		return err_set(e, -EINVAL, "the file is empty");
	}
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

/**
 * regular_open() - open a regular file that is not empty, for reading
 * @path: its path
 * @ret_fd: set on success; the caller closes it
 * @ret_bytes: set on success: its length now
 * @e: set on failure, without the path
 *
 * Return: 0, -EINVAL for another kind of file or an empty one, or the errno of open(2).
 * Context: a thread that may block; a pipe does not make it wait.
 */
static int regular_open(const char *path, int *ret_fd, uint64_t *ret_bytes, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0) {
		return err_set(e, -errno, "%s", strerror(errno));
	}
	r = check_regular(fd, ret_bytes, e);
	if (r < 0) {
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int refuse(const struct head *h, struct err *e)
{
	const char *packed = magic_compression(h->bytes);
	const char *name = magic_name(h);

	if (packed) {
		return err_set(
			e, -ENOEXEC,
			"this is %s data; unpack it first if there is a kernel in it (" ACCEPTED
			")",
			packed);
	}
	if (name) {
		return err_set(e, -ENOEXEC, "this is %s; " ACCEPTED, name);
	}
	return err_set(e, -ENOEXEC,
		       "not a kernel: it begins with the bytes %02x %02x %02x %02x; " ACCEPTED,
		       h->bytes[0], h->bytes[1], h->bytes[2], h->bytes[3]);
}

/**
 * load_image_probe() - find out what an open file is, and what it asks for
 * @fd: the file, any offset; belongs to the image on success, to the caller on failure
 * @ret: set on success
 * @e: set on failure: one line, without the file's name; not NULL
 *
 * Reads headers only. A file whose magic says one format gets the error of that format.
 *
 * Return: 0, -ENOEXEC for a file that is no kernel of ours or a malformed one, -EINVAL for one that
 * is not regular or is empty, -EIO when it is shorter than it was said to be, or another errno.
 * Context: a thread that may block.
 */
int load_image_probe(int fd, struct load_image *ret, struct err *e)
{
	struct head h = {0};
	size_t len;
	int r;

	r = check_regular(fd, &h.file_bytes, e);
	if (r < 0) {
		return r;
	}
	len = h.file_bytes < HEAD_BYTES ? h.file_bytes : HEAD_BYTES;
	r = io_pread_exact(fd, h.bytes, len, 0);
	if (r < 0) {
		return err_errno(e, r, "the first %zu bytes cannot be read", len);
	}
	memset(ret, 0, sizeof(*ret));
	if (memcmp(h.bytes, ELFMAG, SELFMAG) == 0) {
		r = elf_image_read(fd, &h, ret, e);
	} else if (bzimage_recognised(&h)) {
		r = bzimage_read(fd, &h, ret, e);
	} else {
		r = refuse(&h, e);
	}
	if (r < 0) {
		return r;
	}
	ret->fd = fd;
	ret->file_bytes = h.file_bytes;
	return 0;
}

/**
 * load_image_open() - load_image_probe() of a path
 * @path: the kernel
 * @ret: set on success; load_image_close() it
 * @e: set on failure: one line that begins with "kernel PATH: "; not NULL
 *
 * Return: as load_image_probe(), or the errno of open(2).
 * Context: a thread that may block.
 */
int load_image_open(const char *path, struct load_image *ret, struct err *e)
{
	_cleanup_close_ int fd = -1;
	uint64_t bytes;
	int r;

	r = regular_open(path, &fd, &bytes, e);
	if (!r) {
		r = load_image_probe(fd, ret, e);
	}
	if (r < 0) {
		err_prefix(e, "kernel %s", path);
		return r;
	}
	TAKE_FD(fd);
	return 0;
}

/**
 * load_image_close() - let go of the file
 * @img: an image that was opened; plans made from it are of no use any more
 *
 * Context: any thread.
 */
void load_image_close(struct load_image *img)
{
	close(img->fd);
	img->fd = -1;
}

/**
 * load_image_version() - the kernel's version ("6.12.117"), as the file tells it
 * @img: the image
 * @ret: set on success
 *
 * Reads up to a few megabytes of an ELF file: not for the way to the first instruction.
 *
 * Return: 0, -ENOENT when the file does not tell (a firmware payload does not), or an errno.
 * Context: a thread that may block.
 */
int load_image_version(const struct load_image *img, char ret[LOAD_VERSION_MAX])
{
	return img->format == LOAD_FORMAT_ELF ? elf_image_version(img, ret)
					      : bzimage_version(img, ret);
}

/**
 * load_part_open() - a file that is to be a part of the initrd
 * @path: borrowed as the part's name
 * @ret: set on success; load_part_close() it
 * @e: set on failure: one line that begins with "initrd PATH: "; not NULL
 *
 * Return: 0, -EINVAL for an empty file or one that is not regular, or the errno of open(2).
 * Context: a thread that may block.
 */
int load_part_open(const char *path, struct load_part *ret, struct err *e)
{
	uint64_t bytes;
	int fd;
	int r;

	r = regular_open(path, &fd, &bytes, e);
	if (r < 0) {
		err_prefix(e, "initrd %s", path);
		return r;
	}
	*ret = (struct load_part){.name = path, .fd = fd, .bytes = bytes};
	return 0;
}

/**
 * load_part_close() - let go of the file
 * @p: a part from load_part_open()
 *
 * Context: any thread.
 */
void load_part_close(struct load_part *p)
{
	close(p->fd);
	p->fd = -1;
}
