/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engine/scenario.h"
#include "temp_folder.h"

static struct err e;
static struct scenario s;
static struct temp_folder folder;

static int setup(void **state)
{
	temp_folder_init(&folder);
	return 0;
}

static int teardown(void **state)
{
	return temp_folder_fini(&folder);
}

static int read_text(const char *text)
{
	temp_folder_put(&folder, "a.yaml", text);
	return scenario_read(temp_folder_name(&folder, "a.yaml"), &s, &e);
}

#define ARMS                                                   \
	"    arms:\n"                                          \
	"      - {name: old, arm: 'base,append=nofsgsbase'}\n" \
	"      - {name: new, arm: base}\n"

#define GROUP           \
	"  - name: g\n" \
	"    benches: [syscall]\n" ARMS

#define HEAD "title: t\ngroups:\n"

#define CLAIM                      \
	HEAD GROUP "    claims:\n" \
		   "      - {text: t, source: s, hardware: h, "

static void a_whole_file_makes_groups_with_arms_and_claims(void **state)
{
	const struct plan_group *g;
	const struct claim *c;

	if (read_text("title: All of it\n"
		      "backend: qemu\n"
		      "icount: 3\n"
		      "batches: 12\n"
		      "blocks: 6\n"
		      "seed: 7\n"
		      "timeout: 600\n"
		      "groups:\n"
		      "  - name: first\n"
		      "    benches: [syscall.null, ctxsw.pipe]\n"
		      "    arms:\n"
		      "      - {name: old, arm: 'base,append=nofsgsbase,append=quiet'}\n"
		      "      - {name: new, arm: base}\n"
		      "      - {name: other, arm: other}\n"
		      "    claims:\n"
		      "      - text: saves a lot\n"
		      "        source: a mail\n"
		      "        hardware: a laptop\n"
		      "        from: 12400\n"
		      "        to: 21000\n"
		      "        change: -100\n"
		      "        unit: connections/s\n"
		      "        of: what it was\n"
		      "        arm: other\n"
		      "        bench: switch_to.fsgs@ctxsw.pipe.fs\n"
		      "        floor: fsgsbase.fs\n"
		      "        note: mind this\n"
		      "      - {text: t, source: s, hardware: h, arm: old, bench: syscall.null,\n"
		      "         against: ctxsw.pipe.fs, no_floor: why,\n"
		      "         percent: -10, percent_to: -5, of: it}\n"
		      "  - name: second\n"
		      "    blocks: 9\n"
		      "    benches: [ctxsw]\n" ARMS) < 0) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(s.title, "All of it");
	assert_string_equal(s.backend, "qemu");
	assert_true(s.has_icount && s.has_batches && s.has_seed && s.has_timeout);
	assert_int_equal(s.icount, 3);
	assert_int_equal(s.batches, 12);
	assert_int_equal(s.seed, 7);
	assert_int_equal(s.timeout_ns, 600 * NS_PER_SEC);
	assert_int_equal(s.group_count, 2);
	g = &s.groups[0];
	assert_int_equal(g->blocks, 6);
	assert_int_equal(s.groups[1].blocks, 9);
	assert_int_equal(g->arm_count, 3);
	assert_string_equal(g->arms[0].name, "old");
	assert_string_equal(g->arms[0].arm.append, "nofsgsbase quiet");
	assert_string_equal(g->arms[2].arm.kernel, "other");
	assert_int_equal(g->claim_count, 2);
	c = &g->claims[0];
	assert_int_equal(c->arm, 2);
	assert_true(c->from == 12400 && c->to == 21000);
	assert_true(c->change_low == -100 && c->change_high == -100);
	assert_true(isnan(c->percent_low));
	assert_string_equal(c->floor, "fsgsbase.fs");
	assert_null(c->against);
	c = &g->claims[1];
	assert_int_equal(c->arm, 0);
	assert_string_equal(c->against, "ctxsw.pipe.fs");
	assert_true(isnan(c->from) && isnan(c->change_low));
	assert_true(c->percent_low == -10 && c->percent_high == -5);
	scenario_fini(&s);
}

static void what_a_file_leaves_open_is_said_to_be_open(void **state)
{
	assert_int_equal(read_text(HEAD GROUP), 0);
	assert_null(s.backend);
	assert_false(s.has_icount || s.has_batches || s.has_seed || s.has_timeout);
	assert_int_equal(s.groups[0].blocks, 0);
	scenario_fini(&s);
}

