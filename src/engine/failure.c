/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See failure.h. Runs on the event loop's thread, after the machine's end. */
#include "engine/failure.h"

#include <inttypes.h>

#include "engine/symbols.h"

static void print_registers(FILE *out, const struct backend_cpu_state *cpus, size_t n,
			    int symbols_fd)
{
	struct symbol_query rips[FAILURE_CPUS_MAX];

	for (size_t i = 0; i < n; i++) {
		rips[i].address = cpus[i].rip;
	}
	if (n && symbols_lookup(symbols_fd, rips, n) < 0) {
		fputs("(the kernel's file has no symbol table)\n", out);
	}
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "--- vCPU %zu: RIP 0x%016" PRIx64 "%s%s\n%s", i, cpus[i].rip,
			rips[i].text[0] ? " = " : "", rips[i].text, cpus[i].text);
	}
	if (n == 0) {
		fputs("--- the vCPUs' registers are gone with the machine\n", out);
	}
}

/**
 * failure_report() - print all that helps to understand a guest's end
 * @out: where to
 * @cpus: registers of the vCPUs
 * @cpu_count: how many, 0 when they are gone with the machine
 * @symbols_fd: the kernel that was booted, for the names of addresses
 * @console: its console
 * @console_was_shown: it went to the user already, and is not repeated
 */
void failure_report(FILE *out, const struct backend_cpu_state *cpus, size_t cpu_count,
		    int symbols_fd, const struct console_watch *console, bool console_was_shown)
{
	size_t n = console_was_shown ? 0 : console_watch_line_count(console);

	if (n) {
		fprintf(out, "--- the guest's last %zu console lines\n", n);
	}
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s\n", console_watch_line(console, i));
	}
	print_registers(out, cpus, cpu_count, symbols_fd);
	fputs("---\n", out);
	fflush(out);
}

/**
 * failure_report_lines() - print which lines of the source the guest was at
 * @out: where to
 * @b: decoded
 */
void failure_report_lines(FILE *out, const struct backtrace *b)
{
	fputs(b->decoded ? "--- with lines of the source\n" : "--- what is on the stacks\n", out);
	for (size_t i = 0; i < b->count; i++) {
		fprintf(out, "%s\n", b->lines[i].text);
	}
	fputs("---\n", out);
	fflush(out);
}
