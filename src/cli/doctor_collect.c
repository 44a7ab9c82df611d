/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See doctor.h: what the guest side needs: KVM, the execution class, QEMU, and ringside's own
 * files. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/doctor.h"
#include "cli/helpers.h"
#include "guest/initramfs.h"

#define COMMAND_TEXT_MAX (1 << 20)

/* What stands behind the "id: " with which the KVM layer begins its messages. */
static const char *without_id(const char *text)
{
	const char *colon = strstr(text, ": ");

	return colon ? colon + 2 : text;
}

static void collect_caps(struct doctor *d)
{
	const struct probe_kvm *kvm = &d->facts.kvm;

	for (unsigned int i = 0; i < kvm->cap_count; i++) {
		const struct probe_cap *cap = &kvm->caps[i];
		char id[64];
		struct check *c;

		snprintf(id, sizeof(id), "kvm-cap-%s", cap->name);
		c = doctor_add(d, id, CHECK_OK, "%s", cap->use);
		if (cap->value > 0) {
			continue;
		}
		c->status = cap->needed ? CHECK_FAIL : CHECK_WARN;
		c->routes = cap->needed ? ROUTE_NATIVE : 0;
		snprintf(c->found, sizeof(c->found), "missing: %s", cap->use);
		doctor_advise(c, "%s",
			      cap->needed ? "a newer host kernel has it"
					  : "ringside works without, and does less");
	}
}

/* kvm_dev_init() stops at the first thing that is wrong: what comes after it was not looked at. */
static void collect_kvm(struct doctor *d)
{
	static const char *const ids[] = {"kvm-device", "kvm-permission", "kvm-api"};
	const struct probe_kvm *kvm = &d->facts.kvm;
	bool stopped = false;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		size_t n = strlen(ids[i]);

		if (stopped) {
			doctor_add(d, ids[i], CHECK_SKIP, "not looked at");
		} else if (kvm->error && strncmp(kvm->text, ids[i], n) == 0 &&
			   kvm->text[n] == ':') {
			struct check *c =
				doctor_add(d, ids[i], CHECK_FAIL, "%s", without_id(kvm->text));

			doctor_advise(c, "without KVM use the lab or --backend qemu");
			stopped = true;
		} else if (strcmp(ids[i], "kvm-api") == 0) {
			doctor_add(d, ids[i], CHECK_OK, "version %d", kvm->api_version);
		} else {
			doctor_add(d, ids[i], CHECK_OK, "/dev/kvm%s", i ? " opens" : "");
		}
	}
	collect_caps(d);
}

static void collect_ring0(struct doctor *d)
{
	const struct probe_rings *r = &d->facts.rings;
	double slow, fast;
	struct check *c;

	if (d->facts.kvm.error) {
		doctor_add(d, "ring0", CHECK_SKIP, "no KVM to time it on");
		return;
	}
	if (r->ring3.error || r->ring0.error) {
		c = doctor_add(d, "ring0", CHECK_FAIL, "%s: %s",
			       r->ring3.error ? "guest ring 3" : "guest ring 0",
			       r->ring3.error ? r->ring3.text : r->ring0.text);
		doctor_advise(c, "this KVM cannot boot a kernel: use the lab or --backend qemu");
		return;
	}
	slow = (double)(r->ring0.loop_ticks - r->ring0.empty_ticks);
	fast = (double)(r->ring3.loop_ticks - r->ring3.empty_ticks);
	c = doctor_add(d, "ring0", CHECK_OK,
		       "a loop takes %.1f times as long as in ring 3 (limit %d)", slow / fast,
		       CLASS_EMULATED_RATIO);
	if (slow > fast * CLASS_EMULATED_RATIO) {
		c->status = CHECK_FAIL;
		doctor_advise(c,
			      "ring 0 is interpreted here and no kernel boots on it: use the lab "
			      "or --backend qemu");
	}
}

static void collect_class(struct doctor *d)
{
	struct check *c;

	if (!d->class.known) {
		c = doctor_add(d, "class", CHECK_WARN, "unknown: %s", d->class.evidence);
		doctor_advise(c, "guests get their class from the lab or from --backend qemu");
		return;
	}
	c = doctor_add(d, "class", CHECK_OK, "%s: %s", exec_class_name(d->class.class),
		       d->class.evidence);
	if (!exec_class_judges_speed(d->class.class)) {
		c->status = CHECK_WARN;
		doctor_advise(c, "no verdict on speed from time here: count instructions with "
				 "--icount, in the lab or with --backend qemu");
	}
}

