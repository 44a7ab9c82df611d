/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory functions that a freestanding compiler may call (GCC manual, "Standards"). */
#include "fw.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	void *at = dst;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(src), "+c"(n) : : "memory");
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	void *at = dst;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(c) : "memory");
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (size_t i = 0; i < n; i++) {
		if (x[i] != y[i]) {
			return x[i] < y[i] ? -1 : 1;
		}
	}
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n]) {
		n++;
	}
	return n;
}
