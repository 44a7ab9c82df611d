/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF64: a vmlinux, or a firmware payload. Only headers and notes are read, through libelf; every
 * number in them is checked here before it is used, as libelf takes most of them on trust.
 * Source: System V gABI, chapters 4 and 5.
 */
#include <errno.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>

#include "base/io.h"
#include "loader/loader_priv.h"
#include "loader/notes.h"

#define NOTES_BYTES_MAX  65536
#define SCAN_BYTES       65536
#define BANNER           "Linux version "
#define INITRD_ADDR_MAX  0x7fffffff /* what x86-64 kernels put into their setup header */
#define KERNEL_ALIGNMENT 0x1000000
#define BOOT_PROTOCOL    0x20f

DEFINE_CLEANUP(Elf *, elf_end)

static int open_elf(int fd, Elf **ret, struct err *e)
{
	elf_version(EV_CURRENT);
	*ret = elf_begin(fd, ELF_C_READ, NULL);
	if (!*ret || elf_kind(*ret) != ELF_K_ELF) {
		return err_set(e, -ENOEXEC, "ELF: libelf cannot read it: %s", elf_errmsg(-1));
	}
	return 0;
}

static const char *type_name(unsigned int type)
{
	static const char *const names[] = {"no file type", "a relocatable object", "an executable",
					    "a shared object", "a core file"};

	return type < ARRAY_SIZE(names) ? names[type] : "unknown";
}

static int check_header(const Elf64_Ehdr *h, uint64_t file_bytes, struct err *e)
{
	const unsigned char *id = h->e_ident;
	uint64_t end;

	if (file_bytes < EI_NIDENT) {
		return err_set(e, -ENOEXEC, "ELF: the file has %" PRIu64 " bytes, its header %zu",
			       file_bytes, sizeof(*h));
	}
	if (id[EI_CLASS] != ELFCLASS64) {
		return err_set(e, -ENOEXEC, "ELF: EI_CLASS is %u%s, expected 2 (64-bit)",
			       id[EI_CLASS], id[EI_CLASS] == ELFCLASS32 ? " (32-bit)" : "");
	}
	if (id[EI_DATA] != ELFDATA2LSB) {
		return err_set(e, -ENOEXEC, "ELF: EI_DATA is %u%s, expected 1 (little-endian)",
			       id[EI_DATA], id[EI_DATA] == ELFDATA2MSB ? " (big-endian)" : "");
	}
	if (file_bytes < sizeof(*h)) {
		return err_set(e, -ENOEXEC, "ELF: the file has %" PRIu64 " bytes, its header %zu",
			       file_bytes, sizeof(*h));
	}
	if (h->e_machine != EM_X86_64) {
		return err_set(e, -ENOEXEC, "ELF: e_machine is %u, expected 62 (x86-64)",
			       h->e_machine);
	}
	if (h->e_type != ET_EXEC) {
		return err_set(e, -ENOEXEC, "ELF: e_type is %u (%s), expected 2 (an executable)",
			       h->e_type, type_name(h->e_type));
	}
	if (h->e_phentsize != sizeof(Elf64_Phdr)) {
		return err_set(e, -ENOEXEC, "ELF: e_phentsize is %u, expected %zu", h->e_phentsize,
			       sizeof(Elf64_Phdr));
	}
	if (h->e_phnum > LOAD_PHDRS_MAX) {
		return err_set(e, -ENOEXEC, "ELF: e_phnum is %u, accepted are at most %u",
			       h->e_phnum, LOAD_PHDRS_MAX);
	}
	end = h->e_phoff + (uint64_t)h->e_phnum * sizeof(Elf64_Phdr);
	if (end < h->e_phoff || end > file_bytes) {
		return err_set(e, -ENOEXEC,
			       "ELF: e_phoff 0x%" PRIx64
			       " + e_phnum %u * %zu is past the file's end at 0x%" PRIx64,
			       h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr), file_bytes);
	}
	return 0;
}