#define GROUP_KEYS "name, blocks, benches, arms, claims, margin, margins"
#define FILE_KEYS \
	"title, backend, icount, batches, blocks, seed, timeout, runner, aa, matrix, margin, include, groups"
#define CLAIM_KEYS                                                                             \
	"text, source, hardware, from, to, change, change_to, percent, percent_to, unit, of, " \
	"arm, bench, against, floor, no_floor, note"

static void what_is_wrong_in_a_file_is_named_with_its_place(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"", "1:1: the file is empty; the keys of a scenario are: " FILE_KEYS},
		{"titel: t\n", "1:1: scenario: 'titel' is no key of it; its keys are: " FILE_KEYS},
		{"title: t\n", "1:1: scenario: there are no 'groups' in it, and no 'include'"},
		{"title: t\nbackend: xen\n", "2:10: 'backend': 'xen' is none of auto|kvm|qemu"},
		{"title: t\nicount: 11\n",
		 "2:9: 'icount': expected a whole number from 0 to 10, got '11'"},
		{"title: t\nbackend: kvm\nicount: 3\n" HEAD,
		 "4:1: scenario: 'title' stands twice in it"},
		{"title: t\nbackend: kvm\nicount: 3\ngroups:\n" GROUP,
		 "3:9: 'icount' is QEMU's, and 'backend' is kvm"},
		{"title: t\nblocks: 10001\n",
		 "2:9: 'blocks': expected a whole number from 1 to 512, got '10001'"},
		{HEAD "  - name: g\n",
		 "3:5: group: 'benches' is missing; its keys are: " GROUP_KEYS},
		{HEAD GROUP "    arm: x\n",
		 "8:5: group: 'arm' is no key of it; its keys are: " GROUP_KEYS},
		{"title: t\nmargin: 2seconds\ngroups:\n" GROUP,
		 "2:9: 'margin': expected a margin such as 2cycles, 0.5instructions, 0.5% or "
		 "\"2cycles,0.5%\", got '2seconds'"},
		{HEAD GROUP "    margins: [{benches: [syscall.null]}]\n",
		 "8:15: margin: 'margin' is missing; its keys are: benches, margin"},
		{HEAD GROUP "    margins: [{benches: [ctxsw.pipe], margin: 1}]\n",
		 "8:25: 'margins': group 'g' does not run all of these benchmarks"},
		{"groups:\n" GROUP GROUP,
		 "1:1: scenario: 'title' is missing: a file of one group of two arms does without"},
		{HEAD "  - benches: [syscall]\n" ARMS,
		 "3:5: group: 'name' is missing: a file of one group of two arms and no title does "
		 "without"},
		{HEAD GROUP GROUP, "8:11: there are two groups of the name 'g'"},
		{HEAD "  - name: g\n    benches: [speed]\n" ARMS,
		 "4:15: benches: 'speed' is no benchmark and no group; there are: syscall.null, "},
		{HEAD "  - name: g\n    benches: [syscall]\n    arms: [{name: a, arm: base}]\n",
		 "5:11: 'arms': expected a list of 2 to 8 (arm), got 1"},
		{HEAD "  - name: g\n    benches: [syscall]\n    arms:\n"
		      "      - {name: a, arm: base}\n      - {name: a, arm: base}\n",
		 "7:16: group 'g' has two arms of the name 'a'"},
		{HEAD "  - name: g\n    benches: [syscall]\n    arms:\n"
		      "      - {name: a, arm: base}\n      - {name: b, arm: 'base,x=1'}\n",
		 "7:24: arm 'base,x=1': 'x' is no property of an arm; there are: append, cpu, task"},
		{HEAD GROUP "    claims: [{text: t}]\n",
		 "8:14: claim: 'source' is missing; its keys are: " CLAIM_KEYS},
		{CLAIM "arm: newer, bench: syscall.null}\n",
		 "9:48: claim: 'arm': group 'g' has no arm 'newer'"},
		{CLAIM "arm: old, bench: syscall.null}\n",
		 "9:48: claim: 'arm': 'old' is the first arm of its group: what the others are "
		 "compared with"},
		{CLAIM "arm: new, bench: ctxsw.pipe.fs}\n",
		 "9:60: claim: 'bench': group 'g' does not run the benchmark 'ctxsw.pipe.fs'"},
		{CLAIM "arm: new, bench: p@ctxsw.pipe.fs}\n",
		 "9:60: claim: 'bench': group 'g' does not run the benchmark 'ctxsw.pipe.fs'"},
		{CLAIM "arm: old, bench: syscall.null, against: syscall}\n",
		 "9:83: claim: 'against': group 'g' does not run the benchmark 'syscall'"},
		{CLAIM "arm: new, bench: syscall.null, percent: 5}\n",
		 "9:83: claim: 'percent' needs 'of' (a percentage says of what)"},
		{CLAIM "arm: new, bench: syscall.null, percent_to: 5, of: x, unit: u}\n",
		 "9:86: claim: 'percent_to' needs 'percent'"},
		{CLAIM "arm: new, bench: syscall.null, from: 1}\n",
		 "9:80: claim: 'from' needs 'to' and 'of' (what it was before) and 'unit'"},
		{CLAIM "arm: new, bench: syscall.null, from: 5, of: x, unit: u}\n",
		 "9:80: claim: 'from' needs 'to'"},
		{CLAIM "arm: new, bench: syscall.null, to: 5, of: x, unit: u}\n",
		 "9:78: claim: 'to' needs 'from'"},
		{CLAIM "arm: new, bench: syscall.null, from: 5, to: 6, unit: u}\n",
		 "9:80: claim: 'from' needs 'of' (what it was before)"},
		{CLAIM "arm: new, bench: syscall.null, from: 5, to: 6, of: x}\n",
		 "9:80: claim: 'from' needs 'unit'"},
		{CLAIM "arm: new, bench: syscall.null, from: 0, to: 6, of: x, unit: u}\n",
		 "9:80: claim: 'from' is 0: there is no percentage of it"},
		{CLAIM "arm: new, bench: syscall.null, change: 5}\n",
		 "9:82: claim: 'change' needs 'unit'"},
		{CLAIM "arm: new, bench: syscall.null, change_to: 5, unit: u}\n",
		 "9:85: claim: 'change_to' needs 'change'"},
		{CLAIM "arm: new, bench: syscall.null, percent: 5, of: x, change: 1, unit: u}\n",
		 "9:83: claim: 'percent' beside 'change': these are two claims, of which each can "
		 "be right without the other; give one"},
		{CLAIM "arm: new, bench: syscall.null, floor: uaccess.get, no_floor: why}\n",
		 "9:104: claim: 'no_floor' says why there is no 'floor': give one of them"},
		{CLAIM "arm: new, bench: syscall.null, floor: nosuch}\n",
		 "9:81: claim: 'floor': 'nosuch' is no floor of 'ringside calibrate'; there are: "
		 "fsgsbase.fs, fsgsbase.fsgs, uaccess.get, uaccess.put, nopti.syscall"},
		{"title: t\naa: yes\ngroups:\n  - name: g\n    benches: [syscall]\n    arms:\n"
		 "      - {name: a, arm: base}\n      - {name: b, arm: base}\n"
		 "      - {name: c, arm: 'base,append=x'}\n",
		 "9:24: arm: 'aa: yes' compares an arm with itself, and this is not the first arm of "
		 "group 'g'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		size_t len = strlen(temp_folder_name(&folder, "a.yaml"));

		assert_int_equal(read_text(bad[i].text), -EINVAL);
		assert_memory_equal(e.text, folder.name, len);
		assert_int_equal(e.text[len], ':');
		/* The list of benchmarks grows: only its beginning is held. */
		if (strncmp(e.text + len + 1, bad[i].error, strlen(bad[i].error)) != 0) {
			assert_string_equal(e.text + len + 1, bad[i].error);
		}
		assert_null(s.groups);
	}
}

