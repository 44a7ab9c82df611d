/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suite_fixture.h"

#include <errno.h>
#include <string.h>

#define FILE_KEYS   "name, defaults, matrix, tests"
#define MATRIX_KEYS "kernels, cpu, cpus, memory, append, exclude"
#define SHARED_KEYS                                                                       \
	"files, env, root, shares, initrds, artifacts, needs, allow, fail_on, timeouts, " \
	"format, expect, known, retries, tags"
#define TEST_KEYS \
	"name, matrix, command, script, kselftest, scripts, kunit, firmware, only, " SHARED_KEYS
#define KINDS "command, script, kselftest, scripts, kunit, firmware"
#define NEEDS                                                              \
	"'needs': expected kvm, class=native|nested|emulated|tcg|icount, " \
	"config=OPTION[=y|m], file=/PATH, cpus=N or memory=SIZE, got "
#define GUEST_PATH                                                                        \
	"expected an absolute path of the guest without '//', '.', '..' or a '/' at its " \
	"end, got "
#define NAMES "expected up to 80 letters, digits and any of ._+-, the first no sign, got "

#define ONE   "tests:\n  - name: t\n    command: [x]\n" /* line 4 is what follows */
#define TWO   ONE "  - name: u\n    command: [x]\n"     /* line 6 */

