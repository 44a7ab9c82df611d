/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: test_vmm_calibrate FOLDER-OF-PAYLOADS */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "abi/marks.h"
#include "abi/payload.h"
#include "arch/x86/boot.h"
#include "fake_kvm.h"
#include "vmm/calibrate.h"
#include "vmm/payload.h"

#define BATCHES 5

static char payload_path[512];

/* The guest's side: what it does at each KVM_RUN, counted from 0. */
struct script {
	unsigned int step;
	unsigned int batches; /* that it opens and closes */
	uint32_t status;      /* at the end */
	uint64_t state;
	uint64_t value_count;
	unsigned int disturbed; /* the batch with more of everything that KVM counts */
};

static struct payload_block *block_of(struct fake_kvm *k)
{
	for (int i = 0; i < FAKE_MAPS; i++) {
		if (k->maps[i].at && k->maps[i].bytes == PAYLOAD_RAM_BYTES) {
			return (void *)((char *)k->maps[i].at + PAYLOAD_BLOCK_GPA);
		}
	}
	fail_msg("no guest memory");
	return NULL;
}

static int out_port(struct kvm_run *run, uint16_t port, uint8_t size, uint32_t value)
{
	run->exit_reason = KVM_EXIT_IO;
	run->io.direction = KVM_EXIT_IO_OUT;
	run->io.size = size;
	run->io.port = port;
	run->io.count = 1;
	run->io.data_offset = sizeof(*run);
	memcpy((char *)run + sizeof(*run), &value, size);
	return 0;
}

static int play(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	struct script *s = k->run_ctx;
	struct payload_block *block = block_of(k);
	unsigned int batch = s->step / 2;
	bool closes = s->step % 2;

	if (batch == s->batches) {
		block->state = s->state;
		block->value_count = s->value_count;
		return out_port(run, EXIT_PORT, 4, s->status);
	}
	s->step++;
	if (closes) {
		for (unsigned int i = 0; i < CALIBRATE_VALUES && batch < CALIBRATE_BATCHES_MAX;
		     i++) {
			block->values[CALIBRATE_VALUES * batch + i] = 100 * batch + i;
		}
		k->vcpus[0].stats[FAKE_EXITS] += batch == s->disturbed ? 4 : 1;
		k->vcpus[0].stats[FAKE_IRQS] += batch == s->disturbed ? 2 : 0;
	} else {
		k->vcpus[0].stats[FAKE_EXITS] += 7; /* outside of any window */
	}
	return out_port(run, MARK_PORT, 1, closes ? MARK_WINDOW_CLOSE : MARK_WINDOW_OPEN);
}

static const struct script good = {
	.batches = BATCHES,
	.state = PAYLOAD_DONE,
	.value_count = CALIBRATE_VALUES * BATCHES,
	.disturbed = 3,
};

static void run_script(struct fake_kvm *k, struct script s, enum calibrate_primitive which,
		       struct calibrate_result *ret)
{
	fake_kvm_init(k);
	k->run = play;
	k->run_ctx = &s;
	calibrate_run(&k->ops, payload_path, which, BATCHES, ret);
	assert_int_equal(k->fds_open, 0);
	assert_int_equal(k->maps_open, 0);
}

static void each_batch_comes_with_its_ticks_and_its_own_window(void **state)
{
	static struct calibrate_result r;
	struct fake_kvm k;

	run_script(&k, good, CALIBRATE_LFENCE, &r);
	assert_int_equal(r.error, 0);
	assert_string_equal(r.text, "");
	assert_int_equal(r.batches, BATCHES);
	assert_int_equal(r.operations, 64 * 64);
	for (unsigned int i = 0; i < BATCHES; i++) {
		for (unsigned int v = 0; v < CALIBRATE_VALUES; v++) {
			assert_int_equal(r.ticks[i][v], 100 * i + v);
		}
		assert_int_equal(r.windows[i].kvm_exits, i == good.disturbed ? 4 : 1);
		assert_int_equal(r.windows[i].irqs, i == good.disturbed ? 2 : 0);
		assert_true(r.windows[i].nivcsw != COUNTER_NONE);
	}
	fake_kvm_fini(&k);
}

