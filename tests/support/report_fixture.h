/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up reports for the tests of the renderers, and the comparison with tests/golden. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "report/report.h"

#define FIXTURE_BENCHES 3
#define FIXTURE_BLOCKS  24

struct report_fixture {
	struct stats_block blocks[FIXTURE_BENCHES][FIXTURE_BLOCKS];
	struct report_bench benches[FIXTURE_BENCHES];
	struct report report;
};

/* A scenario of two comparisons and claims of every kind. */
struct set_fixture {
	struct report_fixture one, two;
	struct report *reports[2];
	struct claim said[5];
	struct report_claim claims[5];
	struct report_set set;
};

void fixture_set(struct set_fixture *f);
void fixture_set_fini(struct set_fixture *f);
void fixture_icount(struct report_fixture *f);
void fixture_nested(struct report_fixture *f);
void fixture_compute(struct report_fixture *f);
void fixture_golden(const char *folder, const char *name, const char *found);

#endif
