/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions in ring 0: an IDT whose gates run in the code segment that the VMM started us in, and
 * trap_try(), which runs a function and comes back whether it trapped or not. An exception outside
 * of it ends the payload with PAYLOAD_TRAPPED.
 */
#include "fw.h"

#define VECTORS     32
#define ENTRY_BYTES 16
#define GATE_PRESENT_INTERRUPT                                             \
	0x8e00 /* SDM 3A figure 6-8: present, DPL 0, 64-bit interrupt gate \
		*/
#define STATUS_TRAPPED 99

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint16_t flags;
	uint16_t offset_mid;
	uint32_t offset_high;
	uint32_t reserved;
};

struct trap_resume {
	uint64_t rsp;
};

extern const char trap_entries[];
uint64_t trap_try_call(struct trap_resume *r, void (*fn)(void *), void *arg);
_Noreturn void trap_try_resume(const struct trap_resume *r);
_Noreturn void trap_handle(uint64_t vector, uint64_t error, uint64_t rip);

static struct gate idt[VECTORS] __attribute__((aligned(16)));
static struct trap_resume resume;
static bool trying;
static struct trap last;

/**
 * trap_setup() - take over the exceptions
 */
void trap_setup(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) idtr = {sizeof(idt) - 1, (uintptr_t)idt};
	uint16_t cs;

	__asm__("mov %%cs, %0" : "=r"(cs));
	for (unsigned int i = 0; i < VECTORS; i++) {
		uint64_t at = (uintptr_t)trap_entries + i * ENTRY_BYTES;

		idt[i] = (struct gate){
			.offset_low = (uint16_t)at,
			.selector = cs,
			.flags = GATE_PRESENT_INTERRUPT,
			.offset_mid = (uint16_t)(at >> 16),
			.offset_high = (uint32_t)(at >> 32),
		};
	}
	__asm__ volatile("lidt %0" : : "m"(idtr) : "memory");
}

/* Called by trap_entry.S on the stack of the code that trapped. */
_Noreturn void trap_handle(uint64_t vector, uint64_t error, uint64_t rip)
{
	last = (struct trap){vector, error, rip};
	if (trying) {
		trap_try_resume(&resume);
	}
	fw_block.values[0] = vector;
	fw_block.values[1] = error;
	fw_block.values[2] = rip;
	fw_block.value_count = 3;
	fw_block.state = PAYLOAD_TRAPPED;
	fw_printf("TRAPPED: vector %lu, error 0x%lx, rip 0x%lx\n", vector, error, rip);
	fw_exit(STATUS_TRAPPED);
}

/**
 * trap_try() - run a function that may trap
 * @fn: must not itself call trap_try()
 * @arg: handed to it
 * @ret_trap: set when it trapped
 *
 * Return: true when it trapped; what it had done so far stays done.
 */
bool trap_try(void (*fn)(void *arg), void *arg, struct trap *ret_trap)
{
	bool trapped;

	trying = true;
	trapped = trap_try_call(&resume, fn, arg) != 0;
	trying = false;
	if (trapped) {
		*ret_trap = last;
	}
	return trapped;
}
