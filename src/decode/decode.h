/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ringside-decode: where in the source an address of a kernel is. It reads symbols and DWARF of a
 * file that may be anything, by elfutils, and so does it in a process of its own that can do
 * nothing else: see jail.c.
 *
 * It finds the file open as descriptor 3 and its questions on stdin, a line each, an empty line
 * after the last one. A question is "=" or "-", then "0xADDRESS" or "NAME+0xOFFSET/0xSIZE"; "-" is
 * for a return address, whose call stands before it. Each is answered by one line on stdout,
 * "NAME+0xOFFSET" and "FILE:LINE" with a tab between them; "?" stands for what is not known.
 */
#ifndef DECODE_DECODE_H
#define DECODE_DECODE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_FILE_FD     3
#define DECODE_QUERIES_MAX 256
#define DECODE_INPUT_MAX   65536
#define DECODE_TEXT_MAX    256

struct decode_file {
	Elf *elf;
	Dwarf *dwarf;               /* NULL: there is none */
	Elf_Data *symbols;          /* NULL: there are none */
	size_t symbol_count, names; /* and the section of their names */
};

int decode_jail(void);

void decode_open(struct decode_file *f, int fd);
bool decode_find_name(const struct decode_file *f, const char *name, uint64_t size, uint64_t *ret);
bool decode_name_of(const struct decode_file *f, uint64_t address, char *buf, size_t len);
bool decode_line_of(const struct decode_file *f, uint64_t address, char *buf, size_t len);

#endif
