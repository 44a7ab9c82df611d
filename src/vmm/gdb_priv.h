/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debugger on the machine: its connection (gdb_server.c), and the machine as its target
 * (gdb_target.c). Owner's thread, but for gdb_take_exit().
 */
#ifndef VMM_GDB_PRIV_H
#define VMM_GDB_PRIV_H

#include <sys/un.h>

#include "vmm/gdb_commands.h"
#include "vmm/vmm_priv.h"

#define GDB_SOFT_BREAKS_MAX 64
#define GDB_HARD_BREAKS     4 /* debug registers. SDM 3B 17.2 */

/* Changed only while all vCPUs stand, so that their threads may read it. */
struct gdb_breaks {
	struct {
		bool used;
		uint8_t byte; /* what stood there */
		uint64_t gva, gpa;
	} soft[GDB_SOFT_BREAKS_MAX];
	struct {
		bool used;
		enum gdb_break type;
		uint64_t gva, bytes;
	} hard[GDB_HARD_BREAKS];
};

enum gdb_state {
	GDB_ALONE,     /* no debugger; at the start the machine may wait for one */
	GDB_STOPPING,  /* all vCPUs are asked to leave the guest */
	GDB_STOPPED,   /* packets are answered */
	GDB_RUNNING,   /* a packet waits; Ctrl-C stops it */
	GDB_DETACHING, /* it went away: as STOPPING, and then all traces are taken out */
};

struct gdb_server {
	struct machine *m;
	int listen_fd, fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "" for a port */
	char where[160];
	bool wait;
	struct evloop_source *listen_source, *source;

	enum gdb_state state;
	bool tell; /* it waits for a stop reply */
	bool interrupted;
	struct gdb gdb;
	char *exec_file; /* that has the guest's symbols; NULL: none is known */
	struct gdb_parser parser;
	bool packet_waits, no_acks;
	uint8_t in[1024];
	size_t in_at, in_len;
	char last[GDB_FRAME_MAX]; /* the last frame, to be sent again when it is asked for */
	size_t last_len;
	char out[2 * GDB_FRAME_MAX];
	size_t out_at, out_len;
	struct gdb_breaks breaks;
	uint32_t step_flags; /* how this KVM steps */
};

extern const struct gdb_target_ops gdb_machine_ops;

/* gdb_target.c */
int gdb_target_resume(struct gdb_server *s);
void gdb_target_clear(struct gdb_server *s);
bool gdb_target_hit(struct gdb_server *s, struct gdb_stop *ret);
void gdb_take_exit(struct vcpu *v);
bool gdb_take_failure(struct vcpu *v);

/* gdb_server.c */
int gdb_server_create(struct machine *m, const struct machine_config *cfg, struct gdb_server **ret,
		      struct err *e) __must_check;
void gdb_server_destroy(struct gdb_server *s);
int gdb_server_watch(struct gdb_server *s) __must_check;
void gdb_server_unwatch(struct gdb_server *s);
void gdb_server_look(struct gdb_server *s);
void gdb_server_end(struct gdb_server *s, const struct machine_result *result);

#endif
