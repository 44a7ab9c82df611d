/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel command line, for payloads that are started as kernels are: the boot parameters say
 * where it is (Documentation/arch/x86/boot.rst: cmd_line_ptr and ext_cmd_line_ptr).
 */
#include "fw.h"

#include "cmdline_priv.h"

#define CMD_LINE_PTR     0x228
#define EXT_CMD_LINE_PTR 0x0c8

static const char *cmdline;

/**
 * cmdline_init() - find the command line
 * @boot_params: what RSI held at the entry; NULL: there is none
 */
void cmdline_init(const void *boot_params)
{
	const uint8_t *p = boot_params;
	uint32_t low, high;

	if (p) {
		memcpy(&low, p + CMD_LINE_PTR, sizeof(low));
		memcpy(&high, p + EXT_CMD_LINE_PTR, sizeof(high));
		cmdline = (const char *)(uintptr_t)((uint64_t)high << 32 | low);
	}
}

/**
 * fw_cmdline_number() - a number on the kernel command line
 * @parameter: the word before it, with its "="
 * @default_value: what it is when the parameter is not there
 *
 * Return: the decimal number of the parameter's last occurrence, up to its first other character.
 */
uint64_t fw_cmdline_number(const char *parameter, uint64_t default_value)
{
	size_t len = strlen(parameter);
	uint64_t v = default_value;

	for (const char *p = cmdline; p && *p;) {
		bool match = true;

		for (size_t i = 0; match && i < len; i++) {
			match = p[i] == parameter[i]; /* stops at the end of either */
		}
		if (match) {
			v = 0;
			for (const char *d = p + len; *d >= '0' && *d <= '9'; d++) {
				v = v * 10 + (uint64_t)(*d - '0');
			}
		}
		while (*p && *p != ' ') {
			p++;
		}
		while (*p == ' ') {
			p++;
		}
	}
	return v;
}
