/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a job that are read in files of their own. */
#ifndef GUEST_JOB_PRIV_H
#define GUEST_JOB_PRIV_H

#include <jansson.h>

#include "guest/job.h"

int job_nets_from_json(const json_t *a, struct job *job, struct err *e) __must_check;

#endif
