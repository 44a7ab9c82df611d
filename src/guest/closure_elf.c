/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dynamic linker reads in an ELF64 object for x86-64. The file is not trusted: every
 * number is checked before it is used. Source: System V gABI, chapter 5. Any thread.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/io.h"
#include "guest/closure_priv.h"

#define PHDRS_MAX         256
#define DYNAMIC_BYTES_MAX (1 << 20)
#define STRINGS_BYTES_MAX (64 << 20)

struct reader {
	const char *path;
	int fd;
	Elf64_Ehdr header;
	Elf64_Phdr *phdrs;
};

static int read_at(const struct reader *r, void *buf, size_t len, uint64_t offset, const char *what,
		   struct err *e)
{
	int ret = offset > INT64_MAX ? -EIO : io_pread_exact(r->fd, buf, len, offset);

	return ret < 0 ? err_set(e, -EBADMSG, "%s: cannot read %s: %zu bytes at %" PRIu64, r->path,
				 what, len, offset)
		       : 0;
}

static int read_headers(struct reader *r, struct err *e)
{
	const Elf64_Ehdr *h = &r->header;
	size_t len;

	if (io_pread_exact(r->fd, &r->header, sizeof(r->header), 0) < 0 ||
	    memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) {
		return err_set(e, -EBADMSG, "%s: no ELF file", r->path);
	}
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_X86_64) {
		return err_set(e, -ENOEXEC, "%s: ELF class %u for machine %u, expected 64-bit x86",
			       r->path, h->e_ident[EI_CLASS], h->e_machine);
	}
	if ((h->e_type != ET_EXEC && h->e_type != ET_DYN) || h->e_phentsize != sizeof(*r->phdrs) ||
	    h->e_phnum == 0 || h->e_phnum > PHDRS_MAX) {
		return err_set(e, -EBADMSG, "%s: neither a program nor a shared object", r->path);
	}
	len = h->e_phnum * sizeof(*r->phdrs);
	r->phdrs = malloc(len);
	if (!r->phdrs) {
		return err_errno(e, -ENOMEM, "%s", r->path);
	}
	return read_at(r, r->phdrs, len, h->e_phoff, "the program headers", e);
}

static const Elf64_Phdr *find_phdr(const struct reader *r, uint32_t type)
{
	for (size_t i = 0; i < r->header.e_phnum; i++) {
		if (r->phdrs[i].p_type == type) {
			return &r->phdrs[i];
		}
	}
	return NULL;
}

/* The segment whose part in the file holds all of @len bytes at @vaddr, or NULL. */
static const Elf64_Phdr *find_load(const struct reader *r, uint64_t vaddr, uint64_t len)
{
	for (size_t i = 0; i < r->header.e_phnum; i++) {
		const Elf64_Phdr *p = &r->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr &&
		    vaddr - p->p_vaddr <= p->p_filesz &&
		    len <= p->p_filesz - (vaddr - p->p_vaddr)) {
			return p;
		}
	}
	return NULL;
}

static int read_interp(const struct reader *r, struct closure_elf *elf, struct err *e)
{
	const Elf64_Phdr *p = find_phdr(r, PT_INTERP);

	if (!p) {
		return 0;
	}
	if (p->p_filesz < 2 || p->p_filesz > PATH_MAX) {
		return err_set(e, -EBADMSG, "%s: the interpreter's name has %" PRIu64 " bytes",
			       r->path, p->p_filesz);
	}
	elf->interp = calloc(1, p->p_filesz + 1);
	if (!elf->interp) {
		return err_errno(e, -ENOMEM, "%s", r->path);
	}
	return read_at(r, elf->interp, p->p_filesz, p->p_offset, "the interpreter's name", e);
}

static int read_strings(const struct reader *r, const Elf64_Dyn *dyn, size_t n,
			struct closure_elf *elf, size_t *ret_len, struct err *e)
{
	uint64_t at = 0, len = 0;
	const Elf64_Phdr *p;

