/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the library's own files. */
#ifndef FW_CONSOLE_PRIV_H
#define FW_CONSOLE_PRIV_H

#include <stdarg.h>

void fw_vprintf(const char *fmt, va_list ap);

#endif
