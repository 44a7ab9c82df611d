/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder for the tests of one program, with files in it, gone afterwards. */
#ifndef TESTS_TEMP_FOLDER_H
#define TESTS_TEMP_FOLDER_H

#include "support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct temp_folder {
	char path[64];
	char name[192]; /* of temp_folder_name() */
};

static inline void temp_folder_init(struct temp_folder *f)
{
	strcpy(f->path, "/tmp/ringside-test-XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

/* The path of a file in it, until the next call. */
static inline const char *temp_folder_name(struct temp_folder *f, const char *name)
{
	snprintf(f->name, sizeof(f->name), "%s/%s", f->path, name);
	return f->name;
}

static inline void temp_folder_put(struct temp_folder *f, const char *name, const char *text)
{
	FILE *file = fopen(temp_folder_name(f, name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline int temp_folder_remove(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	return remove(path);
}

static inline int temp_folder_fini(struct temp_folder *f)
{
	return nftw(f->path, temp_folder_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
