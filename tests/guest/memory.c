/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches the guest's memory: as much as there is but for a reserve, each page written with its own
 * number and then read back. Says how much on stdout, in MiB.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES    4096
#define RESERVE_BYTES (UINT64_C(24) << 20)

static uint64_t available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "MemAvailable: %llu kB", &kib) != 1) {
	}
	if (f) {
		fclose(f);
	}
	return (uint64_t)kib << 10;
}

int main(void)
{
	uint64_t there = available();
	uint64_t bytes =
		there > RESERVE_BYTES ? (there - RESERVE_BYTES) & ~(uint64_t)(PAGE_BYTES - 1) : 0;
	unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == 0 || p == MAP_FAILED) {
		fprintf(stderr, "%llu bytes cannot be had\n", (unsigned long long)bytes);
		return 1;
	}
	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
		uint64_t number = ~at;

		memcpy(p + at, &at, sizeof(at));
		memcpy(p + at + PAGE_BYTES - sizeof(number), &number, sizeof(number));
	}
	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
		uint64_t first, last;

		memcpy(&first, p + at, sizeof(first));
		memcpy(&last, p + at + PAGE_BYTES - sizeof(last), sizeof(last));
		if (first != at || last != ~at) {
			fprintf(stderr, "at byte %llu of %llu there is something else\n",
				(unsigned long long)at, (unsigned long long)bytes);
			return 1;
		}
	}
	printf("%llu\n", (unsigned long long)(bytes >> 20));
	return 0;
}
