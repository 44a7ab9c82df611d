/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See unpack.h. libzstd, liblzma and liblz4 are only loaded when a file asks for them: a boot,
 * which the rest of the program is for, does without, and starts faster. Any thread that may block.
 */
#include "loader/unpack.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <stdbool.h>
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

static int load_library(const char *name, void **ret, struct err *e)
{
	*ret = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	return *ret ? 0 : err_set(e, -ENOTSUP, "it takes %s, which is not here", name);
}

static int unpack_zstd(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		       struct err *e)
{
	typeof(&ZSTD_findFrameCompressedSize) frame_bytes;
	typeof(&ZSTD_decompress) decompress;
	typeof(&ZSTD_isError) is_error;
	typeof(&ZSTD_getErrorName) error_name;
	void *lib;
	size_t n;
	int r = load_library("libzstd.so.1", &lib, e);

	if (r < 0) {
		return r;
	}
	*(void **)&frame_bytes = dlsym(lib, "ZSTD_findFrameCompressedSize");
	*(void **)&decompress = dlsym(lib, "ZSTD_decompress");
	*(void **)&is_error = dlsym(lib, "ZSTD_isError");
	*(void **)&error_name = dlsym(lib, "ZSTD_getErrorName");
	if (!frame_bytes || !decompress || !is_error || !error_name) {
		r = err_set(e, -ENOTSUP, "zstd: the library lacks a function");
	} else {
		/* Behind the frame a kernel has its unpacked size. */
		n = frame_bytes(src, len);
		n = is_error(n) ? n : decompress(dst, room, src, n);
		if (is_error(n)) {
			r = err_set(e, -EBADMSG, "zstd: %s", error_name(n));
		} else {
			*ret_len = n;
		}
	}
	dlclose(lib);
	return r;
}

static int unpack_xz(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		     struct err *e)
{
	typeof(&lzma_stream_buffer_decode) decode;
	uint64_t memory = LZMA_MEMORY_BYTES;
	size_t in = 0, out = 0;
	void *lib;
	int r = load_library("liblzma.so.5", &lib, e);

	if (r < 0) {
		return r;
	}
	*(void **)&decode = dlsym(lib, "lzma_stream_buffer_decode");
	if (!decode) {
		r = err_set(e, -ENOTSUP, "xz: the library lacks a function");
	} else {
		lzma_ret code = decode(&memory, 0, NULL, src, &in, len, dst, &out, room);

		if (code == LZMA_BUF_ERROR) {
			r = err_set(e, -EFBIG, "xz: more than %zu bytes come out", room);
		} else if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR) {
			r = err_set(e, -ENOMEM, "xz: out of memory");
		} else if (code != LZMA_OK) {
			r = err_set(e, -EBADMSG, "xz: the data are damaged or cut off (%d)", code);
		}
		*ret_len = out;
	}
	dlclose(lib);
	return r;
}

/*
 * The format that kernels are packed with: a magic, then blocks behind their length, which unpack
 * to 8 MiB each but the last. Behind the last a kernel has its unpacked size
 * (lib/decompress_unlz4.c).
 */
static int unpack_lz4(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		      struct err *e)
{
	typeof(&LZ4_decompress_safe) decompress;
	size_t at = LZ4_WORD_BYTES, out = 0;
	uint32_t block;
	void *lib;
	int r;

	memcpy(&block, src, sizeof(block));
	if (block != LZ4_LEGACY_MAGIC) {
		return err_set(e, -ENOTSUP, "lz4 of another format than kernels have");
	}
	r = load_library("liblz4.so.1", &lib, e);
	if (r < 0) {
		return r;
	}
	*(void **)&decompress = dlsym(lib, "LZ4_decompress_safe");
	if (!decompress) {
		r = err_set(e, -ENOTSUP, "lz4: the library lacks a function");
	}
	while (r == 0 && len - at > LZ4_WORD_BYTES) {
		size_t left = room - out < LZ4_BLOCK_BYTES ? room - out : LZ4_BLOCK_BYTES;
		int n;

		memcpy(&block, src + at, sizeof(block));
		at += LZ4_WORD_BYTES;
		n = block <= len - at && block <= INT_MAX
			    ? decompress((const char *)src + at, (char *)dst + out, (int)block,
					 (int)left)
			    : -1;
		if (n <= 0) {
			r = err_set(e, -EBADMSG, "lz4: the data are damaged, cut off or too many");
		} else {
			at += block;
			out += (size_t)n;
		}
	}
	*ret_len = out;
	dlclose(lib);
	return r;
}

/* The format before xz, whose end may be marked or stand in its header. */
static int unpack_lzma(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
		       struct err *e)
{
	typeof(&lzma_alone_decoder) begin;
	typeof(&lzma_code) code;
	typeof(&lzma_end) end;
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret how;
	void *lib;
	int r = load_library("liblzma.so.5", &lib, e);

	if (r < 0) {
		return r;
	}
	*(void **)&begin = dlsym(lib, "lzma_alone_decoder");
	*(void **)&code = dlsym(lib, "lzma_code");
	*(void **)&end = dlsym(lib, "lzma_end");
	if (!begin || !code || !end) {
		r = err_set(e, -ENOTSUP, "lzma: the library lacks a function");
	} else if (begin(&s, LZMA_MEMORY_BYTES) != LZMA_OK) {
		r = err_set(e, -ENOMEM, "lzma: out of memory");
	} else {
		s.next_in = src;
		s.avail_in = len;
		s.next_out = dst;
		s.avail_out = room;
		how = code(&s, LZMA_RUN);
		if (how == LZMA_OK && s.avail_out == 0) {
			r = err_set(e, -EFBIG, "lzma: more than %zu bytes come out", room);
		} else if (how != LZMA_STREAM_END) {
			r = err_set(e, -EBADMSG, "lzma: the data are damaged or cut off (%d)", how);
		}
		*ret_len = s.total_out;
		end(&s);
	}
	dlclose(lib);
	return r;
}

#define BZIP2_OUT_OF_MEMORY (-3) /* bzlib.h, whose package is not needed for these */
#define BZIP2_OUT_IS_FULL   (-8)

static int unpack_bzip2(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_len,
			struct err *e)
{
	int (*decompress)(char *to, unsigned int *to_bytes, char *from, unsigned int from_bytes,
			  int small, int verbose);
	unsigned int out = room < UINT_MAX ? (unsigned int)room : UINT_MAX;
	void *lib;
	int how, r = load_library("libbz2.so.1.0", &lib, e);

	if (r < 0) {
		return r;
	}
	*(void **)&decompress = dlsym(lib, "BZ2_bzBuffToBuffDecompress");
	if (!decompress) {
		r = err_set(e, -ENOTSUP, "bzip2: the library lacks a function");
	} else {
		how = decompress((char *)dst, &out, (char *)src,
				 len < UINT_MAX ? (unsigned int)len : UINT_MAX, 0, 0);
		if (how == BZIP2_OUT_IS_FULL) {
			r = err_set(e, -EFBIG, "bzip2: more than %zu bytes come out", room);
		} else if (how == BZIP2_OUT_OF_MEMORY) {
			r = err_set(e, -ENOMEM, "bzip2: out of memory");
		} else if (how != 0) {
			r = err_set(e, -EBADMSG, "bzip2: the data are damaged or cut off (%d)",
				    how);
		}
		*ret_len = out;
	}
	dlclose(lib);
	return r;
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
