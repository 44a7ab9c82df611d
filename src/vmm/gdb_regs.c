/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gdb_regs.h. */
#include "vmm/gdb_regs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* A register: its name, how many bytes GDB wants, where it lies in struct gdb_regs and how wide. */
struct row {
	const char *name, *type;
	uint8_t bytes, stored; /* stored 0: not kept by KVM, reads as 0 */
	bool fixed;            /* may only be "set" to what it is */
	uint16_t offset;
};

#define AT(field) offsetof(struct gdb_regs, field)
#define GPR(name_, field)                                                                         \
	{                                                                                         \
		.name = name_, .type = "int64", .bytes = 8, .stored = 8, .offset = AT(regs.field) \
	}
#define SELECTOR(name_)                                                                  \
	{                                                                                \
		.name = #name_, .type = "int32", .bytes = 4, .stored = 2, .fixed = true, \
		.offset = AT(sregs.name_.selector)                                       \
	}
#define SYSTEM(name_, field)                                                                 \
	{                                                                                    \
		.name = name_, .type = "int64", .bytes = 8, .stored = 8, .offset = AT(field) \
	}
#define ST(n)                                                                   \
	{                                                                       \
		.name = "st" #n, .type = "i387_ext", .bytes = 10, .stored = 10, \
		.offset = AT(fpu.fpr[n])                                        \
	}
#define FPU(name_, stored_, field)                                                               \
	{                                                                                        \
		.name = name_, .type = "int", .bytes = 4, .stored = stored_, .offset = AT(field) \
	}
#define XMM(n)                                                                 \
	{                                                                      \
		.name = "xmm" #n, .type = "vec128", .bytes = 16, .stored = 16, \
		.offset = AT(fpu.xmm[n])                                       \
	}

static const struct row rows[] = {
	GPR("rax", rax),
	GPR("rbx", rbx),
	GPR("rcx", rcx),
	GPR("rdx", rdx),
	GPR("rsi", rsi),
	GPR("rdi", rdi),
	GPR("rbp", rbp),
	GPR("rsp", rsp),
	GPR("r8", r8),
	GPR("r9", r9),
	GPR("r10", r10),
	GPR("r11", r11),
	GPR("r12", r12),
	GPR("r13", r13),
	GPR("r14", r14),
	GPR("r15", r15),
	{.name = "rip", .type = "code_ptr", .bytes = 8, .stored = 8, .offset = AT(regs.rip)},
	{.name = "eflags", .type = "eflags", .bytes = 4, .stored = 4, .offset = AT(regs.rflags)},
	SELECTOR(cs),
	SELECTOR(ss),
	SELECTOR(ds),
	SELECTOR(es),
	SELECTOR(fs),
	SELECTOR(gs),
	SYSTEM("fs_base", sregs.fs.base),
	SYSTEM("gs_base", sregs.gs.base),
	SYSTEM("k_gs_base", kernel_gs_base),
	SYSTEM("cr0", sregs.cr0),
	SYSTEM("cr2", sregs.cr2),
	SYSTEM("cr3", sregs.cr3),
	SYSTEM("cr4", sregs.cr4),
	SYSTEM("cr8", sregs.cr8),
	SYSTEM("efer", sregs.efer),
	ST(0),
	ST(1),
	ST(2),
	ST(3),
	ST(4),
	ST(5),
	ST(6),
	ST(7),
	FPU("fctrl", 2, fpu.fcw),
	FPU("fstat", 2, fpu.fsw),
	{.name = "ftag", .type = "int", .bytes = 4, .fixed = true},
	{.name = "fiseg", .type = "int", .bytes = 4, .fixed = true},
	FPU("fioff", 4, fpu.last_ip),
	{.name = "foseg", .type = "int", .bytes = 4, .fixed = true},
	FPU("fooff", 4, fpu.last_dp),
	FPU("fop", 2, fpu.last_opcode),
	XMM(0),
	XMM(1),
	XMM(2),
	XMM(3),
	XMM(4),
	XMM(5),
	XMM(6),
	XMM(7),
	XMM(8),
	XMM(9),
	XMM(10),
	XMM(11),
	XMM(12),
	XMM(13),
	XMM(14),
	XMM(15),
	FPU("mxcsr", 4, fpu.mxcsr),
};

/**
 * gdb_regs_count() - how many registers there are
 *
 * Return: their number; they are numbered from 0.
 */
unsigned int gdb_regs_count(void)
{
	return ARRAY_SIZE(rows);
}

/**
 * gdb_reg_bytes() - how wide a register is for GDB
 * @number: below gdb_regs_count()
 *
 * Return: bytes.
 */
