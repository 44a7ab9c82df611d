/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan as a scenario file, which reads back to the same plan. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/scenario.h"
#include "temp_file.h"

static struct err e;

static const char whole[] =
	"title: \"All: of 'it' #1\"\n"
	"backend: qemu\n"
	"icount: 0\n"
	"batches: 7\n"
	"seed: 1000000000000000\n"
	"timeout: 1.5\n"
	"runner: /a program, of mine\n"
	"matrix: yes\n"
	"groups:\n"
	"  - name: 'yes'\n"
	"    blocks: 9\n"
	"    margin: 2cycles,0.35%\n"
	"    margins: [{benches: [syscall.null, ctxsw.pipe.fs], margin: 0.1%}]\n"
	"    benches: [syscall, ctxsw.pipe]\n"
	"    arms:\n"
	"      - {name: old, arm: 'base,append=a=\"x\\,y\" b\\\\,cpu=-fsgsbase,cpu=-smap'}\n"
	"      - {name: '3', arm: '/a path/vmlinux,task=nopti'}\n"
	"      - {arm: base}\n"
	"    claims:\n"
	"      - {text: it saves, source: 'none: x', hardware: 'a \"laptop\"', change: -100.1,\n"
	"         change_to: -3, unit: cycles per call, of: its time, arm: '3',\n"
	"         bench: syscall.null, floor: uaccess.get, note: \"two\\nlines\"}\n"
	"      - {text: t, source: s, hardware: h, from: 12400, to: 21000.25, unit: c/s, of: o,\n"
	"         arm: old, bench: syscall.null, against: ctxsw.pipe.fs, no_floor: why,\n"
	"         percent: 0.1}\n"
	"  - {name: two, blocks: 3, benches: [syscall], arms: [{arm: base}, {arm: base}]}\n";

/* A file without names: what "--a" and "--b" come to. */
static const char plain[] = "backend: kvm\nbatches: 30\nseed: 5\ntimeout: 300\ngroups:\n"
			    "  - blocks: 12\n    benches: [syscall]\n"
			    "    arms: [{arm: base}, {arm: 'base,append=x'}]\n";

/* An arm against itself. */
static const char same[] = "backend: kvm\nbatches: 30\nseed: 5\ntimeout: 300\naa: yes\ngroups:\n"
			   "  - blocks: 12\n    benches: [syscall]\n"
			   "    arms: [{arm: base}, {arm: base}]\n";

/* The plan of a file's text, without what only the command line decides. */
static void read_plan(const char *text, struct plan *ret)
{
	struct temp_file f;
	struct scenario s;
	int r;

	temp_file_init(&f, 0);
	assert_int_equal(write(f.fd, text, strlen(text)), strlen(text));
	r = scenario_read(f.path, &s, &e);
	temp_file_fini(&f);
	if (r < 0) {
		fail_msg("%s", e.text);
	}
	*ret = (struct plan){
		.ringside_version = strdup("0.1.0"),
		.title = TAKE_PTR(s.title),
		.backend = TAKE_PTR(s.backend),
		.runner = TAKE_PTR(s.runner),
		.icount = s.has_icount ? (int)s.icount : PLAN_NO_ICOUNT,
		.timeout_ns = s.timeout_ns,
		.aa = s.aa,
		.matrix = s.matrix,
		.seed = s.seed,
		.batches = (unsigned int)s.batches,
		.group_count = s.group_count,
		.groups = TAKE_PTR(s.groups),
	};
	s.group_count = 0;
	scenario_fini(&s);
	for (size_t i = 0; i < ret->group_count; i++) {
		for (size_t a = 0; a < ret->groups[i].arm_count; a++) {
			memset(ret->groups[i].arms[a].sha256, '0', PLAN_SHA256_HEX);
		}
	}
	assert_int_equal(plan_make_schedule(ret, &e), 0);
}

static char *print(const struct plan *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (scenario_print(p, out, &e) < 0) {
		fail_msg("%s", e.text);
	}
	fclose(out);
	return text;
}

static void assert_reads_back(const char *text)
{
	char *line[2], *yaml[2];

	for (int i = 0; i < 2; i++) {
		struct plan p;

		read_plan(i ? yaml[0] : text, &p);
		assert_int_equal(plan_line(&p, &line[i], &e), 0);
		yaml[i] = print(&p);
		plan_fini(&p);
	}
	assert_string_equal(line[0], line[1]);
	assert_string_equal(yaml[0], yaml[1]);
	for (int i = 0; i < 2; i++) {
		free(line[i]);
		free(yaml[i]);
	}
}

static void what_is_printed_reads_back_to_the_same_plan(void **state)
{
	assert_reads_back(whole);
	assert_reads_back(plain);
	assert_reads_back(same);
}

static void nothing_is_left_to_defaults_and_names_are_not_made_up(void **state)
{
	struct plan p;
	char *text;

	read_plan(plain, &p);
	text = print(&p);
	assert_string_equal(text, "backend: kvm\n"
				  "batches: 30\n"
				  "seed: 5\n"
				  "timeout: 300\n"
				  "aa: no\n"
				  "matrix: no\n"
				  "groups:\n"
				  "- blocks: 12\n"
				  "  benches: [syscall.null, syscall.pipe1, syscall.fault]\n"
				  "  arms:\n"
				  "  - arm: base\n"
				  "  - arm: base,append=x\n");
	free(text);
	plan_fini(&p);
}

static void a_text_that_is_no_utf8_is_an_error(void **state)
{
	struct plan p;
	FILE *out = fopen("/dev/null", "we");

	read_plan(plain, &p);
	p.title = strdup("\xff");
	assert_int_equal(scenario_print(&p, out, &e), -EILSEQ);
	assert_string_equal(e.text, "a text in the scenario is no UTF-8");
	fclose(out);
	plan_fini(&p);
}

static void what_would_move_the_cursor_is_escaped(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct plan p = {0};
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	read_plan(plain, &p);
	free(p.title);
	p.title = strdup("a\033[31m\xe2\x80\xae");
	assert_int_equal(scenario_print(&p, out, &e), 0);
	fclose(out);
	assert_non_null(strstr(text, "title: \"a\\e[31m\\u202E\"\n"));
	plan_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_printed_reads_back_to_the_same_plan),
		cmocka_unit_test(nothing_is_left_to_defaults_and_names_are_not_made_up),
		cmocka_unit_test(a_text_that_is_no_utf8_is_an_error),
		cmocka_unit_test(what_would_move_the_cursor_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
