/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program, without a C library: usage: test_compat32 0|1|n, the flag that it has to find,
 * or n where there is none to ask for. It makes system calls by int80 and by the vDSO's entry
 * (SYSENTER or SYSCALL), takes a signal, and asks for the flag the only way there is for 32-bit
 * code: through a far jump into 64-bit code, which makes the 64-bit system call. Status 0, or the
 * number of the check that failed.
 */
typedef unsigned int u32;

enum {
	NR_EXIT = 1,
	NR_KILL = 37,
	NR_GETPID = 20,
	NR_GETPPID = 64,
	NR_MUNMAP = 91,
	NR_MMAP2 = 192,
	NR_RT_SIGACTION = 174,
	NR_SCHED_YIELD = 158,
};

enum { SIGNAL = 10, AT_SYSINFO = 32, PROT_RWX = 7, MAP_PRIVATE_ANON = 0x22, ROUNDS = 500 };

/* The kernel's structures for a 32-bit program. */
struct action {
	void (*handler)(int);
	u32 flags;
	void (*restorer)(void);
	u32 mask[2];
};

static u32 vdso_entry;
static volatile int signals;

static long int80(long nr, long a, long b, long c, long d)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return r;
}

static long vdso_call(long nr)
{
	long r;

	__asm__ volatile("call *%1" : "=a"(r) : "m"(vdso_entry), "a"(nr) : "memory", "cc");
	return r;
}

/*
 * arch_prctl(ARCH_GET_NOPTI, &bits), number 158, by SYSCALL in 64-bit code. The way back is an
 * indirect far jump: a far return reads the stack as the kernel would in QEMU 7.2's software
 * processor, which SMAP then forbids.
 */
static long get_in_64_bit(unsigned long long *bits)
{
	struct {
		u32 offset;
		unsigned short selector;
	} __attribute__((packed)) back = {0, 0x23};
	long r;

	__asm__ volatile("push %%ebx\n\t"
			 "push %%ebp\n\t"
			 "movl $2f, (%%edx)\n\t"
			 "ljmp $0x33, $1f\n"
			 ".code64\n"
			 "1:\n\t"
			 "mov %%edx, %%ebp\n\t"
			 "mov %%rsp, %%rbx\n\t"
			 "and $-16, %%rsp\n\t"
			 "mov %%ecx, %%esi\n\t"
			 "mov $0x7002, %%edi\n\t"
			 "mov $158, %%eax\n\t"
			 "syscall\n\t"
			 "mov %%rbx, %%rsp\n\t"
			 "ljmpl *(%%rbp)\n"
			 ".code32\n"
			 "2:\n\t"
			 "pop %%ebp\n\t"
			 "pop %%ebx"
			 : "=a"(r), "+c"(bits)
			 : "d"(&back)
			 : "esi", "edi", "memory", "cc");
	return r;
}

static void on_signal(int sig)
{
	signals++;
	int80(NR_SCHED_YIELD, 0, 0, 0, 0);
}

__asm__(".text\nrestore:\n\tpop %eax\n\tmov $119, %eax\n\tint $0x80\n");
void restore(void);

static int signals_once(long pid)
{
	struct action sa = {
		.handler = on_signal, .flags = 0x04000000 /* SA_RESTORER */, .restorer = restore};

	if (int80(NR_RT_SIGACTION, SIGNAL, (long)&sa, 0, 8) != 0) {
		return 40;
	}
	for (int i = 0; i < ROUNDS; i++) {
		int80(NR_KILL, pid, SIGNAL, 0, 0);
		if (signals != i + 1) {
			return 41;
		}
	}
	return 0;
}

static long mmap2(u32 bytes)
{
	long r;

	__asm__ volatile("push %%ebp\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "int $0x80\n\t"
			 "pop %%ebp"
			 : "=a"(r)
			 : "a"(NR_MMAP2), "b"(0), "c"(bytes), "d"(PROT_RWX), "S"(MAP_PRIVATE_ANON),
			   "D"(-1)
			 : "memory");
	return r;
}

static int memory_once(void)
{
	for (int i = 0; i < ROUNDS / 5; i++) {
		unsigned char *p = (unsigned char *)mmap2(8192);

		if ((u32)p > 0xfffff000U) {
			return 50;
		}
		p[0] = 0xc3; /* ret */
		p[4096] = 1;
		((void (*)(void))p)();
		if (int80(NR_MUNMAP, (long)p, 8192, 0, 0) != 0) {
			return 51;
		}
	}
	return 0;
}

static int check(u32 flagged)
{
	long pid = int80(NR_GETPID, 0, 0, 0, 0), parent = int80(NR_GETPPID, 0, 0, 0, 0);
	unsigned long long bits = ~0ULL;
	int r;

	for (int i = 0; i < ROUNDS; i++) {
		if (int80(NR_GETPPID, 0, 0, 0, 0) != parent) {
			return 31;
		}
		if (!vdso_entry) {
			return 32;
		}
		if (vdso_call(NR_GETPID) != pid) {
			return 33;
		}
	}
	r = signals_once(pid);
	if (r == 0) {
		r = memory_once();
	}
	if (r) {
		return r;
	}
	for (int i = 0; flagged < 2 && i < 20; i++) {
		if (get_in_64_bit(&bits) != 0) {
			return 34;
		}
		if (bits != flagged) {
			return 35;
		}
	}
	return 0;
}

/* The stack at the start: argc, argv, 0, environment, 0, auxiliary vector. */
__attribute__((used)) static void begin(u32 *stack)
{
	u32 argc = stack[0], *p = stack + 1 + argc + 1;
	const char *word = argc == 2 ? (const char *)stack[2] : "n";

	while (*p) {
		p++;
	}
	for (p++; *p; p += 2) {
		if (*p == AT_SYSINFO) {
			vdso_entry = p[1];
		}
	}
	int80(NR_EXIT, *word == 'n' ? check(2) : check((u32)(*word - '0')), 0, 0, 0);
	for (;;) {
		/* not reached */
	}
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, %esp\n\t"
	"push %eax\n\tcall begin\n");