	for (size_t i = 0; i < n; i++) {
		at = dyn[i].d_tag == DT_STRTAB ? dyn[i].d_un.d_ptr : at;
		len = dyn[i].d_tag == DT_STRSZ ? dyn[i].d_un.d_val : len;
	}
	p = len <= STRINGS_BYTES_MAX ? find_load(r, at, len) : NULL;
	if (!p) {
		return err_set(e, -EBADMSG,
			       "%s: the dynamic strings, %" PRIu64 " bytes at %#" PRIx64
			       ", are in no segment",
			       r->path, len, at);
	}
	elf->strings = calloc(1, len + 1);
	if (!elf->strings) {
		return err_errno(e, -ENOMEM, "%s", r->path);
	}
	*ret_len = len;
	return read_at(r, elf->strings, len, p->p_offset + (at - p->p_vaddr), "the dynamic strings",
		       e);
}

static int take_entry(const struct reader *r, const Elf64_Dyn *d, struct closure_elf *elf,
		      size_t strings_len, struct err *e)
{
	const char *text;

	switch (d->d_tag) {
	case DT_FLAGS_1:
		elf->nodeflib = d->d_un.d_val & DF_1_NODEFLIB;
		return 0;
	case DT_NEEDED:
	case DT_SONAME:
	case DT_RPATH:
	case DT_RUNPATH:
		break;
	default:
		return 0;
	}
	if (d->d_un.d_val >= strings_len) {
		return err_set(e, -EBADMSG,
			       "%s: a dynamic string at %" PRIu64 ", there are %zu bytes", r->path,
			       (uint64_t)d->d_un.d_val, strings_len);
	}
	text = elf->strings + d->d_un.d_val;
	switch (d->d_tag) {
	case DT_NEEDED:
		elf->needed[elf->n_needed++] = text;
		break;
	case DT_SONAME:
		elf->soname = text;
		break;
	case DT_RPATH:
		elf->rpath = text;
		break;
	default:
		elf->runpath = text;
		break;
	}
	return 0;
}

static int read_dynamic(const struct reader *r, struct closure_elf *elf, struct err *e)
{
	const Elf64_Phdr *p = find_phdr(r, PT_DYNAMIC);
	_cleanup_free_ Elf64_Dyn *dyn = NULL;
	size_t strings_len = 0, n;
	int ret;

	if (!p) {
		return 0; /* a static program */
	}
	if (p->p_filesz > DYNAMIC_BYTES_MAX) {
		return err_set(e, -EBADMSG, "%s: a dynamic section of %" PRIu64 " bytes", r->path,
			       p->p_filesz);
	}
	n = p->p_filesz / sizeof(*dyn);
	dyn = calloc(n + 1, sizeof(*dyn));
	elf->needed = calloc(n + 1, sizeof(*elf->needed));
	if (!dyn || !elf->needed) {
		return err_errno(e, -ENOMEM, "%s", r->path);
	}
	ret = read_at(r, dyn, n * sizeof(*dyn), p->p_offset, "the dynamic section", e);
	if (ret < 0) {
		return ret;
	}
	for (size_t i = 0; i < n; i++) {
		n = dyn[i].d_tag == DT_NULL ? i : n;
	}
	ret = read_strings(r, dyn, n, elf, &strings_len, e);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		ret = take_entry(r, &dyn[i], elf, strings_len, e);
	}
	return ret;
}

/**
 * closure_elf_read() - read what the dynamic linker would
 * @path: the file
 * @ret: set on success; end it with closure_elf_fini()
 * @e: set on failure, names @path
 *
 * Return: 0, -ENOEXEC for an object of another class or machine (which ld.so passes over), -EBADMSG
 * for a file that is no ELF object or a broken one, -ENOMEM, or the errno of open(2).
 * Context: reads the file.
 */
int closure_elf_read(const char *path, struct closure_elf *ret, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reader r = {.path = path, .fd = fd};
	struct closure_elf elf = {0};
	int rc;

	if (fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	rc = read_headers(&r, e);
	if (rc == 0) {
		rc = read_interp(&r, &elf, e);
	}
	if (rc == 0) {
		rc = read_dynamic(&r, &elf, e);
	}
	free(r.phdrs);
	if (rc < 0) {
		closure_elf_fini(&elf);
		return rc;
	}
	*ret = elf;
	return 0;
}

/**
 * closure_elf_fini() - free what closure_elf_read() allocated
 * @elf: all zero is fine
 *
 * Context: any thread.
 */
void closure_elf_fini(struct closure_elf *elf)
{
	free(elf->interp);
	free(elf->needed);
	free(elf->strings);
	*elf = (struct closure_elf){0};
}
