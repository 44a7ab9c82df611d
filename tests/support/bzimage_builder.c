/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See bzimage_builder.h. */
#include "bzimage_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "elf_builder.h"

#define VERSION_AT 0x300
#define PAYLOAD_AT 0x400

void bzimage_builder_init(struct bzimage_builder *b)
{
	memset(b, 0, sizeof(*b));
	b->setup_bytes = BZIMAGE_BUILDER_SETUP_BYTES;
	b->code_bytes = BZIMAGE_BUILDER_CODE_BYTES;
	b->payload = "\x28\xb5\x2f\xfd\x01\x02";
	b->header_end = sizeof(b->header) + 0x1f1 - 0x202;
	b->header = (struct setup_header){
		.setup_sects = 7,
		.syssize = BZIMAGE_BUILDER_CODE_BYTES / 16,
		.boot_flag = 0xaa55,
		.header = 0x53726448,
		.version = 0x20f,
		.kernel_version = VERSION_AT - 0x200,
		.loadflags = 1,
		.initrd_addr_max = 0x7fffffff,
		.kernel_alignment = 0x200000,
		.relocatable_kernel = 1,
		.xloadflags = 0x23,
		.cmdline_size = 2047,
		.payload_offset = PAYLOAD_AT,
		.payload_length = 0x2000,
		.pref_address = BZIMAGE_BUILDER_PREF,
		.init_size = BZIMAGE_BUILDER_INIT_SIZE,
	};
}

uint8_t bzimage_builder_byte(uint64_t offset)
{
	return (uint8_t)(offset % 241);
}

int bzimage_builder_fd(const struct bzimage_builder *b)
{
	uint64_t len = b->setup_bytes + b->code_bytes;
	uint8_t *file = malloc(len + BZIMAGE_BUILDER_SETUP_BYTES);
	int fd;

	assert(file);
	for (uint64_t i = 0; i < len; i++) {
		file[i] = bzimage_builder_byte(i);
	}
	memcpy(file + 0x1f1, &b->header, sizeof(b->header));
	file[0x201] = b->header_end;
	strcpy((char *)file + VERSION_AT, BZIMAGE_BUILDER_VERSION " (someone@somewhere) #1");
	if (b->code_bytes > PAYLOAD_AT + 6) {
		memcpy(file + b->setup_bytes + PAYLOAD_AT, b->payload, 6);
	}
	fd = memfd_of(file, len);
	free(file);
	return fd;
}
