/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "loader/notes.h"

static size_t add(uint8_t *at, const char *name, uint32_t type, const void *desc, uint32_t len,
		  size_t align)
{
	Elf64_Nhdr n = {.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = len, .n_type = type};
	size_t used = sizeof(n);

	memcpy(at, &n, sizeof(n));
	memcpy(at + used, name, n.n_namesz);
	used = (used + n.n_namesz + align - 1) / align * align;
	memcpy(at + used, desc, len);
	return (used + len + align - 1) / align * align;
}

static void a_note_is_found_by_name_and_type_with_either_padding(void **state)
{
	for (size_t align = 4; align <= 8; align += 4) {
		uint8_t notes[256] = {0};
		const uint8_t *desc;
		size_t len = 0;
		size_t n;

		len += add(notes + len, "Xen", 3, "12345", 5, align);
		len += add(notes + len, "GNU", 1, "123", 3, align);
		len += add(notes + len, "GNU", 3, "found", 5, align);
		assert_int_equal(notes_find(notes, len, align, "GNU", 3, &desc, &n), 0);
		assert_int_equal(n, 5);
		assert_memory_equal(desc, "found", 5);
		assert_int_equal(notes_find(notes, len, align, "GNU", 4, &desc, &n), -ENOENT);
		assert_int_equal(notes_find(notes, len, align, "GN", 3, &desc, &n), -ENOENT);
		/* The last note may lack its padding. */
		assert_int_equal(notes_find(notes, len - 3, align, "GNU", 3, &desc, &n), 0);
		assert_int_equal(n, 5);
	}
}

static void a_note_that_runs_past_the_end_is_an_error(void **state)
{
	uint8_t notes[64] = {0};
	const uint8_t *desc;
	size_t n;
	size_t len = add(notes, "GNU", 3, "abcd", 4, 4);
	uint32_t huge = UINT32_MAX;

	assert_int_equal(notes_find(notes, len - 1, 4, "GNU", 3, &desc, &n), -EBADMSG);
	assert_int_equal(notes_find(notes, 11, 4, "GNU", 3, &desc, &n), -EBADMSG);
	assert_int_equal(notes_find(notes, 0, 4, "GNU", 3, &desc, &n), -ENOENT);
	memcpy(notes + 4, &huge, 4);
	assert_int_equal(notes_find(notes, len, 4, "GNU", 3, &desc, &n), -EBADMSG);
	memcpy(notes, &huge, 4);
	assert_int_equal(notes_find(notes, len, 4, "GNU", 3, &desc, &n), -EBADMSG);
}

static void random_bytes_never_lead_outside(void **state)
{
	struct rng rng;

	rng_init(&rng, 3);
	for (int i = 0; i < 20000; i++) {
		size_t len = rng_below(&rng, 64);
		uint8_t *notes = malloc(len + 1); /* as short as that, for the sanitizer */
		const uint8_t *desc;
		size_t n;

		for (size_t j = 0; j < len; j++) {
			notes[j] = (uint8_t)rng_below(&rng, 8);
		}
		if (notes_find(notes, len, 4, "", 1, &desc, &n) == 0) {
			assert_true(desc >= notes && desc + n <= notes + len);
		}
		free(notes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_is_found_by_name_and_type_with_either_padding),
		cmocka_unit_test(a_note_that_runs_past_the_end_is_an_error),
		cmocka_unit_test(random_bytes_never_lead_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
