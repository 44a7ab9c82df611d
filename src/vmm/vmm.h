/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, for those who drive it. The order of calls is
 *
 *	machine_build   everything that can fail for want of something, and the guest in memory
 *	machine_start   vCPU threads run; from here events come, on the event loop's thread
 *	  machine_input, machine_pause_output, machine_liveness, machine_vcpu_text,
 *machine_read_gpa, machine_halt machine_result, machine_marks, machine_windows, machine_exits_each,
 *machine_stats_each, ... machine_destroy
 *
 * All of them are called on the event loop's thread, machine_read_gpa on any. The guest can end the
 * machine and do nothing else to it: no call here aborts, exits or allocates because of a guest.
 */
#ifndef VMM_VMM_H
#define VMM_VMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/evloop.h"
#include "kvm/ops.h"
#include "vmm/cpu.h"
#include "vmm/sandbox.h"

#define MACHINE_VCPUS_MAX       254 /* APIC ids of 8 bits, one of them the I/O APIC's */
#define MACHINE_DISKS_MAX       8
#define MACHINE_SHARES_MAX      8
#define MACHINE_VSOCK_CID       3
#define MACHINE_NETS_MAX        4
#define MACHINE_MARKS_MAX       256  /* kept; window marks are not counted among them */
#define MACHINE_WINDOWS_MAX     8192 /* kept */
#define MACHINE_RESULT_TEXT     512
#define MACHINE_VCPU_TEXT       2048 /* room for machine_vcpu_text() */
#define MACHINE_NO_VALUE        UINT64_MAX
#define MACHINE_HALTED_AFTER_NS UINT64_C(1000000000)
/* How long the vCPUs run, in their own time, without an exit or an interrupt before they are asked.
 */
#define MACHINE_SPINS_AFTER_CPU_NS UINT64_C(15000000000)

struct machine;

enum machine_entry {
	MACHINE_ENTRY_RING_0, /* as the 64-bit Linux boot protocol says */
	MACHINE_ENTRY_PVH,    /* by its note, in protected mode without paging */
	MACHINE_ENTRY_RING_3, /* a firmware payload, with I/O privilege and user pages */
};

/* One of the pieces that make up the initrd, in order, with nothing between them. */
struct machine_piece {
	const void *data; /* its bytes; NULL: they are all of a file, which is mapped, not copied */
	int fd;           /* that file, only needed until machine_build() returns */
	size_t bytes;
};

/* A raw image, a file or a block device, as a virtio block device. */
struct machine_disk {
	const char *path;
	bool read_only;
	bool direct; /* past the host's page cache */
};

/* What guest memory is made of. */
enum machine_pages {
	MACHINE_PAGES_AUTO, /* huge pages where the host gives them without being asked for more */
	MACHINE_PAGES_NORMAL,  /* of 4 KiB */
	MACHINE_PAGES_THP,     /* transparent huge pages; an error where the host gives none */
	MACHINE_PAGES_HUGETLB, /* of hugetlbfs, reserved; an error where there are too few */
};

struct machine_memory {
	enum machine_pages pages;
	uint64_t huge_page_bytes; /* of hugetlb: a power of two */
	bool prefault;            /* every page is there before the guest starts */
	bool lock;                /* and none is swapped out */
};

/* A directory, as a virtio file system device with the tag "share" and its number. */
struct machine_share {
	const char *path; /* absolute */
	bool read_only;
};

/* What a network device is plugged into. */
struct machine_net {
	const char *tap; /* a TAP interface of this machine, or NULL: a descriptor */
	int fd; /* of a TAP interface, or a stream socket with frames behind their length; dup'ed */
	uint8_t mac[6];
};

struct machine_config {
	const char *symbols_path; /* a vmlinux for names of addresses; NULL: the kernel itself */
	const char *kernel_path;  /* vmlinux, bzImage or a firmware payload */
	const char *cmdline;      /* NULL: empty */
	const struct machine_piece *initrd;
	size_t initrd_count; /* 0: no initrd */
	uint64_t memory_bytes;
	struct machine_memory memory;
	unsigned int cpus;
	const struct x86_cpu_spec *cpu; /* what they offer; NULL: what KVM does, no counters */
	enum x86_clock clock;
	enum machine_entry entry;
	bool acpi; /* its tables name the devices; else the command line does */
	const struct machine_disk *disks;
	size_t disk_count;
	const struct machine_share *shares;
	size_t share_count;
	const struct machine_net *nets;
	size_t net_count;
	bool rng;               /* an entropy device */
	const char *vsock_path; /* Unix socket of a socket device; NULL: none */
	uint32_t vsock_cid;     /* the guest's address; 0: MACHINE_VSOCK_CID */
	bool channel; /* virtio ports for the streams of the agent; hvc0 is by the command line */
	bool time_exits; /* measure how long exits keep us, at the price of two TSC reads each */
	const unsigned int *pin; /* the host's processor of each vCPU; NULL: as the host likes */
	bool exit_stats;         /* and keep it by place and phase: machine_exit_stats_each() */
	bool ram_in_files;       /* all of guest memory is in its files: see machine_ram_files() */
	bool unrecorded; /* nobody asks for the VM's statistics, nor how long its threads wait */
	bool trace;      /* write what happens into trace_fd, until machine_trace_finish() */
	int trace_fd;
	struct sandbox_config seccomp; /* mode, status, before_end, features of the owner's own */

