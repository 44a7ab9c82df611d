/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * echo.elf: sends what COM1 receives back, byte for byte, until EOT (0x04, which is not sent). Its
 * first word is "ready\n", so that nobody has to guess when it listens.
 */
#include "fw.h"

#define EOT 0x04

uint64_t payload_main(void)
{
	fw_listen();
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
