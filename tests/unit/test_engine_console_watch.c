/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "base/rng.h"
#include "engine/console_watch.h"

static struct {
	unsigned int count;
	enum console_event last;
	char text[CONSOLE_WATCH_LINE_MAX + 1];
} seen;

static struct console_watch w;

static void note(void *ctx, enum console_event event, const char *text)
{
	seen.count++;
	seen.last = event;
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static int start(void **state)
{
	memset(&seen, 0, sizeof(seen));
	console_watch_init(&w, note, NULL);
	return 0;
}

static int end(void **state)
{
	console_watch_fini(&w);
	return 0;
}

static void feed(const char *s)
{
	console_watch_feed(&w, s, strlen(s));
}

static void what_a_dying_kernel_says_is_recognised(void **state)
{
	static const struct {
		const char *line;
		enum console_event event;
	} rows[] = {
		{"Kernel panic - not syncing: sysrq triggered crash", CONSOLE_PANIC},
		{"[    0.412345] Kernel panic - not syncing: Fatal exception", CONSOLE_PANIC},
		{"<0>[   12.412345] Kernel panic - not syncing: x", CONSOLE_PANIC},
		{"[    0.412345][    T1] Kernel panic - not syncing: x", CONSOLE_PANIC},
		{"Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
		 CONSOLE_BOOT_PANIC},
		{"Kernel panic - not syncing: No working init found.  Try passing init= option",
		 CONSOLE_BOOT_PANIC},
		{"Kernel panic - not syncing: Requested init /x failed (error -2).",
		 CONSOLE_BOOT_PANIC},
		{"---[ end Kernel panic - not syncing: x ]---", CONSOLE_PANIC_END},
		{"BUG: kernel NULL pointer dereference, address: 0000000000000000", CONSOLE_OOPS},
		{"Oops: Oops: 0002 [#1] PREEMPT SMP", CONSOLE_OOPS},
		{"kernel BUG at mm/slub.c:123!", CONSOLE_OOPS},
		{"general protection fault, probably for non-canonical address", CONSOLE_OOPS},
		{"WARNING: CPU: 0 PID: 1 at kernel/x.c:3 f+0x1/0x2", CONSOLE_WARN},
		{"WARNING: possible circular locking dependency detected", CONSOLE_LOCKDEP},
		{"WARNING: suspicious RCU usage", CONSOLE_LOCKDEP},
		{"BUG: KASAN: slab-out-of-bounds in f+0x1/0x2", CONSOLE_KASAN},
		{"BUG: KFENCE: use-after-free read in f+0x1/0x2", CONSOLE_KASAN},
		{"BUG: KCSAN: data-race in f / g", CONSOLE_KCSAN},
		{"UBSAN: array-index-out-of-bounds in fs/x.c:3:4", CONSOLE_UBSAN},
		{"BUG: sleeping function called from invalid context at mm/x.c:3", CONSOLE_LOCKDEP},
		{"rcu: INFO: rcu_sched self-detected stall on CPU", CONSOLE_RCU},
		{"rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 0-... }",
		 CONSOLE_RCU},
		{"INFO: rcu_preempt detected stalls on CPUs/tasks:", CONSOLE_RCU},
		{"watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]", CONSOLE_LOCKUP},
		{"watchdog: Watchdog detected hard LOCKUP on cpu 0", CONSOLE_LOCKUP},
		{"NMI watchdog: Watchdog detected hard LOCKUP on cpu 0", CONSOLE_LOCKUP},
		{"BUG: workqueue lockup - pool cpus=0 stuck for 31s!", CONSOLE_LOCKUP},
		{"INFO: task x:12 blocked for more than 120 seconds.", CONSOLE_HUNG},
		{"invalid opcode: 0000 [#1] SMP", CONSOLE_OOPS},
		{"x: loading out-of-tree module taints kernel.", CONSOLE_TAINT},
		{"Disabling lock debugging due to kernel taint", CONSOLE_TAINT},
		{"[    3.000000] [    1.412345] BUG: KCSAN: data-race in f / g", CONSOLE_KCSAN},
		{"[    1.000000] reboot: System halted", CONSOLE_HALTED},
		{"reboot: Power off not available: System halted instead", CONSOLE_HALTED},
		{"reboot: Power down", CONSOLE_POWER_DOWN},
		{"reboot: Restarting system", CONSOLE_RESTART},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		seen.count = 0;
		feed(rows[i].line);
		assert_int_equal(seen.count, 0);
		feed("\r\n");
		assert_int_equal(seen.count, 1);
		assert_int_equal(seen.last, rows[i].event);
	}
}

static void talk_about_a_panic_is_none(void **state)
{
	feed("echo Kernel panic - not syncing: x\n");
	feed("[    0.1] systemd: said Oops: \n");
	feed("[not a stamp] BUG: x\n");
	feed("watchdog: Delayed init of the lockup detector failed\n");
	feed("rcu: INFO: all is well\n");
	feed("INFO: task x:12 is fine\n");
	feed("traps: x[12] trap invalid opcode ip:1 sp:2 error:0\n");
	assert_int_equal(seen.count, 0);
}

static void the_text_is_given_without_its_time_stamp(void **state)
{
	feed("[    0.412345] Kernel panic - not syncing: why\n");
	assert_string_equal(seen.text, "Kernel panic - not syncing: why");
}

static void a_line_may_come_byte_by_byte(void **state)
{
	const char *s = "[    0.412345] Kernel panic - not syncing: why\r\n";

	for (size_t i = 0; s[i]; i++) {
		console_watch_feed(&w, s + i, 1);
	}
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last, CONSOLE_PANIC);
	assert_string_equal(console_watch_line(&w, 0),
			    "[    0.412345] Kernel panic - not syncing: why");
}

