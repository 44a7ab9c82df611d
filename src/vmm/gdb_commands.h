/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GDB asks of a target that stands still, and the answers ("Debugging with GDB", appendix E).
 * A thread is a vCPU, its number one higher. Pure: the target is a table of calls, a packet is any
 * bytes, and an answer always fits.
 */
#ifndef VMM_GDB_COMMANDS_H
#define VMM_GDB_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "vmm/gdb_packet.h"
#include "vmm/gdb_regs.h"

#define GDB_VCPUS_MAX 254

enum gdb_break {
	GDB_BREAK_SOFT,
	GDB_BREAK_HARD,
	GDB_WATCH_WRITE,
	GDB_WATCH_READ,
	GDB_WATCH_ACCESS,
	GDB_BREAKS,
};

/* What a vCPU does when the guest goes on. */
enum gdb_action { GDB_STAY, GDB_GO, GDB_STEP };

/* All calls come while every vCPU stands. */
struct gdb_target_ops {
	unsigned int (*vcpus)(void *ctx);
	int (*get)(void *ctx, unsigned int vcpu, struct gdb_regs *ret);
	int (*set)(void *ctx, unsigned int vcpu, const struct gdb_regs *regs);
	/* As that vCPU's page tables have it. Returns how many bytes from the first on there are.
	 */
	size_t (*read)(void *ctx, unsigned int vcpu, uint64_t gva, void *buf, size_t bytes);
	int (*write)(void *ctx, unsigned int vcpu, uint64_t gva, const void *buf, size_t bytes);
	int (*set_break)(void *ctx, unsigned int vcpu, enum gdb_break type, uint64_t gva,
			 uint64_t bytes, bool on);
	/* A few words on the vCPU. */
	void (*describe)(void *ctx, unsigned int vcpu, char *buf, size_t size);
};

enum gdb_verdict {
	GDB_ANSWER,  /* send the answer */
	GDB_RESUME,  /* do the actions; the answer comes when the target stands again */
	GDB_DETACH,  /* send the answer, and let everything go */
	GDB_KILL,    /* send the answer, if there is one, and end the machine */
	GDB_NO_ACKS, /* send the answer, and neither send nor expect '+' from then on */
};

enum gdb_stop_kind {
	GDB_STOP_SIGNAL, /* by Ctrl-C, at the start, after a step */
	GDB_STOP_SOFT,
	GDB_STOP_HARD,
	GDB_STOP_WRITE,
	GDB_STOP_READ,
	GDB_STOP_ACCESS,
};

/* Why the target stands. */
struct gdb_stop {
	enum gdb_stop_kind kind;
	int signal; /* GDB's number: 5 SIGTRAP, 2 SIGINT */
	unsigned int vcpu;
	uint64_t address; /* of what was watched */
};

struct gdb_text {
	char data[GDB_PACKET_MAX + 1];
	size_t len;
	bool full; /* something did not fit */
};

struct gdb {
	const struct gdb_target_ops *ops;
	void *ctx;
	unsigned int vcpu;           /* that registers and memory are of: "Hg" */
	unsigned int step_vcpu;      /* of the old "s" and "c": "Hc" */
	bool knows_soft, knows_hard; /* GDB understands swbreak and hwbreak */
	unsigned int listed;         /* threads told so far */
	struct gdb_stop stop;
	enum gdb_action action[GDB_VCPUS_MAX]; /* of GDB_RESUME */
	const char *exec_file; /* what runs, for GDB to read: an absolute path, or NULL */
	char xml[GDB_XML_MAX];
	size_t xml_len;
};

void gdb_init(struct gdb *g, const struct gdb_target_ops *ops, void *ctx);
enum gdb_verdict gdb_command(struct gdb *g, const char *packet, size_t len, struct gdb_text *out);
void gdb_tell_stop(struct gdb *g, const struct gdb_stop *stop, struct gdb_text *out);
void gdb_put(struct gdb_text *t, const char *fmt, ...) __printf(2, 3);

#endif
