/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "samples/boot_record.h"

static struct err e;

#define HEAD                                                                                     \
	"{\"schema_version\":1,\"type\":\"boot\",\"provenance\":{\"ringside\":\"0.1.0\","        \
	"\"kernel\":{\"path\":\"k\",\"sha256\":\"ab\",\"version\":\"6.12\"},\"append\":\"x\","   \
	"\"host\":{\"cpu\":\"C\",\"kernel\":\"6.1\"},\"backend\":\"qemu\",\"class\":\"icount\"," \
	"\"unit\":\"instructions\",\"ticks_per_unit\":8},"
#define OK "\"outcome\":{\"status\":0,\"kind\":\"exit\",\"text\":\"\"}}"
#define SYSCALL                                                                             \
	"{\"type\":\"bench\",\"name\":\"syscall.null\",\"calls\":10,\"per_call\":\"call\"," \
	"\"window0\":1,\"batches\":3,\"ticks\":[8000,8080,9000],\"empty\":[80,80,80],"      \
	"\"irqs\":[0,0,1],\"nivcsw\":[0,2,0],\"calltime_bank\":null}"
#define CTXSW                                                                                    \
	"{\"type\":\"bench\",\"name\":\"ctxsw.yield.fs\",\"calls\":100,\"per_call\":\"switch\"," \
	"\"window0\":0,\"batches\":2,\"ticks\":[8000,8800],\"empty\":0,\"irqs\":[0,0],"          \
	"\"nivcsw\":[0,1],\"calltime_bank\":1}"
#define WINDOW(x, k, i, s, n)                                                                    \
	"{\"open_tsc\":1,\"exits\":" #x ",\"kvm_exits\":" #k ",\"irqs\":" #i ",\"steal_ns\":" #s \
	",\"nivcsw\":" #n "}"
#define CALM WINDOW(0, 1, 0, 0, 0)

static struct boot_record *parse(const char *line)
{
	struct boot_record *r;

