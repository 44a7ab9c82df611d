/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "fake_kvm.h"
#include "kvm/kvm.h"

static struct fake_kvm fake;

static int setup(void **state)
{
	fake_kvm_init(&fake);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(fake.fds_open, 0);
	assert_int_equal(fake.maps_open, 0);
	fake_kvm_fini(&fake);
	return 0;
}

static void starts_with(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0) {
		fail_msg("\"%s\" does not start with \"%s\"", text, start);
	}
}

static void a_missing_device_is_named_with_its_check(void **state)
{
	struct kvm_dev d;
	struct err e = ERR_INIT;

	assert_int_equal(kvm_dev_init(&d, &fake.ops, "/dev/other", &e), -ENOENT);
	starts_with(e.text, "kvm-device: /dev/other does not exist");
	assert_int_equal(d.fd, -1);
}

static void no_permission_says_what_to_do(void **state)
{
	struct kvm_dev d;
	struct err e = ERR_INIT;

	fake.fail_at = 1;
	fake.fail_errno = EACCES;
	assert_int_equal(kvm_dev_init(&d, &fake.ops, KVM_DEVICE_PATH, &e), -EACCES);
	starts_with(e.text, "kvm-permission: no permission for /dev/kvm; become a member");
}

static void another_api_version_is_refused_with_both_numbers(void **state)
{
	struct kvm_dev d;
	struct err e = ERR_INIT;

	fake.api_version = 13;
	assert_int_equal(kvm_dev_init(&d, &fake.ops, KVM_DEVICE_PATH, &e), -EPROTO);
	assert_string_equal(e.text, "kvm-api: /dev/kvm has API version 13, expected 12");
}

static void each_needed_capability_is_missed_by_name(void **state)
{
	size_t count;
	const struct kvm_cap *caps = kvm_caps(&count);
	unsigned int needed = 0;

	for (size_t i = 0; i < count; i++) {
		struct kvm_dev d;
		struct err e = ERR_INIT;
		char start[64];
		int r;

		fake.missing_cap = caps[i].number;
		assert_int_equal(kvm_dev_init(&d, &fake.ops, KVM_DEVICE_PATH, &e), 0);
		r = kvm_dev_check_caps(&d, &e);
		assert_int_equal(r, caps[i].needed ? -ENOTSUP : 0);
		if (caps[i].needed) {
			needed++;
			snprintf(start, sizeof(start), "kvm-cap-%s: ", caps[i].name);
			starts_with(e.text, start);
		}
		kvm_dev_fini(&d);
	}
	assert_true(needed >= 8);
}

/* Everything there is to call, in the machine's order. */
static int whole_life(struct err *e)
{
	struct kvm_dev d = KVM_DEV_INIT;
	struct kvm_vm vm = KVM_VM_INIT;
	struct kvm_vcpu v = KVM_VCPU_INIT;
	static struct kvm_cpuid_table cpuid;
	int r;

	r = kvm_dev_init(&d, &fake.ops, KVM_DEVICE_PATH, e);
	if (r == 0) {
		r = kvm_dev_cpuid(&d, &cpuid, e);
	}
	if (r == 0) {
		r = kvm_vm_init(&vm, &d, e);
	}
	if (r == 0) {
		r = kvm_vm_create_irqchip(&vm, e);
	}
	if (r == 0) {
		r = kvm_vcpu_init(&v, &d, &vm, 0, e);
	}
	if (r == 0) {
		r = kvm_vcpu_set_cpuid(&v, &cpuid, e);
	}
	kvm_vcpu_fini(&v);
	kvm_vm_fini(&vm);
	kvm_dev_fini(&d);
	return r;
}

static void every_call_may_fail_and_nothing_stays_open(void **state)
{
	unsigned int total;

	assert_int_equal(whole_life(NULL), 0);
	total = fake.calls;
	assert_true(total >= 11);
	for (unsigned int n = 1; n <= total; n++) {
		struct err e = ERR_INIT;

		fake.calls = 0;
		fake.fail_at = n;
		fake.fail_errno = ENOMEM;
		assert_int_equal(whole_life(&e), -ENOMEM);
		assert_int_equal(e.code, -ENOMEM);
		assert_true(strlen(e.text) > 10);
		assert_int_equal(fake.fds_open, 0);
		assert_int_equal(fake.maps_open, 0);
	}
}

static void an_msr_that_kvm_refuses_is_named(void **state)
{
	struct kvm_dev d;
	struct kvm_vm vm;
	struct kvm_vcpu v;
	struct kvm_msr_table t = {.head.nmsrs = 2, .entries = {{.index = 0x1a0}, {.index = 0x2ff}}};
	struct err e = ERR_INIT;

	fake.refused_msr = 0x2ff;
	assert_int_equal(kvm_dev_init(&d, &fake.ops, KVM_DEVICE_PATH, &e), 0);
	assert_int_equal(kvm_vm_init(&vm, &d, &e), 0);
	assert_int_equal(kvm_vcpu_init(&v, &d, &vm, 0, &e), 0);
	assert_int_equal(kvm_vcpu_set_msrs(&v, &t, &e), -EINVAL);
	assert_string_equal(e.text, "KVM does not take MSR 0x2ff with the value 0x0");
	kvm_vcpu_fini(&v);
	kvm_vm_fini(&vm);
	kvm_dev_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missing_device_is_named_with_its_check, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_permission_says_what_to_do, setup, teardown),
		cmocka_unit_test_setup_teardown(another_api_version_is_refused_with_both_numbers,
						setup, teardown),
		cmocka_unit_test_setup_teardown(each_needed_capability_is_missed_by_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(every_call_may_fail_and_nothing_stays_open, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_msr_that_kvm_refuses_is_named, setup, teardown),
	};

	return cmocka_run_group_tests_name("kvm_dev", tests, NULL, NULL);
}