/* All that a command prints on stdout, NUL-terminated. @ret_text is the caller's to free. */
static int read_command(const char *command, char **ret_text)
{
	_cleanup_free_ char *text = malloc(COMMAND_TEXT_MAX + 1);
	FILE *p = text ? popen(command, "re") : NULL;
	size_t n;

	if (!p) {
		return -errno;
	}
	n = fread(text, 1, COMMAND_TEXT_MAX, p);
	text[n] = '\0';
	if (pclose(p) != 0 || n == 0) {
		return -ENOENT;
	}
	*ret_text = TAKE_PTR(text);
	return 0;
}

static void collect_qemu(struct doctor *d)
{
	_cleanup_free_ char *version = NULL;
	_cleanup_free_ char *machines = NULL;
	_cleanup_free_ char *devices = NULL;
	struct check *c;

	if (read_command(CLI_QEMU_PROGRAM " --version 2>/dev/null", &version) < 0) {
		c = doctor_add(d, "qemu", CHECK_FAIL, "no " CLI_QEMU_PROGRAM " that runs");
		doctor_advise(c, "install the package qemu-system-x86");
		c = doctor_add(d, "qemu-9p", CHECK_FAIL, "no " CLI_QEMU_PROGRAM);
		doctor_advise(c, "install the package qemu-system-x86");
		return;
	}
	version[strcspn(version, "\n")] = '\0';
	c = doctor_add(d, "qemu", CHECK_OK, "%s", version);
	if (read_command(CLI_QEMU_PROGRAM " -machine help 2>/dev/null", &machines) < 0 ||
	    !strstr(machines, "\nmicrovm ")) {
		c->status = CHECK_FAIL;
		doctor_advise(c, "this QEMU was built without microvm: install the distribution's "
				 "qemu-system-x86");
	}
	if (read_command(CLI_QEMU_PROGRAM " -device help 2>/dev/null", &devices) == 0 &&
	    strstr(devices, "\"virtio-9p-device\"")) {
		doctor_add(d, "qemu-9p", CHECK_OK, "virtio-9p-device");
		return;
	}
	c = doctor_add(d, "qemu-9p", CHECK_FAIL, "no virtio-9p-device");
	doctor_advise(c,
		      "the lab shows this machine's files to its host by 9p: install a QEMU with "
		      "VirtFS");
}

static void collect_helper(struct doctor *d, const char *id, const char *name)
{
	struct err e = ERR_INIT;
	char path[PATH_MAX];
	struct check *c;

	if (cli_find_helper(name, path, sizeof(path), &e) == 0) {
		doctor_add(d, id, CHECK_OK, "%s", path);
		return;
	}
	c = doctor_add(d, id, CHECK_FAIL, "not found");
	doctor_advise(c, "%s", e.text);
}

static void collect_files(struct doctor *d)
{
	struct err e = ERR_INIT;
	char path[PATH_MAX];
	const char *busybox;
	struct check *c;

	if (cli_find_kernel("base", path, sizeof(path), &e) == 0) {
		doctor_add(d, "kernel", CHECK_OK, "%s", path);
	} else {
		c = doctor_add(d, "kernel", CHECK_FAIL, "no image named base");
		doctor_advise(c, "build it: ringside kernel build base (some ten minutes, once)");
	}
	if (initramfs_find_busybox(&busybox, &e) == 0) {
		doctor_add(d, "busybox", CHECK_OK, "%s", busybox);
	} else {
		c = doctor_add(d, "busybox", CHECK_FAIL, "none that is statically linked");
		doctor_advise(c, "install the package busybox-static");
	}
	collect_helper(d, "agent", "ringside-agent");
	collect_helper(d, "bench", "ringside-bench");
}

/**
 * doctor_collect() - look at everything
 * @ret: always filled; doctor_judge() comes next
 *
 * Runs QEMU three times for its lists, and two small VMs: up to a second.
 *
 * Context: a thread that may make VMs and sleep.
 */
void doctor_collect(struct doctor *ret)
{
	memset(ret, 0, sizeof(*ret));
	class_collect(&ret->facts);
	class_judge(&ret->facts, &ret->class);
	collect_kvm(ret);
	collect_ring0(ret);
	collect_class(ret);
	collect_qemu(ret);
	collect_files(ret);
	doctor_collect_host(ret);
}
