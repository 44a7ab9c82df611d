/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents of test runs, as "ringside test --json" writes them and --baseline and report read. */
#include "fuzz.h"

#include "fuzz_set.h"
#include "samples/test_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct test_set *s;

	if (test_document_parse((const char *)data, size, &s, &e) == 0) {
		fuzz_check_set(s);
		test_set_destroy(s);
	} else {
		must(e.text[0]);
	}
	return 0;
}
