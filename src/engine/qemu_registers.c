/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See qemu_registers_priv.h. */
#include "engine/qemu_registers_priv.h"

#include <stdlib.h>
#include <string.h>

/* QEMU prints the vector registers too; the general ones and the segments say what is needed. */
static void cut_after_control_registers(char *text)
{
	char *cut = strstr(text, "FCW=");

	if (cut) {
		*cut = '\0';
	}
}

/**
 * qemu_registers_parse() - the registers of each vCPU
 * @all: what "info registers -a" printed; changed
 * @cpus: filled in; their texts become the caller's
 * @max: room in it
 *
 * Return: how many were filled in.
 */
size_t qemu_registers_parse(char *all, struct backend_cpu_state *cpus, size_t max)
{
	size_t n = 0;
	char *p, *next;

	for (p = strstr(all, "CPU#"); p && n < max; p = next) {
		char *rip;

		next = strstr(p + 1, "CPU#");
		if (next) {
			next[-1] = '\0';
		}
		p += strcspn(p, "\n");
		cut_after_control_registers(p);
		rip = strstr(p, "RIP=");
		cpus[n].rip = rip ? strtoull(rip + 4, NULL, 16) : 0;
		cpus[n].text = strdup(*p ? p + 1 : p);
		n += cpus[n].text != NULL;
	}
	return n;
}
