/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_kernel.h. Runs on the main thread. */
#include "cli/run_kernel.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "vmm/inspect.h"

/* As the kernel finds it: a word of its own, in front of "--". */
static bool has_word(const char *cmdline, const char *word)
{
	size_t len = strlen(word);
	const char *end = strstr(cmdline, " -- ");

	for (const char *p = strstr(cmdline, word); p && (!end || p < end);
	     p = strstr(p + 1, word)) {
		if ((p == cmdline || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0')) {
			return true;
		}
	}
	return false;
}

static int compare_builds(const struct inspection *kernel, const struct inspection *debug,
			  struct err *e)
{
	const char *a = kernel->image.build_id, *b = debug->image.build_id;

	if (*a && *b) {
		return strcmp(a, b) == 0
			       ? 0
			       : err_set(e, -EINVAL, "its build id is %s, the kernel's %s", b, a);
	}
	a = kernel->banner;
	b = debug->banner;
	if (*a && *b) {
		return strcmp(a, b) == 0
			       ? 0
			       : err_set(e, -EINVAL, "it says \"%s\", the kernel \"%s\"", b, a);
	}
	return err_set(e, -EINVAL,
		       "neither build ids nor versions tell whether it is the kernel's%s%s",
		       *kernel->unreadable ? ": " : "", kernel->unreadable);
}

/**
 * run_kernel_check_debug() - is a vmlinux the one that a kernel was made from?
 * @kernel_path: the kernel
 * @debug_path: the vmlinux
 * @e: set when it is not
 *
 * Addresses are as in the vmlinux: a bzImage is told not to move itself (nokaslr).
 *
 * Return: 0, -EINVAL when they differ or it is no vmlinux, or what loading one of them gave.
 */
int run_kernel_check_debug(const char *kernel_path, const char *debug_path, struct err *e)
{
	struct inspection kernel, debug;
	int r = inspect_open(debug_path, &debug, e);

	if (r < 0) {
		return err_prefix(e, "--kernel-debug");
	}
	if (debug.image.format != LOAD_FORMAT_ELF) {
		r = err_set(e, -EINVAL, "--kernel-debug %s: this is %s, expected a vmlinux",
			    debug_path, debug.image.what);
	} else {
		r = inspect_open(kernel_path, &kernel, e);
		if (r == 0) {
			r = compare_builds(&kernel, &debug, e);
			inspect_close(&kernel);
			r = r < 0 ? err_prefix(e, "--kernel-debug %s", debug_path) : 0;
		}
	}
	inspect_close(&debug);
	return r;
}

/**
 * run_kernel_entry() - is the kernel started by its PVH note?
 * @o: parsed options
 * @kernel_path: the kernel
 * @qemu: for QEMU's microvm, which starts each vmlinux that has the note by it
 * @ret_pvh: set on success
 * @e: set on failure
 *
 * Every kernel that is loaded here has a 64-bit entry, which costs the guest less: no page tables
 * and no mode to change. So the note is taken only when it is asked for.
 *
 * Return: 0, -EINVAL for an entry that QEMU does not take, or what loading the kernel's header
 * gave.
 */
int run_kernel_entry(const struct run_options *o, const char *kernel_path, bool qemu, bool *ret_pvh,
		     struct err *e)
{
	struct load_image image;
	int r = 0;

	*ret_pvh = strcmp(o->entry, "pvh") == 0;
	if (!qemu) {
		return 0;
	}
	/* Of what is no kernel, QEMU says that it is too old. */
	r = load_image_open(kernel_path, &image, e);
	if (r < 0) {
		return r;
	}
	if (strcmp(o->entry, "auto") != 0 && *ret_pvh != (image.pvh_bytes > 0)) {
		r = err_set(e, -EINVAL,
			    "--entry %s needs --backend kvm for this kernel: QEMU starts %s %s its "
			    "PVH note",
			    o->entry, image.what, image.pvh_bytes > 0 ? "by" : "not by");
	}
	load_image_close(&image);
	return r;
}

/**
 * run_kernel_acpi() - do ACPI tables tell the kernel of its devices, or its command line?
 * @o: parsed options
 * @kernel_path: the kernel
 * @append: its command line
 * @matters: whether there are devices that it finds in no other way, or the answer is recorded
 *
 * Never both: a kernel that reads both would find each device twice. Unless the user says it, the
 * kernel decides: tables if it reads them, the command line if not, or if it is told to leave them
 * ("acpi=off"). Where that cannot be found out, tables: a kernel packed like that comes from a
 * distribution, and those have ACPI. Where it does not matter it gets the tables and is not looked
 * into: one that reads none does not miss anything.
 *
 * Return: whether it is the tables. A file that is no kernel is left to who loads it.
 */
bool run_kernel_acpi(const struct run_options *o, const char *kernel_path, const char *append,
		     bool matters)
{
	enum inspect_acpi acpi;
	struct err e = ERR_INIT;

	if (strcmp(o->acpi, "auto") != 0) {
		return strcmp(o->acpi, "on") == 0;
	}
	if (has_word(append, "acpi=off")) {
		return false;
	}
	if (!matters) {
		log_debug("acpi", "on: there is no device for which it matters");
		return true;
	}
	if (inspect_acpi(kernel_path, &acpi, &e) < 0) {
		return false;
	}
	log_debug("acpi", "%s: %s", acpi == INSPECT_ACPI_NONE ? "off" : "on",
		  acpi == INSPECT_ACPI_NONE      ? "there is none in the kernel"
		  : acpi == INSPECT_ACPI_UNKNOWN ? "the kernel cannot be unpacked here"
						 : "the kernel has it");
	return acpi != INSPECT_ACPI_NONE;
}
