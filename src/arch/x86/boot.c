/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See boot.h. */
#include "arch/x86/boot.h"

#include <string.h>

#define PTE_PRESENT  UINT64_C(0x1)
#define PTE_WRITABLE UINT64_C(0x2)
#define PTE_USER     UINT64_C(0x4)
#define PTE_LARGE    UINT64_C(0x80)
#define PAGE_ENTRIES 512
#define LARGE_BYTES  UINT64_C(0x200000)
#define DIRECTORIES  4

/* Segment types, SDM 3A 3.4.5.1: with "accessed" set, so that the CPU never writes the table. */
#define TYPE_DATA     3
#define TYPE_CODE     11
#define TYPE_TSS_BUSY 11

/*
 * The task segment, SDM 3A figure 8-11, and behind it a bit for each port (SDM 1, 19.5.2), whose
 * last byte must be all ones.
 */
#define TSS_BYTES       0x68
#define TSS_IO_MAP_BASE 0x66
#define IO_MAP_BYTES    0x2000

/* Linux wants 0x10 and 0x18; the task segment takes two slots. */
enum { SLOT_CODE = 2, SLOT_DATA, SLOT_TSS, SLOT_USER_DATA = 6, SLOT_USER_CODE, SLOT_COUNT };

#define MSR_MISC_ENABLE         0x1a0
#define MISC_ENABLE_FAST_STRING 1
#define MSR_MTRR_DEF_TYPE       0x2ff
#define MTRR_ENABLE_WRITE_BACK  0x806

#define LAPIC_LVT0              0x350
#define LAPIC_LVT1              0x360
#define LVT_MODE_MASK           0x700u
#define LVT_MODE_NMI            0x400u
#define LVT_MODE_EXTINT         0x700u
#define LVT_MASKED              0x10000u

static struct kvm_segment segment(unsigned int slot, uint8_t type, uint8_t dpl)
{
	return (struct kvm_segment){
		.limit = 0xffffffff,
		.selector = (uint16_t)(slot * 8 + dpl),
		.type = type,
		.present = 1,
		.dpl = dpl,
		.s = 1,
		.g = 1,
		.l = type == TYPE_CODE,
		.db = type != TYPE_CODE,
	};
}

/*
 * Ring 3 has I/O privilege, which needs no map; but a KVM that runs ring 3 without hardware
 * virtualisation looks into the map all the same, so there is one, and it forbids nothing.
 */
static struct kvm_segment task_segment(enum x86_ring ring)
{
	return (struct kvm_segment){
		.base = ring == X86_RING_3 ? X86_BOOT_TSS : 0,
		.limit = TSS_BYTES - 1 + (ring == X86_RING_3 ? IO_MAP_BYTES + 1 : 0),
		.selector = SLOT_TSS * 8,
		.type = TYPE_TSS_BUSY,
		.present = 1,
	};
}

static int write_tss(const struct gmem *mem)
{
	const uint16_t map_base = TSS_BYTES;
	const uint64_t end = X86_BOOT_TSS + TSS_BYTES + IO_MAP_BYTES;
	int r = gmem_fill(mem, X86_BOOT_TSS, 0, end - X86_BOOT_TSS);

	if (r == 0) {
		r = gmem_write(mem, X86_BOOT_TSS + TSS_IO_MAP_BASE, &map_base, sizeof(map_base));
	}
	return r < 0 ? r : gmem_fill(mem, end, 0xff, 1);
}

/* The eight bytes of a descriptor, SDM 3A figure 3-8. */
static uint64_t descriptor(const struct kvm_segment *s)
{
	uint64_t limit = s->g ? s->limit >> 12 : s->limit;
	uint64_t d = limit & 0xffff;

	d |= (s->base & 0xffffff) << 16;
	d |= (uint64_t)s->type << 40;
	d |= (uint64_t)s->s << 44;
	d |= (uint64_t)s->dpl << 45;
	d |= (uint64_t)s->present << 47;
	d |= (limit >> 16 & 0xf) << 48;
	d |= (uint64_t)s->l << 53;
	d |= (uint64_t)s->db << 54;
	d |= (uint64_t)s->g << 55;
	d |= (s->base >> 24 & 0xff) << 56;
	return d;
}

