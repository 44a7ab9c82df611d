/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that a loop needs, and whether this processor has its instructions at all. In ring 3
 * nothing can be changed: the host has set CR4.FSGSBASE where CPUID offers it.
 */
#include "calibrate_priv.h"

#define LEAF1_ECX_PCID       (1u << 17)
#define LEAF7_EBX_FSGSBASE   (1u << 0)
#define LEAF7_EBX_SMAP       (1u << 20)
#define EXTENDED_EDX_SYSCALL (1u << 11)
#define EXTENDED_EDX_RDTSCP  (1u << 27)

#define CR4_FSGSBASE         (UINT64_C(1) << 16)
#define CR4_PCIDE            (UINT64_C(1) << 17)
#define CR3_NOFLUSH          (UINT64_C(1) << 63)
#define CR3_PCID_MASK        UINT64_C(0xfff)

#define MSR_EFER             0xc0000080u
#define MSR_STAR             0xc0000081u
#define MSR_LSTAR            0xc0000082u
#define MSR_SFMASK           0xc0000084u
#define MSR_FS_BASE          0xc0000100u
#define MSR_KERNEL_GS_BASE   0xc0000102u
#define EFER_SCE             1u

/* The selectors of the table that the host left us (SDM 2B, SYSCALL and SYSRET). */
#define STAR_KERNEL   UINT64_C(0x10) /* code; data behind it */
#define STAR_USER     UINT64_C(0x2b) /* data 8, code 16 bytes behind it */
#define RFLAGS_IOPL_3 UINT64_C(0x3002)

#define PTE_PRESENT   0x001
#define PTE_USER      0x004
#define PTE_LARGE     0x080
#define PTE_ADDRESS   UINT64_C(0x000ffffffffff000)
#define TABLE_ENTRIES 512

/* A base as threads have them: above 4 GiB. */
#define SOME_BASE UINT64_C(0x123456789000)

/* A line of its own, with its own address at its start, flags behind it, and room for the stores.
 */
static uint64_t cell[8] __attribute__((aligned(64)));
static uint64_t second_top[TABLE_ENTRIES] __attribute__((aligned(4096)));

void calibrate_syscall_entry(void);
__asm__(".text\n"
	".balign 64\n"
	"calibrate_syscall_entry:\n\t"
	"sysretq\n");

static void cpuid(uint32_t leaf, uint32_t *ret_b, uint32_t *ret_c, uint32_t *ret_d)
{
	uint32_t a = leaf;

	*ret_c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(*ret_b), "+c"(*ret_c), "=d"(*ret_d));
}

static void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

static uint64_t rdmsr(uint32_t msr)
{
	uint32_t a, d;

	__asm__ volatile("rdmsr" : "=a"(a), "=d"(d) : "c"(msr));
	return (uint64_t)d << 32 | a;
}

static bool has(enum calibrate_primitive which)
{
	uint32_t leaf1_b, leaf1_c, leaf1_d, leaf7_b, leaf7_c, leaf7_d, ext_b, ext_c, ext_d;

	cpuid(1, &leaf1_b, &leaf1_c, &leaf1_d);
	cpuid(7, &leaf7_b, &leaf7_c, &leaf7_d);
	cpuid(0x80000001, &ext_b, &ext_c, &ext_d);
	switch (which) {
	case CALIBRATE_RDTSC_PAIR:
		return ext_d & EXTENDED_EDX_RDTSCP;
	case CALIBRATE_RDFSBASE:
	case CALIBRATE_WRFSBASE:
	case CALIBRATE_RDGSBASE:
	case CALIBRATE_WRGSBASE:
		return leaf7_b & LEAF7_EBX_FSGSBASE;
	case CALIBRATE_STAC_CLAC:
		return leaf7_b & LEAF7_EBX_SMAP;
	case CALIBRATE_CR3_WRITE_PCID:
	case CALIBRATE_CR3_WRITE_NOFLUSH:
		return leaf1_c & LEAF1_ECX_PCID;
	case CALIBRATE_SYSCALL:
		return ext_d & EXTENDED_EDX_SYSCALL;
	default:
		return true;
	}
}

