/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests that run in the guest report in KTAP version 1, the kernel's own format. Each case runs
 * in a process of its own, so it starts with one thread and an address space that nobody else has,
 * and may crash or hang without taking the others along: a signal is a failure, a hang ends at the
 * time limit. What a case finds wrong is said on a '# ' line before its result.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stddef.h>

enum ktap_status {
	KTAP_PASS = 0,
	KTAP_FAIL = 1,
	KTAP_SKIP = 4,
};

/**
 * struct ktap_case - one test
 * @name: a few words, without '#' and newlines
 * @run: returns when the test has passed; else ends by ktap_check() or ktap_skip()
 * @limit_s: seconds after which it hangs, times KTAP_PATIENCE of the environment; 0 is KTAP_LIMIT_S
 */
struct ktap_case {
	const char *name;
	void (*run)(void);
	unsigned int limit_s;
};

#define KTAP_LIMIT_S 60

int ktap_run(const struct ktap_case *cases, size_t count);
void ktap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ktap_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void ktap_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void ktap_reap(int pid, const char *what);

/* End the case as failed unless @ok; also in a child process or a thread of it. */
#define ktap_check(ok, ...)                                         \
	do {                                                        \
		if (!(ok)) {                                        \
			ktap_fail(__FILE__, __LINE__, __VA_ARGS__); \
		}                                                   \
	} while (0)

#endif
