/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See symbols.h. A crash has a handful of addresses, so each look-up walks the whole table: no
 * index is built that a run without a crash would have paid for. One thread at a time.
 */
#include "loader/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>

struct symbols {
	int fd; /* owned */
	Elf *elf;
	const Elf64_Sym *syms; /* in elf's memory, like names */
	size_t count;
	size_t strings; /* section index of the names */
	bool loaded;
};

/**
 * symbols_open() - prepare look-ups in an ELF file
 * @fd: the file, borrowed for this call only: it is duplicated
 * @ret: set on success; symbols_close() it
 *
 * Return: 0, -ENOMEM, or the errno of fcntl(2). A file without symbols is found out later.
 * Context: any thread.
 */
int symbols_open(int fd, struct symbols **ret)
{
	_cleanup_free_ struct symbols *s = calloc(1, sizeof(*s));

	if (!s) {
		return -ENOMEM;
	}
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->fd < 0) {
		return -errno;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

/**
 * symbols_close() - free what symbols_open() made
 * @s: may be NULL; names that were found are gone with it
 *
 * Context: any thread.
 */
void symbols_close(struct symbols *s)
{
	if (s) {
		elf_end(s->elf);
		close(s->fd);
		free(s);
	}
}

static void load_table(struct symbols *s)
{
	Elf_Scn *scn = NULL;

	s->loaded = true;
	elf_version(EV_CURRENT);
	s->elf = elf_begin(s->fd, ELF_C_READ, NULL);
	while (s->elf && (scn = elf_nextscn(s->elf, scn))) {
		const Elf64_Shdr *sh = elf64_getshdr(scn);
		const Elf_Data *data;

		if (!sh || sh->sh_type != SHT_SYMTAB || sh->sh_entsize != sizeof(Elf64_Sym)) {
			continue;
		}
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf) {
			s->syms = data->d_buf;
			s->count = data->d_size / sizeof(Elf64_Sym);
			s->strings = sh->sh_link;
		}
		return;
	}
}

/* While paging is not the kernel's own yet, addresses are physical ones. */
static uint64_t to_virtual(struct symbols *s, uint64_t addr)
{
	const Elf64_Ehdr *eh = elf64_getehdr(s->elf);
	const Elf64_Phdr *ph = elf64_getphdr(s->elf);

	for (unsigned int i = 0; eh && ph && i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && addr - ph[i].p_paddr < ph[i].p_memsz) {
			return addr - ph[i].p_paddr + ph[i].p_vaddr;
		}
	}
	return addr;
}

static bool names_code(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	/* Code in assembly has no type. */
	return (type == STT_FUNC || type == STT_NOTYPE) && sym->st_shndx != SHN_UNDEF &&
	       sym->st_shndx != SHN_ABS && sym->st_name != 0;
}

static const Elf64_Sym *nearest_below(const struct symbols *s, uint64_t addr)
{
	const Elf64_Sym *best = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const Elf64_Sym *sym = &s->syms[i];

		if (!names_code(sym) || sym->st_value > addr) {
			continue;
		}
		/* Of several at one address, a function says more than a label. */
		if (!best || sym->st_value > best->st_value ||
		    (sym->st_value == best->st_value &&
		     ELF64_ST_TYPE(sym->st_info) > ELF64_ST_TYPE(best->st_info))) {
			best = sym;
		}
	}
	return best;
}

/* Is the address in memory that the file is loaded to at all? */
static bool in_image(struct symbols *s, uint64_t addr)
{
	const Elf64_Ehdr *eh = elf64_getehdr(s->elf);
	const Elf64_Phdr *ph = elf64_getphdr(s->elf);

	for (unsigned int i = 0; eh && ph && i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && addr - ph[i].p_vaddr < ph[i].p_memsz) {
			return true;
		}
	}
	return false;
}

/**
 * symbols_find() - the function that an address is in
 * @s: the symbols; the first call reads the table
 * @addr: virtual address as linked, or physical address as loaded
 * @ret_name: set on success, valid until symbols_close()
 * @ret_offset: set on success: bytes from the symbol to @addr
 *
 * Return: 0, -ENOENT when the file has no symbols, or none at or below an address of its own.
 * Context: one thread at a time; may block.
 */
int symbols_find(struct symbols *s, uint64_t addr, const char **ret_name, uint64_t *ret_offset)
{
	const Elf64_Sym *sym;
	const char *name;

	if (!s->loaded) {
		load_table(s);
	}
	if (s->count == 0) {
		return -ENOENT;
	}
	addr = to_virtual(s, addr);
	sym = in_image(s, addr) ? nearest_below(s, addr) : NULL;
	name = sym ? elf_strptr(s->elf, s->strings, sym->st_name) : NULL;
	if (!name) {
		return -ENOENT;
	}
	*ret_name = name;
	*ret_offset = addr - sym->st_value;
	return 0;
}
