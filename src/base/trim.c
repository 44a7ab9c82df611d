/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trim.h. */
#include "base/trim.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only segments that nobody can write to: their pages are the file's, and come back when touched.
 */
static int drop(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t from = (info->dlpi_addr + ph->p_vaddr) & ~(page - 1);
		uintptr_t to = (info->dlpi_addr + ph->p_vaddr + ph->p_memsz) & ~(page - 1);

		if (ph->p_type == PT_LOAD && !(ph->p_flags & PF_W) && to > from) {
			(void)madvise((void *)from, to - from, MADV_DONTNEED);
		}
	}
	return 0;
}

/**
 * trim_program_pages() - unmap the program's and its libraries' pages, but for those that are used
 *
 * Starting touches code and constants that running never does, and the kernel maps 16 pages around
 * each that is touched. A program that is going to run for long gives all of them back here, and
 * has those that it uses again a moment later, from the page cache.
 *
 * Context: any thread, any system call filter must let madvise(2) with MADV_DONTNEED through.
 */
void trim_program_pages(void)
{
	dl_iterate_phdr(drop, NULL);
}