/* A % in an error is the suite's folder. */
static const struct {
	const char *text, *error;
} bad[] = {
	/* what the file is made of */
	{"", "1:1: the file is empty; the keys of a suite are: " FILE_KEYS},
	{"test: []\n", "1:1: suite: 'test' is no key of it; its keys are: " FILE_KEYS},
	{"name: x\n", "1:1: suite: 'tests' is missing; its keys are: " FILE_KEYS},
	{"tests: []\n", "1:8: 'tests': expected a list of 1 to 1000 (test), got 0"},
	{"tests: x\n", "1:8: 'tests': expected a list (test), got a text"},
	{ONE "tests: []\n", "4:1: suite: 'tests' stands twice in it"},
	{ONE "matrix: []\n",
	 "4:9: expected a mapping (matrix), got a list; its keys are: " MATRIX_KEYS},
	{ONE "matrix: {kernel: [a]}\n",
	 "4:10: matrix: 'kernel' is no key of it; its keys are: " MATRIX_KEYS},
	{ONE "defaults: {command: [x]}\n",
	 "4:12: defaults: 'command' is no key of it; its keys are: " SHARED_KEYS},
	{ONE "name: \"a\\nb\"\n", "4:7: 'name': a control character in it"},

	/* what a test is */
	{"tests: [{command: [x]}]\n", "1:9: test: 'name' is missing; its keys are: " TEST_KEYS},
	{"tests: [{name: a/b, command: [x]}]\n", "1:16: 'name': " NAMES "'a/b'"},
	{"tests: [{name: -a, command: [x]}]\n", "1:16: 'name': " NAMES "'-a'"},
	{"tests: [{name: a}]\n", "1:9: test 'a': it needs one of " KINDS},
	{"tests: [{name: a, command: [x], kunit: builtin}]\n",
	 "1:9: test 'a': 'command' and 'kunit' in it: it is one of " KINDS},
	{ONE "  - name: t\n    command: [y]\n", "4:11: there are two tests of the name 't'"},
	{"tests: [{name: a, command: x}]\n",
	 "1:28: 'command': expected a list (text), got a text; one alone stands in [ ], too"},
	{"tests: [{name: a, command: []}]\n",
	 "1:28: 'command': expected a list of 1 to 256 (text), got 0"},
	{ONE "    only: [x]\n", "4:11: test 't': 'only' is for kselftest, scripts and kunit"},
	{"tests: [{name: a, script: no.sh}]\n",
	 "1:27: 'script': %/no.sh: No such file or directory"},
	{"tests: [{name: a, script: kst}]\n",
	 "1:27: 'script': %/kst: expected a file, got a directory"},
	{"tests: [{name: a, script: /dev/zero}]\n",
	 "1:27: 'script': /dev/zero: expected a file, got a device"},
	{ONE "    files: [/dev/null]\n",
	 "4:13: 'files': /dev/null: expected a file or a directory, got a device"},
	{ONE "    files: ['data:/x', 'a:b:/x']\n", "4:24: 'files': two at /x in the guest"},
	{ONE "    files: [data]\ndefaults: {files: ['a:b:/tmp/data']}\n",
	 "4:13: 'files': two at /tmp/data in the guest"},
	{ONE "    root: /dev/null\n",
	 "4:11: 'root': /dev/null: expected a directory, a file or a disk, got a device"},
	{"tests: [{name: a, scripts: none}]\n",
	 "1:28: 'scripts': %/none: there is no program in it; is it built?"},
	{"tests: [{name: a, kselftest: mods}]\n",
	 "1:30: 'kselftest': %/mods: there is no program in it; is it built?"},
	{"tests: [{name: a, kunit: none}]\n",
	 "1:26: 'kunit': %/none: there is no module (*.ko) in it; is it built?"},
	{"tests: [{name: a, kunit: kst}]\n",
	 "1:26: 'kunit': %/kst: there is no module (*.ko) in it; is it built?"},
	{ONE "    shares: ['kst:/x,ro']\n",
	 "4:14: 'shares': a comma in '/x,ro': only ',rw' may stand behind a place of the guest; "
	 "without it, it is for reading only"},
	{"tests: [{name: a, kselftest: a.sh}]\n",
	 "1:30: 'kselftest': %/a.sh: expected a directory, got a file"},
	{"tests: [{name: a, kselftest: kst, only: [one, three]}]\n",
	 "1:47: 'only': %/kst/three: No such file or directory"},
	{"tests: [{name: a, kselftest: kst, only: [../a.sh]}]\n",
	 "1:42: 'only': expected a name in %/kst, got '../a.sh'"},
	{"tests: [{name: a, kunit: nothing}]\n",
	 "1:26: 'kunit': %/nothing: No such file or directory"},
	{"tests: [{name: a, kunit: builtin, only: ['list*', kunit]}]\n",
	 "1:51: 'only': suites that are built in are one glob (the kernel's kunit.filter_glob), "
	 "got 2"},
	{"tests: [{name: a, firmware: payload, env: [A=1]}]\n",
	 "1:43: 'env' is of no use to a firmware payload"},
	{"tests: [{name: a, firmware: payload, root: /}]\n",
	 "1:44: 'root' is of no use to a firmware payload"},
	{"tests: [{name: a, firmware: payload, matrix: {kernels: [a]}}]\n",
	 "1:46: test 'a': a firmware payload has no 'kernels' and no 'append'"},

	/* what it has */
	{ONE "    files: [no]\n", "4:13: 'files': %/no: No such file or directory"},
	{ONE "    files: [.]\n",
	 "4:13: 'files': '.' has no name of its own: say where it goes, as in .:/tmp/NAME"},
	{ONE "    files: [data, data]\n", "4:19: 'files': '%/data:/tmp/data' stands twice in it"},
	{ONE "    env: [A]\n", "4:11: 'env': expected NAME=VALUE, got 'A'"},
	{ONE "    env: [=1]\n", "4:11: 'env': expected NAME=VALUE, got '=1'"},
	{ONE "    env: [A=1, A=2]\n", "4:16: 'env': 'A' stands twice in it"},
	{ONE "    root: no,rw\n", "4:11: 'root': %/no: No such file or directory"},
	{ONE "    shares: [data]\n", "4:14: 'shares': %/data: expected a directory, got a file"},
	{ONE "    shares: [/]\n",
	 "4:14: 'shares': '/' has no name of its own: say where it goes, as in /:/mnt/NAME"},
	{ONE "    initrds: [kst]\n", "4:15: 'initrds': %/kst: expected a file, got a directory"},
	{ONE "    format: junit\n", "4:13: 'format': 'junit' is none of auto|tap|none"},
	{"tests: [{name: a, kunit: builtin, format: tap}]\n",
	 "1:43: 'format' is for command, script and firmware: the others have one that is given"},
	{ONE "    artifacts: [/log, //log]\n", "4:23: 'artifacts': " GUEST_PATH "'//log'"},
	{ONE "    artifacts: [/tmp/../log]\n", "4:17: 'artifacts': " GUEST_PATH "'/tmp/../log'"},
	{ONE "    artifacts: [/tmp/./log]\n", "4:17: 'artifacts': " GUEST_PATH "'/tmp/./log'"},
	{ONE "    artifacts: [/]\n", "4:17: 'artifacts': " GUEST_PATH "'/'"},
	{ONE "    artifacts: [/tmp/]\n", "4:17: 'artifacts': " GUEST_PATH "'/tmp/'"},
	{ONE "    artifacts: [/dev]\n",
	 "4:17: 'artifacts': /dev is the kernel's, and not brought back as a whole: name what is "
	 "meant in it"},
	{ONE "    files: [a.sh:/tmp/../init]\n", "4:13: 'files': " GUEST_PATH "'/tmp/../init'"},
	{ONE "    shares: [kst://mnt]\n", "4:14: 'shares': " GUEST_PATH "'//mnt'"},
	{ONE "    command: [\"x\\0y\"]\n", "4:5: test: 'command' stands twice in it"},
	{"tests:\n  - {name: t, command: [\"x\\0y\"]}\n",
	 "2:25: 'command': expected a text, got a text with a NUL in it"},
	{ONE "    artifacts: [log]\n",
	 "4:17: 'artifacts': expected an absolute path of the guest, got 'log'"},
	{ONE "    needs: [qemu]\n", "4:13: " NEEDS "'qemu'"},
	{ONE "    needs: [kvm=1]\n", "4:13: " NEEDS "'kvm=1'"},
	{ONE "    needs: [class]\n", "4:13: " NEEDS "'class'"},
	{ONE "    needs: [class=fast]\n", "4:13: " NEEDS "'class=fast'"},
	{ONE "    needs: [config=A=n]\n", "4:13: " NEEDS "'config=A=n'"},
	{ONE "    needs: [file=x]\n", "4:13: " NEEDS "'file=x'"},
	{ONE "    needs: [cpus=0]\n", "4:13: " NEEDS "'cpus=0'"},
	{ONE "    needs: [memory=x]\n", "4:13: " NEEDS "'memory=x'"},
	{ONE "    allow: [{pattern: x}]\n",
	 "4:13: allow: 'reason' is missing; its keys are: pattern, reason"},
	{ONE "    allow: [{pattern: '(', reason: r}]\n",
	 "4:23: 'pattern': '(' is no regular expression: Unmatched ( or \\("},
	{ONE "    allow: [{pattern: '(a{20}){60}', reason: r}]\n",
	 "4:23: 'pattern': more than 512 bytes, or than 1000 repetitions by {}"},
	{ONE "    fail_on: oops,bug\n",
	 "4:14: 'fail_on': expected oops, warn, kasan, kcsan, ubsan, lockdep, rcu, lockup, hung, "
	 "taint or all, separated by commas, got 'bug'"},
	{ONE "    timeouts: {start: 1}\n",
	 "4:16: timeouts: 'start' is no key of it; its keys are: boot, idle, whole"},
	{ONE "    timeouts: {boot: 0}\n",
	 "4:22: 'boot': expected a time from 1ms to 86400s (seconds, or with ms, s, m), got '0'"},
	{ONE "    timeouts: {whole: none}\n",
	 "4:23: 'whole': expected a time from 1ms to 86400s (seconds, or with ms, s, m), got "
	 "'none'"},
	{ONE "    timeouts: {idle: 86401}\n",
	 "4:22: 'idle': expected a time from 1ms to 86400s (seconds, or with ms, s, m), or none, "
	 "got '86401'"},
	{ONE "    expect: success\n", "4:13: 'expect': 'success' is none of pass|fail|panic|skip"},
	{ONE "    known: {until: 2026-01-01}\n",
	 "4:12: known: 'reason' is missing; its keys are: reason, until"},
	{ONE "    known: {reason: r, until: 2026-02-29}\n",
	 "4:31: 'until': expected a day as in 2026-12-31, got '2026-02-29'"},
	{ONE "    known: {reason: r, until: soon}\n",
	 "4:31: 'until': expected a day as in 2026-12-31, got 'soon'"},
	{ONE "    retries: 11\n",
	 "4:14: 'retries': expected a whole number from 0 to 10, got '11'"},
	{ONE "    tags: [a b]\n", "4:12: 'tags': " NAMES "'a b'"},
	{ONE "defaults: {env: [A]}\n", "4:18: 'env': expected NAME=VALUE, got 'A'"},

	/* the matrix */
	{ONE "matrix: {kernels: [a, b, a]}\n", "4:26: 'kernels': 'a' stands twice in it"},
	{ONE "matrix: {kernels: ['a,b']}\n", "4:20: 'kernels': a comma in the name 'a,b'"},
	{ONE "matrix: {kernels: ['']}\n", "4:20: 'kernels': expected a text, got nothing"},
	{ONE "matrix: {append: [a, ]}\nname:\n", "5:6: 'name': expected a text, got nothing"},
	{ONE "matrix:\n  append:\n    - a\n    -\n", "7:6: 'append': expected a text, got nothing"},
	{ONE "matrix: {cpu: [a=b]}\n", "4:16: 'cpu': expected what --cpu takes, got 'a=b'"},
	{ONE "matrix: {cpus: [0]}\n",
	 "4:17: 'cpus': expected a whole number from 1 to 1024, got '0'"},
	{ONE "matrix: {cpus: [1025]}\n",
	 "4:17: 'cpus': expected a whole number from 1 to 1024, got '1025'"},
	{ONE "matrix: {cpus: [2, 0x2]}\n", "4:20: 'cpus': '0x2' stands twice in it"},
	{ONE "matrix: {memory: [1G, 1024M]}\n", "4:23: 'memory': '1024M' stands twice in it"},
	{ONE "matrix: {memory: [64K]}\n",
	 "4:19: 'memory': expected a size from 1M to 16T (without a unit: MiB), got '64K'"},
	{ONE "matrix: {append: [\"a\\tb\"]}\n", "4:19: 'append': a control character in it"},
	{ONE "matrix: {exclude: [{kernels: a}]}\n",
	 "4:21: exclude: 'kernels' is no key of it; its keys are: kernel, cpu, cpus, memory, "
	 "append"},
	{ONE "matrix: {exclude: [{}]}\n", "4:20: exclude: nothing in it, so it excludes all"},
	{ONE "matrix: {cpus: [1, 2], exclude: [{cpus: 3}]}\n",
	 "4:34: exclude: no case is like this"},
	{TWO "    matrix: {cpus: [3]}\nmatrix: {cpus: [1, 2], exclude: [{cpus: 2}, {cpus: 4}]}\n",
	 "7:45: exclude: no case is like this"},
	{TWO "    matrix: {cpus: [3, 4], exclude: [{cpus: 1}]}\n",
	 "6:38: exclude: no case of test 'u' is like this"},
	{TWO "    matrix: {cpus: [3, 4], exclude: [{cpus: 3}, {cpus: 4}]}\n",
	 "4:5: test 'u': all of its cases are excluded"},
};

