/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/rng.h"
#include "bzimage_builder.h"
#include "elf_builder.h"
#include "loader/inspect.h"

#define KERNEL_BYTES  0x5000 /* as large as elf_builder's file: segments and all */
#define NOTE_AT       0x600
#define BANNER_AT     0x800
#define CONFIG_AT     0xa00
#define PAYLOAD_AT    0x1400 /* in bzimage_builder's file: setup, and its payload_offset */
#define PAYLOAD_BYTES 0x2000
#define CONFIG                                                                              \
	"# a comment\n# CONFIG_VIRTIO_BLK is not set\nCONFIG_SERIAL_8250=y\nCONFIG_TTY=y\n" \
	"CONFIG_VIRTIO_MMIO=m\nCONFIG_EXT4_FS=n\nCONFIG_NR_CPUS=64\nCONFIG_BLOCK_LEGACY=y\n"

static uint8_t kernel[KERNEL_BYTES];
static uint8_t packed[PAYLOAD_BYTES];
static bool acpi_inside; /* of the vmlinux that is made next */
static struct inspection in;
static struct err e;

static size_t pack_gzip(const void *src, size_t len, uint8_t *dst, size_t room)
{
	z_stream z = {.next_in = (uint8_t *)src, .avail_in = (unsigned int)len, .next_out = dst};

	z.avail_out = (unsigned int)room;
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static size_t pack_zstd(const void *src, size_t len, uint8_t *dst, size_t room)
{
	size_t n = ZSTD_compress(dst, room, src, len, 19);

	assert_false(ZSTD_isError(n));
	return n;
}

/* As kernels have it: a magic, and blocks behind their length. Two, so that there is a next one. */
static size_t pack_lz4(const void *src, size_t len, uint8_t *dst, size_t room)
{
	size_t at = 4;

	memcpy(dst, "\x02\x21\x4c\x18", 4);
	for (int half = 0; half < 2; half++) {
		int n = LZ4_compress_default((const char *)src + half * (len / 2),
					     (char *)dst + at + 4, (int)(len / 2),
					     (int)(room - at - 4));

		assert_true(n > 0);
		memcpy(dst + at, &n, 4);
		at += 4 + (size_t)n;
	}
	memset(dst + at, 0, 4);
	return at;
}

static size_t pack_xz(const void *src, size_t len, uint8_t *dst, size_t room)
{
	size_t n = 0;

	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, src, len, dst, &n,
						 room),
			 LZMA_OK);
	return n;
}

static size_t pack_lzma(const void *src, size_t len, uint8_t *dst, size_t room)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_options_lzma how;
	size_t n;

	assert_false(lzma_lzma_preset(&how, 6));
	assert_int_equal(lzma_alone_encoder(&z, &how), LZMA_OK);
	z.next_in = src;
	z.avail_in = len;
	z.next_out = dst;
	z.avail_out = room;
	assert_int_equal(lzma_code(&z, LZMA_FINISH), LZMA_STREAM_END);
	n = z.total_out;
	lzma_end(&z);
	return n;
}

/* Without its headers, as src/loader/unpack.c has it. */
static size_t pack_bzip2(const void *src, size_t len, uint8_t *dst, size_t room)
{
	int (*compress)(char *, unsigned int *, char *, unsigned int, int, int, int);
	void *lib = dlopen("libbz2.so.1.0", RTLD_NOW);
	unsigned int n = (unsigned int)room;

	assert_non_null(lib);
	*(void **)&compress = dlsym(lib, "BZ2_bzBuffToBuffCompress");
	assert_non_null(compress);
	assert_int_equal(compress((char *)dst, &n, (char *)src, (unsigned int)len, 9, 0, 0), 0);
	dlclose(lib);
	return n;
}

static const struct {
	const char *name;
	size_t (*pack)(const void *src, size_t len, uint8_t *dst, size_t room);
} formats[] = {{"gzip", pack_gzip}, {"zstd", pack_zstd}, {"xz", pack_xz},
	       {"lz4", pack_lz4},   {"lzma", pack_lzma}, {"bzip2", pack_bzip2}};

