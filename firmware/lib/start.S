/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a payload begins: in long mode, in ring 0 by the 64-bit boot protocol
 * (Documentation/arch/x86/boot.rst: RSI holds the boot parameters) or put into ring 3 by the host.
 * Nothing but a stack is set up here, and nothing here is privileged.
 */
	.section .text.start, "ax", @progbits
	.globl _start
	.type _start, @function
_start:
	cld
	lea	stack_top(%rip), %rsp
	xor	%ebp, %ebp
	mov	%rsi, %rdi
	call	firmware_start
1:	pause
	jmp	1b
	.size _start, . - _start

	.section .bss, "aw", @nobits
	.balign 16
	.skip	16384
stack_top:

	.section .note.GNU-stack, "", @progbits