size_t gdb_reg_bytes(unsigned int number)
{
	return rows[number].bytes;
}

/* KVM keeps a bit for each register that is in use; the processor's own word has two, 3 when it is
 * not. SDM 1 8.1.7. */
static uint16_t full_tag_word(uint8_t used)
{
	uint16_t word = 0;

	for (unsigned int i = 0; i < 8; i++) {
		word |= (uint16_t)((used >> i & 1 ? 0 : 3) << 2 * i);
	}
	return word;
}

/**
 * gdb_reg_get() - a register's bytes
 * @r: all registers
 * @number: below gdb_regs_count()
 * @buf: gets them; GDB_REG_BYTES are always enough
 *
 * Return: how many.
 */
size_t gdb_reg_get(const struct gdb_regs *r, unsigned int number, uint8_t *buf)
{
	const struct row *row = &rows[number];

	memset(buf, 0, row->bytes);
	if (strcmp(row->name, "ftag") == 0) {
		uint16_t word = full_tag_word(r->fpu.ftwx);

		memcpy(buf, &word, sizeof(word));
	} else {
		memcpy(buf, (const char *)r + row->offset, row->stored);
	}
	return row->bytes;
}

/**
 * gdb_reg_set() - change a register
 * @r: all registers
 * @number: below gdb_regs_count()
 * @buf: gdb_reg_bytes() of them
 *
 * Return: 0; −EPERM for one that cannot be changed, unless it is what it was.
 */
int gdb_reg_set(struct gdb_regs *r, unsigned int number, const uint8_t *buf)
{
	const struct row *row = &rows[number];
	uint8_t now[GDB_REG_BYTES];

	if (row->fixed) {
		gdb_reg_get(r, number, now);
		return memcmp(now, buf, row->bytes) == 0 ? 0 : -EPERM;
	}
	memcpy((char *)r + row->offset, buf, row->stored);
	return 0;
}

struct text {
	char *buf;
	size_t len;
};

static void put(struct text *t, const char *fmt, ...) __printf(2, 3);

static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, GDB_XML_MAX - t->len, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
	if (t->len >= GDB_XML_MAX) {
		t->len = GDB_XML_MAX - 1;
	}
}

static void put_eflags(struct text *t)
{
	static const struct {
		const char *name;
		int bit;
	} flags[] = {{"CF", 0},  {"", 1},    {"PF", 2},   {"AF", 4},   {"ZF", 6},  {"SF", 7},
		     {"TF", 8},  {"IF", 9},  {"DF", 10},  {"OF", 11},  {"NT", 14}, {"RF", 16},
		     {"VM", 17}, {"AC", 18}, {"VIF", 19}, {"VIP", 20}, {"ID", 21}};

	put(t, "<flags id=\"eflags\" size=\"4\">");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		put(t, "<field name=\"%s\" start=\"%d\" end=\"%d\"/>", flags[i].name, flags[i].bit,
		    flags[i].bit);
	}
	put(t, "</flags>");
}

static void put_vector(struct text *t)
{
	static const struct {
		const char *id, *type;
		int count;
	} views[] = {{"v4_float", "ieee_single", 4}, {"v2_double", "ieee_double", 2},
		     {"v16_int8", "int8", 16},       {"v8_int16", "int16", 8},
		     {"v4_int32", "int32", 4},       {"v2_int64", "int64", 2}};

	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		put(t, "<vector id=\"%s\" type=\"%s\" count=\"%d\"/>", views[i].id, views[i].type,
		    views[i].count);
	}
	put(t, "<union id=\"vec128\">");
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		put(t, "<field name=\"%s\" type=\"%s\"/>", views[i].id, views[i].id);
	}
	put(t, "<field name=\"uint128\" type=\"uint128\"/></union>");
}

/**
 * gdb_regs_xml() - the description of a vCPU that GDB asks for
 * @buf: gets it; has GDB_XML_MAX bytes
 *
 * Return: its length.
 */
size_t gdb_regs_xml(char *buf)
{
	struct text t = {.buf = buf};

	put(&t, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
		"<architecture>i386:x86-64</architecture>"
		"<feature name=\"org.gnu.gdb.i386.core\">");
	put_eflags(&t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, "xmm0") == 0) {
			put(&t, "</feature><feature name=\"org.gnu.gdb.i386.sse\">");
			put_vector(&t);
		}
		put(&t, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%zu\"/>",
		    rows[i].name, rows[i].bytes * 8U, rows[i].type, i);
	}
	put(&t, "</feature></target>");
	return t.len;
}