static void a_file_that_is_missing_is_named(void **state)
{
	assert_int_equal(scenario_read("/no/such.yaml", &s, &e), -ENOENT);
	assert_string_equal(e.text, "/no/such.yaml: No such file or directory");
}

static void margins_are_of_the_file_the_group_and_its_benchmarks(void **state)
{
	const struct plan_group *g;

	assert_int_equal(read_text("title: t\nmargin: 1%\ngroups:\n"
				   "  - name: f\n    benches: [syscall]\n" ARMS
				   "  - name: g\n    benches: [syscall]\n    margin: 2cycles\n" ARMS
				   "    margins:\n"
				   "      - {benches: [syscall.null], margin: 0.5}\n"),
			 0);
	g = &s.groups[0];
	assert_true(margin_of(g->margins, g->margin_count, 0).percent == 1);
	g = &s.groups[1];
	assert_true(margin_of(g->margins, g->margin_count, 0).units == .5);
	assert_true(margin_of(g->margins, g->margin_count, 1).units == 2);
	assert_string_equal(g->margins[0].unit, "cycles");
	scenario_fini(&s);
}

static void the_groups_of_other_files_are_taken_in_and_their_defaults_are_not(void **state)
{
	temp_folder_put(&folder, "b.yaml",
			"title: b\nblocks: 5\nseed: 9\nbatches: 4\ngroups:\n" GROUP
			"  - name: h\n    blocks: 3\n    benches: [syscall]\n" ARMS);
	temp_folder_put(&folder, "c.yaml",
			"title: c\ngroups:\n  - name: i\n    benches: [syscall]\n" ARMS);
	assert_int_equal(read_text("title: a\nblocks: 7\ninclude: [b.yaml, c.yaml]\n"), 0);
	assert_string_equal(s.title, "a");
	assert_int_equal(s.group_count, 3);
	assert_int_equal(s.groups[0].blocks, 7);
	assert_int_equal(s.groups[1].blocks, 3);
	assert_string_equal(s.groups[2].name, "i");
	assert_false(s.has_seed || s.has_batches);
	scenario_fini(&s);
	/* Where the including file leaves it open, the included one may say. */
	assert_int_equal(read_text("title: a\ninclude: [b.yaml]\ngroups:\n"
				   "  - name: own\n    benches: [syscall]\n" ARMS),
			 0);
	assert_int_equal(s.groups[0].blocks, 5);
	assert_string_equal(s.groups[2].name, "own");
	assert_int_equal(s.groups[2].blocks, 0);
	scenario_fini(&s);
}

