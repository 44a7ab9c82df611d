/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suite_fixture.h"

#include <errno.h>
#include <string.h>

static const struct suite_select all;

/* All keys, each with something that is not the default. */
static const char whole_file[] =
	"name: All of it\n"
	"defaults:\n"
	"  env: [A=1, B=2]\n"
	"  tags: [ci]\n"
	"  needs: [cpus=2]\n"
	"  allow: [{pattern: 'clocksource: .* unstable', reason: slow machine}]\n"
	"  timeouts: {boot: 5s, whole: 2m}\n"
	"  root: /\n"
	"  retries: 1\n"
	"matrix:\n"
	"  kernels: [base, ./vmlinux]\n"
	"  cpu: ['host', 'x86-64-v2,-avx']\n"
	"  cpus: [1, 4]\n"
	"  memory: [256M, 1G]\n"
	"  append: ['', 'nopti quiet']\n"
	"  exclude:\n"
	"    - {kernel: ./vmlinux, cpus: 4}\n"
	"    - {cpu: host, append: '', memory: 1024}\n"
	"tests:\n"
	"  - name: cmd\n"
	"    command: [sh, -c, 'echo \"x\"; exit 3']\n"
	"    files: [data, 'a.sh:/bin/a.sh', 'a:b', 'a:b:/c', kst/]\n"
	"    env: [B=3, 'C=']\n"
	"    shares: [kst, 'mods:/lib/mods,rw']\n"
	"    initrds: [data]\n"
	"    artifacts: [/var/log]\n"
	"    needs: [kvm, class=native, config=CONFIG_KUNIT=m, file=/bin/sh, memory=1G]\n"
	"    allow: [{pattern: x+, reason: why}]\n"
	"    fail_on: oops,warn\n"
	"    timeouts: {boot: 1500ms, idle: 0.3004567}\n"
	"    root: initramfs\n"
	"    expect: fail\n"
	"    known: {reason: 'a bug: #1', until: 2027-02-28}\n"
	"    retries: 2\n"
	"    tags: [slow, ci]\n"
	"  - {name: script, script: a.sh, fail_on: none, expect: panic}\n"
	"  - {name: kst, kselftest: kst, only: [two], matrix: {kernels: [nopti], cpus: [2]}}\n"
	"  - {name: ltp, scripts: kst, expect: skip, known: {reason: for ever}}\n"
	"  - {name: kunit, kunit: builtin, only: ['list*']}\n"
	"  - {name: modules, kunit: mods, only: [x.ko]}\n"
	"  - name: fw\n"
	"    firmware: payload\n"
	"    matrix: {exclude: [{cpu: host, cpus: 4}]}\n";

static void one_command_makes_a_case_for_each_kernel(void **state)
{
	char *argv[] = {"uname", "-r", NULL};
	const char *const kernels[] = {"base", "./vmlinux", NULL};
	const char *const twice[] = {"base", "base", NULL};
	struct suite_single s = {.kernels = kernels, .argv = argv, .cpus = 2};
	struct suite_single none = {.kernels = kernels, .argv = argv + 2};

	assert_int_equal(suite_single(&s, &suite, &suite_error), 0);
	assert_null(suite_path(suite));
	assert_string_equal(suite_name(suite), "command");
	assert_string_equal(suite_title(suite), "command");
	suite_must_expand(&all);
	assert_int_equal(suite_plan.count, 2);
	assert_string_equal(suite_plan.cases[0].id, "command[kernel=base]");
	assert_string_equal(suite_plan.cases[1].id, "command[kernel=./vmlinux]");
	assert_int_equal(suite_plan.cases[0].cpus, 2);
	assert_int_equal(suite_plan.cases[0].memory_bytes, SUITE_MEMORY_BYTES);
	assert_string_equal(suite_plan.cases[0].test->argv[1], "-r");
	assert_null(suite_plan.cases[0].test->argv[2]);
	suite_end();
	assert_int_equal(suite_single(&none, &suite, &suite_error), -EINVAL);
	s.kernels = twice;
	assert_int_equal(suite_single(&s, &suite, &suite_error), -EINVAL);
	assert_string_equal(suite_error.text, "the kernel 'base' is named twice");
}

