/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What payloads/pagewalk.c and the benchmark that runs it agree on. Includes nothing. */
#ifndef ABI_PAGEWALK_H
#define ABI_PAGEWALK_H

/* On the kernel command line: how many touches, 0 to 10^9; rounded up to whole turns. */
#define PAGEWALK_PARAMETER "pagewalk="
#define PAGEWALK_TOUCHES   32768
#define PAGEWALK_OF_TURN   512 /* touches that a turn has */

/* Guest page table levels that are read for a touch: four-level paging with pages of 4 KiB. */
#define PAGEWALK_LEVELS 4

/* The only line that it prints, with the number of touches. */
#define PAGEWALK_SAYS "%lu touches"

/* What it writes to the exit port. */
#define PAGEWALK_OK        0
#define PAGEWALK_WRONG     1 /* a page did not hold what it should */
#define PAGEWALK_NO_RING_0 2

#endif
