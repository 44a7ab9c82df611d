/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops. Each primitive's instructions stand 'copies' times in a loop that differs from the
 * empty one in nothing else: same registers, same distance from the first TSC read, the loop's head
 * on a cache line. The padding lies before the first read, so that it is never counted.
 *
 * When a loop starts, RBX is 1 and the other registers hold what calibrate_prepare() chose; RSI is
 * the address of a cell that holds its own address. What must be the kernel's is written as the
 * kernel's (arch/x86/lib/getuser.S and putuser.S, 6.12).
 */
#include "calibrate_priv.h"

/* The bytes from the first LFENCE to the head of the loop. */
#define HEAD_BYTES 24

#define LOOP(name, copies, body)                                                                   \
	__attribute__((noinline)) uint64_t name(uint64_t loops, const struct calibrate_input *in)  \
	{                                                                                          \
		register uint64_t rounds __asm__("r9") = loops;                                    \
		register uint64_t rax __asm__("r10") = in->rax;                                    \
		register uint64_t rdx __asm__("r11") = in->rdx;                                    \
		register uint64_t start __asm__("r12");                                            \
		register uint64_t r8 __asm__("r8") = in->r8;                                       \
		uint64_t rcx = in->rcx, rsi = in->rsi, rdi = in->rdi, rbx = 1, lo, hi;             \
                                                                                                   \
		__asm__ volatile(".p2align 6\n\t"                                                  \
				 ".skip 64 - %c[head], 0x90\n\t"                                   \
				 "lfence\n\t"                                                      \
				 "rdtsc\n\t"                                                       \
				 "lfence\n\t"                                                      \
				 "shl $32, %%rdx\n\t"                                              \
				 "or %%rdx, %%rax\n\t"                                             \
				 "mov %%rax, %%r12\n\t"                                            \
				 "mov %%r10, %%rax\n\t"                                            \
				 "mov %%r11, %%rdx\n"                                              \
				 "1:\n\t"                                                          \
				 ".rept " #copies "\n\t" body "\n\t.endr\n\t"                      \
				 "dec %%r9\n\t"                                                    \
				 "jnz 1b\n"                                                        \
				 "2:\n\t"                                                          \
				 "lfence\n\t"                                                      \
				 "rdtsc\n\t"                                                       \
				 "lfence"                                                          \
				 : "=&a"(lo), "=&d"(hi), "=&r"(start), "+r"(rounds), "+r"(rax),    \
				   "+r"(rdx), "+r"(r8), "+c"(rcx), "+S"(rsi), "+D"(rdi), "+b"(rbx) \
				 : [head] "i"(HEAD_BYTES)                                          \
				 : "cc", "memory");                                                \
		return (hi << 32 | lo) - start;                                                    \
	}

/* USER_PTR_MAX of a kernel with four levels of page tables. */
#define MASK_POINTER(reg)                   \
	"movabs $0x7ffffffff000, %%rdx\n\t" \
	"cmp %%rdx, " reg "\n\t"            \
	"cmova %%rdx, " reg "\n\t"

LOOP(calibrate_empty, 0, "")
LOOP(calibrate_chain, 64, "add %%rbx, %%rax")

#define STATIC_LOOP(name, copies, body) static LOOP(name, copies, body)

STATIC_LOOP(rdtsc_pair, 16, "lfence\n\t rdtsc\n\t rdtscp\n\t lfence")
STATIC_LOOP(lfence, 64, "lfence")
STATIC_LOOP(rdfsbase, 64, "rdfsbase %%rax")
STATIC_LOOP(wrfsbase, 64, "wrfsbase %%r8")
STATIC_LOOP(rdgsbase, 64, "rdgsbase %%rax")
STATIC_LOOP(wrgsbase, 64, "wrgsbase %%r8")
STATIC_LOOP(load_plain, 64, "mov (%%rsi), %%rsi")
STATIC_LOOP(load_masked, 64, MASK_POINTER("%%rsi") "mov (%%rsi), %%rsi")
STATIC_LOOP(load_fenced, 64, "lfence\n\t mov (%%rsi), %%rsi")
STATIC_LOOP(load_masked_independent, 64,
	    "mov %%rsi, %%rax\n\t" MASK_POINTER("%%rax") "mov (%%rax), %%rcx")
STATIC_LOOP(load_fenced_independent, 64, "mov %%rsi, %%rax\n\t lfence\n\t mov (%%rax), %%rcx")
STATIC_LOOP(store_plain, 64, "mov %%rsi, %%rcx\n\t mov %%rax, 16(%%rcx)")
STATIC_LOOP(store_checked, 64,
	    "mov %%rsi, %%rcx\n\t mov %%rcx, %%rbx\n\t sar $63, %%rbx\n\t or %%rbx, %%rcx\n\t"
	    "mov %%rax, 16(%%rcx)")
STATIC_LOOP(test_cr3, 64, "bt $12, %%rbx\n\t jc 2f")
STATIC_LOOP(test_flag, 64, "mov (%%rsi), %%rax\n\t btq $18, 8(%%rax)\n\t jc 2f")
STATIC_LOOP(exit_port, 1, "out %%al, %%dx")
STATIC_LOOP(exit_mmio, 1, "mov %%eax, (%%rdi)")
STATIC_LOOP(wrmsr, 16, "wrmsr")
STATIC_LOOP(swapgs, 64, "swapgs")
STATIC_LOOP(stac_clac, 64, "stac\n\t clac")
STATIC_LOOP(cr3_read, 64, "mov %%cr3, %%rax")
STATIC_LOOP(cr3_write, 8, "mov %%rsi, %%cr3\n\t mov %%rdi, %%cr3")
STATIC_LOOP(syscall, 16, "syscall")

const calibrate_loop calibrate_loops[CALIBRATE_PRIMITIVE_COUNT] = {
	[CALIBRATE_RDTSC_PAIR] = rdtsc_pair,
	[CALIBRATE_LFENCE] = lfence,
	[CALIBRATE_RDFSBASE] = rdfsbase,
	[CALIBRATE_WRFSBASE] = wrfsbase,
	[CALIBRATE_RDGSBASE] = rdgsbase,
	[CALIBRATE_WRGSBASE] = wrgsbase,
	[CALIBRATE_LOAD_PLAIN] = load_plain,
	[CALIBRATE_LOAD_MASKED] = load_masked,
	[CALIBRATE_LOAD_FENCED] = load_fenced,
	[CALIBRATE_LOAD_MASKED_INDEPENDENT] = load_masked_independent,
	[CALIBRATE_LOAD_FENCED_INDEPENDENT] = load_fenced_independent,
	[CALIBRATE_STORE_PLAIN] = store_plain,
	[CALIBRATE_STORE_CHECKED] = store_checked,
	[CALIBRATE_TEST_CR3] = test_cr3,
	[CALIBRATE_TEST_FLAG] = test_flag,
	[CALIBRATE_EXIT_PORT] = exit_port,
	[CALIBRATE_EXIT_MMIO] = exit_mmio,
	[CALIBRATE_WRMSR_FS_BASE] = wrmsr,
	[CALIBRATE_WRMSR_KERNEL_GS_BASE] = wrmsr,
	[CALIBRATE_SWAPGS] = swapgs,
	[CALIBRATE_STAC_CLAC] = stac_clac,
	[CALIBRATE_CR3_READ] = cr3_read,
	[CALIBRATE_CR3_WRITE] = cr3_write,
	[CALIBRATE_CR3_WRITE_PCID] = cr3_write,
	[CALIBRATE_CR3_WRITE_NOFLUSH] = cr3_write,
	[CALIBRATE_SYSCALL] = syscall,
};
