/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "cli/options.h"

static struct {
	bool flag;
	uint64_t n, often, bytes, ns;
	const char *string, *choice, *gate;
	struct opt_list list;
} v;

static const struct opt_row rows[] = {
	{OPT_GROUP, .help = "Things"},
	{OPT_FLAG, "flag", 'f', &v.flag, .help = "a flag"},
	{OPT_U64, "count", 'c', &v.n, .min = 1, .max = 9, .arg = "N", .help = "how many"},
	{OPT_COUNT, "often", 0, &v.often, .max = 64, .bare = 7, .arg = "N", .help = "how often"},
	{OPT_BYTES, "memory", 'm', &v.bytes, .min = 4096, .arg = "SIZE", .help = "how much"},
	{OPT_SECONDS, "timeout", 0, &v.ns, .min = 1000000, .max = 30 * 86400000000000,
	 .arg = "TIME", .help = "how long"},
	{OPT_STRING, "name", 0, &v.string, .arg = "NAME", .help = "called what"},
	{OPT_CHOICE, "gate", 0, &v.gate, .choices = "worse|changed", .alone = "worse",
	 .help = "fails"},
	{OPT_CHOICE, "backend", 0, &v.choice, .choices = "kvm|qemu", .help = "where"},
	{OPT_LIST, "append", 0, &v.list, .arg = "TEXT", .help = "more"},
	{OPT_END},
};

static const struct opt_command with_command = {
	.name = "run", .usage = "", .about = "", .rows = rows, .takes_command = true};
static const struct opt_command one_word = {
	.name = "x", .usage = "", .about = "", .rows = rows, .max_words = 1};

static struct opt_rest rest;
static struct err e;

static int parse(const struct opt_command *cmd, const char *words)
{
	static char text[512];
	static char *argv[32];
	int argc = 0;

	memset(&v, 0, sizeof(v));
	snprintf(text, sizeof(text), "run %s", words);
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " ")) {
		argv[argc++] = w;
	}
	argv[argc] = NULL;
	return opt_parse(cmd, argc, argv, &rest, &e);
}

static void every_type_takes_its_value_with_or_without_an_equals_sign(void **state)
{
	assert_int_equal(parse(&with_command, "-f --count=3 -m 2G --timeout 0.5 --name a "
					      "--backend=qemu --append x --append y"),
			 0);
	assert_true(v.flag);
	assert_int_equal(v.n, 3);
	assert_int_equal(v.bytes, 2ull << 30);
	assert_int_equal(v.ns, 500000000);
	assert_string_equal(v.string, "a");
	assert_string_equal(v.choice, "qemu");
	assert_int_equal(v.list.count, 2);
	assert_string_equal(v.list.items[1], "y");
	assert_false(rest.has_dashdash);
	assert_int_equal(parse(&with_command, "--flag --no-flag"), 0);
	assert_false(v.flag);
}

static void a_count_may_stand_alone_or_have_a_number_behind_it(void **state)
{
	assert_int_equal(parse(&with_command, "--often -f"), 0);
	assert_int_equal(v.often, 7);
	assert_true(v.flag);
	assert_int_equal(parse(&with_command, "--often 20 --flag"), 0);
	assert_int_equal(v.often, 20);
	assert_int_equal(parse(&with_command, "--often=3"), 0);
	assert_int_equal(v.often, 3);
	assert_int_equal(parse(&with_command, "--often"), 0);
	assert_int_equal(v.often, 7);
	assert_int_equal(parse(&one_word, "--often word"), 0);
	assert_int_equal(v.often, 7);
	assert_string_equal(rest.words[0], "word");
}

