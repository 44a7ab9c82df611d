/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uaccess: one access of the kernel to user memory, in the forms that it may be written in. The
 * kernel's own test does and times them (patch 0006 of guest-kernel-config), with interrupts off,
 * on a word of ours; a batch is one run of it. See bench.h.
 *
 * What it is to prove is that the accesses really happened: a read must have found what the word
 * holds, and a write must have left what it was told to.
 */
#include "bench.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEST             "/sys/kernel/debug/ringside_uaccess/"
#define FORM_BYTES       32

#define CPUID_7_EBX_SMAP (1u << 20)

/* The unrolled loop of the test, and how many accesses it makes at most. */
#define ACCESSES_OF_TURN 16
#define ACCESSES_MAX     65536

/* Neither the word's start nor what is written has a half that is 0 or equal to another. */
#define WORD_BEFORE UINT64_C(0x123456789abcdef1)
#define VALUE       UINT64_C(0xfedcba9876543210)

struct uaccess {
	_Alignas(64) uint64_t word; /* in a cache line of its own */
	char form[FORM_BYTES];
	uint64_t mask; /* of the bytes that are accessed */
	bool put;
};

/* What the last run of the test should have left and found. */
static int check_value(const struct uaccess *u, uint64_t found, struct err *e)
{
	uint64_t word = u->put ? (WORD_BEFORE & ~u->mask) | (VALUE & u->mask) : WORD_BEFORE;
	uint64_t value = u->put ? VALUE & u->mask : WORD_BEFORE & u->mask;

	if (u->word != word || found != value) {
		return err_set(e, -ENOTRECOVERABLE,
			       "%s: the word is %#" PRIx64 " and was to be %#" PRIx64
			       ", the value is %#" PRIx64 " and was to be %#" PRIx64,
			       u->form, u->word, word, found, value);
	}
	return 0;
}

static int uaccess_batch(struct run *r, unsigned int turns, uint64_t *ret_ticks,
			 uint64_t *ret_empty, struct err *e)
{
	struct uaccess *u = r->state;
	_cleanup_close_ int fd = open(TEST "run", O_RDWR | O_CLOEXEC);
	char text[96];
	uint64_t value;
	ssize_t n;

	if (fd < 0) {
		return err_errno(e, -errno, "%s", TEST "run");
	}
	u->word = WORD_BEFORE;
	n = snprintf(text, sizeof(text), "%s %u %#" PRIxPTR " %#" PRIx64, u->form,
		     turns * r->bench->calls_of_loop, (uintptr_t)&u->word, VALUE);
	if (write(fd, text, (size_t)n) != n) {
		return err_errno(e, -errno, "%srun: writing '%s'", TEST, text);
	}
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		return err_errno(e, -errno, "%srun", TEST);
	}
	text[n] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNx64, ret_ticks, ret_empty, &value) != 3) {
		return err_set(e, -EBADMSG, "%srun: read '%s', expected three numbers", TEST, text);
	}
	return check_value(u, value, e);
}

static bool file_has(const char *path, const char *word)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, word) != NULL;
}

/* SMAP and the fence are patched in at boot: what is measured must be what the arm asks for. */
static int check_cpu(struct err *e)
{
	unsigned int a, b = 0, c, d;
	bool smap = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_7_EBX_SMAP) &&
		    !file_has("/proc/cmdline", "clearcpuid=smap");

	if (!file_has(TEST "cpu", smap ? "smap 1" : "smap 0")) {
		return err_set(e, -ENOTRECOVERABLE, "the kernel %s SMAP, and should%s",
			       smap ? "does not use" : "uses", smap ? "" : " not");
	}
	if (!file_has(TEST "cpu", "lfence 1")) {
		return err_set(e, -ENOTRECOVERABLE,
			       "the kernel does not take LFENCE for a fence on this processor");
	}
	return 0;
}

static int uaccess_setup(struct run *r, struct err *e)
{
	/* One benchmark a process, so this is as good as its own memory. */
	static struct uaccess uaccess;
	struct uaccess *u = &uaccess;
	uint64_t ticks, empty;

	/* Behind "uaccess." the benchmarks are called as the kernel calls the forms. */
	snprintf(u->form, sizeof(u->form), "%s", strchr(r->bench->name, '.') + 1);
	u->put = u->form[0] == 'p';
	u->mask = u->form[3] == '4' ? UINT32_MAX : UINT64_MAX;
	r->state = u;
	if (r->calls > ACCESSES_MAX) {
		return err_set(e, -EINVAL, "%u accesses a batch, expected at most %d", r->calls,
			       ACCESSES_MAX);
	}
	if (access(TEST "run", W_OK) < 0) {
		return err_errno(e, -errno, "%srun: this kernel lacks CONFIG_RINGSIDE_UACCESS_TEST",
				 TEST);
	}
	if (check_cpu(e) < 0) {
		return e->code;
	}
	return uaccess_batch(r, 1, &ticks, &empty, e);
}

static int uaccess_finish(struct run *r, struct err *e)
{
	return 0;
}

#define ROW(form)                                                                                  \
	{                                                                                          \
		.name = "uaccess." form, .unit = "access", .calls = 1024,                          \
		.calls_of_loop = ACCESSES_OF_TURN, .setup = uaccess_setup, .batch = uaccess_batch, \
		.finish = uaccess_finish                                                           \
	}
#define ROWS(way) \
	ROW(way ".unchecked"), ROW(way ".checked"), ROW(way ".open"), ROW(way ".open_nofence")

const struct bench bench_uaccess[] = {ROWS("get4"), ROWS("get8"), ROWS("put4"), ROWS("put8")};
const size_t bench_uaccess_count = ARRAY_SIZE(bench_uaccess);
