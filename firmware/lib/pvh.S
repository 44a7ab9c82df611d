/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other way in: QEMU's "-kernel" starts an ELF file by its PVH note, in 32-bit protected mode
 * without paging (Xen, docs/misc/pvh.pandoc). This makes the state that a VMM of ours would have
 * made (src/arch/x86/boot.c): the same descriptor table, the first 4 GiB mapped one to one, long
 * mode, ring 0; and boot parameters that hold the command line and nothing else.
 */
#define START_INFO_CMDLINE 24 /* struct hvm_start_info, xen/include/public/arch-x86/hvm/start_info.h */
#define CMD_LINE_PTR       0x228
#define EXT_CMD_LINE_PTR   0x0c8
#define NOTE_PHYS32_ENTRY  18

#define PAGE       4096
#define PTE_RW     0x03
#define PTE_LARGE  0x80
#define GIBS       4
#define CR0_START  0x80000031 /* PG, NE, ET, PE */
#define CR4_PAE    0x20
#define MSR_EFER   0xc0000080
#define EFER_LME   0x100

	.section .note.pvh, "a", @note
	.balign	4
	.long	4, 4, NOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.long	pvh_start

	.section .text.pvh, "ax", @progbits
	.code32
	.globl pvh_start
	.type pvh_start, @function
pvh_start:
	cld
	mov	START_INFO_CMDLINE(%ebx), %eax
	mov	%eax, params + CMD_LINE_PTR
	mov	START_INFO_CMDLINE + 4(%ebx), %eax
	mov	%eax, params + EXT_CMD_LINE_PTR

	/* One entry, four entries, and four pages of large ones. */
	movl	$(tables + PAGE + PTE_RW), tables
	mov	$(tables + 2 * PAGE + PTE_RW), %eax
	xor	%ecx, %ecx
1:	mov	%eax, tables + PAGE(, %ecx, 8)
	add	$PAGE, %eax
	inc	%ecx
	cmp	$GIBS, %ecx
	jne	1b
	mov	$(PTE_RW | PTE_LARGE), %eax
	xor	%ecx, %ecx
2:	mov	%eax, tables + 2 * PAGE(, %ecx, 8)
	add	$0x200000, %eax
	inc	%ecx
	cmp	$(GIBS * 512), %ecx
	jne	2b

	lgdt	gdt_pointer
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$tables, %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_LME, %eax
	wrmsr
	mov	$CR0_START, %eax
	mov	%eax, %cr0
	ljmp	$0x10, $3f

	.code64
3:	mov	$0x18, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	xor	%eax, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	mov	$params, %esi
	jmp	_start
	.size pvh_start, . - pvh_start

	.section .rodata.pvh, "a", @progbits
	.balign	8
gdt:	.quad	0, 0
	.quad	0x00af9b000000ffff	/* 0x10: code */
	.quad	0x00cf93000000ffff	/* 0x18: data */
	.quad	0, 0
	.quad	0x00cff3000000ffff	/* 0x30: user data */
	.quad	0x00affb000000ffff	/* 0x38: user code */
gdt_pointer:
	.word	. - gdt - 1
	.long	gdt

	.section .bss.pvh, "aw", @nobits
	.balign	PAGE
tables:	.skip	(2 + GIBS) * PAGE
params:	.skip	PAGE

	.section .note.GNU-stack, "", @progbits