	if (boot_record_parse(line, strlen(line), &r, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return r;
}

static void ticks_become_units_a_call_with_the_empty_loop_taken_off(void **state)
{
	struct boot_record *r = parse(HEAD "\"windows\":[],\"guest\":[" SYSCALL "," CTXSW "]," OK);
	const struct boot_bench *b = boot_record_find(r, "syscall.null");

	assert_int_equal(r->slot, BOOT_NO_SLOT);
	assert_int_equal(r->exec_class, EXEC_ICOUNT);
	assert_string_equal(r->kernel_version, "6.12");
	assert_string_equal(r->host_cpu, "C");
	assert_int_equal(b->batch_count, 3);
	assert_true(b->units[0] == (8000 - 80) / 10.0 / 8);
	assert_true(b->units[1] == (8080 - 80) / 10.0 / 8);
	b = boot_record_find(r, "ctxsw.yield.fs");
	assert_string_equal(b->per_call, "switch");
	assert_true(b->units[1] == 8800 / 100.0 / 8);
	assert_null(boot_record_find(r, "ctxsw"));
	boot_record_destroy(r);
}

static void a_clock_that_the_guest_measured_is_kept_in_units(void **state)
{
	struct boot_record *r =
		parse(HEAD "\"windows\":[],\"guest\":[{\"type\":\"bench\",\"name\":\"conn.http\","
			   "\"calls\":4,\"per_call\":\"connection\",\"ticks\":[800],\"ticks_hz\":"
			   "1000000000}," CTXSW "]," OK);

	assert_true(boot_record_find(r, "conn.http")->units_hz == 125e6);
	assert_true(boot_record_find(r, "ctxsw.yield.fs")->units_hz == 0);
	boot_record_destroy(r);
}

static void the_guest_tells_of_interrupts_and_of_switches_that_are_not_the_benchmarks(void **state)
{
	struct boot_record *r = parse(HEAD "\"windows\":[],\"guest\":[" SYSCALL "," CTXSW "]," OK);
	const struct boot_bench *b = boot_record_find(r, "syscall.null");

	assert_int_equal(b->dirty[0], 0);
	assert_int_equal(b->dirty[1], 1 << DISTURBED_SWITCH);
	assert_int_equal(b->dirty[2], 1 << DISTURBED_IRQ);
	b = boot_record_find(r, "ctxsw.yield.fs");
	assert_int_equal(b->dirty[0], 0);
	assert_int_equal(b->dirty[1], 1 << DISTURBED_SWITCH);
	boot_record_destroy(r);
}

static void windows_tell_each_cause_by_the_benchmarks_own_window(void **state)
{
	struct boot_record *r = parse(
		HEAD "\"windows\":[" WINDOW(9, 9, 9, 9, 9) "," WINDOW(1, 2, 0, 0, 0) "," WINDOW(
			0, 1, 0, 5, 0) "," WINDOW(0, 1, 0, 0, 1) "],\"guest\":[" SYSCALL "]," OK);
	const struct boot_bench *b = boot_record_find(r, "syscall.null");

	assert_int_equal(b->dirty[0], 1 << DISTURBED_EXIT | 1 << DISTURBED_KVM);
	assert_int_equal(b->dirty[1], 1 << DISTURBED_STEAL | 1 << DISTURBED_SWITCH);
	assert_int_equal(b->dirty[2], 1 << DISTURBED_PREEMPT | 1 << DISTURBED_IRQ);
	boot_record_destroy(r);
}

static void where_ticks_are_time_the_empty_loop_tells_of_the_clock(void **state)
{
	static const char head[] =
		"{\"schema_version\":1,\"type\":\"boot\",\"provenance\":{\"class\":\"%s\","
		"\"ticks_per_unit\":1},\"windows\":[],\"guest\":[{\"type\":\"bench\",\"name\":"
		"\"syscall.null\",\"calls\":1000,\"ticks\":[9000,9000,9000,9000],\"empty\":"
		"[1000,1000,1200,1000]}]," OK;
	static const struct {
		const char *class;
		int dirty;
	} of[] = {
		{"native", 1 << DISTURBED_CLOCK}, {"nested", 1 << DISTURBED_CLOCK}, {"icount", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		char text[1024];
		struct boot_record *r;
		const struct boot_bench *b;

		snprintf(text, sizeof(text), head, of[i].class);
		r = parse(text);
		b = boot_record_find(r, "syscall.null");
		assert_int_equal(b->dirty[2], of[i].dirty);
		assert_int_equal(b->dirty[0] | b->dirty[1] | b->dirty[3], 0);
		assert_true(b->empty_ticks == (of[i].dirty ? 1000 : 0));
		boot_record_destroy(r);
	}
}

static void the_exits_that_every_window_has_disturb_none(void **state)
{
	struct boot_record *r = parse(HEAD "\"windows\":[" CALM "," CALM "," CALM "," CALM
					   "],\"guest\":[" SYSCALL "]," OK);

	assert_int_equal(boot_record_find(r, "syscall.null")->dirty[0], 0);
	boot_record_destroy(r);
}

static void a_probe_says_what_its_samples_are(void **state)
{
	struct boot_record *r =
		parse(HEAD "\"windows\":[],\"calltime\":["
			   "{\"bank\":1,\"probe\":\"kvm.pte_read\",\"count\":1,\"sum\":9,"
			   "\"empty_min\":1},"
			   "{\"bank\":1,\"probe\":\"switch_to.fsgs\",\"count\":1,\"sum\":9,"
			   "\"empty_min\":1},"
			   "{\"bank\":1,\"probe\":\"other.what\",\"count\":1,\"sum\":9,"
			   "\"empty_min\":1}],\"guest\":[" CTXSW "]," OK);

	assert_string_equal(boot_record_find(r, "kvm.pte_read@ctxsw.yield.fs")->per_call, "read");
	assert_string_equal(boot_record_find(r, "switch_to.fsgs@ctxsw.yield.fs")->per_call,
			    "switch");
	assert_string_equal(boot_record_find(r, "other.what@ctxsw.yield.fs")->per_call, "sample");
	boot_record_destroy(r);
}

static void a_probe_is_the_mean_of_its_bank_less_an_empty_pair(void **state)
{
	struct boot_record *r = parse(
		HEAD
		"\"windows\":[],\"calltime\":["
		"{\"bank\":0,\"probe\":\"switch_to.fsgs\",\"count\":1,\"sum\":9,\"empty_min\":1},"
		"{\"bank\":1,\"probe\":\"calltime.empty\",\"count\":1024,\"sum\":9,\"empty_min\":1},"
		"{\"bank\":1,\"probe\":\"switch_to.fsgs\",\"count\":100,\"sum\":24000,"
		"\"empty_min\":40}],\"guest\":[" CTXSW "]," OK);
	const struct boot_bench *b = boot_record_find(r, "switch_to.fsgs@ctxsw.yield.fs");

	assert_int_equal(r->bench_count, 2);
	assert_non_null(b);
	assert_true(b->is_probe);
	assert_int_equal(b->samples, 100);
	assert_true(b->units[0] == (240.0 - 40) / 8);
	boot_record_destroy(r);
}

static void a_probe_without_a_measured_empty_pair_has_no_number_and_says_why(void **state)
{
	struct boot_record *r =
		parse(HEAD "\"windows\":[],\"calltime\":[{\"bank\":1,\"probe\":\"p\",\"count\":100,"
			   "\"sum\":24000,\"empty_min\":null}],\"guest\":[" CTXSW "]," OK);

	assert_string_equal(boot_record_find(r, "p@ctxsw.yield.fs")->error,
			    "the cost of an empty pair was not measured");
	boot_record_destroy(r);
}

static void a_benchmark_that_failed_its_own_check_has_its_reason_and_no_numbers(void **state)
{
	struct boot_record *r =
		parse(HEAD "\"guest\":[{\"type\":\"bench\",\"name\":\"ctxsw.pipe.fs\",\"error\":"
			   "\"FSGSBASE is off\"}]," OK);

	assert_string_equal(boot_record_find(r, "ctxsw.pipe.fs")->error, "FSGSBASE is off");
	boot_record_destroy(r);
}

static void a_boot_that_died_early_is_still_a_record(void **state)
{
	struct boot_record *r = parse("{\"slot\":7,\"block\":1,\"arm\":\"b\","
				      "\"schema_version\":1,\"type\":\"boot\",\"console_tail\":["
				      "\"one\",\"two\"],\"outcome\":{\"status\":240,\"kind\":"
				      "\"panic\",\"text\":\"Attempted to kill init\"}}");

	assert_false(r->has_class);
	assert_int_equal(r->status, 240);
	assert_string_equal(r->outcome_text, "Attempted to kill init");
	assert_string_equal(r->console_tail, "one\ntwo");
	assert_int_equal(r->slot, 7);
	assert_int_equal(r->block, 1);
	assert_int_equal(r->arm, 'b');
	boot_record_destroy(r);
}

static void what_is_wrong_in_a_record_is_named(void **state)
{
	static const struct {
		const char *line;
		int code;
		const char *text;
	} bad[] = {
		{"{", -EBADMSG, "not a record: column 1: string or '}' expected near end of file"},
		{"[]", -EBADMSG, "no 'schema_version': this is no record of ringside"},
		{"{}", -EBADMSG, "no 'schema_version': this is no record of ringside"},
		{"{\"schema_version\":2,\"type\":\"boot\"}", -EPROTO,
		 "schema version 2 is newer than the 1 this ringside reads: use the one that wrote "
		 "it"},
		{"{\"schema_version\":1,\"type\":\"plan\"}", -EBADMSG,
		 "a record of type 'plan', expected 'boot'"},
		{"{\"schema_version\":1,\"type\":\"boot\"}", -EBADMSG,
		 "the record has no 'outcome' with a 'status'"},
		{"{\"schema_version\":1,\"type\":\"boot\",\"outcome\":{\"status\":256}}", -EBADMSG,
		 "'status' is not a number from 0 to 255"},
		{"{\"schema_version\":1,\"type\":\"boot\",\"provenance\":{\"class\":\"fast\"}," OK,
		 -EBADMSG, "'fast' is no execution class"},
		{HEAD "\"guest\":[{\"type\":\"bench\"}]," OK, -EBADMSG,
		 "a benchmark without a name"},
		{HEAD "\"guest\":[{\"type\":\"bench\",\"name\":\"b\"}]," OK, -EBADMSG,
		 "benchmark b: 'ticks' is not an array of numbers"},
		{HEAD "\"guest\":[{\"type\":\"bench\",\"name\":\"b\",\"ticks\":[1]}]," OK, -EBADMSG,
		 "benchmark b: 'calls' is missing or 0"},
		{HEAD
		 "\"guest\":[{\"type\":\"bench\",\"name\":\"b\",\"calls\":1,\"ticks\":[1,-1]}]," OK,
		 -EBADMSG, "benchmark b: 'ticks'[1] is not a number of 0 or more"},
		{HEAD "\"guest\":[{\"type\":\"bench\",\"name\":\"b\",\"calls\":1,\"ticks\":[1],"
		      "\"empty\":[1,2]}]," OK,
		 -EBADMSG, "benchmark b: 'empty' has 2 numbers for 1 batches"},
		{HEAD "\"windows\":[" CALM "," CALM "," CALM "],\"guest\":[" SYSCALL "]," OK,
		 -EBADMSG, "benchmark syscall.null: windows 1 to 3 are named, the record has 3"},
		{HEAD "\"guest\":[" CTXSW "," CTXSW "]," OK, -EBADMSG,
		 "benchmark ctxsw.yield.fs stands twice in it"},
	};
	struct boot_record *r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(boot_record_parse(bad[i].line, strlen(bad[i].line), &r, &e),
				 bad[i].code);
		assert_string_equal(e.text, bad[i].text);
	}
}

static void a_record_cut_anywhere_is_refused_without_harm(void **state)
{
	static const char line[] = HEAD "\"windows\":[" CALM "," CALM "," CALM "," CALM
					"],\"guest\":[" SYSCALL "]," OK;
	struct boot_record *r;

	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		char *copy = malloc(n + 1); /* so that a sanitizer sees a read behind it */

		memcpy(copy, line, n);
		assert_int_equal(boot_record_parse(copy, n, &r, &e), -EBADMSG);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_become_units_a_call_with_the_empty_loop_taken_off),
		cmocka_unit_test(a_clock_that_the_guest_measured_is_kept_in_units),
		cmocka_unit_test(
			the_guest_tells_of_interrupts_and_of_switches_that_are_not_the_benchmarks),
		cmocka_unit_test(windows_tell_each_cause_by_the_benchmarks_own_window),
		cmocka_unit_test(where_ticks_are_time_the_empty_loop_tells_of_the_clock),
		cmocka_unit_test(the_exits_that_every_window_has_disturb_none),
		cmocka_unit_test(a_probe_says_what_its_samples_are),
		cmocka_unit_test(a_probe_is_the_mean_of_its_bank_less_an_empty_pair),
		cmocka_unit_test(a_probe_without_a_measured_empty_pair_has_no_number_and_says_why),
		cmocka_unit_test(
			a_benchmark_that_failed_its_own_check_has_its_reason_and_no_numbers),
		cmocka_unit_test(a_boot_that_died_early_is_still_a_record),
		cmocka_unit_test(what_is_wrong_in_a_record_is_named),
		cmocka_unit_test(a_record_cut_anywhere_is_refused_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
