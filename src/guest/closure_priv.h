/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GUEST_CLOSURE_PRIV_H
#define GUEST_CLOSURE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What the dynamic linker reads in an object. Texts are NULL where the object has none. */
struct closure_elf {
	char *interp;
	const char **needed; /* in order; point into @strings */
	size_t n_needed;
	const char *soname, *rpath, *runpath; /* into @strings */
	bool nodeflib;                        /* the default directories are not for it */
	char *strings;
};

int closure_elf_read(const char *path, struct closure_elf *ret, struct err *e) __must_check;
void closure_elf_fini(struct closure_elf *elf);

/* The directories that ld.so's cache is made from. */
struct closure_dirs {
	char **dirs;
	size_t n;
};

int closure_dirs_read(const char *root, struct closure_dirs *ret, struct err *e) __must_check;
void closure_dirs_fini(struct closure_dirs *d);

#endif
