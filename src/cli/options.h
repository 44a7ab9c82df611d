/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option table: one row an option makes the parser, --help and the man page's option list, so
 * that they cannot part. A command is a table of rows, a usage line and a few sentences.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"

enum opt_type {
	OPT_END,
	OPT_GROUP,   /* a heading in --help: only 'help' is used */
	OPT_FLAG,    /* bool: --name sets it, --no-name clears it */
	OPT_U64,     /* uint64_t within min..max; has_unit says what it counts */
	OPT_COUNT,   /* the same, where --name alone stands for 'bare' */
	OPT_BYTES,   /* uint64_t: 512M, 1G; a bare number counts MiB */
	OPT_SECONDS, /* uint64_t nanoseconds: 5, 0.5, 250ms, 2m */
	OPT_STRING,  /* const char * */
	OPT_CHOICE,  /* const char *, one of 'choices' ("kvm|qemu|auto") */
	OPT_LIST,    /* struct opt_list: may be given many times */
};

#define OPT_LIST_MAX 64

struct opt_list {
	size_t count;
	const char *items[OPT_LIST_MAX];
};

struct opt_row {
	enum opt_type type;
	const char *name;    /* without the dashes */
	char short_name;     /* 0: none */
	void *value;         /* by type, see above; its initial content is the default */
	uint64_t min, max;   /* OPT_U64, OPT_COUNT, OPT_BYTES, OPT_SECONDS (ns); max 0: no limit */
	uint64_t bare;       /* OPT_COUNT: what it is without a number behind it */
	const char *choices; /* OPT_CHOICE */
	const char *alone;   /* OPT_CHOICE: what --name alone stands for, or NULL */
	bool once;           /* given twice it is an error: one of two files would not be written */
	const char *arg;     /* what --help calls the value: FILE, SIZE, N */
	const char *help;    /* what it does; the default in brackets when there is one */
};

struct opt_command {
	const char *name;  /* "run" */
	const char *usage; /* "[OPTION]... [-- COMMAND [ARG]...]" */
	const char *about; /* a few sentences */
	const struct opt_row *rows;
	bool takes_command; /* words after "--" are handed on untouched */
	int max_words;      /* how many other words are taken; -1: any number */
};

/* What is left when the options are parsed. Points into argv. */
struct opt_rest {
	int word_count;
	char **words;
	int command_count; /* what stood behind "--"; has_dashdash tells "nothing" from "not given"
			    */
	char **command;
	bool has_dashdash;
};

#define OPT_SHOWN_HELP 1

int opt_parse(const struct opt_command *cmd, int argc, char **argv, struct opt_rest *ret_rest,
	      struct err *e) __must_check;
void opt_print_help(const struct opt_command *cmd, FILE *out);

#endif
