/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session drives: one virtual machine, by our own VMM or by QEMU. The order of calls is
 * create, start, then events and requests until the machine stopped or was halted, then registers,
 * read_gpa and collect, then destroy. All calls and all events on the event loop's thread.
 */
#ifndef ENGINE_BACKEND_H
#define ENGINE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "abi/channel.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/evloop.h"
#include "engine/outcome.h"
#include "guest/initramfs.h"
#include "samples/record.h"

struct backend;

enum backend_stream {
	BACKEND_CONSOLE, /* the kernel's console */
	BACKEND_CHANNEL, /* frames of abi/channel.h */
	/* From here on one of the channel's streams each, as it is: BACKEND_CHANNEL + its number.
	 */
	BACKEND_RESULTS = BACKEND_CHANNEL + CHANNEL_STREAM_RESULTS,
	BACKEND_STDOUT = BACKEND_CHANNEL + CHANNEL_STREAM_STDOUT,
	BACKEND_STDERR = BACKEND_CHANNEL + CHANNEL_STREAM_STDERR,
	BACKEND_LOG = BACKEND_CHANNEL + CHANNEL_STREAM_LOG,
	BACKEND_STREAM_COUNT,
};

struct backend_mark {
	uint8_t code;         /* MARK_* of abi/marks.h */
	uint64_t host_ns;     /* monotonic */
	uint64_t guest_ticks; /* the guest's TSC */
	uint64_t exits;       /* KVM exits to user space until then */
};

struct backend_events {
	/* Bytes that the guest wrote. Not called for a stream while it is paused. */
	void (*output)(void *ctx, enum backend_stream stream, const void *data, size_t len);
	/* write_console may take bytes again. */
	void (*console_room)(void *ctx);
	void (*mark)(void *ctx, const struct backend_mark *m);
	/* The machine ended by itself, and all its output was delivered. Comes once. */
	void (*stopped)(void *ctx, enum stop_reason reason, uint32_t value, const char *text);
	/* The guest came to stand still, by freeze() or a debugger, or goes on. */
	void (*standing)(void *ctx, bool on);
	/* A debugger wants the run to end. */
	void (*killed)(void *ctx);
};

struct backend_cpu_state {
	uint64_t rip;
	char *text; /* registers for people, lines; owned by the list */
	struct user_regs_struct regs;
	uint64_t cr0, cr3, cr4, efer;
};

/* A piece of guest memory, in the file that holds it. */
struct backend_memory {
	int fd;          /* stays the backend's */
	uint64_t offset; /* bytes */
	uint64_t gpa, bytes;
};

struct backend_ops {
	int (*start)(struct backend *b, struct evloop *loop, const struct backend_events *events,
		     void *ctx, struct err *e);
	/* Hand input to the guest's serial line. Returns how many bytes were taken. */
	size_t (*write_console)(struct backend *b, const void *data, size_t len);
	/* Stop or resume reading a stream, so that the guest waits instead of our memory growing.
	 * A stream that the backend does not have needs nothing. */
	void (*pause)(struct backend *b, enum backend_stream stream, bool on);
	/* The end of events, in all cases: freeze the machine where it is if it still runs, bounded
	 * in time. Output that is on its way may still come during the call; "stopped" does not. */
	void (*halt)(struct backend *b);
	/* The state of each vCPU, after the end, or before nmi(). Returns how many were filled in,
	 * 0 if not known. */
	size_t (*registers)(struct backend *b, struct backend_cpu_state *cpus, size_t max);
	/* While it runs: a non-maskable interrupt to the first vCPU. Returns 0 or a negative errno.
	 */
	int (*nmi)(struct backend *b);
	/* Guest memory, also while the guest runs. Returns 0 or -EFAULT. */
	int (*read_gpa)(struct backend *b, uint64_t gpa, void *buf, size_t len);
	/* With .whole_memory: the files that hold it, by address. Returns how many were filled in.
	 */
	size_t (*memory)(struct backend *b, struct backend_memory *pieces, size_t max);
	/* After the end: fill in what only the backend knows. */
	int (*collect)(struct backend *b, struct record_boot *r, uint64_t exec_ns, struct err *e);
	/* Let the guest stand still, or go on; "standing" follows, maybe during the call. */
	int (*freeze)(struct backend *b, bool on);
	/* Exits to user space so far; RECORD_NEVER: not known. */
	uint64_t (*exits)(struct backend *b);
	/* We are being stopped and continued by job control. */
	void (*suspend)(struct backend *b, bool on);
	void (*destroy)(struct backend *b);
};

