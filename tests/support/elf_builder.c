/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See elf_builder.h. */
#include "elf_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECTIONS      5
#define STRINGS_BYTES 1024

void elf_builder_init(struct elf_builder *b)
{
	memset(b, 0, sizeof(*b));
	memcpy(b->eh.e_ident, ELFMAG, SELFMAG);
	b->eh.e_ident[EI_CLASS] = ELFCLASS64;
	b->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	b->eh.e_ident[EI_VERSION] = EV_CURRENT;
	b->eh.e_type = ET_EXEC;
	b->eh.e_machine = EM_X86_64;
	b->eh.e_version = EV_CURRENT;
	b->eh.e_entry = ELF_BUILDER_TEXT_GPA + 0x10;
	b->eh.e_phoff = sizeof(b->eh);
	b->eh.e_ehsize = sizeof(b->eh);
	b->eh.e_phentsize = sizeof(Elf64_Phdr);
	b->eh.e_phnum = 2;
	b->eh.e_shentsize = sizeof(Elf64_Shdr);
	b->ph[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				.p_offset = 0x1000,
				.p_vaddr = ELF_BUILDER_TEXT_VADDR,
				.p_paddr = ELF_BUILDER_TEXT_GPA,
				.p_filesz = 0x2000,
				.p_memsz = 0x2000};
	b->ph[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				.p_offset = 0x3000,
				.p_vaddr = ELF_BUILDER_TEXT_VADDR + 0x200000,
				.p_paddr = ELF_BUILDER_DATA_GPA,
				.p_filesz = 0x1800,
				.p_memsz = 0x5000};
	b->ph_count = 2;
	b->file_bytes = ELF_BUILDER_FILE_BYTES;
}

uint8_t elf_builder_byte(uint64_t offset)
{
	return (uint8_t)(offset % 251);
}

int memfd_of(const void *data, uint64_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert(fd >= 0);
	if (len > 0 && pwrite(fd, data, len, 0) != (ssize_t)len) {
		abort();
	}
	return fd;
}

static Elf64_Word add_string(char *strings, size_t *len, const char *s)
{
	size_t at = *len;

	assert(at + strlen(s) + 1 <= STRINGS_BYTES);
	strcpy(strings + at, s);
	*len += strlen(s) + 1;
	return (Elf64_Word)at;
}

/* Null, .rodata, .symtab, .strtab, and the names of all sections in .strtab too. */
static uint64_t add_sections(const struct elf_builder *b, uint8_t *file)
{
	Elf64_Shdr sh[SECTIONS] = {0};
	Elf64_Sym syms[ELF_BUILDER_SYMS_MAX + 1] = {0};
	char strings[STRINGS_BYTES] = "";
	size_t strings_len = 1;
	uint64_t at = b->file_bytes;

	for (unsigned int i = 0; i < b->sym_count; i++) {
		syms[i + 1] =
			(Elf64_Sym){.st_name = add_string(strings, &strings_len, b->syms[i].name),
				    .st_value = b->syms[i].value,
				    .st_info = ELF64_ST_INFO(STB_GLOBAL, b->syms[i].type),
				    .st_shndx = 1};
	}
	sh[1] = (Elf64_Shdr){.sh_name = add_string(strings, &strings_len, ".rodata"),
			     .sh_type = SHT_PROGBITS,
			     .sh_offset = at,
			     .sh_size = b->rodata ? strlen(b->rodata) + 1 : 0};
	memcpy(file + at, b->rodata ? b->rodata : "", sh[1].sh_size);
	at += (sh[1].sh_size + 7) & ~UINT64_C(7);
	sh[2] = (Elf64_Shdr){.sh_name = add_string(strings, &strings_len, ".symtab"),
			     .sh_type = SHT_SYMTAB,
			     .sh_offset = at,
			     .sh_size = (b->sym_count + 1) * sizeof(Elf64_Sym),
			     .sh_entsize = sizeof(Elf64_Sym),
			     .sh_addralign = 8,
			     .sh_link = 3};
	memcpy(file + at, syms, sh[2].sh_size);
	at += sh[2].sh_size;
	sh[3] = (Elf64_Shdr){.sh_name = add_string(strings, &strings_len, ".strtab"),
			     .sh_type = SHT_STRTAB,
			     .sh_offset = at,
			     .sh_size = STRINGS_BYTES};
	memcpy(file + at, strings, STRINGS_BYTES);
	at += STRINGS_BYTES;
	memcpy(file + at, sh, 4 * sizeof(sh[0]));
	((Elf64_Ehdr *)(void *)file)->e_shoff = at;
	((Elf64_Ehdr *)(void *)file)->e_shnum = 4;
	((Elf64_Ehdr *)(void *)file)->e_shstrndx = 3;
	return at + 4 * sizeof(sh[0]);
}

int elf_builder_fd(const struct elf_builder *b)
{
	size_t room = b->file_bytes + sizeof(b->ph) + (1 << 18);
	uint8_t *file = calloc(1, room);
	uint64_t len = b->file_bytes;
	int fd;

	assert(file);
	for (uint64_t i = 0; i < b->file_bytes; i++) {
		file[i] = elf_builder_byte(i);
	}
	memcpy(file, &b->eh, sizeof(b->eh));
	memcpy(file + sizeof(b->eh), b->ph, b->ph_count * sizeof(b->ph[0]));
	if (b->bytes) {
		memcpy(file + b->bytes_at, b->bytes, b->bytes_len);
	}
	if (b->rodata || b->sym_count > 0) {
		len = add_sections(b, file);
	}
	fd = memfd_of(file, len);
	free(file);
	return fd;
}