/* A vmlinux that elf_builder's program headers fit to, with a note, a banner and a configuration.
 */
static int vmlinux_fd(void)
{
	struct elf_builder b;
	Elf64_Nhdr note = {.n_namesz = 4, .n_descsz = 8, .n_type = 18};
	uint64_t entry = 0x1000040;
	int fd;

	elf_builder_init(&b);
	b.ph[b.ph_count] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = NOTE_AT, .p_align = 4};
	b.ph[b.ph_count].p_filesz = sizeof(note) + 4 + sizeof(entry);
	b.ph_count++;
	b.eh.e_phnum = (uint16_t)b.ph_count;
	fd = elf_builder_fd(&b);
	memset(kernel, 0, sizeof(kernel));
	assert_int_equal(pread(fd, kernel, NOTE_AT, 0), NOTE_AT);
	memcpy(kernel + NOTE_AT, &note, sizeof(note));
	memcpy(kernel + NOTE_AT + sizeof(note), "Xen", 4);
	memcpy(kernel + NOTE_AT + sizeof(note) + 4, &entry, sizeof(entry));
	strcpy((char *)kernel + BANNER_AT - 64, "Linux version %s");
	strcpy((char *)kernel + BANNER_AT, "Linux version 6.12.34-test (a@b) #1 SMP\n");
	strcpy((char *)kernel + CONFIG_AT - 16, "IKCFG_ST");
	if (acpi_inside) {
		memcpy(kernel + CONFIG_AT - 64, "RSD PTR ", 8);
	}
	memcpy(kernel + CONFIG_AT, "IKCFG_ST", 8);
	pack_gzip(CONFIG, strlen(CONFIG), kernel + CONFIG_AT + 8, 0x400);
	assert_int_equal(pwrite(fd, kernel, sizeof(kernel), 0), KERNEL_BYTES);
	return fd;
}

static int bzimage_fd(size_t (*pack)(const void *, size_t, uint8_t *, size_t), uint32_t room)
{
	struct bzimage_builder b;
	int fd;

	close(vmlinux_fd());
	memset(packed, 0, sizeof(packed));
	bzimage_builder_init(&b);
	b.header.init_size = room;
	if (pack) {
		size_t n = pack(kernel, sizeof(kernel), packed, sizeof(packed) - 4);

		/* Behind it the unpacked size, as kernels have it. */
		memcpy(packed + n, "\x00\x50\x00", 4);
		b.header.payload_length = (uint32_t)n + 4;
	}
	fd = bzimage_builder_fd(&b);
	assert_int_equal(pwrite(fd, packed, sizeof(packed), PAYLOAD_AT), PAYLOAD_BYTES);
	return fd;
}