static void the_last_lines_are_kept_oldest_first(void **state)
{
	char line[32];

	for (int i = 0; i < CONSOLE_WATCH_LINES + 7; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		feed(line);
	}
	feed("half");
	assert_int_equal(console_watch_line_count(&w), CONSOLE_WATCH_LINES + 1);
	assert_string_equal(console_watch_line(&w, 0), "line 7");
	assert_string_equal(console_watch_line(&w, CONSOLE_WATCH_LINES - 1), "line 206");
	assert_string_equal(console_watch_line(&w, CONSOLE_WATCH_LINES), "half");
}

static void a_line_without_end_is_cut_and_not_lost(void **state)
{
	char bytes[CONSOLE_WATCH_LINE_MAX];

	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < 1000; i++) {
		console_watch_feed(&w, bytes, sizeof(bytes));
	}
	assert_int_equal(console_watch_line_count(&w), CONSOLE_WATCH_LINES + 1);
	assert_int_equal(strlen(console_watch_line(&w, 3)), CONSOLE_WATCH_LINE_MAX);
	feed("\n");
	assert_int_equal(console_watch_line_count(&w), CONSOLE_WATCH_LINES);
}

static void control_characters_are_not_kept(void **state)
{
	console_watch_feed(&w, "\x1b[2Ja\0b\tc\x7f\n", 11);
	assert_string_equal(console_watch_line(&w, 0), "[2Jab\tc");
}

/* Byte by byte, as it is described. */
static size_t plain_feed(char *line, size_t at, const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n' || at == CONSOLE_WATCH_LINE_MAX) {
			at = 0;
		}
		if ((p[i] >= 0x20 && p[i] != 0x7f) || p[i] == '\t') {
			line[at++] = (char)p[i];
		}
	}
	line[at] = '\0';
	return at;
}

static void every_byte_at_every_place_is_kept_or_left_out(void **state)
{
	for (unsigned int c = 0; c < 256; c++) {
		for (size_t at = 0; at < 24; at++) {
			char line[CONSOLE_WATCH_LINE_MAX + 1];
			unsigned char buf[25];
			size_t len;

			memset(buf, at % 2 ? 0x80 : 'a', sizeof(buf));
			buf[at] = (unsigned char)c;
			len = plain_feed(line, 0, buf, sizeof(buf));
			console_watch_feed(&w, buf, sizeof(buf));
			assert_int_equal(w.line_len, len);
			assert_string_equal(w.line, line);
			feed("\n");
		}
	}
}

static void any_bytes_in_any_pieces_make_the_lines_of_single_bytes(void **state)
{
	static const unsigned char odd[] = {'\n', '\r', '\t', 0x7f, 0x1f, 0x20, 0x80, 0xff, 0};
	char line[CONSOLE_WATCH_LINE_MAX + 1];
	unsigned char buf[2048];
	struct rng rng;
	size_t at = 0;

	rng_init(&rng, 1);
	for (unsigned int round = 0; round < 2000; round++) {
		size_t len = rng_below(&rng, rng_below(&rng, 8) ? 40 : sizeof(buf));

		for (size_t i = 0; i < len; i++) {
			buf[i] = rng_below(&rng, 64) ? (unsigned char)('a' + rng_below(&rng, 26))
						     : odd[rng_below(&rng, sizeof(odd))];
		}
		at = plain_feed(line, at, buf, len);
		console_watch_feed(&w, buf, len);
		assert_int_equal(w.line_len, at);
		assert_string_equal(w.line, line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_dying_kernel_says_is_recognised, start, end),
		cmocka_unit_test_setup_teardown(talk_about_a_panic_is_none, start, end),
		cmocka_unit_test_setup_teardown(the_text_is_given_without_its_time_stamp, start,
						end),
		cmocka_unit_test_setup_teardown(a_line_may_come_byte_by_byte, start, end),
		cmocka_unit_test_setup_teardown(the_last_lines_are_kept_oldest_first, start, end),
		cmocka_unit_test_setup_teardown(a_line_without_end_is_cut_and_not_lost, start, end),
		cmocka_unit_test_setup_teardown(control_characters_are_not_kept, start, end),
		cmocka_unit_test_setup_teardown(every_byte_at_every_place_is_kept_or_left_out,
						start, end),
		cmocka_unit_test_setup_teardown(
			any_bytes_in_any_pieces_make_the_lines_of_single_bytes, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
