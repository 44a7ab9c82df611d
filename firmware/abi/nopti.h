/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the guest kernel's per-task opt-out from page table isolation
 * (CONFIG_RINGSIDE_NOPTI), as its asm/prctl.h has them: for arch_prctl(2), which answers with
 * EINVAL where the kernel does not know them.
 */
#ifndef ABI_NOPTI_H
#define ABI_NOPTI_H

#define NOPTI_ARCH_SET 0x7001 /* argument: one of NOPTI_SET_* */
#define NOPTI_ARCH_GET 0x7002 /* argument: address of an unsigned long, gets NOPTI_GET_* bits */

#define NOPTI_SET_OFF  0 /* isolated again */
#define NOPTI_SET_ON   1 /* this task, which must be single-threaded */
#define NOPTI_SET_EXEC 2 /* what this task executes next, once */

#define NOPTI_GET_ON   (1UL << 0)
#define NOPTI_GET_EXEC (1UL << 1) /* a request for the next exec is pending */

#endif
