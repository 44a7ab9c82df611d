/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See inspect.h. Every offset in a file is checked against what there is before it is used. */
#include "loader/inspect.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "loader/loader_priv.h"
#include "loader/notes.h"
#include "loader/unpack.h"

#define CONFIG_START "IKCFG_ST" /* kernel/configs.c */
#define MARK_BYTES   8
#define CONFIG_TRIES 16
#define BANNER       "Linux version "
#define LOOK_BYTES   65536
#define ACPI_WORD    "RSD PTR " /* what code that looks for the tables compares with */

/* Memory that costs only what is written to it. */
struct bytes {
	uint8_t *at;
	size_t len, room;
};

static int bytes_init(struct bytes *b, uint64_t room, struct err *e)
{
	void *at;

	if (room > INSPECT_BYTES_MAX) {
		return err_set(e, -EFBIG, "0x%llx bytes are more than are looked at (0x%llx)",
			       (unsigned long long)room, (unsigned long long)INSPECT_BYTES_MAX);
	}
	at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED) {
		return err_errno(e, -errno, "memory for a kernel");
	}
	*b = (struct bytes){.at = at, .room = room};
	return 0;
}

static void bytes_fini(struct bytes *b)
{
	if (b->at) {
		munmap(b->at, b->room);
	}
}

static int read_part(int fd, uint64_t offset, uint64_t len, struct bytes *ret, struct err *e)
{
	int r = bytes_init(ret, len, e);

	if (r == 0) {
		r = io_pread_exact(fd, ret->at, len, offset);
		ret->len = len;
		r = r < 0 ? err_errno(e, r, "the kernel cannot be read") : 0;
	}
	return r;
}

/* By its first letter, which memchr() finds faster than memmem() finds so short a word. */
static bool buffer_has(const char *in, size_t len, const char *word, size_t word_len)
{
	const char *end = in + len, *p = in;

	while ((p = memchr(p, word[0], (size_t)(end - p)))) {
		if ((size_t)(end - p) < word_len) {
			return false;
		}
		if (memcmp(p, word, word_len) == 0) {
			return true;
		}
		p++;
	}
	return false;
}

/*
 * Is a word in a part of a file? It goes through a buffer that stays in the processor's cache: a
 * copy of all of it would cost a start more than the rest of the loader does.
 */
static int look_for(int fd, const struct load_range *in, const char *word, bool *ret, struct err *e)
{
	size_t keep = strlen(word) - 1, held = 0;
	char buf[LOOK_BYTES];

	*ret = false;
	for (uint64_t at = 0; at < in->bytes && !*ret;) {
		size_t room = sizeof(buf) - held;
		size_t n = in->bytes - at < room ? (size_t)(in->bytes - at) : room;
		int r = io_pread_exact(fd, buf + held, n, in->gpa + at);

		if (r < 0) {
			return err_errno(e, r, "the kernel cannot be read");
		}
		at += n;
		n += held;
		*ret = buffer_has(buf, n, word, keep + 1);
		/* The word may lie across the end. */
		held = n < keep ? n : keep;
		memmove(buf, buf + n - held, held);
	}
	return 0;
}

/* The vmlinux inside a bzImage: no larger than the memory that it asks for. */
static int unpack_payload(struct inspection *in, struct bytes *ret, struct err *e)
{
	const struct setup_header *h = &in->image.header;
	uint64_t at = in->image.segments[0].file_offset + h->payload_offset;
	struct bytes packed = {0};
	const char *name;
	int r;

	in->payload_bytes = h->payload_length;
	if (h->payload_length < MARK_BYTES) {
		return err_set(e, -EBADMSG, "a payload of %u bytes is no kernel",
			       h->payload_length);
	}
	r = read_part(in->image.fd, at, h->payload_length, &packed, e);
	if (r == 0) {
		name = magic_compression(packed.at);
		snprintf(in->packed, sizeof(in->packed), "%s",
			 name                                      ? name
			 : memcmp(packed.at, ELFMAG, SELFMAG) == 0 ? "none"
								   : "unknown");
	}
	if (r == 0 && strcmp(in->packed, "none") == 0) {
		*ret = packed;
		return 0;
	}
	if (r == 0) {
		r = bytes_init(ret, h->init_size, e);
	}
	if (r == 0) {
		r = unpack(packed.at, packed.len, ret->at, ret->room, &ret->len, e);
	}
	bytes_fini(&packed);
	return r;
}

static const uint8_t *find(const uint8_t *from, const uint8_t *end, const char *what)
{
	return from < end ? memmem(from, (size_t)(end - from), what, strlen(what)) : NULL;
}

/* The kernel's own sentence. Other texts begin like it, but not with a digit behind. */
static void find_banner(const struct bytes *b, struct inspection *in)
{
	const uint8_t *end = b->at + b->len;
	const uint8_t *p = find(b->at, end, BANNER);

	for (; p; p = find(p + 1, end, BANNER)) {
		const uint8_t *q = p + strlen(BANNER);
		size_t n = 0;

		if (q >= end || !isdigit(*q)) {
			continue;
		}
		while (p + n < end && n < sizeof(in->banner) - 1 && p[n] >= ' ' && p[n] <= '~') {
			n++;
		}
		memcpy(in->banner, p, n);
		in->banner[n] = '\0';
		return;
	}
}

