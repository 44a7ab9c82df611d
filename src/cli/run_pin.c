/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_pin.h. Runs on the main thread, before the machine is built. */
#include "cli/run_pin.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"

/* The core that a processor is a thread of. A host that does not say so has no such threads. */
static unsigned int core_of(unsigned int cpu)
{
	_cleanup_free_ char *text = NULL;
	char path[96];
	unsigned int first;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 cpu);
	if (io_read_file(path, 4096, &text, NULL, NULL) < 0 || sscanf(text, "%u", &first) != 1 ||
	    first >= PIN_HOST_CPUS_MAX) {
		return cpu;
	}
	return first;
}

/**
 * pin_host_read() - the processors that this process may run on
 * @cores: also find out which of them share a core; without, each is one of its own
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0, or the errno of sched_getaffinity(2): -EINVAL for more than PIN_HOST_CPUS_MAX.
 * Context: reads /sys for @cores.
 */
int pin_host_read(bool cores, struct pin_host *ret, struct err *e)
{
	cpu_set_t set;

	ret->count = 0;
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0) {
		return err_errno(e, -errno, "--pin: which processors there are");
	}
	for (unsigned int i = 0; i < PIN_HOST_CPUS_MAX; i++) {
		if (CPU_ISSET(i, &set)) {
			ret->cpu[ret->count++] = (struct pin_cpu){i, cores ? core_of(i) : i};
		}
	}
	return 0;
}

/* First one processor of each core, then the others. */
static int choose_auto(unsigned int vcpus, const struct pin_host *host, unsigned int *cpus,
		       struct err *e)
{
	bool core_taken[PIN_HOST_CPUS_MAX] = {false};
	bool cpu_taken[PIN_HOST_CPUS_MAX] = {false};
	unsigned int n = 0;

	if (vcpus > host->count) {
		return err_set(e, -EINVAL,
			       "--pin auto: %u vCPUs, and this process may run on %zu processor%s",
			       vcpus, host->count, host->count == 1 ? "" : "s");
	}
	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < host->count && n < vcpus; i++) {
			const struct pin_cpu *c = &host->cpu[i];

			if (!cpu_taken[i] && (others || !core_taken[c->core])) {
				cpu_taken[i] = true;
				core_taken[c->core] = true;
				cpus[n++] = c->number;
			}
		}
	}
	return 0;
}

/* A number at @*p, which then is behind it. */
static bool take_number(const char **p, uint64_t *ret)
{
	char digits[8];
	size_t len = strspn(*p, "0123456789");

	if (len == 0 || len >= sizeof(digits)) {
		return false;
	}
	memcpy(digits, *p, len);
	digits[len] = '\0';
	*p += len;
	return text_parse_u64(digits, ret) == 0;
}

/* "N" or "N-M" at @*p, which then is behind it and the comma. */
static int take_range(const char *value, const char **p, uint64_t *ret_first, uint64_t *ret_last,
		      struct err *e)
{
	bool good = take_number(p, ret_first);

	*ret_last = *ret_first;
	if (good && **p == '-') {
		++*p;
		good = take_number(p, ret_last) && *ret_last >= *ret_first;
	}
	if (good && **p == ',') {
		++*p;
		good = **p != '\0';
	} else if (good) {
		good = **p == '\0';
	}
	return good ? 0
		    : err_set(e, -EINVAL,
			      "--pin: expected 'auto' or numbers of processors such as 0,2-3, got "
			      "'%s'",
			      value);
}

static int check_usable(uint64_t cpu, const struct pin_host *host, const bool *taken, struct err *e)
{
	for (size_t i = 0; i < host->count; i++) {
		if (host->cpu[i].number == cpu) {
			return taken[cpu] ? err_set(e, -EINVAL,
						    "--pin: processor %llu stands there twice",
						    (unsigned long long)cpu)
					  : 0;
		}
	}
	return err_set(e, -EINVAL,
		       "--pin: there is no processor %llu, or this process may not run on it",
		       (unsigned long long)cpu);
}

static int choose_listed(const char *value, unsigned int vcpus, const struct pin_host *host,
			 unsigned int *cpus, struct err *e)
{
	bool taken[PIN_HOST_CPUS_MAX] = {false};
	const char *p = value;
	unsigned int n = 0;

	do {
		uint64_t first = 0, last = 0;
		int r = take_range(value, &p, &first, &last, e);

		for (uint64_t cpu = first; cpu <= last && r == 0; cpu++) {
			r = check_usable(cpu, host, taken, e);
			if (r == 0) {
				taken[cpu] = true;
				if (n < vcpus) {
					cpus[n] = (unsigned int)cpu;
				}
				n++;
			}
		}
		if (r < 0) {
			return r;
		}
	} while (*p);
	if (n < vcpus) {
		return err_set(e, -EINVAL, "--pin %s: %u processor%s for %u vCPUs", value, n,
			       n == 1 ? "" : "s", vcpus);
	}
	return 0;
}

/**
 * pin_choose() - a processor for each vCPU
 * @value: of --pin: "auto", or a list such as 0,2-3: vCPU i gets its i-th
 * @vcpus: how many there are
 * @host: what this process may run on
 * @ret_cpus: set on success, @vcpus numbers, no two the same
 * @e: set on failure
 *
 * Of its own, "auto" takes one thread of each core before it takes a second one of any.
 *
 * Return: 0, or -EINVAL: no list, a processor that there is not or that is not ours or stands there
 * twice, fewer processors than vCPUs.
 * Context: any thread; pure.
 */
int pin_choose(const char *value, unsigned int vcpus, const struct pin_host *host,
	       unsigned int *ret_cpus, struct err *e)
{
	return strcmp(value, "auto") == 0 ? choose_auto(vcpus, host, ret_cpus, e)
					  : choose_listed(value, vcpus, host, ret_cpus, e);
}