static void open_it(int fd)
{
	if (inspect_read(fd, &in, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static void all_is_found(void)
{
	assert_string_equal(in.unreadable, "");
	assert_string_equal(in.version, "6.12.34-test");
	assert_string_equal(in.banner, "Linux version 6.12.34-test (a@b) #1 SMP");
	assert_true(in.has_pvh);
	assert_int_equal(in.pvh_entry, 0x1000040);
	assert_int_equal(in.unpacked_bytes, KERNEL_BYTES);
	assert_non_null(in.config);
	assert_string_equal(in.config, CONFIG);
	assert_string_equal(in.no_config, "");
}

static void a_vmlinux_is_read_as_it_is(void **state)
{
	open_it(vmlinux_fd());
	all_is_found();
	assert_string_equal(in.packed, "none");
	inspect_close(&in);
}

static void a_bzimage_is_unpacked_by_each_of_six_formats(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		open_it(bzimage_fd(formats[i].pack, BZIMAGE_BUILDER_INIT_SIZE));
		assert_string_equal(in.packed, formats[i].name);
		all_is_found();
		inspect_close(&in);
	}
}

static void more_than_the_kernel_asks_memory_for_does_not_come_out(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		open_it(bzimage_fd(formats[i].pack, 0x4000));
		assert_true(strlen(in.unreadable) > 10);
		assert_null(in.config);
		assert_int_equal(in.unpacked_bytes, 0);
		inspect_close(&in);
	}
}

static void a_payload_that_cannot_be_unpacked_is_named(void **state)
{
	int fd = bzimage_fd(NULL, BZIMAGE_BUILDER_INIT_SIZE);

	assert_int_equal(pwrite(fd, "\x89LZO", 4, PAYLOAD_AT), 4);
	open_it(fd);
	assert_string_equal(in.packed, "lzo");
	assert_string_equal(in.unreadable,
			    "lzo cannot be unpacked here; gzip, zstd, xz, lzma, bzip2 and lz4 can");
	assert_string_equal(in.no_config, "the kernel could not be unpacked");
	/* The version is in front of the payload. */
	assert_string_equal(in.version, BZIMAGE_BUILDER_VERSION);
	inspect_close(&in);
}

static enum inspect_acpi acpi_of(int fd)
{
	enum inspect_acpi acpi;
	char path[64];

	e = (struct err)ERR_INIT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(inspect_acpi(path, &acpi, &e), 0);
	close(fd);
	return acpi;
}

static int with_word(int fd, off_t at)
{
	assert_int_equal(pwrite(fd, "RSD PTR ", 8, at), 8);
	return fd;
}

static void acpi_is_found_in_a_vmlinux_in_what_unpacks_one_and_in_what_is_packed(void **state)
{
	int fd;

	assert_int_equal(acpi_of(vmlinux_fd()), INSPECT_ACPI_NONE);
	assert_int_equal(acpi_of(with_word(vmlinux_fd(), CONFIG_AT - 64)), INSPECT_ACPI_THERE);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		fd = bzimage_fd(formats[i].pack, BZIMAGE_BUILDER_INIT_SIZE);
		assert_int_equal(acpi_of(with_word(fd, PAYLOAD_AT - 64)), INSPECT_ACPI_THERE);
		fd = bzimage_fd(formats[i].pack, BZIMAGE_BUILDER_INIT_SIZE);
		assert_int_equal(acpi_of(fd), INSPECT_ACPI_NONE);
		acpi_inside = true;
		fd = bzimage_fd(formats[i].pack, BZIMAGE_BUILDER_INIT_SIZE);
		acpi_inside = false;
		assert_int_equal(acpi_of(fd), INSPECT_ACPI_THERE);
	}
	fd = bzimage_fd(NULL, BZIMAGE_BUILDER_INIT_SIZE);
	assert_int_equal(pwrite(fd, "\x89LZO", 4, PAYLOAD_AT), 4);
	assert_int_equal(acpi_of(fd), INSPECT_ACPI_UNKNOWN);
}

static void a_kernel_without_a_configuration_says_which_option_it_lacks(void **state)
{
	int fd = vmlinux_fd();

	assert_int_equal(pwrite(fd, "IKCFG_XX", 8, CONFIG_AT), 8);
	open_it(fd);
	assert_null(in.config);
	assert_non_null(strstr(in.no_config, "CONFIG_IKCONFIG=y"));
	assert_int_equal(inspect_use_config(&in, "/dev/zero", &e), -EFBIG);
	assert_int_equal(inspect_use_config(&in, "/proc/self/status", &e), -EBADMSG);
	assert_int_equal(inspect_use_config(&in, "/nonexistent", &e), -ENOENT);
	inspect_close(&in);
}

static void a_configuration_that_is_damaged_is_said_to_be(void **state)
{
	int fd = vmlinux_fd();

	assert_int_equal(pwrite(fd, "\xff\xff\xff", 3, CONFIG_AT + 8 + 12), 3);
	open_it(fd);
	assert_null(in.config);
	assert_non_null(strstr(in.no_config, "gzip: the data are damaged"));
	inspect_close(&in);
}