static int check_load(const Elf64_Phdr *p, size_t i, uint64_t file_bytes, struct err *e)
{
	if (p->p_filesz > p->p_memsz) {
		return err_set(e, -ENOEXEC,
			       "ELF: program header %zu: p_filesz 0x%" PRIx64
			       " is more than p_memsz 0x%" PRIx64,
			       i, p->p_filesz, p->p_memsz);
	}
	if (p->p_offset > file_bytes || p->p_filesz > file_bytes - p->p_offset) {
		return err_set(e, -ENOEXEC,
			       "ELF: program header %zu: p_offset 0x%" PRIx64
			       " + p_filesz 0x%" PRIx64 " is past the file's end at 0x%" PRIx64,
			       i, p->p_offset, p->p_filesz, file_bytes);
	}
	if (p->p_memsz > UINT64_MAX - p->p_paddr) {
		return err_set(e, -ENOEXEC,
			       "ELF: program header %zu: p_paddr 0x%" PRIx64 " + p_memsz 0x%" PRIx64
			       " is past the end of the address space",
			       i, p->p_paddr, p->p_memsz);
	}
	if (p->p_paddr < LOAD_KERNEL_GPA_MIN) {
		return err_set(e, -ENOEXEC,
			       "ELF: program header %zu: p_paddr 0x%" PRIx64 " is below 0x%" PRIx64
			       ", where the boot data goes",
			       i, p->p_paddr, LOAD_KERNEL_GPA_MIN);
	}
	return 0;
}

/* Insert by address. Segments that are in place already do not overlap. */
static int insert_segment(struct load_image *img, const struct load_segment *s, struct err *e)
{
	unsigned int at = img->segment_count;

	if (img->segment_count == LOAD_SEGMENTS_MAX) {
		return err_set(e, -ENOEXEC, "ELF: more than %u PT_LOAD", LOAD_SEGMENTS_MAX);
	}
	for (unsigned int i = 0; i < img->segment_count; i++) {
		const struct load_segment *o = &img->segments[i];

		if (s->gpa < o->gpa + o->mem_bytes && o->gpa < s->gpa + s->mem_bytes) {
			return err_set(e, -ENOEXEC,
				       "ELF: two PT_LOAD overlap: 0x%" PRIx64 "-0x%" PRIx64
				       " and 0x%" PRIx64 "-0x%" PRIx64,
				       o->gpa, o->gpa + o->mem_bytes, s->gpa,
				       s->gpa + s->mem_bytes);
		}
		if (o->gpa > s->gpa && at > i) {
			at = i;
		}
	}
	memmove(&img->segments[at + 1], &img->segments[at],
		(img->segment_count - at) * sizeof(img->segments[0]));
	img->segments[at] = *s;
	img->segment_count++;
	return 0;
}

static int read_segments(const Elf64_Phdr *ph, size_t count, uint64_t file_bytes,
			 struct load_image *img, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		struct load_segment s = {.gpa = ph[i].p_paddr,
					 .mem_bytes = ph[i].p_memsz,
					 .file_offset = ph[i].p_offset,
					 .file_bytes = ph[i].p_filesz};
		int r;

		if (ph[i].p_type != PT_LOAD || (ph[i].p_memsz == 0 && ph[i].p_filesz == 0)) {
			continue;
		}
		r = check_load(&ph[i], i, file_bytes, e);
		if (!r) {
			r = insert_segment(img, &s, e);
		}
		if (r < 0) {
			return r;
		}
	}
	if (img->segment_count == 0) {
		return err_set(
			e, -ENOEXEC,
			"ELF: none of the %zu program headers is a PT_LOAD with anything in it",
			count);
	}
	img->start = img->segments[0].gpa;
	img->end = img->segments[img->segment_count - 1].gpa +
		   img->segments[img->segment_count - 1].mem_bytes;
	return 0;
}

