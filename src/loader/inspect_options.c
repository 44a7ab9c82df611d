/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See inspect.h: what a guest of this machine needs of its kernel's configuration. Any thread. */
#include "loader/inspect.h"

#include <string.h>

static const struct inspect_option options[] = {
	{"64BIT", INSPECT_NEEDED, "boot", "it is started in 64-bit mode"},
	{"PRINTK", INSPECT_NEEDED, "console", "the kernel says nothing"},
	{"TTY", INSPECT_NEEDED, "console", "there are no terminals"},
	{"SERIAL_8250", INSPECT_NEEDED, "console", "no driver for the serial line ttyS0"},
	{"SERIAL_8250_CONSOLE", INSPECT_NEEDED, "console",
	 "console=ttyS0 shows nothing, and a panic is not seen"},
	{"BLK_DEV_INITRD", INSPECT_NEEDED, "init",
	 "the initrd is not unpacked: no agent, no command"},
	{"BINFMT_ELF", INSPECT_NEEDED, "init", "no program can be started"},
	{"BINFMT_SCRIPT", INSPECT_USEFUL, "init", "an init that is a script does not start"},
	{"PROC_FS", INSPECT_NEEDED, "init", "no /proc, which the agent reads"},
	{"SYSFS", INSPECT_NEEDED, "init", "no /sys, which the agent reads"},
	{"DEVTMPFS", INSPECT_NEEDED, "init", "/dev is empty: no console, no disks by name"},
	{"TMPFS", INSPECT_USEFUL, "init", "no tmpfs for /tmp and /run"},
	{"VIRTIO_MENU", INSPECT_NEEDED, "virtio", "no virtio device at all"},
	{"VIRTIO_MMIO", INSPECT_NEEDED, "virtio",
	 "virtio devices are not found: this machine has no PCI"},
	{"VIRTIO_MMIO_CMDLINE_DEVICES", INSPECT_NEEDED, "virtio",
	 "virtio_mmio.device= on the command line is passed over, and there is no ACPI: no disk, no "
	 "channel",
	 "ACPI"},
	{"BLOCK", INSPECT_NEEDED, "disk", "no disks"},
	{"VIRTIO_BLK", INSPECT_NEEDED, "disk", "--disk is not seen: no vda"},
	{"EXT4_FS", INSPECT_USEFUL, "disk", "an ext4 image cannot be mounted"},
	{"VIRTIO_CONSOLE", INSPECT_USEFUL, "channel",
	 "results and output of the command go over the second serial line"},
	{"HVC_DRIVER", INSPECT_USEFUL, "console", "console=hvc0 shows nothing"},
	{"HW_RANDOM_VIRTIO", INSPECT_USEFUL, "entropy", "--rng is not used"},
	{"SMP", INSPECT_USEFUL, "cpus", "one vCPU, whatever --cpus says"},
	{"X86_MPPARSE", INSPECT_USEFUL, "cpus",
	 "the table of vCPUs is not read, and there is no ACPI: one comes up", "ACPI"},
	{"NET", INSPECT_USEFUL, "net", "no network at all"},
	{"INET", INSPECT_USEFUL, "net", "no IPv4"},
	{"VIRTIO_NET", INSPECT_USEFUL, "net", "--net is not seen"},
	{"FUSE_FS", INSPECT_USEFUL, "share", "no virtio-fs"},
	{"VIRTIO_FS", INSPECT_USEFUL, "share", "--share and --root DIR are not seen"},
	{"OVERLAY_FS", INSPECT_USEFUL, "root", "no writable layer over a root that is only read"},
	{"VSOCKETS", INSPECT_USEFUL, "vsock", "no vsock addresses"},
	{"VIRTIO_VSOCKETS", INSPECT_USEFUL, "vsock", "--vsock is not seen"},
	{"HYPERVISOR_GUEST", INSPECT_USEFUL, "clock", "it does not look for a hypervisor"},
	{"PARAVIRT", INSPECT_USEFUL, "clock", "none of KVM's help is used"},
	{"KVM_GUEST", INSPECT_USEFUL, "clock", "no kvmclock: time is calibrated against the PIT"},
	{"PVH", INSPECT_USEFUL, "boot", "QEMU cannot start the vmlinux, only the bzImage"},
	{"DEBUG_FS", INSPECT_USEFUL, "counters", "the per-call counters cannot be found"},
	{"CALLTIME", INSPECT_USEFUL, "counters",
	 "no per-call counters: benchmarks are timed by batches only"},
	{"KALLSYMS", INSPECT_USEFUL, "symbols", "an oops shows addresses without names"},
};

/**
 * inspect_options() - the options that are looked at
 * @ret_count: set: how many
 *
 * Return: the table.
 * Context: any thread.
 */
const struct inspect_option *inspect_options(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(options);
	return options;
}

/**
 * inspect_value() - what a configuration says of an option
 * @config: the text, as .config has it
 * @name: without CONFIG_
 *
 * Return: its value; what is not mentioned is not set.
 * Context: any thread.
 */
enum inspect_value inspect_value(const char *config, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = config; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, "CONFIG_", 7) != 0 || strncmp(p + 7, name, len) != 0 ||
		    p[7 + len] != '=') {
			continue;
		}
		p += 8 + len;
		return *p == 'm' ? INSPECT_MODULE : *p == 'n' ? INSPECT_NO : INSPECT_YES;
	}
	return INSPECT_NO;
}

/**
 * inspect_lacks() - is an option not built in, where that matters?
 * @config: the text, as .config has it
 * @option: of inspect_options()
 *
 * Return: whether it is. A module counts as lacking: something must load it.
 * Context: any thread.
 */
bool inspect_lacks(const char *config, const struct inspect_option *option)
{
	return inspect_value(config, option->name) != INSPECT_YES &&
	       !(option->unless && inspect_value(config, option->unless) == INSPECT_YES);
}
