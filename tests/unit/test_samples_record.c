/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "samples/record.h"

static json_t *at(json_t *j, const char *a, const char *b)
{
	j = json_object_get(j, a);
	return b ? json_object_get(j, b) : j;
}

static void an_empty_record_has_every_key_and_nulls_for_what_was_not_seen(void **state)
{
	static const char *const keys[] = {"schema_version", "type",    "provenance",
					   "phases_ns",      "marks",   "exits",
					   "kvm_stats",      "guest",   "calltime",
					   "console_tail",   "windows", "outcome"};
	struct record_boot r;
	json_t *j;

	record_boot_init(&r);
	j = record_boot_to_json(&r);
	assert_non_null(j);
	assert_int_equal(json_object_size(j), ARRAY_SIZE(keys));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_non_null(json_object_get(j, keys[i]));
	}
	assert_true(json_is_null(at(j, "phases_ns", "kernel_mark")));
	assert_int_equal(json_integer_value(at(j, "phases_ns", "exec")), 0);
	assert_true(json_is_null(json_object_get(at(j, "marks", "user"), "exits")));
	assert_true(json_is_null(at(j, "outcome", "guest_status")));
	json_decref(j);
	record_boot_fini(&r);
}

static void a_class_brings_its_unit_and_its_ticks(void **state)
{
	struct record_boot r;
	json_t *j;

	record_boot_init(&r);
	r.exec_class = EXEC_ICOUNT;
	r.icount_shift = 3;
	j = record_boot_to_json(&r);
	assert_string_equal(json_string_value(at(j, "provenance", "class")), "icount");
	assert_string_equal(json_string_value(at(j, "provenance", "unit")), "instructions");
	assert_int_equal(json_integer_value(at(j, "provenance", "ticks_per_unit")), 8);
	json_decref(j);
	record_boot_fini(&r);
}

static void the_fingerprint_that_a_guest_finds_counts(void **state)
{
	static const char *const bad[] = {"", "0123456789abcde", "0123456789abcdef0",
					  "0123456789ABCDEF", "0123456789abcde "};
	struct record_boot r;
	json_t *j;

	record_boot_init(&r);
	j = record_boot_to_json(&r);
	assert_true(json_is_null(json_object_get(at(j, "provenance", "cpu"), "fingerprint")));
	assert_true(json_is_null(json_object_get(at(j, "provenance", "cpu"), "asked")));
	json_decref(j);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_array_append_new(r.guest, json_pack("{s:s, s:{s:s}}", "type", "agent", "facts",
							 "cpuid", bad[i]));
	}
	json_array_append_new(r.guest, json_integer(7));
	assert_false(record_cpu_of_guest(&r));
	assert_string_equal(r.cpu_print, "");
	json_array_append_new(r.guest, json_pack("{s:s, s:{s:s}}", "type", "agent", "facts",
						 "cpuid", "0123456789abcdef"));
	assert_false(record_cpu_of_guest(&r));
	assert_string_equal(r.cpu_print, "0123456789abcdef");
	strcpy(r.cpu_print, "fedcba9876543210");
	assert_true(record_cpu_of_guest(&r));
	assert_string_equal(r.cpu_print, "0123456789abcdef");
	r.cpu_asked = strdup("-pcid");
	r.cpu_pmu = true;
	j = record_boot_to_json(&r);
	assert_string_equal(json_string_value(json_object_get(at(j, "provenance", "cpu"), "asked")),
			    "-pcid");
	assert_true(json_is_true(json_object_get(at(j, "provenance", "cpu"), "pmu")));
	json_decref(j);
	record_boot_fini(&r);
}

static void texts_that_are_no_utf8_do_not_cost_the_record(void **state)
{
	struct record_boot r;
	json_t *j;

	record_boot_init(&r);
	r.kernel_path = strdup("/k/\xff");
	r.append = strdup("x=\xfe");
	r.outcome_text = strdup("Kernel panic - not syncing: \xff\xfe bad");
	j = record_boot_to_json(&r);
	assert_non_null(j);
	assert_string_equal(
		json_string_value(json_object_get(at(j, "provenance", "kernel"), "path")), "/k/?");
	assert_string_equal(json_string_value(at(j, "provenance", "append")), "x=?");
	assert_string_equal(json_string_value(at(j, "outcome", "text")),
			    "Kernel panic - not syncing: ?? bad");
	json_decref(j);
	record_boot_fini(&r);
}

static void exits_and_windows_are_written_in_their_order(void **state)
{
	struct record_boot r;
	json_t *j, *w, *x;

	record_boot_init(&r);
	r.exits = calloc(1, sizeof(*r.exits));
	r.exits[0] = (struct record_exit){"io", "out 0x3f8", 12, 3400};
	r.exit_count = 1;
	r.exits_total = 12;
	r.windows = calloc(2, sizeof(*r.windows));
	r.windows[0] = (struct record_window){.open_tsc = 5, .kvm_exits = RECORD_NEVER};
	r.windows[1] = (struct record_window){.open_tsc = 9, .exits = 1, .kvm_exits = 4};
	r.window_count = 2;
	j = record_boot_to_json(&r);
	x = json_array_get(at(j, "exits", "by"), 0);
	assert_string_equal(json_string_value(json_object_get(x, "detail")), "out 0x3f8");
	assert_int_equal(json_integer_value(json_object_get(x, "count")), 12);
	w = json_object_get(j, "windows");
	assert_int_equal(json_array_size(w), 2);
	assert_true(json_is_null(json_object_get(json_array_get(w, 0), "kvm_exits")));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(w, 1), "kvm_exits")), 4);
	json_decref(j);
	record_boot_fini(&r);
}

static void a_line_ends_with_one_newline_and_parses_again(void **state)
{
	json_t *line = json_pack("{s:s}", "text", "two\nlines"), *back;
	char buf[64] = "";
	int fds[2];
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(record_json_write_line(fds[1], line), 0);
	n = read(fds[0], buf, sizeof(buf));
	assert_true(n > 1);
	assert_ptr_equal(memchr(buf, '\n', (size_t)n), buf + n - 1);
	back = json_loadb(buf, (size_t)n, 0, NULL);
	assert_true(json_equal(line, back));
	json_decref(back);
	json_decref(line);
	close(fds[0]);
	close(fds[1]);
}

static void a_full_disk_is_told_by_its_errno(void **state)
{
	json_t *line = json_object();
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(record_json_write_line(fd, line), -ENOSPC);
	close(fd);
	json_decref(line);
}

static void a_files_hash_is_the_published_one(void **state)
{
	char path[] = "/tmp/record-XXXXXX";
	int fd = mkstemp(path);
	struct err e = ERR_INIT;
	char *hex = NULL;

	/* FIPS 180-2, appendix B.1 */
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(record_file_sha256(path, &hex, &e), 0);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	free(hex);
	unlink(path);
	close(fd);
	assert_int_equal(record_file_sha256(path, &hex, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fingerprint_that_a_guest_finds_counts),
		cmocka_unit_test(texts_that_are_no_utf8_do_not_cost_the_record),
		cmocka_unit_test(an_empty_record_has_every_key_and_nulls_for_what_was_not_seen),
		cmocka_unit_test(a_class_brings_its_unit_and_its_ticks),
		cmocka_unit_test(exits_and_windows_are_written_in_their_order),
		cmocka_unit_test(a_line_ends_with_one_newline_and_parses_again),
		cmocka_unit_test(a_full_disk_is_told_by_its_errno),
		cmocka_unit_test(a_files_hash_is_the_published_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
