/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run finds out about its kernel before the start, and says of it after one that failed. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/run_kernel.h"
#include "cli/run_lacks.h"
#include "elf_builder.h"

#define BANNER "Linux version 6.12.34 (a@b) #1"

static struct run_options options;
static struct outcome outcome;
static struct record_boot record;
static char path[64], said[4096];

/* A vmlinux whose constants are the text; the path stays good until the next one. */
static const char *vmlinux(const char *rodata)
{
	struct elf_builder b;
	static int fd = -1;

	if (fd >= 0) {
		close(fd);
	}
	elf_builder_init(&b);
	b.rodata = rodata;
	fd = elf_builder_fd(&b);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static int setup(void **state)
{
	options = (struct run_options){.acpi = "auto", .entry = "auto", .cpus = 1};
	outcome = (struct outcome){.kind = OUTCOME_KIND_BOOT, .status = OUTCOME_BOOT};
	record_boot_init(&record);
	return 0;
}

static int teardown(void **state)
{
	record_boot_fini(&record);
	return 0;
}

static void a_kernel_that_looks_for_the_tables_gets_them(void **state)
{
	assert_true(run_kernel_acpi(&options, vmlinux(BANNER " RSD PTR "), "quiet", true));
	assert_false(run_kernel_acpi(&options, vmlinux(BANNER), "quiet", true));
}

static void without_devices_to_be_told_of_a_kernel_is_not_looked_into(void **state)
{
	assert_true(run_kernel_acpi(&options, "/nonexistent", "quiet", false));
	assert_false(run_kernel_acpi(&options, "/nonexistent", "acpi=off", false));
	assert_false(run_kernel_acpi(&options, "/nonexistent", "quiet", true));
}

static void what_the_user_says_of_acpi_goes(void **state)
{
	options.acpi = "on";
	assert_true(run_kernel_acpi(&options, vmlinux(BANNER), "acpi=off", true));
	options.acpi = "off";
	assert_false(run_kernel_acpi(&options, vmlinux("RSD PTR "), "", true));
}

static void a_kernel_that_is_told_to_leave_acpi_gets_none(void **state)
{
	static const struct {
		const char *cmdline;
		bool acpi;
	} rows[] = {
		{"acpi=off", false},     {"quiet acpi=off", false}, {"acpi=off quiet", false},
		{"acpi=offset", true},   {"noacpi=off", true},      {"pacpi=off acpi=off", false},
		{"a -- acpi=off", true}, {"acpi=off -- a", false},  {"acpi=on", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(run_kernel_acpi(&options, vmlinux("RSD PTR "), rows[i].cmdline,
						 true),
				 rows[i].acpi);
	}
}

static void a_vmlinux_for_names_is_the_kernels_own_or_refused(void **state)
{
	struct err e = ERR_INIT;
	char kernel[64];
	struct elf_builder b;
	int fd;

	elf_builder_init(&b);
	b.rodata = BANNER;
	fd = elf_builder_fd(&b);
	snprintf(kernel, sizeof(kernel), "/proc/self/fd/%d", fd);
	assert_int_equal(run_kernel_check_debug(kernel, vmlinux(BANNER), &e), 0);
	assert_int_equal(run_kernel_check_debug(kernel, vmlinux(BANNER "2"), &e), -EINVAL);
	assert_non_null(strstr(e.text, "it says \"" BANNER "2\", the kernel \"" BANNER "\""));
	assert_int_equal(run_kernel_check_debug(kernel, vmlinux("nothing"), &e), -EINVAL);
	assert_non_null(strstr(e.text, "neither build ids nor versions tell"));
	assert_int_equal(run_kernel_check_debug(kernel, "/nonexistent", &e), -ENOENT);
	close(fd);
}

/* What is told on stderr of a kernel with this configuration; NULL: without one. */
static const char *told(const char *config)
{
	static char rodata[2048];
	z_stream z = {.next_in = (uint8_t *)config, .next_out = (uint8_t *)rodata + 8};
	int saved = dup(STDERR_FILENO), fd[2];
	struct elf_builder b;
	ssize_t n;

	memset(rodata, 0, sizeof(rodata));
	elf_builder_init(&b);
	if (config) {
		memcpy(rodata, "IKCFG_ST", 8);
		z.avail_in = (unsigned int)strlen(config);
		z.avail_out = sizeof(rodata) - 8;
		assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
				 Z_OK);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		b.bytes_len = 8 + z.total_out;
		deflateEnd(&z);
		b.bytes = rodata;
		b.bytes_at = 0x4800;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", elf_builder_fd(&b));
	assert_int_equal(pipe(fd), 0);
	dup2(fd[1], STDERR_FILENO);
	if (run_lacks_due(&options, &outcome, &record)) {
		run_lacks_tell(&options, open(path, O_RDONLY | O_CLOEXEC));
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd[1]);
	n = read(fd[0], said, sizeof(said) - 1);
	close(fd[0]);
	close(atoi(path + strlen("/proc/self/fd/")));
	said[n > 0 ? n : 0] = '\0';
	return said;
}

#define BOOTS                                                                   \
	"CONFIG_64BIT=y\nCONFIG_PRINTK=y\nCONFIG_TTY=y\nCONFIG_SERIAL_8250=y\n" \
	"CONFIG_SERIAL_8250_CONSOLE=y\n"
#define INIT                                                                               \
	"CONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_PROC_FS=y\nCONFIG_SYSFS=y\n" \
	"CONFIG_DEVTMPFS=y\n"

static void each_option_that_is_missing_for_what_was_asked_is_a_line(void **state)
{
	assert_string_equal(told("CONFIG_64BIT=y\nCONFIG_PRINTK=y\nCONFIG_TTY=y\n"
				 "CONFIG_SERIAL_8250=y\nCONFIG_X=y\n"),
			    "ringside: warning: kernel: CONFIG_SERIAL_8250_CONSOLE is not set "
			    "(console): console=ttyS0 shows nothing, and a panic is not seen\n");
	options.disks.count = 1;
	assert_string_equal(
		told(BOOTS "CONFIG_VIRTIO_MENU=y\nCONFIG_VIRTIO_MMIO=y\nCONFIG_ACPI=y\n"
			   "CONFIG_BLOCK=y\nCONFIG_VIRTIO_BLK=m\n"),
		"ringside: warning: kernel: CONFIG_VIRTIO_BLK is a module, which the initrd must "
		"bring along (disk): --disk is not seen: no vda\n");
	assert_string_equal(
		told(BOOTS "CONFIG_VIRTIO_MENU=y\nCONFIG_VIRTIO_MMIO=y\nCONFIG_BLOCK=y\n"
			   "CONFIG_VIRTIO_BLK=y\n"),
		"ringside: warning: kernel: CONFIG_VIRTIO_MMIO_CMDLINE_DEVICES is not set "
		"(virtio): virtio_mmio.device= on the command line is passed over, and there is "
		"no ACPI: no disk, no channel\n");
}

static void what_was_not_asked_for_is_not_missed(void **state)
{
	static const char has_all[] = "ringside: warning: kernel: its configuration has all that "
				      "was asked for\n";

	assert_string_equal(told(BOOTS), has_all);
	options.job = "job";
	assert_non_null(strstr(told(BOOTS), "CONFIG_BLK_DEV_INITRD is not set (init)"));
	assert_string_equal(told(BOOTS INIT), has_all);
	options.cpus = 2;
	assert_non_null(strstr(told(BOOTS INIT), "CONFIG_SMP is not set (cpus)"));
	assert_null(strstr(told(BOOTS INIT), "VSOCK"));
	options.vsock = "path";
	assert_non_null(strstr(told(BOOTS INIT), "CONFIG_VIRTIO_VSOCKETS is not set (vsock)"));
	assert_null(strstr(told(BOOTS INIT), "OVERLAY_FS"));
	options.root = "/";
	assert_non_null(strstr(told(BOOTS INIT), "CONFIG_OVERLAY_FS is not set (root)"));
	assert_non_null(strstr(told(BOOTS INIT), "CONFIG_VIRTIO_FS is not set (share)"));
}

static void without_a_configuration_nothing_can_be_known_and_that_is_said(void **state)
{
	assert_non_null(strstr(told(NULL), "whether it lacks an option cannot be known"));
}

static void a_boot_that_came_up_gets_no_line(void **state)
{
	static const enum outcome_kind kinds[] = {OUTCOME_KIND_EXIT,   OUTCOME_KIND_PANIC,
						  OUTCOME_KIND_SIGNAL, OUTCOME_KIND_TIMEOUT,
						  OUTCOME_KIND_HANG,   OUTCOME_KIND_NO_STATUS};

	record.phase_ns[RECORD_USER_MARK] = 1;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		outcome.kind = kinds[i];
		assert_string_equal(told(BOOTS), "");
	}
	record.phase_ns[RECORD_USER_MARK] = RECORD_NEVER;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		outcome.kind = kinds[i];
		assert_int_equal(*told(BOOTS) != '\0', i >= 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kernel_that_looks_for_the_tables_gets_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			without_devices_to_be_told_of_a_kernel_is_not_looked_into, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_user_says_of_acpi_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kernel_that_is_told_to_leave_acpi_gets_none,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_vmlinux_for_names_is_the_kernels_own_or_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			each_option_that_is_missing_for_what_was_asked_is_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_asked_for_is_not_missed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			without_a_configuration_nothing_can_be_known_and_that_is_said, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_boot_that_came_up_gets_no_line, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
