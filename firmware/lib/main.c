/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the start code to payload_main() and out again. */
#include "fw.h"

#include "abi/marks.h"
#include "cmdline_priv.h"

void firmware_start(const void *boot_params);

/**
 * fw_ring() - the privilege level this code runs at
 *
 * Return: 0 to 3, from the selector in CS (SDM 3A 5.5).
 */
unsigned int fw_ring(void)
{
	uint16_t cs;

	__asm__("mov %%cs, %0" : "=r"(cs));
	return cs & 3;
}

/**
 * fw_arg() - a number that the host handed in
 * @i: which, below PAYLOAD_ARG_COUNT
 * @default_value: what an argument of 0 stands for
 */
uint64_t fw_arg(unsigned int i, uint64_t default_value)
{
	uint64_t v = fw_block.args[i];

	return v ? v : default_value;
}

/**
 * fw_exit() - end the VM
 * @status: for the host; the exit port takes its low 32 bits
 */
_Noreturn void fw_exit(uint64_t status)
{
	fw_block.status = status;
	if (fw_block.state != PAYLOAD_TRAPPED) {
		fw_block.state = PAYLOAD_DONE;
	}
	__asm__ volatile("" : : : "memory");
	outl(EXIT_PORT, (uint32_t)status);
	for (;;) {
		__asm__ volatile("pause");
	}
}

/* Called by start.S, with what RSI held. */
void firmware_start(const void *boot_params)
{
	cmdline_init(boot_params);
	fw_block.ring = fw_ring();
	fw_block.state = PAYLOAD_STARTED;
	if (fw_block.ring == 0) {
		trap_setup();
	}
	fw_exit(payload_main());
}