static void options_are_found_by_their_whole_name(void **state)
{
	assert_int_equal(inspect_value(CONFIG, "SERIAL_8250"), INSPECT_YES);
	assert_int_equal(inspect_value(CONFIG, "NR_CPUS"), INSPECT_YES);
	assert_int_equal(inspect_value(CONFIG, "VIRTIO_MMIO"), INSPECT_MODULE);
	assert_int_equal(inspect_value(CONFIG, "VIRTIO_BLK"), INSPECT_NO);
	assert_int_equal(inspect_value(CONFIG, "EXT4_FS"), INSPECT_NO);
	assert_int_equal(inspect_value(CONFIG, "BLOCK"), INSPECT_NO);
	assert_int_equal(inspect_value(CONFIG, "SERIAL_8250_CONSOLE"), INSPECT_NO);
	assert_int_equal(inspect_value("", "TTY"), INSPECT_NO);
	assert_int_equal(inspect_value("\nCONFIG_TTY=y", "TTY"), INSPECT_YES);
}

/* Whatever comes out, it is closed again, and a sanitizer has nothing to say. */
static void try_it(int fd)
{
	if (inspect_read(fd, &in, &e) < 0) {
		assert_true(e.text[0] != '\0');
		close(fd);
		return;
	}
	assert_true(in.config ? strlen(in.config) == in.config_bytes : in.no_config[0] != '\0');
	inspect_close(&in);
}

static int file_of(int kind)
{
	return kind == 0 ? vmlinux_fd()
			 : bzimage_fd(formats[kind - 1].pack, BZIMAGE_BUILDER_INIT_SIZE);
}

#define KINDS      7
#define FILE_BYTES 0x5000 /* of each kind */

/* Packed once, not once a case. */
static uint8_t files[KINDS][FILE_BYTES];

static void make_files(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		int fd = file_of(kind);

		assert_int_equal(pread(fd, files[kind], FILE_BYTES, 0), FILE_BYTES);
		close(fd);
	}
}

static void a_file_cut_anywhere_is_survived(void **state)
{
	make_files();
	for (int kind = 0; kind < KINDS; kind++) {
		for (size_t len = 1; len < FILE_BYTES; len += 509) {
			try_it(memfd_of(files[kind], len));
		}
	}
}

static void bytes_flipped_anywhere_are_survived(void **state)
{
	struct rng rng;

	make_files();
	rng_init(&rng, 4);
	for (int round = 0; round < 400; round++) {
		uint8_t *file = files[round % KINDS];
		uint64_t at[5];
		uint8_t was[5];

		for (int i = 0; i < 5; i++) {
			/* Headers, the payload's start and notes more often than the rest. */
			at[i] = rng_below(&rng, round % 3 ? 0x700 : FILE_BYTES);
			at[i] += round % 3 == 1 ? 0x1200 : 0;
			was[i] = file[at[i]];
			file[at[i]] = (uint8_t)rng_below(&rng, 256);
		}
		try_it(memfd_of(file, FILE_BYTES));
		for (int i = 4; i >= 0; i--) {
			file[at[i]] = was[i];
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vmlinux_is_read_as_it_is),
		cmocka_unit_test(a_bzimage_is_unpacked_by_each_of_six_formats),
		cmocka_unit_test(more_than_the_kernel_asks_memory_for_does_not_come_out),
		cmocka_unit_test(a_payload_that_cannot_be_unpacked_is_named),
		cmocka_unit_test(
			acpi_is_found_in_a_vmlinux_in_what_unpacks_one_and_in_what_is_packed),
		cmocka_unit_test(a_kernel_without_a_configuration_says_which_option_it_lacks),
		cmocka_unit_test(a_configuration_that_is_damaged_is_said_to_be),
		cmocka_unit_test(options_are_found_by_their_whole_name),
		cmocka_unit_test(a_file_cut_anywhere_is_survived),
		cmocka_unit_test(bytes_flipped_anywhere_are_survived),
	};

	return cmocka_run_group_tests_name("loader_inspect", tests, NULL, NULL);
}
