/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal on stdin, raw while a guest's console is on it. It is given back on every way out:
 * by term_restore(), and by a handler when the program dies of its own fault. A program in the
 * background neither touches the terminal nor is stopped by it.
 */
#ifndef ENGINE_TERM_H
#define ENGINE_TERM_H

#include <stdbool.h>

#include "base/cleanup.h"

int term_set_raw(int fd) __must_check;
void term_restore(void);
bool term_is_foreground(int fd);

#endif