static int write_gdt(const struct gmem *mem, enum x86_ring ring)
{
	const struct kvm_segment code = segment(SLOT_CODE, TYPE_CODE, 0);
	const struct kvm_segment data = segment(SLOT_DATA, TYPE_DATA, 0);
	const struct kvm_segment tss = task_segment(ring);
	const struct kvm_segment user_data = segment(SLOT_USER_DATA, TYPE_DATA, 3);
	const struct kvm_segment user_code = segment(SLOT_USER_CODE, TYPE_CODE, 3);
	const uint64_t gdt[SLOT_COUNT] = {
		[SLOT_CODE] = descriptor(&code),
		[SLOT_DATA] = descriptor(&data),
		[SLOT_TSS] = descriptor(&tss),
		[SLOT_USER_DATA] = descriptor(&user_data),
		[SLOT_USER_CODE] = descriptor(&user_code),
	};

	return gmem_write(mem, X86_BOOT_GDT, gdt, sizeof(gdt));
}

/**
 * x86_boot_write_tables() - write the descriptor table and the page tables
 * @mem: guest RAM, at least the first 64 KiB
 * @ring: X86_RING_3 opens all pages to user mode, and adds a task segment that opens all ports
 *
 * Return: 0, or −errno of gmem_write() when RAM does not reach that far.
 * Context: before the guest runs.
 */
int x86_boot_write_tables(const struct gmem *mem, enum x86_ring ring)
{
	const uint64_t flags = PTE_PRESENT | PTE_WRITABLE | (ring == X86_RING_3 ? PTE_USER : 0);
	uint64_t table[PAGE_ENTRIES] = {X86_BOOT_TABLES + GMEM_PAGE_BYTES + flags};
	int r = write_gdt(mem, ring);

	if (r == 0 && ring == X86_RING_3) {
		r = write_tss(mem);
	}
	if (r == 0) {
		r = gmem_write(mem, X86_BOOT_TABLES, table, sizeof(table));
	}
	for (unsigned int i = 0; i < DIRECTORIES; i++) {
		table[i] = X86_BOOT_TABLES + (2 + i) * GMEM_PAGE_BYTES + flags;
	}
	if (r == 0) {
		r = gmem_write(mem, X86_BOOT_TABLES + GMEM_PAGE_BYTES, table, sizeof(table));
	}
	for (unsigned int d = 0; d < DIRECTORIES && r == 0; d++) {
		for (unsigned int i = 0; i < PAGE_ENTRIES; i++) {
			table[i] = (d * PAGE_ENTRIES + i) * LARGE_BYTES + flags + PTE_LARGE;
		}
		r = gmem_write(mem, X86_BOOT_TABLES + (2 + d) * GMEM_PAGE_BYTES, table,
			       sizeof(table));
	}
	return r;
}

/**
 * x86_boot_sregs() - segments and control registers of the start state
 * @s: what the vCPU has after reset; changed in place (the APIC base stays)
 * @ring: where the guest starts
 *
 * Context: any thread.
 */
void x86_boot_sregs(struct kvm_sregs *s, enum x86_ring ring)
{
	const uint8_t dpl = ring == X86_RING_3 ? 3 : 0;
	const struct kvm_segment data = segment(dpl ? SLOT_USER_DATA : SLOT_DATA, TYPE_DATA, dpl);

	s->cs = segment(dpl ? SLOT_USER_CODE : SLOT_CODE, TYPE_CODE, dpl);
	s->ds = s->es = s->fs = s->gs = s->ss = data;
	s->tr = task_segment(ring);
	s->gdt = (struct kvm_dtable){.base = X86_BOOT_GDT, .limit = SLOT_COUNT * 8 - 1};
	s->idt = (struct kvm_dtable){.base = 0, .limit = 0};
	s->cr0 = X86_CR0_PE | X86_CR0_ET | X86_CR0_NE | X86_CR0_PG;
	s->cr3 = X86_BOOT_TABLES;
	s->cr4 = X86_CR4_PAE;
	if (dpl) {
		/* Ring 3 cannot turn the vector unit on for itself. */
		s->cr4 |= X86_CR4_OSFXSR | X86_CR4_OSXMMEX;
	}
	s->efer = X86_EFER_LME | X86_EFER_LMA;
}

