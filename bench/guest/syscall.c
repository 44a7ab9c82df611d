/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall: ways into the kernel and back, without a context switch.
 *
 * syscall.null	 getppid(), the least that a system call can do
 * syscall.pipe1 a byte written to a pipe and read back: two system calls are one unit
 * syscall.fault the first write to a page of anonymous memory: the exception, and a page that is
 *		 allocated, cleared and mapped. Its page tables are there already.
 */
#include "bench.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"

#define PAGE_BYTES 4096

/* Both loops compile to the same instructions but one. */
static void null_loop(void *state, unsigned int turns)
{
	do {
		long r = SYS_getppid;

		__asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
	} while (--turns);
}

static void null_empty(void *state, unsigned int turns)
{
	do {
		long r = SYS_getppid;

		__asm__ volatile("" : "+a"(r) : : "rcx", "r11", "memory");
	} while (--turns);
}

static int null_setup(struct run *r, struct err *e)
{
	long ppid = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(ppid) : : "rcx", "r11", "memory");
	return ppid == getppid() ? 0
				 : err_set(e, -ENOTRECOVERABLE, "the call returned %ld, not %d",
					   ppid, getppid());
}

static int null_finish(struct run *r, struct err *e)
{
	return 0;
}

struct pipe1 {
	int fd[2];
	uint64_t turns; /* made so far */
	uint64_t bytes; /* that the calls of them said they moved */
};

static void pipe1_loop(void *state, unsigned int turns)
{
	struct pipe1 *p = state;
	uint64_t bytes = 0;
	char c = 0;

	p->turns += turns;
	do {
		bytes += (uint64_t)call3(SYS_write, p->fd[1], (long)&c, 1);
		bytes += (uint64_t)call3(SYS_read, p->fd[0], (long)&c, 1);
	} while (--turns);
	p->bytes += bytes;
}

static void pipe1_empty(void *state, unsigned int turns)
{
	do {
		__asm__ volatile("" : : : "memory");
	} while (--turns);
}

static int pipe1_setup(struct run *r, struct err *e)
{
	static struct pipe1 p;

	r->state = &p;
	return pipe(p.fd) < 0 ? err_errno(e, -errno, "pipe") : 0;
}

static int pipe1_finish(struct run *r, struct err *e)
{
	const struct pipe1 *p = r->state;

	return p->bytes == 2 * p->turns
		       ? 0
		       : err_set(e, -ENOTRECOVERABLE,
				 "%llu bytes went in or out in %llu turns, expected twice as many",
				 (unsigned long long)p->bytes, (unsigned long long)p->turns);
}

struct fault {
	char *pages;
	size_t bytes;
	char *next;      /* page that was not touched yet */
	long faults;     /* the process had when the pages were taken away */
	uint64_t missed; /* touched without a fault, or faults without a touch */
};

static void fault_loop(void *state, unsigned int turns)
{
	struct fault *f = state;
	char *page = f->next;

	do {
		*(volatile char *)page = 1;
		page += PAGE_BYTES;
	} while (--turns);
	f->next = page;
}

static void fault_empty(void *state, unsigned int turns)
{
	struct fault *f = state;
	char *page = f->next;

	do {
		__asm__ volatile("" : "+r"(page));
		page += PAGE_BYTES;
	} while (--turns);
}

static long faults_now(void)
{
	struct rusage ru = {0};

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_minflt;
}

/* Take the pages of the last batch away again; each must have cost one fault. */
static void fault_prepare(void *state)
{
	struct fault *f = state;
	long touched = (f->next - f->pages) / PAGE_BYTES;

	f->missed += faults_now() - f->faults != touched;
	f->missed += madvise(f->pages, f->bytes, MADV_DONTNEED) != 0;
	f->next = f->pages;
	f->faults = faults_now();
}

static int fault_setup(struct run *r, struct err *e)
{
	static struct fault f;

	f.bytes = (size_t)(r->calls + BATCH_SETTLE_TURNS) * PAGE_BYTES;
	f.pages = mmap(NULL, f.bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (f.pages == MAP_FAILED) {
		return err_errno(e, -errno, "mmap of %zu bytes", f.bytes);
	}
	/* All memory to come is locked, and what is locked cannot be given back. */
	if (munlock(f.pages, f.bytes) < 0) {
		return err_errno(e, -errno, "munlock");
	}
	if (madvise(f.pages, f.bytes, MADV_NOHUGEPAGE) < 0) {
		/* A kernel without huge pages does not know the word. */
	}
	f.next = f.pages;
	f.faults = faults_now();
	r->state = &f;
	return 0;
}

static int fault_finish(struct run *r, struct err *e)
{
	struct fault *f = r->state;

	fault_prepare(f); /* for the last batch */
	return f->missed == 0 ? 0
			      : err_set(e, -ENOTRECOVERABLE,
					"in %llu batches the page faults were not as many as pages "
					"touched, or the pages could not be taken away",
					(unsigned long long)f->missed);
}

const struct bench bench_syscall[] = {
	{
		.name = "syscall.null",
		.unit = "call",
		.calls = 1000,
		.calls_of_loop = 1,
		.setup = null_setup,
		.loop = null_loop,
		.empty = null_empty,
		.finish = null_finish,
	},
	{
		.name = "syscall.pipe1",
		.unit = "pair",
		.calls = 200,
		.calls_of_loop = 1,
		.setup = pipe1_setup,
		.loop = pipe1_loop,
		.empty = pipe1_empty,
		.finish = pipe1_finish,
	},
	{
		.name = "syscall.fault",
		.unit = "fault",
		.calls = 100,
		.calls_of_loop = 1,
		.setup = fault_setup,
		.prepare = fault_prepare,
		.loop = fault_loop,
		.empty = fault_empty,
		.finish = fault_finish,
	},
};
const size_t bench_syscall_count = ARRAY_SIZE(bench_syscall);