static void what_one_command_leaves_open_is_the_default(void **state)
{
	char *argv[] = {"true", NULL};
	struct suite_single s = {.argv = argv};
	const struct suite_case *c;

	assert_int_equal(suite_single(&s, &suite, &suite_error), 0);
	suite_must_expand(&all);
	assert_int_equal(suite_plan.count, 1);
	c = suite_plan.cases;
	assert_string_equal(c->id, "command");
	assert_true(!c->kernel && !c->cpu && !c->append);
	assert_int_equal(c->cpus, 1);
	assert_int_equal(c->test->timeout_ns, SUITE_TIMEOUT_NS);
	assert_int_equal(c->test->boot_timeout_ns, SUITE_BOOT_TIMEOUT_NS);
	assert_int_equal(c->test->idle_timeout_ns, 0);
	suite_end();
}

static const struct suite_test *find_test(const char *name)
{
	for (size_t i = 0; i < suite_plan.count; i++) {
		if (strcmp(suite_plan.cases[i].test->name, name) == 0) {
			return suite_plan.cases[i].test;
		}
	}
	fail_msg("no case of %s", name);
	return NULL;
}

static void assert_list(char *const *list, const char *joined)
{
	char text[512] = "";

	for (size_t i = 0; list && list[i]; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 list[i]);
	}
	assert_string_equal(text, joined);
}

static void assert_in_folder(const char *s, const char *rest)
{
	assert_memory_equal(s, suite_folder, strlen(suite_folder));
	assert_string_equal(s + strlen(suite_folder), rest);
}

static void a_test_has_what_it_says_and_the_defaults(void **state)
{
	const struct suite_test *t;

	suite_must_read(whole_file);
	assert_string_equal(suite_name(suite), "All of it");
	assert_string_equal(suite_title(suite), "All of it");
	assert_string_equal(suite_path(suite), suite_file_name());
	suite_must_expand(&all);
	t = find_test("cmd");
	assert_int_equal(t->kind, SUITE_COMMAND);
	assert_int_equal(t->pos.line, 20);
	assert_int_equal(t->pos.column, 5);
	assert_list(t->argv, "sh -c echo \"x\"; exit 3");
	assert_in_folder(t->files[0], "/data:/tmp/data");
	assert_in_folder(t->files[1], "/a.sh:/bin/a.sh");
	assert_in_folder(t->files[2], "/a:b:/tmp/a:b");
	assert_in_folder(t->files[3], "/a:b:/c");
	assert_in_folder(t->files[4], "/kst:/tmp/kst");
	assert_list(t->env, "A=1 B=3 C=");
	assert_in_folder(t->shares[0], "/kst:/mnt/kst");
	assert_in_folder(t->shares[1], "/mods:/lib/mods,rw");
	assert_in_folder(t->initrds[0], "/data");
	assert_list(t->artifacts, "/var/log");
	assert_int_equal(t->need_count, 6);
	assert_int_equal(t->needs[0].kind, SUITE_NEED_CPUS);
	assert_int_equal(t->needs[0].number, 2);
	assert_int_equal(t->needs[1].kind, SUITE_NEED_KVM);
	assert_null(t->needs[1].value);
	assert_int_equal(t->needs[2].kind, SUITE_NEED_CLASS);
	assert_int_equal(t->needs[2].number, EXEC_NATIVE);
	assert_string_equal(t->needs[3].value, "KUNIT=m");
	assert_string_equal(t->needs[4].value, "/bin/sh");
	assert_int_equal(t->needs[5].number, 1 << 30);
	assert_int_equal(t->allow_count, 2);
	assert_string_equal(t->allows[0].reason, "slow machine");
	assert_string_equal(t->allows[1].pattern, "x+");
	assert_string_equal(t->fail_on, "oops,warn");
	assert_int_equal(t->boot_timeout_ns, 1500 * NS_PER_MSEC);
	assert_int_equal(t->idle_timeout_ns, 300 * NS_PER_MSEC);
	assert_int_equal(t->timeout_ns, 120 * NS_PER_SEC);
	assert_null(t->root);
	assert_int_equal(t->expect, SUITE_EXPECT_FAIL);
	assert_string_equal(t->known, "a bug: #1");
	assert_string_equal(t->known_until, "2027-02-28");
	assert_int_equal(t->retries, 2);
	assert_list(t->tags, "ci slow");
	suite_end();
}