/* Two page tables that map the same, as the two halves of PTI do, to be loaded in turn. */
static void prepare_cr3(enum calibrate_primitive which, struct calibrate_input *in)
{
	uint64_t cr3, cr4;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	cr3 &= ~CR3_PCID_MASK;
	memcpy(second_top, (const void *)(uintptr_t)(cr3 & PTE_ADDRESS), sizeof(second_top));
	in->rsi = cr3;
	in->rdi = (uintptr_t)second_top;
	if (which == CALIBRATE_CR3_WRITE) {
		return;
	}
	__asm__ volatile("mov %0, %%cr3" : : "r"(cr3) : "memory");
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | CR4_PCIDE) : "memory");
	in->rsi |= 1;
	in->rdi |= 2;
	if (which == CALIBRATE_CR3_WRITE_NOFLUSH) {
		in->rsi |= CR3_NOFLUSH;
		in->rdi |= CR3_NOFLUSH;
	}
}

/* Lets ring 3 into every page: down to the entries that map something. */
static void open_table(uint64_t *table, unsigned int level)
{
	for (unsigned int i = 0; i < TABLE_ENTRIES; i++) {
		if (!(table[i] & PTE_PRESENT)) {
			continue;
		}
		table[i] |= PTE_USER;
		if (level > 1 && !(table[i] & PTE_LARGE)) {
			open_table((uint64_t *)(uintptr_t)(table[i] & PTE_ADDRESS), level - 1);
		}
	}
}

/**
 * calibrate_prepare() - make the processor ready for a loop
 * @which: the primitive
 * @ret: gets what the registers must hold
 *
 * Return: false when this processor does not have it.
 */
bool calibrate_prepare(enum calibrate_primitive which, struct calibrate_input *ret)
{
	cell[0] = (uintptr_t)cell;
	*ret = (struct calibrate_input){
		.rsi = (uintptr_t)cell,
		.rdi = (uintptr_t)cell,
		.r8 = SOME_BASE,
	};
	if (!has(which)) {
		return false;
	}
	switch (which) {
	case CALIBRATE_EXIT_PORT:
		ret->rdx = CALIBRATE_PORT;
		break;
	case CALIBRATE_EXIT_MMIO:
		ret->rdi = CALIBRATE_GPA;
		return fw_map_mmio(CALIBRATE_GPA);
	case CALIBRATE_WRMSR_FS_BASE:
	case CALIBRATE_WRMSR_KERNEL_GS_BASE:
		ret->rcx = which == CALIBRATE_WRMSR_FS_BASE ? MSR_FS_BASE : MSR_KERNEL_GS_BASE;
		ret->rax = (uint32_t)SOME_BASE;
		ret->rdx = SOME_BASE >> 32;
		break;
	case CALIBRATE_CR3_WRITE:
	case CALIBRATE_CR3_WRITE_PCID:
	case CALIBRATE_CR3_WRITE_NOFLUSH:
		prepare_cr3(which, ret);
		break;
	default:
		break;
	}
	return true;
}

/**
 * calibrate_enter_ring3() - go on in ring 3, with I/O privilege, on the same stack
 * @fn: what runs there; it must not return
 *
 * A SYSCALL comes back at once from there on, and FSGSBASE is allowed where it exists.
 */
_Noreturn void calibrate_enter_ring3(void (*fn)(void))
{
	register uint64_t flags __asm__("r11") = RFLAGS_IOPL_3;
	uint64_t cr3, cr4;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	open_table((uint64_t *)(uintptr_t)(cr3 & PTE_ADDRESS), 4);
	__asm__ volatile("mov %0, %%cr3" : : "r"(cr3) : "memory");
	if (has(CALIBRATE_RDFSBASE)) {
		__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
		__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | CR4_FSGSBASE));
	}
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, STAR_USER << 48 | STAR_KERNEL << 32);
	wrmsr(MSR_LSTAR, (uintptr_t)calibrate_syscall_entry);
	wrmsr(MSR_SFMASK, 0);
	/* As a call leaves the stack: 8 bytes off a multiple of 16. */
	__asm__ volatile("and $-16, %%rsp\n\t"
			 "sub $8, %%rsp\n\t"
			 "sysretq"
			 :
			 : "c"(fn), "r"(flags)
			 : "memory");
	__builtin_unreachable();
}
