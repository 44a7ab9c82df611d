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

/* "RAX=0000000000000001" or "CR0=80050033", wherever in the text. */
static uint64_t value_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* "GS =0000 ffff88801f200000 ffffffff 00c00000": selector and base. */
static uint64_t segment_of(const char *text, const char *name, bool base)
{
	const char *at = strstr(text, name);

	if (!at) {
		return 0;
	}
	at += strlen(name);
	return strtoull(base ? at + strcspn(at, " \n") : at, NULL, 16);
}

/* Of a processor in 64-bit mode; of another the text has other names, and they stay 0. */
static void parse_values(const char *text, struct backend_cpu_state *cpu)
{
	cpu->regs = (struct user_regs_struct){
		.r15 = value_of(text, "R15="),
		.r14 = value_of(text, "R14="),
		.r13 = value_of(text, "R13="),
		.r12 = value_of(text, "R12="),
		.rbp = value_of(text, "RBP="),
		.rbx = value_of(text, "RBX="),
		.r11 = value_of(text, "R11="),
		.r10 = value_of(text, "R10="),
		.r9 = value_of(text, "R9 ="),
		.r8 = value_of(text, "R8 ="),
		.rax = value_of(text, "RAX="),
		.rcx = value_of(text, "RCX="),
		.rdx = value_of(text, "RDX="),
		.rsi = value_of(text, "RSI="),
		.rdi = value_of(text, "RDI="),
		.orig_rax = UINT64_MAX,
		.rip = value_of(text, "RIP="),
		.cs = segment_of(text, "CS =", false),
		.eflags = value_of(text, "RFL="),
		.rsp = value_of(text, "RSP="),
		.ss = segment_of(text, "SS =", false),
		.fs_base = segment_of(text, "FS =", true),
		.gs_base = segment_of(text, "GS =", true),
		.ds = segment_of(text, "DS =", false),
		.es = segment_of(text, "ES =", false),
		.fs = segment_of(text, "FS =", false),
		.gs = segment_of(text, "GS =", false),
	};
	cpu->cr0 = value_of(text, "CR0=");
	cpu->cr3 = value_of(text, "CR3=");
	cpu->cr4 = value_of(text, "CR4=");
	cpu->efer = value_of(text, "EFER=");
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
		next = strstr(p + 1, "CPU#");
		if (next) {
			next[-1] = '\0';
		}
		p += strcspn(p, "\n");
		cut_after_control_registers(p);
		parse_values(p, &cpus[n]);
		cpus[n].rip = cpus[n].regs.rip;
		cpus[n].text = strdup(*p ? p + 1 : p);
		n += cpus[n].text != NULL;
	}
	return n;
}
