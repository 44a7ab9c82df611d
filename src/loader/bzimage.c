/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bzImage, by its 64-bit entry. Source: Linux, Documentation/arch/x86/boot.rst; the offsets below
 * are those of its table "The Real-Mode Kernel Header".
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/io.h"
#include "loader/loader_priv.h"

#define HEADER_AT        0x1f1 /* setup_sects, the header's first field */
#define HEADER_JUMP_AT   0x201 /* its byte plus 0x202 is where the header ends */
#define HEADER_FIXED_END 0x202
#define HEADER_MAGIC_END 0x208 /* magic and version are there in any */
#define SECTOR_BYTES     512
#define PARAGRAPH_BYTES  16
#define BOOT_FLAG        0xaa55
#define MAGIC_HDRS       0x53726448
#define PROTOCOL_MIN     0x20c /* the first with xloadflags */
#define ENTRY_64         0x200
#define SETUP_SECTS_OLD  4 /* what 0 means */
#define MAGIC_BYTES      6

static_assert(offsetof(struct setup_header, boot_flag) == 0x1fe - HEADER_AT, "UAPI layout");
static_assert(offsetof(struct setup_header, version) == 0x206 - HEADER_AT, "UAPI layout");
static_assert(offsetof(struct setup_header, xloadflags) == 0x236 - HEADER_AT, "UAPI layout");
static_assert(offsetof(struct setup_header, init_size) == 0x260 - HEADER_AT, "UAPI layout");

static struct setup_header header_of(const struct head *h)
{
	/* Older kernels have a shorter header: what is behind it is code, not fields. */
	size_t end = HEADER_FIXED_END + h->bytes[HEADER_JUMP_AT];
	size_t len = (end < HEADER_MAGIC_END ? HEADER_MAGIC_END : end) - HEADER_AT;
	struct setup_header sh = {0};

	memcpy(&sh, h->bytes + HEADER_AT, len < sizeof(sh) ? len : sizeof(sh));
	return sh;
}

/**
 * bzimage_recognised() - does a file have a magic of a Linux kernel for x86?
 * @h: its first bytes
 *
 * Return: whether it has one of the two; a file with only one of them is malformed.
 * Context: any thread.
 */
bool bzimage_recognised(const struct head *h)
{
	struct setup_header sh = header_of(h);

	return sh.header == MAGIC_HDRS || sh.boot_flag == BOOT_FLAG;
}

static int check_magic(const struct setup_header *sh, struct err *e)
{
	if (sh->header != MAGIC_HDRS) {
		return err_set(e, -ENOEXEC,
			       "boot sector without a Linux header: at 0x202 is 0x%08x, expected "
			       "0x%08x (\"HdrS\"); a disk image is not a kernel",
			       sh->header, MAGIC_HDRS);
	}
	if (sh->boot_flag != BOOT_FLAG) {
		return err_set(e, -ENOEXEC, "bzImage: boot_flag is 0x%04x, expected 0x%04x",
			       sh->boot_flag, BOOT_FLAG);
	}
	if (sh->version < PROTOCOL_MIN) {
		return err_set(e, -ENOEXEC,
			       "this is a bzImage, protocol %u.%02u; accepted is 2.12 or newer",
			       sh->version >> 8, sh->version & 0xff);
	}
	if (!(sh->loadflags & LOADED_HIGH)) {
		return err_set(
			e, -ENOEXEC,
			"this is a zImage (loadflags 0x%02x), expected a bzImage (bit 0 set)",
			sh->loadflags);
	}
	return 0;
}

static int check_sizes(const struct setup_header *sh, uint64_t setup_bytes, uint64_t code_bytes,
		       uint64_t file_bytes, struct err *e)
{
	if (setup_bytes > file_bytes || code_bytes > file_bytes - setup_bytes) {
		return err_set(e, -ENOEXEC,
			       "bzImage: setup 0x%" PRIx64 " (setup_sects %u) + syssize 0x%" PRIx64
			       " is past the file's end at 0x%" PRIx64,
			       setup_bytes, sh->setup_sects, code_bytes, file_bytes);
	}
	if (code_bytes <= ENTRY_64) {
		return err_set(e, -ENOEXEC,
			       "bzImage: syssize 0x%" PRIx64
			       " ends before the 64-bit entry at 0x%x",
			       code_bytes, ENTRY_64);
	}
	if ((uint64_t)sh->payload_offset + sh->payload_length > code_bytes) {
		return err_set(
			e, -ENOEXEC,
			"bzImage: payload_offset 0x%x + payload_length 0x%x is past syssize 0x%" PRIx64,
			sh->payload_offset, sh->payload_length, code_bytes);
	}
	if (sh->init_size < code_bytes) {
		return err_set(e, -ENOEXEC,
			       "bzImage: init_size 0x%x is less than syssize 0x%" PRIx64,
			       sh->init_size, code_bytes);
	}
	if (sh->pref_address < LOAD_KERNEL_GPA_MIN ||
	    sh->init_size > UINT64_MAX - sh->pref_address) {
		return err_set(e, -ENOEXEC,
			       "bzImage: pref_address 0x%" PRIx64
			       " with init_size 0x%x is not between "
			       "0x%" PRIx64 " and the end of the address space",
			       (uint64_t)sh->pref_address, sh->init_size, LOAD_KERNEL_GPA_MIN);
	}
	return 0;
}