static void what_is_wrong_in_an_included_file_is_named_there(void **state)
{
	char want[256];

	temp_folder_put(&folder, "b.yaml", HEAD GROUP "    x: y\n");
	assert_int_equal(read_text("title: a\ninclude: [b.yaml]\n"), -EINVAL);
	snprintf(want, sizeof(want), "%s/a.yaml:2:11: 'include': %s/b.yaml:8:5: group: 'x' is no",
		 folder.path, folder.path);
	assert_memory_equal(e.text, want, strlen(want));
	temp_folder_put(&folder, "b.yaml", "title: b\ninclude: [a.yaml]\n");
	assert_int_equal(read_text("title: a\ninclude: [b.yaml]\n"), -EINVAL);
	snprintf(want, sizeof(want),
		 "%s/b.yaml:2:10: 'include' in a file that is itself included (by %s/a.yaml)",
		 folder.path, folder.path);
	assert_string_equal(e.text, want);
	temp_folder_put(&folder, "b.yaml", HEAD GROUP);
	assert_int_equal(read_text("title: a\ninclude: [b.yaml, b.yaml]\n"), -EINVAL);
	snprintf(want, sizeof(want), "%s/b.yaml:3:11: there are two groups of the name 'g'",
		 folder.path);
	assert_string_equal(e.text, want);
	assert_int_equal(read_text("title: a\ninclude: [none.yaml]\n"), -ENOENT);
	snprintf(want, sizeof(want),
		 "%s/a.yaml:2:11: 'include': %s/none.yaml: No such file or directory", folder.path,
		 folder.path);
	assert_string_equal(e.text, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_makes_groups_with_arms_and_claims),
		cmocka_unit_test(what_a_file_leaves_open_is_said_to_be_open),
		cmocka_unit_test(what_is_wrong_in_a_file_is_named_with_its_place),
		cmocka_unit_test(a_file_that_is_missing_is_named),
		cmocka_unit_test(margins_are_of_the_file_the_group_and_its_benchmarks),
		cmocka_unit_test(the_groups_of_other_files_are_taken_in_and_their_defaults_are_not),
		cmocka_unit_test(what_is_wrong_in_an_included_file_is_named_there),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
