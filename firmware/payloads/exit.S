/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit.elf: the shortest guest there is. args[0] of the shared block goes to the exit port: what a
 * launch costs, and whether a status comes through.
 */
#include "abi/marks.h"

	.section .text.start, "ax", @progbits
	.globl _start
	.type _start, @function
_start:
	movl	fw_block + 64, %eax
	movq	$2, fw_block + 8	/* PAYLOAD_DONE */
	movl	%eax, fw_block + 24
	mov	$EXIT_PORT, %dx
	out	%eax, %dx
1:	pause
	jmp	1b
	.size _start, . - _start

	.section .note.GNU-stack, "", @progbits