/* What the kernel is packed with, for people. */
static int payload_name(int fd, const struct setup_header *sh, uint64_t setup_bytes,
			const char **ret, struct err *e)
{
	uint8_t magic[MAGIC_BYTES] = {0};
	const char *name;
	int r;

	if (sh->payload_length >= MAGIC_BYTES) {
		r = io_pread_exact(fd, magic, sizeof(magic), setup_bytes + sh->payload_offset);
		if (r < 0) {
			return err_errno(e, r, "bzImage: the payload cannot be read");
		}
	}
	name = magic_compression(magic);
	*ret = name ? name
	       : memcmp(magic,
			"\x7f"
			"ELF",
			4) == 0
		       ? "uncompressed"
		       : "unknown";
	return 0;
}

/**
 * bzimage_read() - check a bzImage and fill in what it asks for
 * @fd: the file
 * @h: its first bytes, one of the magics included
 * @img: zeros; filled in on success
 * @e: set on failure
 *
 * Return: 0, -ENOEXEC with the header field and both numbers in @e, or the errno of a read.
 * Context: a thread that may block.
 */
int bzimage_read(int fd, const struct head *h, struct load_image *img, struct err *e)
{
	struct setup_header sh = header_of(h);
	uint64_t code_bytes = (uint64_t)sh.syssize * PARAGRAPH_BYTES;
	uint64_t setup_bytes;
	const char *payload = NULL;
	int r;

	setup_bytes = (1 + (sh.setup_sects ? sh.setup_sects : SETUP_SECTS_OLD)) * SECTOR_BYTES;
	r = check_magic(&sh, e);
	if (!r) {
		r = check_sizes(&sh, setup_bytes, code_bytes, h->file_bytes, e);
	}
	if (!r) {
		r = payload_name(fd, &sh, setup_bytes, &payload, e);
	}
	if (r < 0) {
		return r;
	}
	snprintf(img->what, sizeof(img->what), "a bzImage, protocol %u.%02u, %s payload",
		 sh.version >> 8, sh.version & 0xff, payload);
	if (!(sh.xloadflags & XLF_KERNEL_64)) {
		return err_set(
			e, -ENOEXEC,
			"this is %s, without a 64-bit entry (xloadflags 0x%04x, bit 0 clear)",
			img->what, sh.xloadflags);
	}
	img->format = LOAD_FORMAT_BZIMAGE;
	img->header = sh;
	/* The unpacker moves a relocatable kernel up to pref_address: it may as well start there.
	 */
	img->start = sh.pref_address;
	img->end = sh.pref_address + sh.init_size;
	img->entry = sh.pref_address + ENTRY_64;
	img->segment_count = 1;
	img->segments[0] = (struct load_segment){.gpa = sh.pref_address,
						 .mem_bytes = sh.init_size,
						 .file_offset = setup_bytes,
						 .file_bytes = code_bytes};
	return 0;
}

/**
 * bzimage_version() - the version in a bzImage's setup
 * @img: a bzImage
 * @ret: set on success
 *
 * Return: 0, -ENOENT when there is none, or the errno of a read.
 * Context: a thread that may block.
 */
int bzimage_version(const struct load_image *img, char ret[LOAD_VERSION_MAX])
{
	uint64_t at = (uint64_t)img->header.kernel_version + 0x200;
	uint64_t setup_end = img->segments[0].file_offset;
	size_t n;
	int r;

	if (img->header.kernel_version == 0 || at >= setup_end) {
		return -ENOENT;
	}
	n = setup_end - at < LOAD_VERSION_MAX - 1 ? setup_end - at : LOAD_VERSION_MAX - 1;
	r = io_pread_exact(img->fd, ret, n, at);
	if (r < 0) {
		return r;
	}
	ret[n] = '\0';
	ret[strcspn(ret, " ")] = '\0';
	return *ret ? 0 : -ENOENT;
}
