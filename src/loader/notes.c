/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See notes.h. Any thread. */
#include "loader/notes.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Step over n bytes and their padding; false when they are not there. The last padding may lack. */
static bool skip(size_t len, size_t align, size_t n, size_t *at)
{
	if (n > len - *at) {
		return false;
	}
	*at += n;
	while (*at % align != 0 && *at < len) {
		(*at)++;
	}
	return true;
}

/**
 * notes_find() - the description of the first note of a name and type
 * @notes: what a PT_NOTE holds
 * @len: its length, bytes
 * @align: what names and descriptions are padded to: 8 where p_align is 8, else 4
 * @name: without its NUL
 * @type: n_type
 * @ret_desc: set on success, into @notes
 * @ret_len: set on success, bytes
 *
 * Return: 0, -ENOENT when there is no such note, -EBADMSG when the notes run past their end before
 * one was found.
 * Context: any thread. Source: System V gABI, chapter 5, Note Section.
 */
int notes_find(const uint8_t *notes, size_t len, size_t align, const char *name, uint32_t type,
	       const uint8_t **ret_desc, size_t *ret_len)
{
	size_t name_bytes = strlen(name) + 1;
	size_t at = 0;

	while (at < len) {
		Elf64_Nhdr n;
		size_t name_at;
		size_t desc_at;

		if (len - at < sizeof(n)) {
			return -EBADMSG;
		}
		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		name_at = at;
		if (!skip(len, align, n.n_namesz, &at)) {
			return -EBADMSG;
		}
		desc_at = at;
		if (!skip(len, align, n.n_descsz, &at)) {
			return -EBADMSG;
		}
		if (n.n_type == type && n.n_namesz == name_bytes &&
		    memcmp(notes + name_at, name, name_bytes) == 0) {
			*ret_desc = notes + desc_at;
			*ret_len = n.n_descsz;
			return 0;
		}
	}
	return -ENOENT;
}