static void each_kind_of_test_has_its_path_and_what_of_it_runs(void **state)
{
	const struct suite_test *t;

	suite_must_read(whole_file);
	suite_must_expand(&all);
	t = find_test("script");
	assert_int_equal(t->kind, SUITE_SCRIPT);
	assert_in_folder(t->path, "/a.sh");
	assert_null(t->fail_on);
	assert_int_equal(t->expect, SUITE_EXPECT_PANIC);
	assert_string_equal(t->root, "/");
	assert_int_equal(t->retries, 1);
	t = find_test("kst");
	assert_int_equal(t->kind, SUITE_KSELFTEST);
	assert_in_folder(t->path, "/kst");
	assert_list(t->list, "two");
	assert_string_equal(t->fail_on, SUITE_FAIL_ON);
	t = find_test("ltp");
	assert_int_equal(t->kind, SUITE_SCRIPTS);
	assert_null(t->list);
	assert_int_equal(t->expect, SUITE_EXPECT_SKIP);
	assert_string_equal(t->known, "for ever");
	assert_null(t->known_until);
	t = find_test("kunit");
	assert_int_equal(t->kind, SUITE_KUNIT);
	assert_null(t->path);
	assert_list(t->list, "list*");
	t = find_test("modules");
	assert_int_equal(t->kind, SUITE_KUNIT);
	assert_in_folder(t->path, "/mods");
	assert_list(t->list, "x.ko");
	t = find_test("fw");
	assert_int_equal(t->kind, SUITE_FIRMWARE);
	assert_in_folder(t->path, "/payload");
	/* Of the defaults only what a payload has a use for. */
	assert_null(t->env);
	assert_null(t->root);
	assert_list(t->tags, "ci");
	suite_end();
}

static size_t count_of(const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < suite_plan.count; i++) {
		n += strcmp(suite_plan.cases[i].test->name, name) == 0;
	}
	return n;
}

static void excludes_and_a_matrix_of_its_own_make_a_tests_cases(void **state)
{
	const struct suite_case *c;

	suite_must_read(whole_file);
	suite_must_expand(&all);
	/* 2^5, less 8 of the first exclude and 4 of the second, of which 1 is in both. */
	assert_int_equal(count_of("cmd"), 32 - 8 - 4 + 1);
	/* kernels and cpus are one each: 2^3, less the second exclude. */
	assert_int_equal(count_of("kst"), 8 - 1);
	/* A payload has no kernel and no command line: 2^3, less its own exclude of 2. */
	assert_int_equal(count_of("fw"), 8 - 2);
	c = &suite_plan.cases[0];
	assert_string_equal(c->id, "cmd[kernel=base,cpu=host,cpus=1,memory=256M,append=]");
	assert_string_equal(suite_plan.cases[1].id,
			    "cmd[kernel=base,cpu=host,cpus=1,memory=256M,append=nopti quiet]");
	assert_string_equal(c->append, "");
	c = &suite_plan.cases[suite_plan.count - 1];
	assert_string_equal(c->id, "fw[cpu=x86-64-v2,-avx,cpus=4,memory=1G]");
	assert_true(!c->kernel && !c->append);
	assert_int_equal(c->memory_bytes, UINT64_C(1) << 30);
	suite_end();
}

static void a_file_without_a_matrix_runs_each_test_once(void **state)
{
	suite_must_read("tests:\n"
			"  - {name: smoke, command: [uname, -r]}\n"
			"  - {name: one, command: ['true'], matrix: {cpus: [4]}}\n");
	assert_string_equal(suite_name(suite), "a");
	assert_string_equal(suite_title(suite), suite_file_name());
	suite_must_expand(&all);
	assert_int_equal(suite_plan.count, 2);
	assert_string_equal(suite_plan.cases[0].id, "smoke");
	assert_string_equal(suite_plan.cases[1].id, "one");
	assert_int_equal(suite_plan.cases[1].cpus, 4);
	suite_end();
}

#define SAME_TEXT(a, b)                            \
	do {                                       \
		assert_int_equal(!(a), !(b));      \
		if (a) {                           \
			assert_string_equal(a, b); \
		}                                  \
	} while (0)

static void assert_same_lists(char *const *a, char *const *b)
{
	size_t i = 0;

	for (; a && a[i]; i++) {
		assert_true(b && b[i]);
		assert_string_equal(a[i], b[i]);
	}
	assert_true(!b || !b[i]);
}