/* A vmlinux names its entry by physical address; a virtual one is as good if it is in a PT_LOAD. */
static int find_entry(const Elf64_Ehdr *h, const Elf64_Phdr *ph, size_t count,
		      struct load_image *img, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		if (ph[i].p_type == PT_LOAD && h->e_entry - ph[i].p_paddr < ph[i].p_memsz) {
			img->entry = h->e_entry;
			return 0;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (ph[i].p_type == PT_LOAD && h->e_entry - ph[i].p_vaddr < ph[i].p_memsz) {
			img->entry = h->e_entry - ph[i].p_vaddr + ph[i].p_paddr;
			return 0;
		}
	}
	return err_set(e, -ENOEXEC,
		       "ELF: e_entry 0x%" PRIx64 " is in no PT_LOAD; they are within 0x%" PRIx64
		       "-0x%" PRIx64,
		       h->e_entry, img->start, img->end);
}

/*
 * A note in a segment of notes: where its description is in @ret_notes, which is the caller's to
 * free. Notes come from anyone: one that cannot be read is not there.
 */
static bool find_note(int fd, const Elf64_Phdr *ph, const char *name, uint32_t type,
		      uint8_t **ret_notes, const uint8_t **ret_desc, size_t *ret_len)
{
	_cleanup_free_ uint8_t *notes = NULL;
	size_t len = ph->p_filesz;

	if (ph->p_type != PT_NOTE || len == 0 || len > NOTES_BYTES_MAX) {
		return false;
	}
	notes = malloc(len);
	if (!notes || io_pread_exact(fd, notes, len, ph->p_offset) < 0 ||
	    notes_find(notes, len, ph->p_align == 8 ? 8 : 4, name, type, ret_desc, ret_len) < 0) {
		return false;
	}
	*ret_notes = TAKE_PTR(notes);
	return true;
}

/* The build id is good to have: to be without is no error. */
static void read_build_id(int fd, const Elf64_Phdr *ph, size_t count, struct load_image *img)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ uint8_t *notes = NULL;
		const uint8_t *desc;
		size_t len;

		if (!find_note(fd, &ph[i], ELF_NOTE_GNU, NT_GNU_BUILD_ID, &notes, &desc, &len) ||
		    len > (LOAD_BUILD_ID_MAX - 1) / 2) {
			continue;
		}
		for (size_t j = 0; j < len; j++) {
			snprintf(img->build_id + 2 * j, 3, "%02x", desc[j]);
		}
		return;
	}
}

/* Where a guest is started without paging. What it says is judged when it is asked for. */
static void read_pvh(int fd, const Elf64_Phdr *ph, size_t count, struct load_image *img)
{
	for (size_t i = 0; i < count && img->pvh_bytes == 0; i++) {
		_cleanup_free_ uint8_t *notes = NULL;
		const uint8_t *desc;
		size_t len;

		if (!find_note(fd, &ph[i], NOTE_XEN, NOTE_PVH_ENTRY, &notes, &desc, &len)) {
			continue;
		}
		img->pvh_bytes = len;
		if (len == sizeof(uint32_t) || len == sizeof(uint64_t)) {
			memcpy(&img->pvh_entry, desc, len);
		}
	}
}

/**
 * elf_image_read() - check an ELF file and fill in what it asks for
 * @fd: the file
 * @h: its first bytes, ELF magic included
 * @img: zeros; filled in on success
 * @e: set on failure
 *
 * Return: 0, -ENOEXEC with the header field and both numbers in @e.
 * Context: a thread that may block.
 */
int elf_image_read(int fd, const struct head *h, struct load_image *img, struct err *e)
{
	_cleanup_(elf_end_p) Elf *elf = NULL;
	const Elf64_Phdr *ph;
	Elf64_Ehdr eh;
	int r;

	memcpy(&eh, h->bytes, sizeof(eh));
	r = check_header(&eh, h->file_bytes, e);
	if (!r) {
		r = open_elf(fd, &elf, e);
	}
	if (r < 0) {
		return r;
	}
	ph = elf64_getphdr(elf);
	if (!ph && eh.e_phnum > 0) {
		return err_set(e, -ENOEXEC, "ELF: the program headers cannot be read: %s",
			       elf_errmsg(-1));
	}
	r = read_segments(ph, eh.e_phnum, h->file_bytes, img, e);
	if (!r) {
		r = find_entry(&eh, ph, eh.e_phnum, img, e);
	}
	if (r < 0) {
		return r;
	}
	read_build_id(fd, ph, eh.e_phnum, img);
	read_pvh(fd, ph, eh.e_phnum, img);
	img->format = LOAD_FORMAT_ELF;
	snprintf(img->what, sizeof(img->what), "an ELF64 executable");
	img->header = (struct setup_header){
		.boot_flag = 0xaa55,
		.header = 0x53726448, /* "HdrS" */
		.version = BOOT_PROTOCOL,
		.loadflags = LOADED_HIGH,
		.kernel_alignment = KERNEL_ALIGNMENT,
		.initrd_addr_max = INITRD_ADDR_MAX,
		.cmdline_size = LOAD_CMDLINE_MAX,
	};
	return 0;
}

