/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_memory.h. */
#include "cli/run_memory.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

#define HUGETLB_DEFAULT (UINT64_C(2) << 20)

static const char *const names[] = {
	[MACHINE_PAGES_AUTO] = "auto",
	[MACHINE_PAGES_NORMAL] = "normal",
	[MACHINE_PAGES_THP] = "thp",
	[MACHINE_PAGES_HUGETLB] = "hugetlb",
};

/* The two sizes that x86 has. Whether this host has them is for the machine to say. */
static int parse_huge_size(const char *value, struct machine_memory *ret)
{
	ret->huge_page_bytes = HUGETLB_DEFAULT;
	if (*value == '=' && text_parse_bytes(value + 1, &ret->huge_page_bytes) < 0) {
		return -EINVAL;
	}
	return ret->huge_page_bytes == UINT64_C(2) << 20 || ret->huge_page_bytes == UINT64_C(1)
											    << 30
		       ? 0
		       : -EINVAL;
}

/**
 * run_pages_parse() - read the value of --pages
 * @value: as it was given, or NULL for auto
 * @ret: its pages and huge_page_bytes are set on success
 * @e: gets one line
 *
 * Return: 0 or -EINVAL.
 * Context: any thread; pure.
 */
int run_pages_parse(const char *value, struct machine_memory *ret, struct err *e)
{
	ret->pages = MACHINE_PAGES_AUTO;
	ret->huge_page_bytes = 0;
	for (size_t i = 0; value && i < ARRAY_SIZE(names); i++) {
		const char *rest = value + strlen(names[i]);

		if (!text_starts_with(value, names[i])) {
			continue;
		}
		ret->pages = (enum machine_pages)i;
		if (i == MACHINE_PAGES_HUGETLB && (*rest == '\0' || *rest == '=') &&
		    parse_huge_size(rest, ret) == 0) {
			return 0;
		}
		if (i != MACHINE_PAGES_HUGETLB && *rest == '\0') {
			return 0;
		}
	}
	return value ? err_set(e, -EINVAL,
			       "--pages: expected auto, normal, thp, hugetlb, hugetlb=2M or "
			       "hugetlb=1G, got '%s'",
			       value)
		     : 0;
}

/**
 * run_memory_to_json() - what a record says of guest memory
 * @bytes: its size
 * @how: what it is made of
 *
 * Return: a new object, or NULL when memory is short.
 * Context: any thread.
 */
json_t *run_memory_to_json(uint64_t bytes, const struct machine_memory *how)
{
	return json_pack("{s:I, s:s, s:I, s:b, s:b}", "bytes", (json_int_t)bytes, "pages",
			 names[how->pages], "huge_page_bytes", (json_int_t)how->huge_page_bytes,
			 "prefault", (int)how->prefault, "lock", (int)how->lock);
}
