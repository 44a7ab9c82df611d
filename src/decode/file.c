/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols and lines of the file. See decode.h. */
#include "decode/decode.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A symbol without a size reaches as far as the next one, but hardly further than this. */
#define REACH_BYTES (UINT64_C(1) << 20)

static void open_symbols(struct decode_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB && sh.sh_entsize) {
			f->symbols = elf_getdata(scn, NULL);
			f->symbol_count = f->symbols ? f->symbols->d_size / sh.sh_entsize : 0;
			f->names = sh.sh_link;
			return;
		}
	}
}

/**
 * decode_open() - find what there is in the file
 * @f: set; what is missing or broken stays empty
 * @fd: the file
 *
 * Context: the program's one thread.
 */
void decode_open(struct decode_file *f, int fd)
{
	*f = (struct decode_file){.elf = NULL};
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF) {
		open_symbols(f);
		f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	}
}

/* The i-th symbol, if it names code. */
static const char *code_symbol(const struct decode_file *f, size_t i, GElf_Sym *ret)
{
	unsigned int type;

	if (!gelf_getsym(f->symbols, (int)i, ret) || ret->st_shndx == SHN_UNDEF ||
	    ret->st_shndx == SHN_ABS) {
		return NULL;
	}
	type = GELF_ST_TYPE(ret->st_info);
	if (type != STT_FUNC && type != STT_NOTYPE) {
		return NULL;
	}
	return elf_strptr(f->elf, f->names, ret->st_name);
}

/**
 * decode_find_name() - where a function is
 * @f: the file
 * @name: its name
 * @size: its size in bytes, which tells two of one name apart; 0: not known
 * @ret: set on success
 *
 * Return: false when there is none, or none of that size.
 * Context: the program's one thread.
 */
bool decode_find_name(const struct decode_file *f, const char *name, uint64_t size, uint64_t *ret)
{
	for (size_t i = 0; i < f->symbol_count; i++) {
		GElf_Sym sym;
		const char *found = code_symbol(f, i, &sym);

		/* The kernel counts the padding up to the next function to it. */
		if (found && strcmp(found, name) == 0 &&
		    (!size || !sym.st_size || size - sym.st_size < 64)) {
			*ret = sym.st_value;
			return true;
		}
	}
	return false;
}

/**
 * decode_name_of() - which function an address is in
 * @f: the file
 * @address: as linked
 * @buf: set to "NAME+0xOFFSET" on success
 * @len: its size
 *
 * Return: false when there is none.
 * Context: the program's one thread.
 */
bool decode_name_of(const struct decode_file *f, uint64_t address, char *buf, size_t len)
{
	uint64_t best = 0;
	bool done = false;

	for (size_t i = 0; i < f->symbol_count; i++) {
		GElf_Sym sym;
		const char *name = code_symbol(f, i, &sym);

		if (!name || !*name || sym.st_value > address ||
		    address - sym.st_value >= REACH_BYTES || (done && sym.st_value <= best)) {
			continue;
		}
		best = sym.st_value;
		done = true;
		snprintf(buf, len, "%.120s+0x%" PRIx64, name, address - best);
	}
	return done;
}

/* Also where the producer wrote no table of the units' addresses. */
static bool find_unit(const struct decode_file *f, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Off next, at = 0;
	size_t head;

	if (dwarf_addrdie(f->dwarf, address, ret)) {
		return true;
	}
	while (dwarf_nextcu(f->dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(f->dwarf, at + head, ret) && dwarf_haspc(ret, address) > 0) {
			return true;
		}
		at = next;
	}
	return false;
}

/* As from the folder that it was compiled in. */
static const char *shorten(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute a;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &a));
	size_t n = dir ? strlen(dir) : 0;

	if (n && strncmp(file, dir, n) == 0 && file[n] == '/') {
		file += n + 1;
	}
	while (strncmp(file, "./", 2) == 0 || strncmp(file, "../", 3) == 0) {
		file += file[1] == '/' ? 2 : 3;
	}
	return file;
}

/**
 * decode_line_of() - which line of the source an address is of
 * @f: the file
 * @address: as linked
 * @buf: set to "FILE:LINE" on success
 * @len: its size
 *
 * Return: false when that is not known.
 * Context: the program's one thread.
 */
bool decode_line_of(const struct decode_file *f, uint64_t address, char *buf, size_t len)
{
	Dwarf_Line *line;
	const char *file;
	Dwarf_Die unit;
	int number = 0;

	if (!f->dwarf || !find_unit(f, address, &unit)) {
		return false;
	}
	line = dwarf_getsrc_die(&unit, address);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) != 0 || number <= 0) {
		return false;
	}
	snprintf(buf, len, "%s:%d", shorten(&unit, file), number);
	return true;
}