/* The word behind the banner, which is the version. */
static int take_version(const char *text, size_t len, char ret[LOAD_VERSION_MAX])
{
	size_t n = strnlen(text, len);
	const char *space = memchr(text, ' ', n);

	n = space ? (size_t)(space - text) : n;
	if (n == 0 || n >= LOAD_VERSION_MAX) {
		return -ENOENT;
	}
	memcpy(ret, text, n);
	ret[n] = '\0';
	return 0;
}

static int scan_for_banner(int fd, uint64_t offset, uint64_t bytes, char ret[LOAD_VERSION_MAX])
{
	/* Pieces overlap by what a banner and the longest version take. */
	const size_t overlap = strlen(BANNER) + LOAD_VERSION_MAX;
	_cleanup_free_ char *buf = malloc(SCAN_BYTES);

	if (!buf) {
		return -ENOMEM;
	}
	while (bytes > strlen(BANNER)) {
		size_t n = bytes < SCAN_BYTES ? bytes : SCAN_BYTES;
		size_t step = n > overlap ? n - overlap : n;
		const char *hit;
		int r = io_pread_exact(fd, buf, n, offset);

		if (r < 0) {
			return r;
		}
		hit = memmem(buf, n, BANNER, strlen(BANNER));
		if (hit && (hit < buf + step || n == bytes)) {
			hit += strlen(BANNER);
			return take_version(hit, (size_t)(buf + n - hit), ret);
		}
		if (n == bytes) {
			break;
		}
		offset += step;
		bytes -= step;
	}
	return -ENOENT;
}

/**
 * elf_image_version() - the version in the banner of a vmlinux
 * @img: an ELF image
 * @ret: set on success
 *
 * Return: 0, -ENOENT when there is no .rodata or no banner in it, or an errno.
 * Context: a thread that may block.
 */
int elf_image_version(const struct load_image *img, char ret[LOAD_VERSION_MAX])
{
	struct load_range at;
	int r = elf_image_section(img, ".rodata", &at);

	return r < 0 ? r : scan_for_banner(img->fd, at.gpa, at.bytes, ret);
}

/**
 * elf_image_section() - where in its file a section is
 * @img: an ELF image
 * @wanted: its name
 * @ret: set on success; gpa is the offset in the file
 *
 * Return: 0, -ENOENT when there is none, or an errno.
 * Context: a thread that may block.
 */
int elf_image_section(const struct load_image *img, const char *wanted, struct load_range *ret)
{
	_cleanup_(elf_end_p) Elf *elf = NULL;
	Elf_Scn *scn = NULL;
	size_t names;
	int r;

	r = open_elf(img->fd, &elf, NULL);
	if (r < 0) {
		return r;
	}
	if (elf_getshdrstrndx(elf, &names) < 0) {
		return -ENOENT;
	}
	while ((scn = elf_nextscn(elf, scn))) {
		const Elf64_Shdr *sh = elf64_getshdr(scn);
		const char *name = sh ? elf_strptr(elf, names, sh->sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0 && sh->sh_type != SHT_NOBITS &&
		    sh->sh_offset < img->file_bytes &&
		    sh->sh_size <= img->file_bytes - sh->sh_offset) {
			*ret = (struct load_range){.gpa = sh->sh_offset, .bytes = sh->sh_size};
			return 0;
		}
	}
	return -ENOENT;
}
