/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate.elf: the primitives that it times, one a run, and where it leaves the ticks. The table
 * is the only list of them: the payload, the VMM and the maths are made from it.
 *
 * args[0] is the number of the primitive plus one, args[1] the batches (CALIBRATE_BATCHES_MAX at
 * most, which is the default), args[2] the loops of a batch (the table's by default).
 * A host that does not share the block says the same on the command line, as "primitive=",
 * "batches="; with "print=1" the numbers go to COM1, a line a batch. It starts us in ring 0, and
 * what belongs into ring 3 goes there by itself.
 *
 * A batch is opened and closed by window marks (abi/marks.h), and within it everything is run once
 * for warmth and then timed. values[4 * i + k] of batch i are TSC ticks:
 *   k = 0  the empty loop, once: what the two TSC reads cost
 *   k = 1  a chain of CALIBRATE_CHAIN_ADDS additions, each waiting for the one before: one core
 *          cycle each
 *   k = 2  the empty loop, as often as the primitive's
 *   k = 3  the loop with the primitive in it, 'copies' times a loop
 */
#ifndef ABI_CALIBRATE_H
#define ABI_CALIBRATE_H

#include <stdint.h>

#define CALIBRATE_VALUES      4
#define CALIBRATE_BATCHES_MAX 120
#define CALIBRATE_CHAIN_ADDS  16384

/* What the exits go to: nothing is there, but the host may put a device that does nothing. */
#define CALIBRATE_PORT UINT16_C(0x5650)
#define CALIBRATE_GPA  UINT64_C(0xd0000000)

/* What the payload writes to the exit port. */
enum calibrate_status {
	CALIBRATE_OK = 0,
	CALIBRATE_BAD_ARGUMENT = 1,
	CALIBRATE_UNSUPPORTED = 2, /* this processor, as the guest sees it, does not have it */
};

/*
 * X(id, name, ring, copies, loops, about). The ring is where the run starts. What is legal in ring
 * 3 is timed there, on every machine. 'syscall' is prepared in ring 0 and timed in ring 3.
 *
 * "In a chain" means that each waits for the value of the one before, as the reads of a page walk
 * do; "independent" that none does.
 */
#define CALIBRATE_PRIMITIVES(X)                                                                    \
	X(RDTSC_PAIR, "rdtsc.pair", 3, 16, 32, "LFENCE, RDTSC, RDTSCP, LFENCE: a timed nothing")   \
	X(LFENCE, "lfence", 3, 64, 64, "LFENCE")                                                   \
	X(RDFSBASE, "rdfsbase", 3, 64, 128, "RDFSBASE")                                            \
	X(WRFSBASE, "wrfsbase", 3, 64, 32, "WRFSBASE")                                             \
	X(RDGSBASE, "rdgsbase", 3, 64, 128, "RDGSBASE")                                            \
	X(WRGSBASE, "wrgsbase", 3, 64, 32, "WRGSBASE")                                             \
	X(LOAD_PLAIN, "load.plain", 3, 64, 128, "a load, in a chain")                              \
	X(LOAD_MASKED, "load.masked", 3, 64, 128, "MOV, CMP, CMOVA, load: get_user(), in a chain") \
	X(LOAD_FENCED, "load.fenced", 3, 64, 64, "LFENCE, load: __get_user(), in a chain")         \
	X(LOAD_MASKED_INDEPENDENT, "load.masked.independent", 3, 64, 256,                          \
	  "MOV, CMP, CMOVA, load, independent")                                                    \
	X(LOAD_FENCED_INDEPENDENT, "load.fenced.independent", 3, 64, 64,                           \
	  "LFENCE, load, independent")                                                             \
	X(STORE_PLAIN, "store.plain", 3, 64, 256, "a store: __put_user()")                         \
	X(STORE_CHECKED, "store.checked", 3, 64, 256, "MOV, SAR, OR, store: put_user()")           \
	X(TEST_CR3, "test.cr3", 3, 64, 256, "BT of a register, JC: is this the user half?")        \
	X(TEST_FLAG, "test.flag", 3, 64, 256, "load, BT of memory, JC: has this task the flag?")   \
	X(EXIT_PORT, "exit.port", 3, 1, 16, "OUT to a port of the VMM and back")                   \
	X(EXIT_MMIO, "exit.mmio", 3, 1, 16, "a store to a device of the VMM and back")             \
	X(WRMSR_FS_BASE, "wrmsr.fs_base", 0, 16, 32, "WRMSR of MSR_FS_BASE")                       \
	X(WRMSR_KERNEL_GS_BASE, "wrmsr.kernel_gs_base", 0, 16, 32, "WRMSR of MSR_KERNEL_GS_BASE")  \
	X(SWAPGS, "swapgs", 0, 64, 32, "SWAPGS")                                                   \
	X(STAC_CLAC, "stac_clac", 0, 64, 32, "STAC, CLAC")                                         \
	X(CR3_READ, "cr3.read", 0, 64, 32, "a read of CR3")                                        \
	X(CR3_WRITE, "cr3.write", 0, 16, 8, "a write of CR3, PCID off")                            \
	X(CR3_WRITE_PCID, "cr3.write.pcid", 0, 16, 8, "a write of CR3, PCID on, that flushes")     \
	X(CR3_WRITE_NOFLUSH, "cr3.write.noflush", 0, 16, 8, "a write of CR3, PCID on, no flush")   \
	X(SYSCALL, "syscall", 0, 16, 32, "SYSCALL to ring 0, SYSRET back at once")

#define CALIBRATE_ENUM(id, name, ring, copies, loops, about) CALIBRATE_##id,
enum calibrate_primitive { CALIBRATE_PRIMITIVES(CALIBRATE_ENUM) CALIBRATE_PRIMITIVE_COUNT };
#undef CALIBRATE_ENUM

#endif
