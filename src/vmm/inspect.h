/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of src/loader that looks into a kernel without booting it, for those above the machine.
 */
#ifndef VMM_INSPECT_H
#define VMM_INSPECT_H

#include "loader/inspect.h"

#endif
