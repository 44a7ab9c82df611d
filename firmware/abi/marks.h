/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a guest speaks to the VMM with single port writes. Included by the VMM, by the firmware
 * payloads and by guest user space; includes nothing itself.
 *
 * Guest user space writes the ports through /dev/port, never with ioperm() or iopl(): an I/O bitmap
 * would be switched with the task and so disturb the very context switches that are measured.
 */
#ifndef ABI_MARKS_H
#define ABI_MARKS_H

/* Exit port: a write of v ends the VM with status v (QEMU's isa-debug-exit takes the same write).
 */
#define EXIT_PORT       0xf4
#define EXIT_PORT_BYTES 4

/* Mark port: one byte, a phase code. The VMM stamps each with its time, guest TSC and exit count.
 */
#define MARK_PORT         0x80

#define MARK_KERNEL_START 0x40 /* the guest's kernel runs its first instructions */
#define MARK_USER_START   0x41 /* PID 1 runs */
#define MARK_WINDOW_OPEN  0x80 /* a batch is about to be timed */
#define MARK_WINDOW_CLOSE 0x81 /* and it has been */
#define MARK_CUSTOM_FIRST 0x82 /* 0x82 to 0xff are free for anyone */

/* Boot timer: this byte written at this address counts as MARK_USER_START if none came. */
#define BOOT_TIMER_GPA   0xc0000000ULL
#define BOOT_TIMER_VALUE 123

#endif
