/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit statuses of the program's own; those of a guest (240 to 249) are in engine/outcome.h. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

enum cli_status {
	STATUS_OK = 0,           /* yes */
	STATUS_NO = 1,           /* the answer is no: a test failed, B is worse */
	STATUS_USAGE = 2,        /* the call's words are wrong */
	STATUS_INCONCLUSIVE = 3, /* the data do not decide */
	STATUS_ENVIRONMENT = 4,  /* this machine, or a file, does not allow it */
};

#endif
