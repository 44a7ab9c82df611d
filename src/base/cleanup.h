/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scoped resources: a handful of cleanup attributes, and TAKE_PTR/TAKE_FD to hand a resource on.
 * Never mix them with a goto ladder for one resource.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_p(const int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

static inline void cleanup_fclose_p(FILE **f)
{
	if (*f) {
		fclose(*f);
	}
}

#define _cleanup_(fn)    __attribute__((cleanup(fn)))
#define _cleanup_free_   _cleanup_(cleanup_free_p)
#define _cleanup_close_  _cleanup_(cleanup_close_p)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose_p)

/* DEFINE_CLEANUP(struct foo *, foo_destroy) makes foo_destroy_p() for use with _cleanup_(). */
#define DEFINE_CLEANUP(type, fn)           \
	static inline void fn##_p(type *p) \
	{                                  \
		if (*p) {                  \
			fn(*p);            \
		}                          \
	}

#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#define ARRAY_SIZE(a)  (sizeof(a) / sizeof((a)[0]))
#define __must_check   __attribute__((warn_unused_result))
#define __printf(f, a) __attribute__((format(printf, f, a)))

#endif