static void what_is_wrong_in_a_file_is_named_with_its_place(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *percent = strchr(bad[i].error, '%');
		char want[1200];

		snprintf(want, sizeof(want), "%s:%.*s%s%s", suite_file_name(),
			 percent ? (int)(percent - bad[i].error) : (int)strlen(bad[i].error),
			 bad[i].error, percent ? suite_folder : "", percent ? percent + 1 : "");
		assert_int_equal(suite_read_text(bad[i].text), -EINVAL);
		assert_string_equal(suite_error.text, want);
		assert_null(suite);
	}
}

static void a_file_that_is_missing_is_named(void **state)
{
	assert_int_equal(suite_read("/no/such.yaml", &suite, &suite_error), -ENOENT);
	assert_string_equal(suite_error.text, "/no/such.yaml: No such file or directory");
}

/* Writes numbers a to b, as a list. */
static void write_numbers(FILE *f, unsigned int a, unsigned int b)
{
	for (unsigned int i = a; i <= b; i++) {
		fprintf(f, "%s%u", i == a ? "[" : ", ", i);
	}
	fprintf(f, "]");
}

static char *matrix_of(unsigned int cpus, unsigned int memory)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	fprintf(f, ONE "matrix:\n  cpus: ");
	write_numbers(f, 1, cpus);
	fprintf(f, "\n  memory: ");
	write_numbers(f, 1, memory);
	fprintf(f, "\n");
	assert_int_equal(fclose(f), 0);
	return text;
}

