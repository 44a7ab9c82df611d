/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See core.h. Runs on the event loop's thread, after the machine's end, behind the system call
 * filter. The file: header, program headers, notes, and from the next page on RAM from its first
 * byte to its last.
 */
#include "engine/core.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "engine/core_map.h"

#define MEMORY_MAX  8
#define PAGE_BYTES  4096u
#define CHUNK_BYTES (1u << 20)
#define NOTE_NAME   "CORE"

static const char note_name[8] = NOTE_NAME;

struct core {
	int fd;
	struct backend *b;
	struct backend_memory memory[MEMORY_MAX];
	size_t memory_count;
	const struct backend_cpu_state *cpus;
	size_t cpu_count;
	struct core_map map;
	const char *program;
};

/* A note: header, name and content, each a multiple of four bytes. */
#define NOTE_BYTES(content) (sizeof(Elf64_Nhdr) + sizeof(note_name) + sizeof(content))

static uint64_t headers_bytes(const struct core *c)
{
	return sizeof(Elf64_Ehdr) + (c->map.count + 1) * sizeof(Elf64_Phdr);
}

static uint64_t notes_bytes(const struct core *c)
{
	return NOTE_BYTES(struct elf_prpsinfo) + c->cpu_count * NOTE_BYTES(struct elf_prstatus);
}

