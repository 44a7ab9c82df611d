/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See qemu_args_priv.h. Pure; any thread. */
#include "engine/qemu_args_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi/channel.h"
#include "abi/marks.h"

#define COMMAND_LINE_MAX          2047 /* bytes, without the NUL: COMMAND_LINE_SIZE of x86 less one */
#define MICROVM_DEVICE_WORD_BYTES 37

static void add_owned(struct qemu_args *a, char *word)
{
	if (word && a->count + 1 >= a->room) {
		char **p = reallocarray(a->argv, a->room + 32, sizeof(*p));

		if (p) {
			a->argv = p;
			a->room += 32;
		} else {
			free(word);
			word = NULL;
		}
	}
	if (!word) {
		a->failed = true;
		return;
	}
	a->argv[a->count++] = word;
	a->argv[a->count] = NULL;
}

static void add(struct qemu_args *a, const char *fmt, ...) __printf(2, 3);

static void add(struct qemu_args *a, const char *fmt, ...)
{
	char *word;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0) {
		word = NULL;
	}
	va_end(ap);
	add_owned(a, word);
}

/* QEMU splits option values at commas; a doubled one stands for itself. */
static void add_path(struct qemu_args *a, const char *before, const char *path, const char *after)
{
	size_t len = strlen(before) + 2 * strlen(path) + strlen(after) + 1;
	char *word = malloc(len), *p = word;

	if (word) {
		p = stpcpy(p, before);
		for (; *path; path++) {
			if (*path == ',') {
				*p++ = ',';
			}
			*p++ = *path;
		}
		strcpy(p, after);
	}
	add_owned(a, word);
}

static void add_socket(struct qemu_args *a, const char *id, int fd)
{
	add(a, "-chardev");
	add(a, "socket,id=%s,fd=%d", id, fd);
}

static void add_share(struct qemu_args *a, const char *tag, const char *path, bool read_only)
{
	char before[64];

	snprintf(before, sizeof(before), "local,id=%s,path=", tag);
	add(a, "-fsdev");
	add_path(a, before, path,
		 read_only ? ",security_model=none,multidevs=remap,readonly=on"
			   : ",security_model=none,multidevs=remap");
	add(a, "-device");
	add(a, "virtio-9p-device,fsdev=%s,mount_tag=%s", tag, tag);
}

static void add_machine(struct qemu_args *a, const struct backend_qemu_config *cfg,
			const struct qemu_fds *fds)
{
	const struct backend_config *c = &cfg->common;

	/* Without ACPI tables the kernel has less to read, and a power-off is a halt: both are
	 * seen. With them it finds the devices there, and QEMU adds no words for them. */
	add(a, "-machine");
	add(a, "microvm,acpi=%s,isa-serial=on,pit=on,pic=on,rtc=on,memory-backend=ram",
	    c->acpi ? "on" : "off");
	/*
	 * One thread for all vCPUs: with a thread each, QEMU 7.2 now and then lets a vCPU run a
	 * breakpoint that the kernel has patched away already, and the guest dies of "Oops: int3".
	 * Not in the lab, though: there, of guests inside a guest of two vCPUs on one thread, one
	 * in ten was given an interrupt while it had them disabled, and hung.
	 */
	add(a, "-accel");
	add(a, cfg->lab && cfg->icount_shift < 0 ? "tcg" : "tcg,thread=single");
	add(a, "-cpu");
	/* Shadow paging in the lab cannot do five levels (QEMU 7.2), and no guest of ours uses
	 * them. */
	add(a, "max,-la57,-erms,-fsrm%s", c->cpu_flags ? c->cpu_flags : "");
	add(a, "-smp");
	add(a, "%u", c->cpus);
	add(a, "-m");
	add(a, "%" PRIu64 "B", c->memory_bytes);
	add(a, "-object");
	add(a,
	    "memory-backend-file,id=ram,size=%" PRIu64 "B,mem-path=/proc/self/fd/%d,share=on,"
	    "discard-data=on",
	    c->memory_bytes, fds->memory);
	if (cfg->icount_shift >= 0) {
		/* sleep=off: an idle guest's clock jumps to its next timer instead of waiting. */
		add(a, "-icount");
		add(a, "shift=%d,sleep=off", cfg->icount_shift);
	}
	add(a, "-kernel");
	add(a, "%s", c->kernel_path);
	add(a, "-append");
	add(a, "%s", c->append);
	if (c->initramfs) {
		add(a, "-initrd");
		add(a, "/proc/self/fd/%d", fds->initrd);
	} else if (c->initrd_path) {
		add(a, "-initrd");
		add(a, "%s", c->initrd_path);
	}
}

static void add_disk(struct qemu_args *a, const struct backend_disk *disk, size_t number)
{
	char after[128];

	snprintf(after, sizeof(after), ",format=raw,if=none,id=disk%zu,discard=unmap%s%s", number,
		 disk->read_only ? ",readonly=on" : "", disk->direct ? ",cache.direct=on" : "");
	add(a, "-drive");
	add_path(a, "file=", disk->path, after);
	add(a, "-device");
	add(a, "virtio-blk-device,drive=disk%zu,serial=ringside-disk%zu", number, number);
}

