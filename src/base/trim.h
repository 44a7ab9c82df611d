/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Give back what only starting needed. */
#ifndef BASE_TRIM_H
#define BASE_TRIM_H

void trim_program_pages(void);

#endif
