/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's report: any bytes; the first one chooses in which pieces, and where one may begin. */
#include <string.h>

#include "engine/ktap.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ktap_parser *p;
	const struct ktap *k;
	size_t step;

	if (size == 0) {
		return 0;
	}
	step = 1 + data[0];
	must(ktap_parser_create(&p) == 0);
	ktap_parser_begin_at(p, (enum ktap_begin)(data[0] % 3));
	for (size_t i = 1; i < size; i += step) {
		ktap_parser_feed(p, data + i, size - i < step ? size - i : step);
	}
	k = ktap_parser_finish(p);
	must(k->count <= KTAP_RESULTS_MAX);
	must(k->found || (k->count == 0 && k->problem_count == 0));
	for (size_t i = 0; i < k->count; i++) {
		const struct ktap_result *r = &k->results[i];

		must(r->name && r->name[0] && strlen(r->name) < KTAP_NAME_MAX + 1);
		must(!r->message || strlen(r->message) < KTAP_MESSAGE_MAX + 1);
	}
	for (size_t i = 0; i < KTAP_PROBLEMS_MAX; i++) {
		must((k->problems[i] != NULL) == (i < k->problem_count));
	}
	ktap_parser_destroy(p);
	return 0;
}
