/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See symbols.h. Any thread. */
#include "engine/symbols.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

/* A symbol without a size reaches as far as the next one, but hardly further than this. */
#define SYMBOL_REACH_BYTES (UINT64_C(1) << 20)

static Elf_Scn *find_symtab(Elf *elf, GElf_Shdr *ret_shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, ret_shdr) && ret_shdr->sh_type == SHT_SYMTAB &&
		    ret_shdr->sh_entsize) {
			return scn;
		}
	}
	return NULL;
}

/* One pass over the table: for each address the nearest code symbol at or below it. */
static void scan(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, struct symbol_query *queries,
		 size_t count)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data ? data->d_size / shdr->sh_entsize : 0;
	uint64_t best[SYMBOLS_MAX] = {0};

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Sym sym;
		const char *name;
		int type;

		if (!gelf_getsym(data, (int)i, &sym)) {
			continue;
		}
		type = GELF_ST_TYPE(sym.st_info);
		if ((type != STT_FUNC && type != STT_NOTYPE) || sym.st_shndx == SHN_ABS) {
			continue;
		}
		for (size_t k = 0; k < count; k++) {
			uint64_t offset = queries[k].address - sym.st_value;

			if (sym.st_value > queries[k].address || sym.st_value < best[k] ||
			    offset >= SYMBOL_REACH_BYTES ||
			    (sym.st_value == best[k] && queries[k].text[0])) {
				continue;
			}
			name = elf_strptr(elf, shdr->sh_link, sym.st_name);
			if (name && *name) {
				best[k] = sym.st_value;
				snprintf(queries[k].text, sizeof(queries[k].text),
					 "%.120s+0x%" PRIx64, name, offset);
			}
		}
	}
}

/**
 * symbols_lookup() - name addresses
 * @fd: the vmlinux, open; one without a symbol table, or another format, names nothing
 * @queries: addresses in, texts out
 * @count: 0..SYMBOLS_MAX
 *
 * Return: 0, -ENOENT when the file has no symbol table, -EBADF or -EINVAL.
 * Context: reads the file's symbol table.
 */
int symbols_lookup(int fd, struct symbol_query *queries, size_t count)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;
	Elf *elf;

	for (size_t i = 0; i < count; i++) {
		queries[i].text[0] = '\0';
	}
	if (fd < 0) {
		return -EBADF;
	}
	if (count > SYMBOLS_MAX || elf_version(EV_CURRENT) == EV_NONE) {
		return -EINVAL;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	scn = elf ? find_symtab(elf, &shdr) : NULL;
	if (scn) {
		scan(elf, scn, &shdr, queries, count);
	}
	elf_end(elf);
	return scn ? 0 : -ENOENT;
}

/**
 * symbols_code() - where a file's code is when it is loaded
 * @fd: the vmlinux, open; of another format there is none
 * @ret: set
 * @max: room in it
 *
 * Return: how many pieces were set. Context: reads the file's headers.
 */
size_t symbols_code(int fd, struct symbol_range *ret, size_t max)
{
	size_t count = 0, n = 0;
	Elf *elf;

	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
		return 0;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_getphdrnum(elf, &n) < 0) {
		n = 0;
	}
	for (size_t i = 0; i < n && count < max; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X) {
			ret[count++] = (struct symbol_range){ph.p_vaddr, ph.p_memsz};
		}
	}
	elf_end(elf);
	return count;
}