static void a_choice_may_stand_alone_too(void **state)
{
	assert_int_equal(parse(&with_command, "--gate -f"), 0);
	assert_string_equal(v.gate, "worse");
	assert_int_equal(parse(&with_command, "--gate changed"), 0);
	assert_string_equal(v.gate, "changed");
	assert_int_equal(parse(&with_command, "--gate=changed"), 0);
	assert_string_equal(v.gate, "changed");
	assert_int_equal(parse(&one_word, "--gate word"), 0);
	assert_string_equal(v.gate, "worse");
	assert_string_equal(rest.words[0], "word");
	assert_int_equal(parse(&with_command, "--gate=better"), -EINVAL);
	assert_string_equal(e.text, "--gate: expected one of worse|changed, got 'better'");
	assert_int_equal(parse(&with_command, "--gate better"), -EINVAL);
	assert_string_equal(e.text, "--gate: expected one of worse|changed, got 'better'");
}

static void words_behind_two_dashes_are_handed_on_untouched(void **state)
{
	assert_int_equal(parse(&with_command, "-f -- sh -c --count -- x"), 0);
	assert_true(rest.has_dashdash);
	assert_int_equal(rest.command_count, 5);
	assert_string_equal(rest.command[0], "sh");
	assert_string_equal(rest.command[3], "--");
	assert_int_equal(v.n, 0);
}

static void each_wrong_word_is_named_with_what_was_expected(void **state)
{
	static const struct {
		const struct opt_command *cmd;
		const char *words, *text;
	} bad[] = {
		{&with_command, "--nope",
		 "--nope: no such option; 'ringside run --help' lists them"},
		{&with_command, "--count", "--count: a value (N) is missing"},
		{&with_command, "--count x", "--count: expected a whole number, 1 to 9, got 'x'"},
		{&with_command, "--count -3", "--count: expected a whole number, 1 to 9, got '-3'"},
		{&with_command, "--count 10", "--count 10: expected 1 to 9"},
		{&with_command, "--count 0", "--count 0: expected 1 to 9"},
		{&with_command, "--often 65", "--often 65: expected 0 to 64"},
		{&with_command, "--often 2x",
		 "--often: expected a whole number, 0 to 64, got '2x'"},
		{&with_command, "--often=", "--often: expected a whole number, 0 to 64, got ''"},
		{&with_command, "-m 1K", "--memory 1K: expected 4 KiB or more"},
		{&with_command, "-m 99999999999T",
		 "--memory 99999999999T: the number is too large"},
		{&with_command, "--timeout x",
		 "--timeout: expected a time such as 5, 0.5 or 250ms, got 'x'"},
		{&with_command, "--timeout 0", "--timeout 0: expected 1 ms to 30 days"},
		{&with_command, "--backend kv", "--backend: expected one of kvm|qemu, got 'kv'"},
		{&with_command, "--flag=1", "--flag takes no value, got '1'"},
		{&with_command, "--", "a command is missing behind '--'"},
		{&with_command, "sh",
		 "unexpected 'sh'; a command for the guest stands behind '--'"},
		{&one_word, "a b", "unexpected 'b'"},
		{&one_word, "-- a", "'--' and words behind it are not taken here"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse(bad[i].cmd, bad[i].words), -EINVAL);
		assert_string_equal(e.text, bad[i].text);
	}
}

static void an_option_given_too_often_is_refused(void **state)
{
	char *argv[2 + 2 * OPT_LIST_MAX + 2] = {"run"};
	int argc = 1;

	memset(&v, 0, sizeof(v));
	for (int i = 0; i <= OPT_LIST_MAX; i++) {
		argv[argc++] = "--append";
		argv[argc++] = "x";
	}
	assert_int_equal(opt_parse(&with_command, argc, argv, &rest, &e), -EINVAL);
	assert_string_equal(e.text, "--append: given more than 64 times");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_takes_its_value_with_or_without_an_equals_sign),
		cmocka_unit_test(a_choice_may_stand_alone_too),
		cmocka_unit_test(a_count_may_stand_alone_or_have_a_number_behind_it),
		cmocka_unit_test(words_behind_two_dashes_are_handed_on_untouched),
		cmocka_unit_test(each_wrong_word_is_named_with_what_was_expected),
		cmocka_unit_test(an_option_given_too_often_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