	const char *gdb; /* port or path for a debugger, or NULL */
	bool gdb_nowait; /* the guest runs at once */

	/* NULL: the real ones. */
	const struct kvm_ops *ops;
	const char *kvm_path;
};

/* The serial lines, and the ports of the virtio console in the order of abi/channel.h's streams. */
enum machine_line {
	MACHINE_COM1,
	MACHINE_COM2,
	MACHINE_SERIAL_LINES,
	MACHINE_HVC0 = MACHINE_SERIAL_LINES,
	MACHINE_RESULTS,
	MACHINE_STDOUT,
	MACHINE_STDERR,
	MACHINE_CONTROL,
	MACHINE_LINES,
};

/* Where the guest was when it wrote a byte to the mark port, or the boot timer. */
struct machine_mark {
	uint8_t code; /* MARK_* of abi/marks.h */
	unsigned int vcpu;
	uint64_t host_ns;   /* monotonic */
	uint64_t guest_tsc; /* ticks */
	uint64_t exits;     /* to user space until then, of all vCPUs, this one included */
};

/* A batch of the guest, between the marks WINDOW_OPEN and WINDOW_CLOSE. */
struct machine_window {
	uint64_t open_tsc, close_tsc; /* guest ticks at the marks */
	uint64_t exits;               /* to user space in between */
	uint64_t kvm_exits;           /* all that KVM counted, or MACHINE_NO_VALUE */
	uint64_t irqs;                /* injected, or MACHINE_NO_VALUE */
	uint64_t steal_ns;            /* the vCPU's thread waited for a CPU, or MACHINE_NO_VALUE */
	uint64_t nivcsw;              /* and was preempted */
};

/* Where a run is; each exit to user space counts for the one that it came in. */
enum machine_phase {
	MACHINE_PHASE_BOOT,  /* until the mark of user space */
	MACHINE_PHASE_JOB,   /* from there on, but for batches */
	MACHINE_PHASE_BATCH, /* between the marks of a window, which count for the phase around it
			      */
	MACHINE_PHASES,
};

enum machine_end {
	MACHINE_END_NONE,         /* it still runs, or was halted from outside */
	MACHINE_END_EXIT_PORT,    /* value: what the guest wrote */
	MACHINE_END_RESET,        /* the guest reset itself */
	MACHINE_END_POWER_OFF,    /* the guest switched itself off */
	MACHINE_END_TRIPLE_FAULT, /* shutdown state */
	MACHINE_END_KVM_ERROR,    /* KVM_RUN failed, or an exit that nothing can be done about */
	MACHINE_END_HELPER_LOST,  /* a process that serves a device is gone */
};

struct machine_result {
	enum machine_end end;
	uint32_t value;
	unsigned int vcpu;              /* that brought it about */
	char text[MACHINE_RESULT_TEXT]; /* of KVM_ERROR: what KVM said, decoded; else may be empty
					 */
};

struct machine_callbacks {
	/* Bytes that the guest wrote. Not called for a line that is paused. */
	void (*output)(void *ctx, enum machine_line line, const void *data, size_t bytes);
	/* machine_input() has room again after it took less than it was given. */
	void (*input_room)(void *ctx, enum machine_line line);
	/* What network device @net was plugged into is gone, and its link down. May be NULL. */
	void (*net_gone)(void *ctx, unsigned int net);
	/* Each mark but those of windows. */
	void (*mark)(void *ctx, const struct machine_mark *mark);
	/* The guest ended the machine, and all output was delivered. Comes once, and not at all
	 * after machine_halt(). */
	void (*stopped)(void *ctx, const struct machine_result *result);
	/* All vCPUs are out of the guest by machine_pause() or a debugger, or go on. */
	void (*standing)(void *ctx, bool on);
	/* A debugger wants the end of it. */
	void (*killed)(void *ctx);
};

/* When the machine got there, monotonic clock; 0: not yet. */
struct machine_times {
	uint64_t loaded_ns;    /* guest memory holds kernel and initrd */
	uint64_t first_run_ns; /* just before the first KVM_RUN */
	uint64_t ended_ns;     /* the last vCPU has left the guest */
};

enum machine_liveness {
	MACHINE_ALIVE,
	MACHINE_HALTED, /* every vCPU has halted with interrupts off: nothing will wake it */
	MACHINE_SPINS,  /* every vCPU runs with interrupts off, for long, and does nothing */
};

/* Registers of a vCPU, in the form that debuggers know. */
struct machine_vcpu_regs {
	struct user_regs_struct user;
	uint64_t cr0, cr3, cr4, efer;
};

/* A file that holds guest memory from @gpa on. */
struct machine_ram_file {
	int fd; /* stays the machine's */
	uint64_t gpa, bytes;
};

