/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See unpack.h. Any thread that may block. */
#include "loader/unpack.h"

#include <bzlib.h>
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "loader/loader_priv.h"

#define MAGIC_BYTES       6
#define GZIP_WINDOW       (15 + 16) /* zlib.h: the largest window, and a gzip header */
#define LZ4_LEGACY_MAGIC  0x184c2102u
#define LZ4_WORD_BYTES    4
#define LZ4_BLOCK_BYTES   (8u << 20)
#define LZMA_MEMORY_BYTES (UINT64_C(256) << 20)

static int unpack_gzip(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		       struct err *e)
{
	z_stream z = {.next_in = (uint8_t *)src, .next_out = dst};
	int r;

	z.avail_in = len < UINT_MAX ? (unsigned int)len : UINT_MAX;
	z.avail_out = room < UINT_MAX ? (unsigned int)room : UINT_MAX;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
		return err_set(e, -ENOMEM, "gzip: out of memory");
	}
	r = inflate(&z, Z_FINISH);
	*ret_len = z.total_out;
	inflateEnd(&z);
	if (r == Z_STREAM_END) {
		return 0;
	}
	return z.avail_out == 0
		       ? err_set(e, -EFBIG, "gzip: more than %zu bytes come out", room)
		       : err_set(e, -EBADMSG, "gzip: the data are damaged or cut off (%d)", r);
}

static int unpack_zstd(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		       struct err *e)
{
	/* Behind the frame a kernel has its unpacked size. */
	size_t n = ZSTD_findFrameCompressedSize(src, len);

	n = ZSTD_isError(n) ? n : ZSTD_decompress(dst, room, src, n);
	if (ZSTD_isError(n)) {
		return err_set(e, -EBADMSG, "zstd: %s", ZSTD_getErrorName(n));
	}
	*ret_len = n;
	return 0;
}

static int unpack_xz(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		     struct err *e)
{
	uint64_t memory = LZMA_MEMORY_BYTES;
	size_t in = 0, out = 0;
	lzma_ret r = lzma_stream_buffer_decode(&memory, 0, NULL, src, &in, len, dst, &out, room);

	*ret_len = out;
	switch (r) {
	case LZMA_OK:
		return 0;
	case LZMA_BUF_ERROR:
		return err_set(e, -EFBIG, "xz: more than %zu bytes come out", room);
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return err_set(e, -ENOMEM, "xz: out of memory");
	default:
		return err_set(e, -EBADMSG, "xz: the data are damaged or cut off (%d)", r);
	}
}

/*
 * The format that kernels are packed with: a magic, then blocks behind their length, which unpack
 * to 8 MiB each but the last. Behind the last a kernel has its unpacked size
 * (lib/decompress_unlz4.c).
 */
static int unpack_lz4(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		      struct err *e)
{
	size_t at = LZ4_WORD_BYTES, out = 0;
	uint32_t block;
	int r = 0;

	memcpy(&block, src, sizeof(block));
	if (block != LZ4_LEGACY_MAGIC) {
		return err_set(e, -ENOTSUP, "lz4 of another format than kernels have");
	}
	while (r == 0 && len - at > LZ4_WORD_BYTES) {
		size_t left = room - out < LZ4_BLOCK_BYTES ? room - out : LZ4_BLOCK_BYTES;
		int n;

		memcpy(&block, src + at, sizeof(block));
		at += LZ4_WORD_BYTES;
		n = block <= len - at && block <= INT_MAX
			    ? LZ4_decompress_safe((const char *)src + at, (char *)dst + out,
						  (int)block, (int)left)
			    : -1;
		if (n <= 0) {
			r = err_set(e, -EBADMSG, "lz4: the data are damaged, cut off or too many");
		} else {
			at += block;
			out += (size_t)n;
		}
	}
	*ret_len = out;
	return r;
}

/* The format before xz, whose end may be marked or stand in its header. */
static int unpack_lzma(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		       struct err *e)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret how;
	int r = 0;

	if (lzma_alone_decoder(&s, LZMA_MEMORY_BYTES) != LZMA_OK) {
		return err_set(e, -ENOMEM, "lzma: out of memory");
	}
	s.next_in = src;
	s.avail_in = len;
	s.next_out = dst;
	s.avail_out = room;
	how = lzma_code(&s, LZMA_RUN);
	if (how == LZMA_OK && s.avail_out == 0) {
		r = err_set(e, -EFBIG, "lzma: more than %zu bytes come out", room);
	} else if (how != LZMA_STREAM_END) {
		r = err_set(e, -EBADMSG, "lzma: the data are damaged or cut off (%d)", how);
	}
	*ret_len = s.total_out;
	lzma_end(&s);
	return r;
}

static int unpack_bzip2(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
			struct err *e)
{
	unsigned int out = room < UINT_MAX ? (unsigned int)room : UINT_MAX;
	int how = BZ2_bzBuffToBuffDecompress((char *)dst, &out, (char *)src,
					     len < UINT_MAX ? (unsigned int)len : UINT_MAX, 0, 0);

	*ret_len = out;
	switch (how) {
	case BZ_OK:
		return 0;
	case BZ_OUTBUFF_FULL:
		return err_set(e, -EFBIG, "bzip2: more than %zu bytes come out", room);
	case BZ_MEM_ERROR:
		return err_set(e, -ENOMEM, "bzip2: out of memory");
	default:
		return err_set(e, -EBADMSG, "bzip2: the data are damaged or cut off (%d)", how);
	}
}

/**
 * unpack() - undo gzip, zstd, xz, lzma, bzip2 or a kernel's lz4, by the magic at the start
 * @src: the packed bytes; what stands behind their end is not looked at
 * @len: how many there are
 * @dst: gets what comes out, also a part of it when that fails
 * @room: its size, bytes
 * @ret_len: set on success: bytes in @dst
 * @e: set on failure
 *
 * Return: 0; -ENOTSUP for what cannot be undone here, named in @e; -EBADMSG for damaged data;
 * -EFBIG when @dst is too small; -ENOMEM. Context: a thread that may block.
 */
int unpack(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
	   struct err *e)
{
	static const struct {
		const char *name;
		int (*unpack)(const uint8_t *src, size_t len, uint8_t *dst, size_t room,
			      size_t *ret_len, struct err *e);
	} formats[] = {{"gzip", unpack_gzip}, {"zstd", unpack_zstd},   {"xz", unpack_xz},
		       {"lzma", unpack_lzma}, {"bzip2", unpack_bzip2}, {"lz4", unpack_lz4}};
	const char *name = len >= MAGIC_BYTES ? magic_compression(src) : NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i].name, name) == 0) {
			return formats[i].unpack(src, len, dst, room, ret_len, e);
		}
	}
	return err_set(e, -ENOTSUP,
		       "%s cannot be unpacked here; gzip, zstd, xz, lzma, bzip2 and lz4 can",
		       name ? name : "a format without a known magic");
}