static void a_primitive_starts_in_the_ring_of_the_table(void **state)
{
	static const struct {
		enum calibrate_primitive which;
		unsigned int ring;
		bool fsgsbase;
	} cases[] = {
		{CALIBRATE_LFENCE, 3, false},  {CALIBRATE_RDFSBASE, 3, true},
		{CALIBRATE_WRGSBASE, 3, true}, {CALIBRATE_EXIT_PORT, 3, false},
		{CALIBRATE_SWAPGS, 0, false},  {CALIBRATE_CR3_WRITE, 0, false},
		{CALIBRATE_SYSCALL, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct calibrate_result r;
		struct fake_kvm k;

		run_script(&k, good, cases[i].which, &r);
		assert_int_equal(r.error, 0);
		assert_int_equal(k.vcpus[0].sregs.cs.dpl, cases[i].ring);
		assert_int_equal(!!(k.vcpus[0].sregs.cr4 & X86_CR4_FSGSBASE), cases[i].fsgsbase);
		fake_kvm_fini(&k);
	}
}

static void what_the_processor_lacks_is_told_from_what_went_wrong(void **state)
{
	static struct calibrate_result r;
	struct fake_kvm k;
	struct script s = good;

	s.batches = 0;
	s.value_count = 0;
	s.status = CALIBRATE_UNSUPPORTED;
	run_script(&k, s, CALIBRATE_STAC_CLAC, &r);
	assert_int_equal(r.error, CALIBRATE_NO_FEATURE);
	assert_string_equal(r.text, "guests' processors do not have it here");
	assert_int_equal(r.batches, 0);
	fake_kvm_fini(&k);

	s.status = CALIBRATE_BAD_ARGUMENT;
	run_script(&k, s, CALIBRATE_STAC_CLAC, &r);
	assert_int_equal(r.error, CALIBRATE_GUEST_FAILED);
	assert_non_null(strstr(r.text, "status 1"));
	fake_kvm_fini(&k);
}

static void numbers_that_are_not_all_there_are_none(void **state)
{
	static struct calibrate_result r;
	struct fake_kvm k;
	struct script s;

	s = good;
	s.state = PAYLOAD_STARTED;
	run_script(&k, s, CALIBRATE_LFENCE, &r);
	assert_int_equal(r.error, CALIBRATE_GUEST_FAILED);
	fake_kvm_fini(&k);
	s = good;
	s.value_count--;
	run_script(&k, s, CALIBRATE_LFENCE, &r);
	assert_int_equal(r.error, CALIBRATE_GUEST_FAILED);
	fake_kvm_fini(&k);
	s = good;
	s.batches--;
	run_script(&k, s, CALIBRATE_LFENCE, &r);
	assert_int_equal(r.error, CALIBRATE_GUEST_FAILED);
	assert_int_equal(r.batches, 0);
	fake_kvm_fini(&k);
}

static void a_guest_that_marks_without_end_fills_its_windows_and_no_more(void **state)
{
	static struct calibrate_result r;
	struct fake_kvm k;
	struct script s = good;

	/* The values behind the last batch that fits would lie outside of the block. */
	s.batches = CALIBRATE_BATCHES_MAX + 3;
	run_script(&k, s, CALIBRATE_LFENCE, &r);
	assert_int_equal(r.error, CALIBRATE_GUEST_FAILED);
	fake_kvm_fini(&k);
}

static void each_failing_call_leaves_a_reason_and_leaks_nothing(void **state)
{
	unsigned int n;

	for (n = 1; n < 200; n++) {
		static struct calibrate_result r;
		struct fake_kvm k;
		struct script s = good;

		fake_kvm_init(&k);
		k.run = play;
		k.run_ctx = &s;
		k.fail_at = n;
		k.fail_errno = EMFILE;
		calibrate_run(&k.ops, payload_path, CALIBRATE_RDFSBASE, BATCHES, &r);
		assert_int_equal(k.fds_open, 0);
		assert_int_equal(k.maps_open, 0);
		if (r.error) {
			assert_true(r.text[0] != '\0');
			assert_int_equal(r.batches, 0);
		}
		if (k.calls < n) {
			assert_int_equal(r.error, 0);
			fake_kvm_fini(&k);
			break;
		}
		fake_kvm_fini(&k);
	}
	assert_true(n > 10 && n < 200);
}

static void a_counter_that_one_look_lacks_has_not_advanced(void **state)
{
	assert_int_equal(counter_advance(5, 9, 1), 3);
	assert_int_equal(counter_advance(5, 5, 1), 0);
	assert_int_equal(counter_advance(COUNTER_NONE, 9, 0), COUNTER_NONE);
	assert_int_equal(counter_advance(5, COUNTER_NONE, 0), COUNTER_NONE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_batch_comes_with_its_ticks_and_its_own_window),
		cmocka_unit_test(a_primitive_starts_in_the_ring_of_the_table),
		cmocka_unit_test(what_the_processor_lacks_is_told_from_what_went_wrong),
		cmocka_unit_test(numbers_that_are_not_all_there_are_none),
		cmocka_unit_test(a_guest_that_marks_without_end_fills_its_windows_and_no_more),
		cmocka_unit_test(each_failing_call_leaves_a_reason_and_leaks_nothing),
		cmocka_unit_test(a_counter_that_one_look_lacks_has_not_advanced),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER-OF-PAYLOADS\n", argv[0]);
		return 2;
	}
	snprintf(payload_path, sizeof(payload_path), "%s/calibrate.elf", argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
