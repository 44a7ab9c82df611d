/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small bzImages for tests: a good one to start from, and every header field of it to spoil. */
#ifndef TESTS_BZIMAGE_BUILDER_H
#define TESTS_BZIMAGE_BUILDER_H

#include <asm/bootparam.h>
#include <stdint.h>

#define BZIMAGE_BUILDER_SETUP_BYTES 0x1000 /* 7 sectors and the boot sector */
#define BZIMAGE_BUILDER_CODE_BYTES  0x4000
#define BZIMAGE_BUILDER_PREF        0x1000000
#define BZIMAGE_BUILDER_INIT_SIZE   0x100000
#define BZIMAGE_BUILDER_VERSION     "6.12.34-test"

struct bzimage_builder {
	struct setup_header header;
	uint64_t setup_bytes;
	uint64_t code_bytes; /* in the file, whatever syssize says */
	const char *payload; /* its first 6 bytes */
	uint8_t header_end;  /* at 0x201: the header's length behind 0x202 */
};

void bzimage_builder_init(struct bzimage_builder *b);
int bzimage_builder_fd(const struct bzimage_builder *b);
uint8_t bzimage_builder_byte(uint64_t offset);

#endif