static void version_of_banner(struct inspection *in)
{
	const char *p = in->banner + strlen(BANNER);
	size_t n = strcspn(p, " ");

	if (!*in->banner || *in->version) {
		return;
	}
	n = n < sizeof(in->version) - 1 ? n : sizeof(in->version) - 1;
	memcpy(in->version, p, n);
	in->version[n] = '\0';
}

static void take_pvh(struct inspection *in, const uint8_t *desc, size_t n)
{
	if (!in->has_pvh && (n == sizeof(uint32_t) || n == sizeof(uint64_t))) {
		memcpy(&in->pvh_entry, desc, n);
		in->has_pvh = true;
	}
}

/* A vmlinux has it from load_image_*(); a bzImage has it inside. */
static void take_build_id(struct inspection *in, const uint8_t *desc, size_t n)
{
	char *to = in->image.build_id;

	for (size_t i = 0; !(i == 0 && *to) && i < n && n <= (LOAD_BUILD_ID_MAX - 1) / 2; i++) {
		snprintf(to + 2 * i, 3, "%02x", desc[i]);
	}
}

static void find_notes(const struct bytes *b, struct inspection *in)
{
	Elf64_Ehdr eh;

	if (b->len < sizeof(eh)) {
		return;
	}
	memcpy(&eh, b->at, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phnum > LOAD_PHDRS_MAX) {
		return;
	}
	for (size_t i = 0; i < eh.e_phnum; i++) {
		const uint8_t *desc, *notes;
		Elf64_Phdr ph;
		size_t n, align;

		if (eh.e_phoff > b->len || (i + 1) * sizeof(ph) > b->len - eh.e_phoff) {
			return;
		}
		memcpy(&ph, b->at + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_NOTE || ph.p_offset > b->len ||
		    ph.p_filesz > b->len - ph.p_offset) {
			continue;
		}
		notes = b->at + ph.p_offset;
		align = ph.p_align == 8 ? 8 : 4;
		if (notes_find(notes, ph.p_filesz, align, NOTE_XEN, NOTE_PVH_ENTRY, &desc, &n) ==
		    0) {
			take_pvh(in, desc, n);
		}
		if (notes_find(notes, ph.p_filesz, align, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &desc,
			       &n) == 0) {
			take_build_id(in, desc, n);
		}
	}
}

static int take_config(struct inspection *in, const uint8_t *packed, size_t len, struct err *e)
{
	char *text = malloc(INSPECT_CONFIG_MAX + 1);
	size_t n;
	int r;

	if (!text) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = unpack(packed, len, (uint8_t *)text, INSPECT_CONFIG_MAX, &n, e);
	if (r == 0 && memchr(text, '\0', n)) {
		r = err_set(e, -EBADMSG, "there are NULs in it");
	}
	if (r < 0) {
		free(text);
		return r;
	}
	text[n] = '\0';
	in->config = text;
	in->config_bytes = n;
	return 0;
}

static void find_config(const struct bytes *b, struct inspection *in)
{
	const uint8_t *end = b->at + b->len;
	const uint8_t *p = find(b->at, end, CONFIG_START);
	unsigned int tries = 0;

	snprintf(in->no_config, sizeof(in->no_config),
		 "there is none in it: it was built without CONFIG_IKCONFIG=y");
	/* The words alone may stand elsewhere: the configuration is what unpacks. */
	for (; p && !in->config; p = find(p + 1, end, CONFIG_START)) {
		const uint8_t *from = p + MARK_BYTES;
		size_t len = (size_t)(end - from);
		struct err e = ERR_INIT;

		if (len < 2 || from[0] != 0x1f || from[1] != 0x8b || ++tries > CONFIG_TRIES) {
			continue;
		}
		len = len < INSPECT_CONFIG_MAX ? len : INSPECT_CONFIG_MAX;
		if (take_config(in, from, len, &e) < 0) {
			snprintf(in->no_config, sizeof(in->no_config), "%.200s", e.text);
		}
	}
	if (in->config) {
		in->no_config[0] = '\0';
	}
}

/* What is inside an image that load_image_*() took. */
static void look_inside(struct inspection *in)
{
	struct err why = ERR_INIT;
	struct bytes b = {0};
	int r;

	if (load_image_version(&in->image, in->version) < 0) {
		in->version[0] = '\0';
	}
	if (in->image.format == LOAD_FORMAT_BZIMAGE) {
		r = unpack_payload(in, &b, &why);
	} else {
		snprintf(in->packed, sizeof(in->packed), "none");
		in->payload_bytes = in->image.file_bytes;
		r = read_part(in->image.fd, 0, in->image.file_bytes, &b, &why);
	}
	if (r < 0) {
		snprintf(in->unreadable, sizeof(in->unreadable), "%s", why.text);
		snprintf(in->no_config, sizeof(in->no_config), "the kernel could not be unpacked");
	} else {
		in->unpacked_bytes = b.len;
		find_banner(&b, in);
		version_of_banner(in);
		find_notes(&b, in);
		find_config(&b, in);
	}
	bytes_fini(&b);
}

