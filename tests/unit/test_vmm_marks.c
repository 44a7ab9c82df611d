/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <string.h>

static int mark_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	static const uint8_t codes[] = {MARK_KERNEL_START, MARK_USER_START, MARK_USER_START,
					MARK_CUSTOM_FIRST};
	unsigned int n = k->vcpus[0].runs;

	return n <= ARRAY_SIZE(codes) ? script_out_byte(run, MARK_PORT, codes[n - 1])
				      : script_exit(run, 0);
}

static void marks_come_once_each_and_in_order(void **state)
{
	const struct machine_mark *marks;
	size_t count;
	uint64_t dropped;

	vmm_run_to_end(mark_script, 1);
	marks = machine_marks(machine, &count, &dropped);
	assert_int_equal(count, 3);
	assert_int_equal(dropped, 0);
	assert_int_equal(seen.marks_seen, 3);
	assert_memory_equal(seen.marks, marks, 3 * sizeof(*marks));
	assert_int_equal(marks[0].code, MARK_KERNEL_START);
	assert_int_equal(marks[1].code, MARK_USER_START);
	assert_int_equal(marks[2].code, MARK_CUSTOM_FIRST);
	assert_int_equal(marks[0].exits, 1);
	assert_int_equal(marks[2].exits, 4);
	assert_true(marks[0].guest_tsc < marks[1].guest_tsc);
	assert_true(marks[0].host_ns <= marks[1].host_ns);
}

static int window_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	uint64_t *stats = k->vcpus[0].stats;

	stats[FAKE_EXITS]++;
	switch (k->vcpus[0].runs) {
	case 1: /* closes nothing */
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	case 2:
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_OPEN);
	case 3: /* a clean batch */
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	case 4:
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_OPEN);
	case 5: /* disturbed: two interrupts, three exits that KVM dealt with, one to us */
		stats[FAKE_IRQS] += 2;
		stats[FAKE_EXITS] += 3;
		return script_out_byte(run, 0x3f8, 'x');
	case 6:
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	default:
		return script_exit(run, 0);
	}
}

static void a_window_counts_what_happened_inside_it(void **state)
{
	const struct machine_window *w;
	size_t count;
	uint64_t dropped;

	vmm_run_to_end(window_script, 1);
	w = machine_windows(machine, &count, &dropped);
	assert_int_equal(count, 2);
	assert_int_equal(dropped, 0);
	assert_int_equal(seen.marks_seen, 0);
	assert_int_equal(w[0].exits, 0);
	assert_int_equal(w[0].kvm_exits, 0);
	assert_int_equal(w[0].irqs, 0);
	assert_true(w[0].close_tsc > w[0].open_tsc);
	assert_true(w[1].open_tsc > w[0].close_tsc);
	assert_int_equal(w[1].exits, 1);
	assert_int_equal(w[1].kvm_exits, 4);
	assert_int_equal(w[1].irqs, 2);
}

static int many_windows_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	unsigned int n = k->vcpus[0].runs - 1;

	if (n >= 2 * (MACHINE_WINDOWS_MAX + 3)) {
		return script_exit(run, 0);
	}
	return script_out_byte(run, MARK_PORT, n % 2 ? MARK_WINDOW_CLOSE : MARK_WINDOW_OPEN);
}

static void windows_past_the_limit_are_counted_and_not_kept(void **state)
{
	size_t count;
	uint64_t dropped;

	vmm_run_to_end(many_windows_script, 1);
	machine_windows(machine, &count, &dropped);
	assert_int_equal(count, MACHINE_WINDOWS_MAX);
	assert_int_equal(dropped, 3);
}

static int many_marks_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	if (k->vcpus[0].runs > MACHINE_MARKS_MAX + 5) {
		return script_exit(run, 0);
	}
	return script_out_byte(run, MARK_PORT, 0xff);
}

static void ignore_mark(void *ctx, const struct machine_mark *mark)
{
}

static void marks_past_the_limit_are_counted_and_not_kept(void **state)
{
	struct machine_callbacks quiet = vmm_events;
	struct machine_config cfg = vmm_config();
	size_t count;
	uint64_t dropped;

	quiet.mark = ignore_mark;
	fake.run = many_marks_script;
	vmm_build(&cfg);
	assert_int_equal(machine_start(machine, loop, &quiet, NULL, NULL), 0);
	assert_int_equal(evloop_run(loop), 0);
	machine_marks(machine, &count, &dropped);
	assert_int_equal(count, MACHINE_MARKS_MAX);
	assert_int_equal(dropped, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(marks_come_once_each_and_in_order),
		VMM_TEST(a_window_counts_what_happened_inside_it),
		VMM_TEST(windows_past_the_limit_are_counted_and_not_kept),
		VMM_TEST(marks_past_the_limit_are_counted_and_not_kept),
	};

	return cmocka_run_group_tests_name("vmm_marks", tests, vmm_group_setup, NULL);
}
