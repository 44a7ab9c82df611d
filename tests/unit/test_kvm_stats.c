/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "fake_kvm.h"
#include "kvm/kvm.h"
#include "kvm/stats.h"

static struct fake_kvm fake;
static struct kvm_dev dev;
static struct kvm_vm vm;
static struct kvm_vcpu vcpu;

static int setup(void **state)
{
	fake_kvm_init(&fake);
	assert_int_equal(kvm_dev_init(&dev, &fake.ops, KVM_DEVICE_PATH, NULL), 0);
	assert_int_equal(kvm_vm_init(&vm, &dev, NULL), 0);
	assert_int_equal(kvm_vcpu_init(&vcpu, &dev, &vm, 0, NULL), 0);
	fake.vcpus[0].stats[FAKE_EXITS] = 70;
	fake.vcpus[0].stats[FAKE_IRQS] = 5;
	fake.vcpus[0].stats[FAKE_HISTOGRAM] = 1;
	fake.vcpus[0].stats[FAKE_HISTOGRAM + 1] = 2;
	fake.vcpus[0].stats[FAKE_HISTOGRAM + 2] = 3;
	return 0;
}

static int teardown(void **state)
{
	kvm_vcpu_fini(&vcpu);
	kvm_vm_fini(&vm);
	kvm_dev_fini(&dev);
	assert_int_equal(fake.fds_open, 0);
	fake_kvm_fini(&fake);
	return 0;
}

static void chosen_statistics_come_in_the_order_asked_for(void **state)
{
	static const char *const names[] = {"irq_injections", "no_such_thing", "exits"};
	struct kvm_stats s;
	struct kvm_stats_pick pick;
	uint64_t values[3];
	unsigned int calls;

	assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), 0);
	kvm_stats_pick(&s, names, 3, &pick);
	calls = fake.calls;
	assert_int_equal(kvm_stats_sample(&s, &pick, values), 0);
	assert_int_equal(fake.calls - calls, 1);
	assert_int_equal(values[0], 5);
	assert_true(values[1] == KVM_STATS_NO_VALUE);
	assert_int_equal(values[2], 70);
	kvm_stats_fini(&s);
}

static void no_statistics_at_all_read_as_no_value(void **state)
{
	static const char *const names[] = {"exits"};
	struct kvm_stats s = KVM_STATS_INIT;
	struct kvm_stats_pick pick;
	uint64_t value = 0;

	kvm_stats_pick(&s, names, 1, &pick);
	assert_int_equal(kvm_stats_sample(&s, &pick, &value), 0);
	assert_true(value == KVM_STATS_NO_VALUE);
}

static void add_up(void *ctx, const char *name, uint64_t value)
{
	uint64_t *sums = ctx;

	sums[0]++;
	sums[1] += value;
	if (strcmp(name, "halt_poll_success_hist") == 0) {
		assert_int_equal(value, 6);
	}
}

static void a_histogram_reads_as_the_sum_of_its_buckets(void **state)
{
	struct kvm_stats s;
	uint64_t sums[2] = {0, 0};

	assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), 0);
	assert_int_equal(kvm_stats_each(&s, add_up, sums), 0);
	assert_int_equal(sums[0], FAKE_STATS);
	assert_int_equal(sums[1], 70 + 5 + 0 + 6);
	kvm_stats_fini(&s);
}

static void a_descriptor_past_the_limit_is_refused(void **state)
{
	struct kvm_stats s;

	fake.bad_stat_offset = KVM_STATS_DATA_MAX;
	assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), -EPROTO);
	fake.bad_stat_offset = KVM_STATS_DATA_MAX - 8;
	assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), 0);
	kvm_stats_fini(&s);
}

static void every_call_may_fail_and_nothing_stays_open(void **state)
{
	unsigned int open = fake.fds_open;
	unsigned int before = fake.calls;
	unsigned int total;
	struct kvm_stats s;

	assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), 0);
	kvm_stats_fini(&s);
	total = fake.calls - before;
	for (unsigned int n = 1; n <= total; n++) {
		fake.fail_at = fake.calls + n;
		fake.fail_errno = EIO;
		assert_int_equal(kvm_stats_init(&s, &fake.ops, vcpu.fd), -EIO);
		assert_int_equal(fake.fds_open, open);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chosen_statistics_come_in_the_order_asked_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(no_statistics_at_all_read_as_no_value, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_histogram_reads_as_the_sum_of_its_buckets, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_past_the_limit_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(every_call_may_fail_and_nothing_stays_open, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("kvm_stats", tests, NULL, NULL);
}
