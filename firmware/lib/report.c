/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Named checks. One line a check ("PASS: group: name"), one line at the end, and the number of
 * failures as the payload's status. A payload that checks nothing has failed too.
 */
#include "fw.h"

#include <stdarg.h>

#include "console_priv.h"

#define STATUS_NOTHING_CHECKED 77

static unsigned int passed, failed, skipped;
static const char *group;

static void print_check(const char *verdict, const char *fmt, va_list ap)
{
	fw_printf("%s: ", verdict);
	if (group) {
		fw_printf("%s: ", group);
	}
	fw_vprintf(fmt, ap);
	fw_putc('\n');
}

/**
 * report() - note a check's result
 * @pass: whether it held
 * @fmt: the check's name, as fw_printf() takes it
 *
 * Return: @pass.
 */
bool report(bool pass, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_check(pass ? "PASS" : "FAIL", fmt, ap);
	va_end(ap);
	if (pass) {
		passed++;
	} else {
		failed++;
	}
	return pass;
}

/**
 * report_skip() - note a check that this machine or this ring does not allow
 * @fmt: its name and the reason
 */
void report_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_check("SKIP", fmt, ap);
	va_end(ap);
	skipped++;
}

/**
 * report_group() - put a word before the names of the checks that follow
 * @name: static string, or NULL for none
 */
void report_group(const char *name)
{
	group = name;
}

/**
 * report_summary() - print the counts
 *
 * Return: the payload's status: the number of failures, or 77 when every check was skipped or
 * there was none.
 */
uint64_t report_summary(void)
{
	fw_printf("SUMMARY: %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	if (passed + failed == 0) {
		return STATUS_NOTHING_CHECKED;
	}
	return failed;
}
