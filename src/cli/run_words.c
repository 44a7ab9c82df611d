/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_words.h. Runs on the main thread. */
#include "cli/run_words.h"

#include <errno.h>
#include <string.h>

#include "cli/helpers.h"

/* Of Linux's x86: COMMAND_LINE_SIZE without its NUL. */
#define APPEND_MAX 2047

/**
 * run_parts_parse() - read the words for devices, and see that their files are there
 * @o: parsed options
 * @ret: what it points to is set, also on failure, once zeroed; the caller ends each
 * @e: set on failure
 *
 * Return: 0, -EINVAL, -E2BIG or -EEXIST for words that are wrong, or the errno of what is not
 * there.
 */
int run_parts_parse(const struct run_options *o, const struct run_parts *ret, struct err *e)
{
	int r = run_disks_parse(&o->disks, ret->disks, e);

	if (r == 0) {
		r = run_vsock_parse(o->vsock, ret->vsock, e);
	}
	if (r == 0) {
		r = run_shares_parse(&o->shares, ret->shares, e);
	}
	if (r == 0) {
		r = run_root_parse(o->root, o->init, ret->shares, ret->disks, e);
	}
	if (r == 0) {
		r = run_nets_parse(&o->nets, ret->nets, e);
	}
	for (size_t i = 0; r == 0 && i < o->initrds.count; i++) {
		r = cli_check_file("initrd", o->initrds.items[i], e);
	}
	return r;
}

static int check_parts(const struct run_options *o, struct err *e)
{
	struct run_disks disks = {0};
	struct run_vsock vsock = {0};
	struct run_shares shares = {0};
	struct run_nets nets = {0};
	const struct run_parts parts = {&disks, &vsock, &shares, &nets};
	int r = run_parts_parse(o, &parts, e);

	run_disks_fini(&disks);
	run_nets_fini(&nets);
	run_vsock_fini(&vsock);
	run_shares_fini(&shares);
	return r;
}

static int check_append(const struct run_options *o, struct err *e)
{
	size_t len = 0;

	for (size_t i = 0; i < o->append.count; i++) {
		len += strlen(o->append.items[i]) + 1;
	}
	return len > APPEND_MAX
		       ? err_set(e, -EINVAL,
				 "--append: %zu bytes, and a kernel takes %d, ringside's own words "
				 "among them",
				 len - 1, APPEND_MAX)
		       : 0;
}

/**
 * run_words_check() - whether "ringside run" would take these words
 * @argc: number of words, the command's name first
 * @argv: the words; those that ask for help are none
 * @e: set on failure
 *
 * What only the machine that is made of them can tell is left to it.
 *
 * Return: 0, -EINVAL for words that are wrong, or the errno of a file that is not there or cannot
 * be read.
 * Context: main thread.
 */
int run_words_check(int argc, char **argv, struct err *e)
{
	char flags[X86_CPU_QEMU_MAX];
	struct run_options o;
	int r = run_options_parse(&o, argc, argv, e);

	if (r == 0) {
		r = check_append(&o, e);
	}
	if (r == 0 && strcmp(o.backend, "qemu") == 0) {
		r = x86_cpu_spec_qemu(&o.cpu_spec, flags, e);
	}
	if (r == 0) {
		r = check_parts(&o, e);
	}
	if (o.allowed) {
		console_allow_destroy(o.allowed);
	}
	return r == -E2BIG || r == -EEXIST || r == -ENAMETOOLONG ? -EINVAL : r;
}
