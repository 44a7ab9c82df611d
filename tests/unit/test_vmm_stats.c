/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "abi/calltime.h"

#define MAX_STATS 32

static struct {
	struct machine_exit_stat s[MAX_STATS];
	char device[MAX_STATS][32];
	unsigned int count;
} got;

static void keep(void *ctx, const struct machine_exit_stat *s)
{
	uint64_t sum = 0;

	assert_in_range(got.count, 0, MAX_STATS - 1);
	for (unsigned int b = 0; b < CALLTIME_HIST_BUCKETS; b++) {
		sum += s->hist[b];
	}
	assert_int_equal(sum, s->count);
	got.s[got.count] = *s;
	snprintf(got.device[got.count], sizeof(got.device[0]), "%s", s->device ? s->device : "");
	got.count++;
}

static uint64_t count_at(enum machine_phase phase, const char *access, uint64_t address)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < got.count; i++) {
		const struct machine_exit_stat *s = &got.s[i];

		if (s->phase == phase && s->access && strcmp(s->access, access) == 0 &&
		    s->address == address) {
			n += s->count;
		}
	}
	return n;
}

static const struct machine_result *run(fake_run_fn script)
{
	struct machine_config cfg = vmm_config();
	struct err e = ERR_INIT;

	memset(&got, 0, sizeof(got));
	fake.run = script;
	cfg.exit_stats = true;
	vmm_build(&cfg);
	assert_int_equal(machine_start(machine, loop, &vmm_events, &seen, &e), 0);
	assert_int_equal(evloop_run(loop), 0);
	machine_exit_stats_each(machine, keep, NULL);
	return machine_result(machine);
}

static int phases_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1:
		return script_out_byte(run, 0x3f8, 'b');
	case 2:
		return script_out_byte(run, MARK_PORT, MARK_USER_START);
	case 3:
	case 4:
		return script_out_byte(run, 0x3f8, 'j');
	case 5:
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_OPEN);
	case 6:
		return script_out_byte(run, 0x3f8, 'w');
	case 7:
		return script_out_byte(run, MARK_PORT, MARK_WINDOW_CLOSE);
	case 8:
		run->exit_reason = KVM_EXIT_INTR;
		return 0;
	default:
		return script_exit(run, 0);
	}
}

static void an_exit_counts_for_the_phase_that_it_came_in(void **state)
{
	assert_int_equal(run(phases_script)->end, MACHINE_END_EXIT_PORT);
	assert_int_equal(count_at(MACHINE_PHASE_BOOT, "out", 0x3f8), 1);
	assert_int_equal(count_at(MACHINE_PHASE_JOB, "out", 0x3f8), 2);
	assert_int_equal(count_at(MACHINE_PHASE_BATCH, "out", 0x3f8), 1);
}

static void the_marks_of_a_batch_count_for_the_phase_around_it(void **state)
{
	run(phases_script);
	assert_int_equal(count_at(MACHINE_PHASE_BOOT, "out", MARK_PORT), 1);
	assert_int_equal(count_at(MACHINE_PHASE_JOB, "out", MARK_PORT), 2);
	assert_int_equal(count_at(MACHINE_PHASE_BATCH, "out", MARK_PORT), 0);
}

static void the_statistics_have_as_many_exits_as_the_machine_counted(void **state)
{
	uint64_t sum = 0, total, ns, by_reason = 0;

	run(phases_script);
	for (unsigned int i = 0; i < got.count; i++) {
		sum += got.s[i].count;
		by_reason += got.s[i].access ? 0 : got.s[i].count;
		assert_true(got.s[i].min_ns <= got.s[i].max_ns);
		assert_true(got.s[i].median_ns <= got.s[i].max_ns);
	}
	machine_exits_total(machine, &total, &ns);
	assert_int_equal(total, 9);
	assert_int_equal(sum, total);
	assert_int_equal(by_reason, 1); /* the one that has no place */
}

static void places_have_the_names_of_their_devices(void **state)
{
	bool com1 = false, exit_port = false;

	run(phases_script);
	for (unsigned int i = 0; i < got.count; i++) {
		com1 |= got.s[i].address == 0x3f8 && strcmp(got.device[i], "com1") == 0;
		exit_port |= got.s[i].address == 0xf4 && strcmp(got.device[i], "exit port") == 0;
	}
	assert_true(com1);
	assert_true(exit_port);
}

static void a_machine_that_was_not_asked_keeps_nothing(void **state)
{
	struct machine_thread_stat t;

	memset(&got, 0, sizeof(got));
	vmm_run_to_end(phases_script, 1);
	machine_exit_stats_each(machine, keep, NULL);
	assert_int_equal(got.count, 0);
	machine_thread_stat(machine, 0, MACHINE_PHASE_BOOT, &t);
	assert_true(t.steal_ns == MACHINE_NO_VALUE && t.nivcsw == MACHINE_NO_VALUE);
}

/* vCPU 1 comes out twice, and only then does vCPU 0 go on. */
static int two_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	if (vcpu == 1) {
		if (k->vcpus[1].runs > 2) {
			return script_spin(run);
		}
		run->exit_reason = KVM_EXIT_INTR;
		return 0;
	}
	while (__atomic_load_n(&k->vcpus[1].runs, __ATOMIC_SEQ_CST) < 3) {
		usleep(100);
	}
	return phases_script(k, vcpu, run);
}

static void each_vcpu_has_statistics_of_its_own(void **state)
{
	struct machine_config cfg = vmm_config();
	struct err e = ERR_INIT;

	memset(&got, 0, sizeof(got));
	fake.run = two_script;
	cfg.exit_stats = true;
	cfg.cpus = 2;
	vmm_build(&cfg);
	assert_int_equal(machine_start(machine, loop, &vmm_events, &seen, &e), 0);
	assert_int_equal(evloop_run(loop), 0);
	machine_exit_stats_each(machine, keep, NULL);
	assert_int_equal(got.s[0].vcpu, 0);
	assert_int_equal(got.s[got.count - 1].vcpu, 1);
	assert_int_equal(got.s[got.count - 1].count, 2);
	assert_int_equal(count_at(MACHINE_PHASE_JOB, "out", 0x3f8), 2);
}

static void keep_kvm(void *ctx, const struct machine_kvm_stat *s)
{
	unsigned int *seen_of = ctx;

	(*seen_of)++;
	assert_string_not_equal(s->type, "unknown");
	if (s->count > 1) {
		assert_int_equal(s->count, 3);
		assert_int_equal(s->values[0], 4);
		assert_int_equal(s->values[2], 6);
	}
}

static void kvm_s_statistics_come_with_every_bucket(void **state)
{
	unsigned int n = 0;

	run(phases_script);
	for (unsigned int i = 0; i < 3; i++) {
		fake.vcpus[0].stats[FAKE_HISTOGRAM + i] = 4 + i;
	}
	assert_int_equal(machine_kvm_stats_each(machine, 0, keep_kvm, &n), 0);
	assert_int_equal(n, FAKE_STATS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(an_exit_counts_for_the_phase_that_it_came_in),
		VMM_TEST(the_marks_of_a_batch_count_for_the_phase_around_it),
		VMM_TEST(the_statistics_have_as_many_exits_as_the_machine_counted),
		VMM_TEST(places_have_the_names_of_their_devices),
		VMM_TEST(a_machine_that_was_not_asked_keeps_nothing),
		VMM_TEST(each_vcpu_has_statistics_of_its_own),
		VMM_TEST(kvm_s_statistics_come_with_every_bucket),
	};

	return cmocka_run_group_tests_name("vmm_stats", tests, vmm_group_setup, NULL);
}
