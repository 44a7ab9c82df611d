/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doubles in unit tests: cmocka 1.1 compares floats only. Include after support.h. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include <math.h>

#define assert_near(a, b, eps)                                                                   \
	do {                                                                                     \
		double a_ = (a);                                                                 \
		double b_ = (b);                                                                 \
                                                                                                 \
		if (!(fabs(a_ - b_) <= (eps))) {                                                 \
			fail_msg("%s is %.17g, not %.17g within %g", #a, a_, b_, (double)(eps)); \
		}                                                                                \
	} while (0)

#endif