static void a_matrix_has_its_limit(void **state)
{
	char *text = matrix_of(100, 100);

	suite_must_read(text);
	suite_must_expand(&(struct suite_select){0});
	assert_int_equal(suite_plan.count, SUITE_CASES_MAX);
	suite_end();
	free(text);
	text = matrix_of(1000, 1000);
	assert_int_equal(suite_read_text(text), -EINVAL);
	assert_non_null(strstr(suite_error.text,
			       ":2:5: test 't': its matrix makes 1000000 cases, and those before "
			       "it 0: a suite has at most 10000, the excluded ones counted"));
	free(text);
	/* Of all tests together, too. */
	text = matrix_of(80, 80);
	text = realloc(text, strlen(text) + 64);
	assert_non_null(text);
	memmove(text + strlen(TWO), text + strlen(ONE), strlen(text + strlen(ONE)) + 1);
	memcpy(text, TWO, strlen(TWO));
	assert_int_equal(suite_read_text(text), -EINVAL);
	assert_non_null(strstr(suite_error.text,
			       ":4:5: test 'u': its matrix makes 6400 cases, and those before it "
			       "6400: a suite has at most 10000"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_in_a_file_is_named_with_its_place),
		cmocka_unit_test(a_file_that_is_missing_is_named),
		cmocka_unit_test(a_matrix_has_its_limit),
	};

	return cmocka_run_group_tests(tests, suite_setup, suite_teardown);
}
