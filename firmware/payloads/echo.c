/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * echo.elf: sends what COM1 receives back, byte for byte, until EOT (0x04, which is not sent). Its
 * first word is "ready\n", so that nobody has to guess when it listens. With "irq=1" the serial
 * line has its interrupts on, which nobody here takes.
 */
#include "fw.h"

#define EOT      0x04
#define COM1_IER 0x3f9
#define COM1_MCR 0x3fc

uint64_t payload_main(void)
{
	fw_listen();
	if (fw_cmdline_number("irq=", 0)) {
		outb(COM1_IER, 1);  /* received */
		outb(COM1_MCR, 11); /* ready, and tied to the interrupt controller */
	}
	fw_printf("ready\n");
	for (;;) {
		int c = fw_getc();

		if (c == EOT) {
			return 0;
		}
		if (c >= 0) {
			fw_putc((char)c);
			fw_block.values[0]++;
		} else {
			__asm__ volatile("pause");
		}
		fw_block.value_count = 1;
	}
}