static uint64_t memory_offset(const struct core *c)
{
	uint64_t end = headers_bytes(c) + notes_bytes(c);

	return (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Where in the file a byte of RAM stands. */
static uint64_t offset_of(const struct core *c, uint64_t gpa)
{
	uint64_t offset = memory_offset(c);

	for (size_t i = 0; i < c->memory_count; i++) {
		if (gpa - c->memory[i].gpa < c->memory[i].bytes) {
			return offset + (gpa - c->memory[i].gpa);
		}
		offset += c->memory[i].bytes;
	}
	return offset;
}

static int write_at(const struct core *c, const void *data, size_t bytes, uint64_t offset)
{
	while (bytes > 0) {
		ssize_t n = pwrite(c->fd, data, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -EIO;
		}
		data = (const char *)data + n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static void fill_headers(const struct core *c, Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	*eh = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*eh),
		.e_ehsize = sizeof(*eh),
		.e_phentsize = sizeof(*ph),
		.e_phnum = (Elf64_Half)(c->map.count + 1),
	};
	ph[0] = (Elf64_Phdr){.p_type = PT_NOTE,
			     .p_offset = headers_bytes(c),
			     .p_filesz = notes_bytes(c),
			     .p_align = 4};
	for (size_t i = 0; i < c->map.count; i++) {
		const struct core_range *r = &c->map.ranges[i];

		ph[i + 1] = (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_W | PF_X,
					 .p_offset = offset_of(c, r->gpa),
					 .p_vaddr = r->gva,
					 .p_paddr = r->gpa,
					 .p_filesz = r->bytes,
					 .p_memsz = r->bytes,
					 .p_align = PAGE_BYTES};
	}
}

static uint8_t *put_note(uint8_t *to, uint32_t type, const void *content, size_t bytes)
{
	const Elf64_Nhdr head = {sizeof(NOTE_NAME), (Elf64_Word)bytes, type};

	memcpy(to, &head, sizeof(head));
	to += sizeof(head);
	memcpy(to, note_name, sizeof(note_name));
	to += sizeof(note_name);
	memcpy(to, content, bytes);
	return to + bytes;
}

static void fill_notes(const struct core *c, uint8_t *to)
{
	struct elf_prpsinfo info = {.pr_state = 0};

	/* gdb compares this name with the program's, cut like this. */
	snprintf(info.pr_fname, sizeof(info.pr_fname), "%.15s", c->program);
	snprintf(info.pr_psargs, sizeof(info.pr_psargs), "%.79s", c->program);
	to = put_note(to, NT_PRPSINFO, &info, sizeof(info));
	for (size_t i = 0; i < c->cpu_count; i++) {
		struct elf_prstatus status = {.pr_pid = (pid_t)i + 1}; /* 0 is no thread */

		_Static_assert(sizeof(status.pr_reg) == sizeof(c->cpus[i].regs),
			       "both are user_regs_struct");
		memcpy(status.pr_reg, &c->cpus[i].regs, sizeof(status.pr_reg));
		to = put_note(to, NT_PRSTATUS, &status, sizeof(status));
	}
}

static int write_front(const struct core *c)
{
	size_t bytes = headers_bytes(c) + notes_bytes(c);
	_cleanup_free_ uint8_t *front = calloc(1, bytes);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)front;

	if (!front) {
		return -ENOMEM;
	}
	fill_headers(c, eh, (Elf64_Phdr *)(eh + 1));
	fill_notes(c, front + headers_bytes(c));
	return write_at(c, front, bytes, 0);
}

static bool is_zero(const uint8_t *page)
{
	/* Each byte is the one before it, and the first is none. */
	return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

/* What is not zero of a piece, in as few writes as there are runs of such pages. */
static int write_pages(const struct core *c, const uint8_t *data, size_t bytes, uint64_t offset)
{
	int r = 0;

	for (size_t at = 0, end; at < bytes && r == 0; at = end) {
		end = at + PAGE_BYTES;
		if (is_zero(data + at)) {
			continue;
		}
		while (end < bytes && !is_zero(data + end)) {
			end += PAGE_BYTES;
		}
		r = write_at(c, data + at, end - at, offset + at);
	}
	return r;
}

/* The pages that there are of one piece of RAM: those that the guest never had are holes. */
static int write_piece(const struct core *c, const struct backend_memory *m, uint8_t *chunk)
{
	uint64_t to = offset_of(c, m->gpa), at = 0;
	int r = 0;

	while (at < m->bytes && r == 0) {
		off_t data = lseek(m->fd, (off_t)(m->offset + at), SEEK_DATA);
		size_t n = CHUNK_BYTES;

		if (data < 0) {
			return errno == ENXIO ? 0 : -errno;
		}
		at = ((uint64_t)data - m->offset) / PAGE_BYTES * PAGE_BYTES;
		if (at >= m->bytes) {
			break;
		}
		n = m->bytes - at < n ? (size_t)(m->bytes - at) : n;
		r = io_pread_exact(m->fd, chunk, n, m->offset + at);
		if (r == 0) {
			r = write_pages(c, chunk, n, to + at);
		}
		at += n;
	}
	return r;
}

static int write_all(const struct core *c)
{
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK_BYTES);
	uint64_t end = memory_offset(c);
	int r = chunk ? write_front(c) : -ENOMEM;

	for (size_t i = 0; i < c->memory_count; i++) {
		end += c->memory[i].bytes;
	}
	if (r == 0 && ftruncate(c->fd, (off_t)end) < 0) {
		r = -errno;
	}
	for (size_t i = 0; i < c->memory_count && r == 0; i++) {
		r = write_piece(c, &c->memory[i], chunk);
	}
	return r;
}

/**
 * core_write() - write a guest into a file
 * @fd: an empty file
 * @b: the machine, which has ended, made with .whole_memory
 * @cpus: its vCPUs
 * @cpu_count: how many, 0 when they are gone with the machine
 * @kernel_path: what it booted: gdb compares names
 * @e: gets one line
 *
 * Return: 0 or a negative errno, -ENOSPC and -EFBIG among them; then the file is no good.
 * Context: blocks for as long as the disk does.
 */
int core_write(int fd, struct backend *b, const struct backend_cpu_state *cpus, size_t cpu_count,
	       const char *kernel_path, struct err *e)
{
	const char *slash = strrchr(kernel_path, '/');
	_cleanup_free_ struct core *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	c->fd = fd;
	c->b = b;
	c->program = slash ? slash + 1 : kernel_path;
	c->memory_count = b->ops->memory(b, c->memory, MEMORY_MAX);
	c->cpus = cpus;
	c->cpu_count = cpu_count;
	r = core_map_read(&c->map, b, c->memory, c->memory_count, c->cpus, c->cpu_count,
			  CORE_TABLES_MAX);
	if (c->cpu_count == 0) {
		log_warn("the core has no registers: they are gone with the machine");
	}
	if (c->map.cut) {
		log_warn("the core has the first %zu ranges of what the guest has mapped",
			 c->map.count);
	}
	if (r == 0) {
		r = write_all(c);
	}
	core_map_fini(&c->map);
	return r < 0 ? err_errno(e, r, "writing it") : 0;
}