static void add_net(struct qemu_args *a, const struct backend_net *net, size_t number)
{
	char text[64 * (BACKEND_FORWARDS_MAX + 1)];
	int at = snprintf(text, sizeof(text), "user,id=net%zu", number);

	add(a, "-netdev");
	if (net->kind == BACKEND_NET_TAP) {
		add(a, "tap,id=net%zu,ifname=%s,script=no,downscript=no", number, net->tap);
	} else {
		for (size_t i = 0; i < net->forward_count; i++) {
			at += snprintf(text + at, sizeof(text) - (size_t)at,
				       ",hostfwd=tcp:127.0.0.1:%u-:%u", net->forwards[i].host,
				       net->forwards[i].guest);
		}
		add(a, "%s", text);
	}
	add(a, "-device");
	add(a, "virtio-net-device,netdev=net%zu,mac=%02x:%02x:%02x:%02x:%02x:%02x", number,
	    net->mac[0], net->mac[1], net->mac[2], net->mac[3], net->mac[4], net->mac[5]);
}

static void add_devices(struct qemu_args *a, const struct backend_qemu_config *cfg,
			const struct qemu_fds *fds)
{
	char tag[32];

	add_socket(a, "console", fds->console);
	add(a, "-serial");
	add(a, "chardev:console");
	add_socket(a, "qmp", fds->qmp);
	add(a, "-mon");
	add(a, "chardev=qmp,mode=control");
	add(a, "-device");
	add(a, "isa-debug-exit,iobase=0x%x,iosize=%d", EXIT_PORT, EXIT_PORT_BYTES);
	if (cfg->common.channel) {
		add_socket(a, "channel", fds->channel);
		add(a, "-device");
		add(a, "virtio-serial-device");
		add(a, "-device");
		add(a, "virtserialport,chardev=channel,name=" CHANNEL_PORT_NAME);
	}
	if (cfg->common.gdb) {
		bool path = strchr(cfg->common.gdb, '/');

		add(a, "-gdb");
		add_path(a, path ? "unix:" : "tcp:127.0.0.1:", cfg->common.gdb,
			 path ? ",server=on,wait=off" : "");
	}
	if (cfg->common.rng) {
		add(a, "-device");
		add(a, "virtio-rng-device");
	}
	for (size_t i = 0; i < cfg->common.disk_count; i++) {
		add_disk(a, &cfg->common.disks[i], i);
	}
	for (size_t i = 0; i < cfg->common.share_count; i++) {
		snprintf(tag, sizeof(tag), "share%zu", i);
		add_share(a, tag, cfg->common.shares[i].path, cfg->common.shares[i].read_only);
	}
	for (size_t i = 0; i < cfg->common.net_count; i++) {
		add_net(a, &cfg->common.nets[i], i);
	}
	if (cfg->lab) {
		add_share(a, "hostroot", "/", true);
		for (size_t i = 0; cfg->rw && cfg->rw[i]; i++) {
			snprintf(tag, sizeof(tag), "rw%zu", i);
			add_share(a, tag, cfg->rw[i], false);
		}
	}
}

/*
 * A kernel cuts a longer line without a word. QEMU's microvm adds a word for each of its devices,
 * " virtio_mmio.device=512@0xfeb00e00:12".
 */
static int check_append(const struct backend_qemu_config *cfg, struct err *e)
{
	size_t devices = cfg->common.channel + cfg->common.rng + cfg->common.disk_count +
			 cfg->common.share_count + cfg->common.net_count,
	       bytes;

	if (cfg->lab) {
		devices++;
		for (size_t i = 0; cfg->rw && cfg->rw[i]; i++) {
			devices++;
		}
	}
	devices = cfg->common.acpi ? 0 : devices;
	bytes = strlen(cfg->common.append) + devices * MICROVM_DEVICE_WORD_BYTES;
	if (bytes > COMMAND_LINE_MAX) {
		return err_set(
			e, -E2BIG,
			"command line: %zu bytes with those of %zu devices, the kernel takes "
			"at most %d; nothing is cut",
			bytes, devices, COMMAND_LINE_MAX);
	}
	return 0;
}

/**
 * qemu_args_build() - make the command line
 * @a: the caller's memory, set; end it with qemu_args_fini(), also after a failure
 * @cfg: what is to run
 * @fds: the descriptors by the numbers that QEMU will have them
 * @e: set on failure
 *
 * Return: 0, -E2BIG for a kernel command line that is too long, or -ENOMEM.
 */
int qemu_args_build(struct qemu_args *a, const struct backend_qemu_config *cfg,
		    const struct qemu_fds *fds, struct err *e)
{
	int r;

	*a = (struct qemu_args){.argv = NULL};
	r = check_append(cfg, e);
	if (r < 0) {
		return r;
	}
	add(a, "%s", cfg->program ? cfg->program : "qemu-system-x86_64");
	add(a, "-nodefaults");
	add(a, "-no-user-config");
	add(a, "-display");
	add(a, "none");
	/* It runs when we say so by QMP, which tells us the moment. */
	add(a, "-S");
	/* A guest that resets or switches itself off stays, so that its registers can be read. */
	add(a, "-action");
	add(a, "reboot=shutdown,shutdown=pause,panic=pause");
	add_machine(a, cfg, fds);
	add_devices(a, cfg, fds);
	return a->failed ? err_set(e, -ENOMEM, "QEMU's command line: out of memory") : 0;
}

/**
 * qemu_args_fini() - free a command line
 * @a: set by qemu_args_build()
 */
void qemu_args_fini(struct qemu_args *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->argv[i]);
	}
	free(a->argv);
	*a = (struct qemu_args){.argv = NULL};
}