/**
 * x86_boot_regs() - general registers of the start state
 * @ret: gets them
 * @rip: entry
 * @rsi: what the guest finds in RSI: the boot parameters, by the Linux protocol
 * @ring: X86_RING_3 gets I/O privilege, so that it can reach ports
 *
 * Context: any thread.
 */
void x86_boot_regs(struct kvm_regs *ret, uint64_t rip, uint64_t rsi, enum x86_ring ring)
{
	*ret = (struct kvm_regs){
		.rip = rip,
		.rsi = rsi,
		.rsp = X86_BOOT_STACK,
		.rbp = X86_BOOT_STACK,
		.rflags = X86_RFLAGS_1 | (ring == X86_RING_3 ? X86_RFLAGS_IOPL : 0),
	};
}

/**
 * x86_boot_pvh_sregs() - segments and control registers of a start by the PVH note
 * @s: what the vCPU has after reset; changed in place (the APIC base stays)
 *
 * Context: any thread. Source: Xen, docs/misc/pvh.pandoc.
 */
void x86_boot_pvh_sregs(struct kvm_sregs *s)
{
	const struct kvm_segment data = segment(SLOT_DATA, TYPE_DATA, 0);

	s->cs = segment(SLOT_CODE, TYPE_CODE, 0);
	s->cs.l = 0;
	s->cs.db = 1;
	s->ds = s->es = s->fs = s->gs = s->ss = data;
	s->tr = task_segment(X86_RING_0);
	s->gdt = (struct kvm_dtable){.base = 0, .limit = 0};
	s->idt = (struct kvm_dtable){.base = 0, .limit = 0};
	s->cr0 = X86_CR0_PE | X86_CR0_ET;
	s->cr3 = 0;
	s->cr4 = 0;
	s->efer = 0;
}

/**
 * x86_boot_pvh_regs() - general registers of a start by the PVH note
 * @ret: gets them
 * @eip: the note's entry
 * @ebx: address of the start info
 *
 * Context: any thread.
 */
void x86_boot_pvh_regs(struct kvm_regs *ret, uint32_t eip, uint32_t ebx)
{
	*ret = (struct kvm_regs){.rip = eip, .rbx = ebx, .rflags = X86_RFLAGS_1};
}

/**
 * x86_boot_fpu() - floating-point state as FNINIT and a reset of MXCSR leave it
 * @ret: gets it
 *
 * Context: any thread.
 */
void x86_boot_fpu(struct kvm_fpu *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->fcw = 0x37f;
	ret->mxcsr = 0x1f80;
}

/**
 * x86_boot_msrs() - model-specific registers that firmware would set
 * @ret: gets them
 *
 * Memory is write-back by default: without it Linux believes all of it uncached, and says so.
 *
 * Context: any thread. SDM 4, tables 2-2; 3A 12.11.2.1.
 */
void x86_boot_msrs(struct kvm_msr_table *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->head.nmsrs = 2;
	ret->entries[0].index = MSR_MISC_ENABLE;
	ret->entries[0].data = MISC_ENABLE_FAST_STRING;
	ret->entries[1].index = MSR_MTRR_DEF_TYPE;
	ret->entries[1].data = MTRR_ENABLE_WRITE_BACK;
}

static void set_lvt(struct kvm_lapic_state *l, unsigned int reg, uint32_t mode)
{
	uint32_t value;

	memcpy(&value, l->regs + reg, sizeof(value));
	value = (value & ~(LVT_MODE_MASK | LVT_MASKED)) | mode;
	memcpy(l->regs + reg, &value, sizeof(value));
}

/**
 * x86_boot_lapic() - wire the boot CPU's pins as a PC does: the PIC to LINT0, NMI to LINT1
 * @l: the local APIC after reset; changed in place
 *
 * Context: any thread. SDM 3A 10.5.1, MultiProcessor Specification 3.6.2.2 (virtual wire mode).
 */
void x86_boot_lapic(struct kvm_lapic_state *l)
{
	set_lvt(l, LAPIC_LVT0, LVT_MODE_EXTINT);
	set_lvt(l, LAPIC_LVT1, LVT_MODE_NMI);
}
