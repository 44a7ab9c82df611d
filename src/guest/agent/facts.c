/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The "agent" line: what the guest is. See agent.h. */
#include "guest/agent/agent.h"

#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "abi/cpuid_print.h"
#include "base/io.h"

#define HWCAP2_FSGSBASE        (1UL << 1) /* asm/hwcap2.h: user space may use the instructions */

#define CPUID_1_ECX_HYPERVISOR (1U << 31)
#define CPUID_HYPERVISOR_LEAF  0x40000000U

static json_t *calltime_region(void)
{
	_cleanup_free_ char *text = NULL;
	uint64_t gpa, bytes;
	char hex[32];

	if (io_read_file("/sys/kernel/debug/calltime/region", 256, &text, NULL, NULL) < 0 ||
	    sscanf(text, "%" SCNx64 " %" SCNu64, &gpa, &bytes) != 2) {
		return json_null();
	}
	snprintf(hex, sizeof(hex), "0x%" PRIx64, gpa);
	return json_pack("{s:s, s:I}", "gpa", hex, "bytes", (json_int_t)bytes);
}

static json_t *hypervisor(void)
{
	unsigned int a, b, c, d;
	char name[13] = "";

	__cpuid(1, a, b, c, d);
	if (!(c & CPUID_1_ECX_HYPERVISOR)) {
		return json_null();
	}
	__cpuid(CPUID_HYPERVISOR_LEAF, a, b, c, d);
	memcpy(name, &b, 4);
	memcpy(name + 4, &c, 4);
	memcpy(name + 8, &d, 4);
	for (char *p = name; *p; p++) {
		*p = *p < ' ' || *p > '~' ? '?' : *p;
	}
	return json_string(name);
}

static json_t *clocksource(void)
{
	_cleanup_free_ char *text = NULL;

	if (io_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64,
			 &text, NULL, NULL) < 0) {
		return json_null();
	}
	text[strcspn(text, "\n")] = '\0';
	return json_string(text);
}

/**
 * facts_send() - send the "agent" line
 * @l: an open link
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of write(2).
 * Context: the agent, before the job starts.
 */
int facts_send(struct link *l, struct err *e)
{
	struct utsname u = {.release = ""};
	char print[20];
	cpu_set_t cpus;
	json_t *o;
	int r;

	snprintf(print, sizeof(print), "%016" PRIx64, cpuid_print_here());
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	uname(&u);
	o = json_pack("{s:s, s:s, s:s, s:i, s:o, s:{s:b, s:s, s:o, s:o}}", "type", "agent",
		      "version", RINGSIDE_VERSION, "uname", u.release, "cpus", CPU_COUNT(&cpus),
		      "calltime", calltime_region(), "facts", "fsgsbase",
		      (int)!!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE), "cpuid", print, "hypervisor",
		      hypervisor(), "clocksource", clocksource());
	r = link_send_line(l, o);
	return r < 0 ? err_errno(e, r, "agent: sending to the host") : 0;
}