static void assert_same_tests(const struct suite_test *a, const struct suite_test *b)
{
	SAME_TEXT(a->name, b->name);
	SAME_TEXT(a->path, b->path);
	SAME_TEXT(a->root, b->root);
	SAME_TEXT(a->fail_on, b->fail_on);
	SAME_TEXT(a->known, b->known);
	SAME_TEXT(a->known_until, b->known_until);
	assert_same_lists(a->argv, b->argv);
	assert_same_lists(a->list, b->list);
	assert_same_lists(a->files, b->files);
	assert_same_lists(a->env, b->env);
	assert_same_lists(a->shares, b->shares);
	assert_same_lists(a->initrds, b->initrds);
	assert_same_lists(a->artifacts, b->artifacts);
	assert_same_lists(a->tags, b->tags);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->expect, b->expect);
	assert_int_equal(a->retries, b->retries);
	assert_int_equal(a->boot_timeout_ns, b->boot_timeout_ns);
	assert_int_equal(a->idle_timeout_ns, b->idle_timeout_ns);
	assert_int_equal(a->timeout_ns, b->timeout_ns);
	assert_int_equal(a->need_count, b->need_count);
	for (size_t i = 0; i < a->need_count; i++) {
		SAME_TEXT(a->needs[i].text, b->needs[i].text);
	}
	assert_int_equal(a->allow_count, b->allow_count);
	for (size_t i = 0; i < a->allow_count; i++) {
		SAME_TEXT(a->allows[i].pattern, b->allows[i].pattern);
		SAME_TEXT(a->allows[i].reason, b->allows[i].reason);
	}
}

/* Prints the suite, reads that, and holds the cases of both against each other. */
static void assert_prints_to_the_same(void)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct suite *before = suite;
	struct suite_plan cases;

	assert_non_null(f);
	assert_int_equal(suite_print(suite, f, &suite_error), 0);
	assert_int_equal(fclose(f), 0);
	suite_must_expand(&all);
	cases = suite_plan;
	suite_must_read(text);
	assert_string_equal(suite_name(suite), suite_name(before));
	suite_must_expand(&all);
	assert_int_equal(suite_plan.count, cases.count);
	for (size_t i = 0; i < cases.count; i++) {
		const struct suite_case *a = &cases.cases[i], *b = &suite_plan.cases[i];

		assert_string_equal(a->id, b->id);
		SAME_TEXT(a->kernel, b->kernel);
		SAME_TEXT(a->cpu, b->cpu);
		SAME_TEXT(a->append, b->append);
		assert_int_equal(a->cpus, b->cpus);
		assert_int_equal(a->memory_bytes, b->memory_bytes);
		assert_same_tests(a->test, b->test);
	}
	suite_plan_fini(&cases);
	suite_destroy(before);
	suite_end();
}

static void what_is_printed_reads_back_to_the_same_cases(void **state)
{
	char *argv[] = {"sh",
			"-c",
			"# no: comment\n\t- \"'\\",
			"",
			"\x7f\x01\xc2\x85\xe2\x80\xa8",
			"null",
			"~",
			" x ",
			NULL};
	struct suite_single s = {.argv = argv, .append = "a b", .timeout_ns = 1500 * NS_PER_MSEC};

	suite_must_read(whole_file);
	assert_prints_to_the_same();
	assert_int_equal(suite_single(&s, &suite, &suite_error), 0);
	assert_prints_to_the_same();
}

static void what_cannot_be_printed_is_an_error(void **state)
{
	char *argv[] = {"echo", "\xff", NULL};
	struct suite_single s = {.argv = argv};
	FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	setbuf(full, NULL);
	assert_int_equal(suite_single(&s, &suite, &suite_error), 0);
	assert_int_equal(suite_print(suite, full, &suite_error), -EILSEQ);
	suite_end();
	argv[1] = NULL;
	assert_int_equal(suite_single(&s, &suite, &suite_error), 0);
	assert_int_equal(suite_print(suite, full, &suite_error), -EIO);
	suite_end();
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_command_makes_a_case_for_each_kernel),
		cmocka_unit_test(what_one_command_leaves_open_is_the_default),
		cmocka_unit_test(a_test_has_what_it_says_and_the_defaults),
		cmocka_unit_test(each_kind_of_test_has_its_path_and_what_of_it_runs),
		cmocka_unit_test(excludes_and_a_matrix_of_its_own_make_a_tests_cases),
		cmocka_unit_test(a_file_without_a_matrix_runs_each_test_once),
		cmocka_unit_test(what_is_printed_reads_back_to_the_same_cases),
		cmocka_unit_test(what_cannot_be_printed_is_an_error),
	};

	return cmocka_run_group_tests(tests, suite_setup, suite_teardown);
}
