/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the loader. */
#ifndef LOADER_LOADER_PRIV_H
#define LOADER_LOADER_PRIV_H

#include "loader/loader.h"

/* The first bytes of a file, enough for every format's magic and the Linux setup header. */
#define HEAD_BYTES 4096

struct head {
	uint8_t bytes[HEAD_BYTES]; /* zeros behind the end of a shorter file */
	uint64_t file_bytes;
};

int elf_image_read(int fd, const struct head *h, struct load_image *img,
		   struct err *e) __must_check;
int elf_image_version(const struct load_image *img, char ret[LOAD_VERSION_MAX]) __must_check;
int elf_image_section(const struct load_image *img, const char *wanted,
		      struct load_range *ret) __must_check;

int pvh_check(const struct load_image *img, struct err *e) __must_check;
void pvh_fill(const struct load_request *rq, struct load_plan *p);

bool bzimage_recognised(const struct head *h);
int bzimage_read(int fd, const struct head *h, struct load_image *img, struct err *e) __must_check;
int bzimage_version(const struct load_image *img, char ret[LOAD_VERSION_MAX]) __must_check;

const char *magic_compression(const uint8_t *p);

#define PAGE_DOWN(x) ((x) & ~(GMEM_PAGE_BYTES - 1))
#define PAGE_UP(x)   PAGE_DOWN((x) + GMEM_PAGE_BYTES - 1)

#endif
