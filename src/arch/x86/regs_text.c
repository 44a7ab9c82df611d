/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regs_text.h. */
#include "arch/x86/regs_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "arch/x86/boot.h"
#include "arch/x86/walk.h"
#include "base/cleanup.h"

/* As in a kernel's oops: more bytes before RIP than an instruction is long, and those after it. */
#define CODE_BEFORE 16
#define CODE_AFTER  16

struct out {
	char *buf;
	size_t size, used;
};

__printf(2, 3) static void put(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->buf + o->used, o->size - o->used, fmt, ap);
	va_end(ap);
	if (n > 0) {
		o->used += (size_t)n < o->size - o->used ? (size_t)n : o->size - o->used - 1;
	}
}

/**
 * x86_bytes_text() - bytes in hexadecimal, a space between each
 * @bytes: what to show
 * @count: how many
 * @buf: gets the text, cut to fit and always ended
 * @size: its size, 1 and up
 *
 * Return: length of the text.
 * Context: any thread.
 */
size_t x86_bytes_text(const uint8_t *bytes, size_t count, char *buf, size_t size)
{
	struct out o = {.buf = buf, .size = size};

	buf[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		put(&o, "%s%02x", i ? " " : "", bytes[i]);
	}
	return o.used;
}

/* Bytes before RIP may be unmapped when those at it are not: they are read apart. */
static void put_code(struct out *o, const struct kvm_regs *r, const struct kvm_sregs *s,
		     const struct gmem *mem)
{
	uint8_t before[CODE_BEFORE];
	uint8_t after[CODE_AFTER];
	uint64_t rip = s->efer & X86_EFER_LMA ? r->rip : s->cs.base + r->rip;
	size_t n_before = x86_read_virtual(mem, s, rip - CODE_BEFORE, before, CODE_BEFORE);
	size_t n_after = x86_read_virtual(mem, s, rip, after, CODE_AFTER);

	put(o, "code:");
	for (size_t i = 0; n_before == CODE_BEFORE && i < n_before; i++) {
		put(o, " %02x", before[i]);
	}
	if (n_after == 0) {
		put(o, " (RIP is not mapped to RAM)\n");
		return;
	}
	for (size_t i = 0; i < n_after; i++) {
		put(o, i == 0 ? " <%02x>" : " %02x", after[i]);
	}
	put(o, "\n");
}

/**
 * x86_regs_text() - all registers that a person looks at, and the code around RIP
 * @r: general registers
 * @s: segments and control registers
 * @mem: guest RAM, for the code
 * @buf: gets several lines, cut to fit and always ended
 * @size: its size, 1 and up; X86_REGS_TEXT_MAX is always enough
 *
 * Return: length of the text.
 * Context: any thread.
 */
size_t x86_regs_text(const struct kvm_regs *r, const struct kvm_sregs *s, const struct gmem *mem,
		     char *buf, size_t size)
{
	const struct {
		const char *name;
		uint64_t value;
	} general[] = {
		{"rax", r->rax}, {"rbx", r->rbx}, {"rcx", r->rcx}, {"rdx", r->rdx},
		{"rsi", r->rsi}, {"rdi", r->rdi}, {"rbp", r->rbp}, {"rsp", r->rsp},
		{"r8", r->r8},   {"r9", r->r9},   {"r10", r->r10}, {"r11", r->r11},
		{"r12", r->r12}, {"r13", r->r13}, {"r14", r->r14}, {"r15", r->r15},
	};
	const struct {
		const char *name;
		const struct kvm_segment *seg;
	} segments[] = {
		{"cs", &s->cs}, {"ss", &s->ss}, {"ds", &s->ds}, {"es", &s->es},
		{"fs", &s->fs}, {"gs", &s->gs}, {"tr", &s->tr},
	};
	struct out o = {.buf = buf, .size = size};

	buf[0] = '\0';
	put(&o, "rip=%016llx rflags=%08llx cpl=%u\n", (unsigned long long)r->rip,
	    (unsigned long long)r->rflags, (unsigned int)(s->cs.selector & 3));
	for (size_t i = 0; i < ARRAY_SIZE(general); i++) {
		put(&o, "%s=%016llx%c", general[i].name, (unsigned long long)general[i].value,
		    i % 4 == 3 ? '\n' : ' ');
	}
	put(&o, "cr0=%llx cr2=%llx cr3=%llx cr4=%llx efer=%llx\n", (unsigned long long)s->cr0,
	    (unsigned long long)s->cr2, (unsigned long long)s->cr3, (unsigned long long)s->cr4,
	    (unsigned long long)s->efer);
	for (size_t i = 0; i < ARRAY_SIZE(segments); i++) {
		put(&o, "%s=%04x:%llx%c", segments[i].name, segments[i].seg->selector,
		    (unsigned long long)segments[i].seg->base,
		    i + 1 == ARRAY_SIZE(segments) ? '\n' : ' ');
	}
	put(&o, "gdt=%llx:%x idt=%llx:%x\n", (unsigned long long)s->gdt.base, s->gdt.limit,
	    (unsigned long long)s->idt.base, s->idt.limit);
	put_code(&o, r, s, mem);
	return o.used;
}
