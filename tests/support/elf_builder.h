/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small ELF64 files for tests: a good one to start from, and every field of it to spoil. */
#ifndef TESTS_ELF_BUILDER_H
#define TESTS_ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>

#define ELF_BUILDER_PHDRS_MAX 200
#define ELF_BUILDER_SYMS_MAX  16

/* The good one: text of 2 pages at 16 MiB, data with bss at 18 MiB. */
#define ELF_BUILDER_TEXT_GPA   0x1000000
#define ELF_BUILDER_TEXT_VADDR 0xffffffff81000000
#define ELF_BUILDER_DATA_GPA   0x1200000
#define ELF_BUILDER_END        0x1205000
#define ELF_BUILDER_FILE_BYTES 0x5000

struct elf_builder_sym {
	const char *name;
	uint64_t value;
	unsigned int type;
};

struct elf_builder {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[ELF_BUILDER_PHDRS_MAX];
	unsigned int ph_count; /* written to the file, whatever e_phnum says */
	uint64_t file_bytes;   /* without sections: each byte is its offset, modulo 251 */
	const void *bytes;     /* to put somewhere in the file, e.g. notes */
	uint64_t bytes_at;
	uint64_t bytes_len;
	const char *rodata; /* this or syms: sections are added behind file_bytes */
	struct elf_builder_sym syms[ELF_BUILDER_SYMS_MAX];
	unsigned int sym_count;
};

void elf_builder_init(struct elf_builder *b);
int elf_builder_fd(const struct elf_builder *b);
uint8_t elf_builder_byte(uint64_t offset);
int memfd_of(const void *data, uint64_t len);

#endif