/* Embedded first in each backend. */
struct backend {
	const struct backend_ops *ops;
};

static inline void backend_destroy(struct backend *b)
{
	if (b) {
		b->ops->destroy(b);
	}
}
DEFINE_CLEANUP(struct backend *, backend_destroy)

#define BACKEND_DISKS_MAX 8

/* A raw image, a file or a block device. */
struct backend_disk {
	char *path;
	bool read_only;
	bool direct; /* past the host's page cache */
};

#define BACKEND_SHARES_MAX 8

/* A directory that the guest mounts by the tag "share" and its number. */
struct backend_share {
	char *path; /* absolute */
	bool read_only;
};

#define BACKEND_NETS_MAX     4
#define BACKEND_FORWARDS_MAX 16

enum backend_net_kind {
	BACKEND_NET_USER, /* as a program of this machine's: needs no rights */
	BACKEND_NET_TAP,  /* a TAP interface by name */
	BACKEND_NET_FD,   /* a descriptor that we were given */
};

/* Connections to a port of this machine's loopback go to one of the guest's. */
struct backend_forward {
	uint16_t host, guest;
};

/* A network device. Strings are borrowed. */
struct backend_net {
	enum backend_net_kind kind;
	const char *tap;
	int fd;
	uint8_t mac[6];
	const char *address;       /* "ADDRESS/PREFIX" that the guest sets; NULL: none */
	const char *gateway, *dns; /* or NULL */
	struct backend_forward forwards[BACKEND_FORWARDS_MAX];
	size_t forward_count;
};

/* What both backends are made from. Pointers stay the caller's and live as long as the backend. */
struct backend_config {
	const char *kernel_path;
	const char *symbols_path;          /* for names of addresses; NULL: the kernel itself */
	const struct initramfs *initramfs; /* NULL: none */
	const char *initrd_path;           /* a file instead, or NULL */
	const char *append;
	bool pvh;  /* start by the PVH note, not by the 64-bit boot protocol */
	bool acpi; /* tables tell the kernel of the devices, not the command line */
	unsigned int cpus;
	const char *cpu_flags; /* of QEMU's -cpu, each with a comma before it; NULL: none */
	uint64_t memory_bytes;
	const struct backend_disk *disks;
	size_t disk_count; /* at most BACKEND_DISKS_MAX */
	const struct backend_share *shares;
	size_t share_count; /* at most BACKEND_SHARES_MAX */
	const struct backend_net *nets;
	size_t net_count;       /* at most BACKEND_NETS_MAX */
	bool rng;               /* the guest gets an entropy device */
	const char *vsock_path; /* Unix socket of the guest's socket device; NULL: none */
	uint32_t vsock_cid;
	bool channel;            /* a job runs: the channel is read */
	bool recorded;           /* collect() is for more than the outcome */
	const unsigned int *pin; /* the host's processor of each vCPU; NULL: as the host likes */
	const char *stats_path;  /* where the machine's statistics go; NULL: nowhere */
	const char *gdb;         /* a port or a path for a debugger, or NULL */
	bool gdb_nowait;         /* the guest does not wait for it */
	const char *trace_path;  /* and its trace */
	bool whole_memory;       /* memory() is wanted, and all of it is in those files */
};

#endif