typedef void (*machine_exit_fn)(void *ctx, const char *reason, const char *detail, uint64_t count,
				uint64_t ns);
/* One of KVM's statistics, as Documentation/virt/kvm/api.rst, 4.133 has it. */
struct machine_kvm_stat {
	const char *name;
	const char *type; /* "cumulative", "instant", "peak", "linear histogram", "log histogram" */
	const char *unit; /* "none", "bytes", "seconds", "cycles", "boolean" */
	unsigned int base; /* 10 or 2: a value counts for value * base^exponent units */
	int exponent;
	uint32_t bucket_size; /* of a linear histogram */
	const uint64_t *values;
	uint32_t count; /* above 1: buckets */
};
typedef void (*machine_kvm_stat_fn)(void *ctx, const struct machine_kvm_stat *s);
typedef void (*machine_value_fn)(void *ctx, const char *name, uint64_t value);

/* Exits of a vCPU at one place in one phase. */
struct machine_exit_stat {
	unsigned int vcpu;
	enum machine_phase phase;
	const char *reason; /* KVM's word for it */
	const char *access; /* "in", "out", "read", "write"; NULL: by reason alone */
	uint64_t address;   /* port or guest-physical address */
	const char *device; /* who has that, or NULL */
	uint64_t count;
	uint64_t total_ns, min_ns, max_ns;
	uint64_t median_ns, p99_ns; /* too low by at most 1/32 */
	const uint32_t *hist;       /* CALLTIME_HIST_BUCKETS counts, by host ticks */
};

/* What the host did to the thread of a vCPU in one phase, each MACHINE_NO_VALUE when not known. */
struct machine_thread_stat {
	uint64_t steal_ns; /* it was ready to run, and waited for a CPU */
	uint64_t nivcsw;   /* it was preempted */
};

typedef void (*machine_exit_stat_fn)(void *ctx, const struct machine_exit_stat *s);

uint64_t machine_cpu_print(const struct machine *m);
int machine_build(const struct machine_config *cfg, struct machine **ret,
		  struct err *e) __must_check;
void machine_destroy(struct machine *m);
DEFINE_CLEANUP(struct machine *, machine_destroy)

int machine_start(struct machine *m, struct evloop *loop, const struct machine_callbacks *events,
		  void *ctx, struct err *e) __must_check;
void machine_halt(struct machine *m);
void machine_pause(struct machine *m, bool on);
bool machine_stands(struct machine *m);
bool machine_is_held(const struct machine *m);
const char *machine_gdb_address(const struct machine *m);

enum machine_line machine_console(const struct machine *m);
size_t machine_input(struct machine *m, enum machine_line line, const void *data, size_t bytes);
void machine_pause_output(struct machine *m, enum machine_line line, bool on);
enum machine_liveness machine_liveness(struct machine *m);
void machine_nmi(struct machine *m, unsigned int vcpu);
int machine_vcpu_text(struct machine *m, unsigned int vcpu, uint64_t *ret_rip, char *buf,
		      size_t size) __must_check;
int machine_vcpu_regs(struct machine *m, unsigned int vcpu,
		      struct machine_vcpu_regs *ret) __must_check;
size_t machine_ram_files(const struct machine *m, struct machine_ram_file *files, size_t max);
size_t machine_symbol(struct machine *m, uint64_t address, char *buf, size_t size);
int machine_read_gpa(void *m, uint64_t gpa, void *buf, size_t bytes) __must_check;

const struct machine_result *machine_result(const struct machine *m);
const struct machine_times *machine_times(const struct machine *m);
unsigned int machine_vcpus(const struct machine *m);
const struct machine_mark *machine_marks(const struct machine *m, size_t *ret_count,
					 uint64_t *ret_dropped);
const struct machine_window *machine_windows(const struct machine *m, size_t *ret_count,
					     uint64_t *ret_dropped);
void machine_exits_each(const struct machine *m, machine_exit_fn fn, void *ctx);
void machine_exits_total(const struct machine *m, uint64_t *ret_count, uint64_t *ret_ns);
uint32_t machine_disk_tail(const struct machine *m, unsigned int disk);
uint64_t machine_unclaimed(const struct machine *m);
int machine_stats_each(const struct machine *m, machine_value_fn fn, void *ctx) __must_check;

int machine_trace_finish(struct machine *m) __must_check;

/* stats.c: of a machine with exit_stats, after its end */
const char *machine_phase_name(enum machine_phase phase);
uint64_t machine_phase_ns(const struct machine *m, enum machine_phase phase);
uint64_t machine_tsc_khz(const struct machine *m);
void machine_exit_stats_each(const struct machine *m, machine_exit_stat_fn fn, void *ctx);
void machine_thread_stat(const struct machine *m, unsigned int vcpu, enum machine_phase phase,
			 struct machine_thread_stat *ret);
int machine_kvm_stats_each(const struct machine *m, int vcpu, machine_kvm_stat_fn fn,
			   void *ctx) __must_check;

int machine_kvm_api(const struct machine *m);
void machine_kvm_caps_each(const struct machine *m, machine_value_fn fn, void *ctx);

#endif