/**
 * inspect_read() - look into an open kernel
 * @fd: the file; belongs to @ret on success, to the caller on failure
 * @ret: set on success; end it with inspect_close()
 * @e: set on failure
 *
 * A kernel that can be booted but not unpacked here is no failure: ret->unreadable says why.
 *
 * Return: 0; -ENOEXEC and the like of load_image_probe() for what is no kernel.
 * Context: a thread that may block.
 */
int inspect_read(int fd, struct inspection *ret, struct err *e)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = load_image_probe(fd, &ret->image, e);
	if (r == 0) {
		look_inside(ret);
	}
	return r;
}

/**
 * inspect_open() - look into a kernel's file
 * @path: of the file
 * @ret: set on success; end it with inspect_close()
 * @e: set on failure
 *
 * Return: as inspect_read(), or the errno of open(2).
 * Context: a thread that may block.
 */
int inspect_open(const char *path, struct inspection *ret, struct err *e)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = load_image_open(path, &ret->image, e);
	if (r == 0) {
		look_inside(ret);
	}
	return r;
}

/**
 * inspect_close() - free what a look found
 * @in: set by inspect_open() or inspect_read()
 *
 * Context: any thread.
 */
void inspect_close(struct inspection *in)
{
	free(in->config);
	in->config = NULL;
	load_image_close(&in->image);
}

/**
 * inspect_use_config() - take the configuration from a file, where the kernel has none in it
 * @in: what was found
 * @path: a .config, plain
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no configuration, or the errno of reading it.
 * Context: a thread that may block.
 */
int inspect_use_config(struct inspection *in, const char *path, struct err *e)
{
	char *text;
	size_t n;
	int r = io_read_file(path, INSPECT_CONFIG_MAX, &text, &n, e);

	if (r < 0) {
		return r;
	}
	if (memchr(text, '\0', n) || !strstr(text, "CONFIG_")) {
		free(text);
		return err_set(e, -EBADMSG, "%s is no kernel configuration", path);
	}
	free(in->config);
	in->config = text;
	in->config_bytes = n;
	in->no_config[0] = '\0';
	return 0;
}

static bool has_word(int fd, uint64_t offset, uint64_t len, const char *word)
{
	const struct load_range in = {.gpa = offset, .bytes = len};
	struct err ignored = ERR_INIT;
	bool found = false;

	return look_for(fd, &in, word, &found, &ignored) == 0 && found;
}

/* Newer kernels look for the tables already in what unpacks them, which stands around the payload.
 */
static bool unpacker_has(const struct load_image *img, const char *word)
{
	const struct load_segment *code = &img->segments[0];
	uint64_t payload = img->header.payload_offset;
	uint64_t behind = payload + img->header.payload_length;

	return has_word(img->fd, code->file_offset, payload, word) ||
	       has_word(img->fd, code->file_offset + behind, code->file_bytes - behind, word);
}

/**
 * inspect_acpi() - does a kernel read ACPI tables?
 * @path: of the file
 * @ret: set on success
 * @e: set on failure
 *
 * It is asked before each start, so of a vmlinux only the constants are looked at, and a bzImage is
 * unpacked only when its unpacker does not tell. No configuration is needed: the word that marks
 * the tables is in a kernel that looks for them, and in no other.
 *
 * Return: 0, or what load_image_open() says of a file that is no kernel.
 * Context: a thread that may block.
 */
int inspect_acpi(const char *path, enum inspect_acpi *ret, struct err *e)
{
	struct inspection in = {.has_pvh = false};
	struct err why = ERR_INIT;
	struct bytes b = {0};
	struct load_range at;
	bool there = false;
	int r = load_image_open(path, &in.image, e);

	if (r < 0) {
		return r;
	}
	if (in.image.format == LOAD_FORMAT_BZIMAGE && unpacker_has(&in.image, ACPI_WORD)) {
		load_image_close(&in.image);
		*ret = INSPECT_ACPI_THERE;
		return 0;
	}
	if (in.image.format == LOAD_FORMAT_BZIMAGE) {
		r = unpack_payload(&in, &b, &why);
		there = r == 0 && find(b.at, b.at + b.len, ACPI_WORD);
	} else {
		if (elf_image_section(&in.image, ".rodata", &at) < 0) {
			at = (struct load_range){.bytes = in.image.file_bytes};
		}
		r = look_for(in.image.fd, &at, ACPI_WORD, &there, &why);
	}
	*ret = r < 0 ? INSPECT_ACPI_UNKNOWN : there ? INSPECT_ACPI_THERE : INSPECT_ACPI_NONE;
	bytes_fini(&b);
	load_image_close(&in.image);
	return 0;
}
