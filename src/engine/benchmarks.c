/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See benchmarks.h. Pure; any thread. */
#include "engine/benchmarks.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Its guest's kernel runs virtual machines. */
#define KVM_HOST_BENCHMARK "kvmwalk"

/* In the order in which reports list them; bench/guest runs the same names. */
static const char *const names[] = {
	"syscall.null",
	"syscall.pipe1",
	"syscall.fault",
	"ctxsw.futex.fs",
	"ctxsw.futex.fsgs",
	"ctxsw.futex.proc.fs",
	"ctxsw.futex.proc.fsgs",
	"ctxsw.pipe.fs",
	"ctxsw.pipe.fsgs",
	"ctxsw.pipe.proc.fs",
	"ctxsw.pipe.proc.fsgs",
	"ctxsw.yield.fs",
	"ctxsw.yield.fsgs",
	"ctxsw.yield.proc.fs",
	"ctxsw.yield.proc.fsgs",
	"uaccess.get4.unchecked",
	"uaccess.get4.checked",
	"uaccess.get4.open",
	"uaccess.get4.open_nofence",
	"uaccess.get8.unchecked",
	"uaccess.get8.checked",
	"uaccess.get8.open",
	"uaccess.get8.open_nofence",
	"uaccess.put4.unchecked",
	"uaccess.put4.checked",
	"uaccess.put4.open",
	"uaccess.put4.open_nofence",
	"uaccess.put8.unchecked",
	"uaccess.put8.checked",
	"uaccess.put8.open",
	"uaccess.put8.open_nofence",
	KVM_HOST_BENCHMARK,
	"conn.http",
	"conn.server",
};

_Static_assert(ARRAY_SIZE(names) <= BENCHMARKS_MAX, "a set is 64 bits");

/**
 * benchmark_count() - how many benchmarks there are
 *
 * Return: 1 to BENCHMARKS_MAX.
 * Context: any thread.
 */
size_t benchmark_count(void)
{
	return ARRAY_SIZE(names);
}

/**
 * benchmark_name() - a benchmark's name
 * @i: below benchmark_count()
 *
 * Return: a constant text, such as "ctxsw.pipe.fs".
 * Context: any thread.
 */
const char *benchmark_name(size_t i)
{
	assert(i < ARRAY_SIZE(names));
	return names[i];
}

/* A name selects itself and all that it is a prefix of, up to a dot. */
static bool selects(const char *word, size_t len, const char *name)
{
	return strncmp(word, name, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

static const char *all_names(char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names) && n < len; i++) {
		n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? ", " : "", names[i]);
	}
	return buf;
}

/**
 * benchmarks_parse() - read a list of benchmarks
 * @list: names separated by commas; "ctxsw" stands for all that begin with "ctxsw."
 * @ret: set on success, never empty
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int benchmarks_parse(const char *list, benchmark_set *ret, struct err *e)
{
	benchmark_set set = 0;
	char buf[ERR_TEXT_MAX];

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		benchmark_set found = 0;

		for (size_t i = 0; len > 0 && i < ARRAY_SIZE(names); i++) {
			found |= selects(p, len, names[i]) ? benchmark_bit(i) : 0;
		}
		if (!found) {
			return err_set(e, -EINVAL,
				       "'%.*s' is no benchmark and no group; there are: %s",
				       (int)len, p, all_names(buf, sizeof(buf)));
		}
		set |= found;
		p += len;
		if (!*p) {
			break;
		}
	}
	*ret = set;
	return 0;
}

/**
 * benchmarks_check_backend() - can these benchmarks run in that backend's guests?
 * @set: benchmarks
 * @backend: "kvm" or "qemu"
 * @e: set on failure
 *
 * Return: 0, or -ENOTSUP.
 * Context: any thread.
 */
int benchmarks_check_backend(benchmark_set set, const char *backend, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((set & benchmark_bit(i)) && strcmp(names[i], KVM_HOST_BENCHMARK) == 0 &&
		    strcmp(backend, "qemu") != 0) {
			return err_set(e, -ENOTSUP,
				       "--bench: %s needs --backend qemu: its guest is a KVM host "
				       "itself, and the guest of another KVM would have to be "
				       "nested",
				       names[i]);
		}
	}
	return 0;
}
