/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: test_cli_doctor docs/doctor.md */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "cli/doctor.h"
#include "cli/status.h"
#include "kvm/kvm.h"

static const char *doc_path;
static struct doctor d;

static int setup(void **state)
{
	memset(&d, 0, sizeof(d));
	return 0;
}

static char *printed(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	doctor_print(&d, f);
	fclose(f);
	return text;
}

static void each_id_in_the_code_is_documented(void **state)
{
	_cleanup_free_ char *doc = NULL;
	struct err e = ERR_INIT;
	const struct check_kind *kinds;
	const struct kvm_cap *caps;
	char want[80];
	size_t n, len;

	assert_int_equal(io_read_file(doc_path, 1 << 20, &doc, &len, &e), 0);
	kinds = doctor_kinds(&n);
	assert_true(n > 10);
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "\n| `%s` |", kinds[i].id);
		if (!strstr(doc, want)) {
			fail_msg("docs/doctor.md has no row for %s", kinds[i].id);
		}
	}
	caps = kvm_caps(&n);
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "\n| `kvm-cap-%s` |", caps[i].name);
		if (!strstr(doc, want)) {
			fail_msg("docs/doctor.md has no row for kvm-cap-%s", caps[i].name);
		}
	}
	assert_true(n + 24 < DOCTOR_CHECKS_MAX);
}

static void with_all_well_every_route_is_open(void **state)
{
	doctor_add(&d, "kvm-device", CHECK_OK, "/dev/kvm");
	doctor_add(&d, "qemu", CHECK_OK, "7.2");
	doctor_judge(&d);
	assert_int_equal(d.routes, ROUTE_ALL);
	assert_int_equal(doctor_exit_status(&d), STATUS_OK);
}

static void a_failure_that_leaves_a_route_is_a_warning(void **state)
{
	doctor_add(&d, "ring0", CHECK_FAIL, "slow");
	doctor_judge(&d);
	assert_int_equal(d.routes, ROUTE_LAB | ROUTE_QEMU);
	assert_int_equal(d.checks[0].status, CHECK_WARN);
	assert_int_equal(doctor_exit_status(&d), STATUS_OK);
}

static void without_a_route_failures_stay_and_the_status_is_4(void **state)
{
	doctor_add(&d, "ring0", CHECK_FAIL, "slow");
	doctor_add(&d, "qemu", CHECK_FAIL, "none");
	doctor_add(&d, "smt", CHECK_WARN, "on");
	doctor_judge(&d);
	assert_int_equal(d.routes, 0);
	assert_int_equal(d.checks[0].status, CHECK_FAIL);
	assert_int_equal(d.checks[1].status, CHECK_FAIL);
	assert_int_equal(d.checks[2].status, CHECK_WARN);
	assert_int_equal(doctor_exit_status(&d), STATUS_ENVIRONMENT);
}

static void what_all_routes_need_closes_them_alone(void **state)
{
	static const char *const ids[] = {"kernel", "busybox", "agent", "bench"};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		setup(state);
		doctor_add(&d, ids[i], CHECK_FAIL, "none");
		doctor_judge(&d);
		assert_int_equal(d.routes, 0);
	}
}

static void quality_never_closes_a_route(void **state)
{
	static const char *const ids[] = {"tsc",      "memory", "cpus",     "huge-pages", "thp",
					  "governor", "smt",    "cpu-virt", "class"};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		doctor_add(&d, ids[i], CHECK_FAIL, "bad");
	}
	doctor_judge(&d);
	assert_int_equal(d.routes, ROUTE_ALL);
	for (size_t i = 0; i < d.count; i++) {
		assert_int_equal(d.checks[i].status, CHECK_WARN);
	}
}

static void a_line_is_a_check_and_advice_stands_below_it(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct check *c;

	doctor_add(&d, "kvm-device", CHECK_OK, "/dev/kvm");
	c = doctor_add(&d, "smt", CHECK_WARN, "on");
	doctor_advise(c, "switch it off");
	c = doctor_add(&d, "governor", CHECK_SKIP, "unknown");
	c = doctor_add(&d, "qemu", CHECK_FAIL, "none");
	doctor_advise(c, "install it");
	d.class = (struct class_result){.known = true, .class = EXEC_ICOUNT, .icount_shift = 3};
	doctor_judge(&d);
	text = printed();
	assert_string_equal(
		text,
		"ok    kvm-device  /dev/kvm\n"
		"warn  smt         on (needed: off)\n"
		"                  switch it off\n"
		"skip  governor    unknown\n"
		"warn  qemu        none (needed: qemu-system-x86_64 with the machine microvm)\n"
		"                  install it\n"
		"\n"
		"Execution class icount: QEMU's software processor counting instructions: "
		"deterministic. Unit: instructions.\n"
		"\n"
		"Ways to compare two kernels on this machine:\n"
		"  yes  native  ringside's own VMM on this machine (ringside compare)\n"
		"  no   lab     ringside's own VMM on an emulated host (tools/lab -- ringside "
		"compare)\n"
		"  no   qemu    QEMU's software processor (ringside compare --backend qemu)\n");
}

static void json_says_the_same(void **state)
{
	json_t *root, *c;
	struct check *row;

	row = doctor_add(&d, "qemu", CHECK_FAIL, "none");
	doctor_advise(row, "install it");
	row = doctor_add(&d, "memory", CHECK_OK, "2000 MiB available");
	doctor_advise(row, "not shown when well");
	d.class = (struct class_result){
		.known = true, .class = EXEC_ICOUNT, .icount_shift = 3, .evidence = "why"};
	doctor_judge(&d);
	root = doctor_json(&d);
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "exit_status")), 0);
	c = json_array_get(json_object_get(root, "checks"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "id")), "qemu");
	assert_string_equal(json_string_value(json_object_get(c, "status")), "warn");
	assert_string_equal(json_string_value(json_object_get(c, "advice")), "install it");
	c = json_array_get(json_object_get(root, "checks"), 1);
	assert_true(json_is_null(json_object_get(c, "advice")));
	c = json_object_get(root, "class");
	assert_string_equal(json_string_value(json_object_get(c, "name")), "icount");
	assert_string_equal(json_string_value(json_object_get(c, "unit")), "instructions");
	assert_int_equal(json_integer_value(json_object_get(c, "ticks_per_unit")), 8);
	c = json_object_get(root, "routes");
	assert_true(json_is_true(json_object_get(c, "native")));
	assert_true(json_is_false(json_object_get(c, "lab")));
	json_decref(root);

	d.class.known = false;
	root = doctor_json(&d);
	assert_true(json_is_null(json_object_get(json_object_get(root, "class"), "name")));
	json_decref(root);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_id_in_the_code_is_documented, setup),
		cmocka_unit_test_setup(with_all_well_every_route_is_open, setup),
		cmocka_unit_test_setup(a_failure_that_leaves_a_route_is_a_warning, setup),
		cmocka_unit_test_setup(without_a_route_failures_stay_and_the_status_is_4, setup),
		cmocka_unit_test_setup(what_all_routes_need_closes_them_alone, setup),
		cmocka_unit_test_setup(quality_never_closes_a_route, setup),
		cmocka_unit_test_setup(a_line_is_a_check_and_advice_stands_below_it, setup),
		cmocka_unit_test_setup(json_says_the_same, setup),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s docs/doctor.md\n", argv[0]);
		return 2;
	}
	doc_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
