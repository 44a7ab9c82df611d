/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exception entries for ring 0. There is no way back into the code that trapped: the handler either
 * resumes the trap_try() that waits for it, or ends the payload. So no IRET is needed, which some
 * hosts cannot run.
 */
	.text

/* The processor pushes an error code for some vectors (SDM 3A 6.15); a zero stands for the rest. */
	.macro PLAIN vectors:vararg
	.irp	vector, \vectors
	.balign 16
	pushq	$0
	pushq	$\vector
	jmp	trap_common
	.endr
	.endm

	.macro CODED vectors:vararg
	.irp	vector, \vectors
	.balign 16
	pushq	$\vector
	jmp	trap_common
	.endr
	.endm

	.balign 16
	.globl trap_entries
trap_entries:
	PLAIN	0, 1, 2, 3, 4, 5, 6, 7
	CODED	8
	PLAIN	9
	CODED	10, 11, 12, 13, 14
	PLAIN	15, 16
	CODED	17
	PLAIN	18, 19, 20
	CODED	21
	PLAIN	22, 23, 24, 25, 26, 27, 28
	CODED	29, 30
	PLAIN	31

trap_common:
	cld
	mov	(%rsp), %rdi		/* vector */
	mov	8(%rsp), %rsi		/* error code */
	mov	16(%rsp), %rdx		/* RIP */
	and	$-16, %rsp
	call	trap_handle
	ud2

/* uint64_t trap_try_call(struct trap_resume *r, void (*fn)(void *), void *arg): 0, or 1 if it trapped */
	.globl trap_try_call
	.type trap_try_call, @function
trap_try_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	mov	%rsp, (%rdi)
	mov	%rsi, %rax
	mov	%rdx, %rdi
	call	*%rax
	xor	%eax, %eax
2:	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* noreturn void trap_try_resume(const struct trap_resume *r) */
	.globl trap_try_resume
	.type trap_try_resume, @function
trap_try_resume:
	mov	(%rdi), %rsp
	mov	$1, %eax
	jmp	2b

	.section .note.GNU-stack, "", @progbits
