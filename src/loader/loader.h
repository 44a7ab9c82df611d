/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From files to a machine that can start: open (what is this file, what does it ask for), plan
 * (where everything goes in this machine's RAM), place (carry the plan out). The first two read
 * only headers and touch no guest memory, so every refusal comes before a machine is built.
 *
 *	load_image_open() -> load_plan_make() -> load_plan_place() -> load_image_close()
 *
 * Kernels are started by the 64-bit Linux boot protocol: in long mode at the entry, with the
 * address of the boot parameters in RSI; or, when that is asked for, by their PVH note: in
 *protected mode without paging, with the address of the start info in EBX. Firmware payloads, which
 *are plain static ELF64 programs linked for 1 MiB or above, are started the same way.
 */
#ifndef LOADER_LOADER_H
#define LOADER_LOADER_H

#include <asm/bootparam.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "hw/gmem.h"

/* What goes below 1 MiB belongs to the machine: a kernel may not be loaded there. */
#define LOAD_BOOT_PARAMS_GPA UINT64_C(0x7000)
#define LOAD_CMDLINE_GPA     UINT64_C(0x20000)
#define LOAD_LOW_RAM_END     UINT64_C(0x9fc00)
#define LOAD_KERNEL_GPA_MIN  UINT64_C(0x100000)

#define LOAD_CMDLINE_MAX     2047 /* bytes, without the NUL: COMMAND_LINE_SIZE of x86 less one */
#define LOAD_SEGMENTS_MAX    32
#define LOAD_PHDRS_MAX       128
#define LOAD_PARTS_MAX       8
#define LOAD_WHAT_MAX        96
#define LOAD_VERSION_MAX     96
#define LOAD_BUILD_ID_MAX    64

enum load_format {
	LOAD_FORMAT_ELF,
	LOAD_FORMAT_BZIMAGE,
};

/* Bytes of the file that go to guest memory, zeros behind them. */
struct load_segment {
	uint64_t gpa;
	uint64_t mem_bytes;
	uint64_t file_offset;
	uint64_t file_bytes; /* at most mem_bytes */
};

/* What a kernel file asks for. */
struct load_image {
	enum load_format format;
	int fd; /* owned */
	uint64_t file_bytes;
	uint64_t entry; /* gpa */
	uint64_t start; /* the memory it needs to start in, end excluded: bss, init_size counted */
	uint64_t end;
	unsigned int segment_count;
	struct load_segment segments[LOAD_SEGMENTS_MAX]; /* by gpa, not overlapping */
	struct setup_header header; /* of a bzImage; for ELF what a loader would have filled in */
	char what[LOAD_WHAT_MAX];   /* "a bzImage, protocol 2.15, zstd payload" */
	char build_id[LOAD_BUILD_ID_MAX]; /* hexadecimal; empty when there is none */
	size_t pvh_bytes;                 /* of the PVH note; 0: there is none */
	uint64_t pvh_entry;               /* gpa, of a note of 4 or 8 bytes */
};

/* One piece of the initrd. The kernel unpacks them one after the other. */
struct load_part {
	const char *name; /* for messages; borrowed */
	const void *data; /* the bytes, borrowed; NULL: they are in the file */
	int fd;           /* owned when load_part_open() made it */
	uint64_t bytes;
};

struct load_request {
	const struct gmem_region *ram; /* by gpa, as gmem_layout() made them */
	unsigned int ram_count;
	const char *cmdline; /* everything counted, the machine's own arguments too */
	const struct load_part *parts;
	unsigned int part_count;
	uint64_t rsdp_gpa; /* of the ACPI root; 0: there is none */
	bool pvh;          /* started by its PVH note: start info in place of boot parameters */
	bool copy;         /* guest RAM stays what it is mapped from: nothing is mapped over it */
};

/*
 * What a PVH guest finds in EBX, with what it points to behind it. Source: Xen,
 * xen/include/public/arch-x86/hvm/start_info.h.
 */
struct pvh_start_info {
	uint32_t magic, version, flags, modules;
	uint64_t modules_gpa, cmdline_gpa, rsdp_gpa, memory_gpa;
	uint32_t memory_entries, reserved;
};

struct pvh_module {
	uint64_t gpa, bytes, cmdline_gpa, reserved;
};

struct pvh_memory {
	uint64_t gpa, bytes;
	uint32_t type, reserved; /* as e820 has them */
};

struct pvh_page {
	struct pvh_start_info info;
	struct pvh_module initrd;
	struct pvh_memory memory[GMEM_REGIONS_MAX + 2];
};

/* Where everything goes. Borrows the image and the parts' bytes. */
struct load_plan {
	const struct load_image *image;
	char cmdline[LOAD_CMDLINE_MAX + 1];
	struct boot_params boot_params;
	bool pvh; /* then the next goes to memory, and the boot parameters do not */
	struct pvh_page pvh_page;
	bool copy;
	uint64_t initrd_gpa; /* 0: there is none */
	uint64_t initrd_bytes;
	unsigned int part_count;
	struct load_part parts[LOAD_PARTS_MAX];
	uint64_t part_gpa[LOAD_PARTS_MAX];
};

struct load_range {
	uint64_t gpa;
	uint64_t bytes;
};

struct load_placed {
	uint64_t mapped_bytes; /* shared with the page cache until the guest writes to them */
	uint64_t copied_bytes;
};

int load_image_open(const char *path, struct load_image *ret, struct err *e) __must_check;
int load_image_probe(int fd, struct load_image *ret, struct err *e) __must_check;
void load_image_close(struct load_image *img);
int load_image_version(const struct load_image *img, char ret[LOAD_VERSION_MAX]) __must_check;

int load_part_open(const char *path, struct load_part *ret, struct err *e) __must_check;
void load_part_close(struct load_part *p);

uint64_t load_minimum_bytes(const struct load_image *img, const struct load_part *parts,
			    unsigned int count);
int load_plan_make(const struct load_image *img, const struct load_request *rq,
		   struct load_plan *ret, struct err *e) __must_check;

bool load_mappable(uint64_t gpa, uint64_t file_offset, uint64_t file_bytes, struct load_range *ret);
int load_plan_place(const struct load_plan *p, const struct gmem *g, struct load_placed *ret,
		    struct err *e) __must_check;

#endif
