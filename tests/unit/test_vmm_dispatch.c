/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <errno.h>
#include <string.h>

#define KVM_TEXT "KVM_RUN of vCPU 0: "

static int exit_port_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_exit(run, 0x12345);
}

static void a_write_to_the_exit_port_ends_the_machine_with_its_value(void **state)
{
	const struct machine_result *r = vmm_run_to_end(exit_port_script, 1);

	assert_int_equal(r->end, MACHINE_END_EXIT_PORT);
	assert_int_equal(r->value, 0x12345);
	assert_true(machine_times(machine)->first_run_ns >= machine_times(machine)->loaded_ns);
	assert_true(machine_times(machine)->ended_ns >= machine_times(machine)->first_run_ns);
}

static int reset_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_out_byte(run, 0x64, 0xfe);
}

static void the_keyboard_controller_resets_the_machine(void **state)
{
	assert_int_equal(vmm_run_to_end(reset_script, 1)->end, MACHINE_END_RESET);
}

static int triple_fault_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_SHUTDOWN;
	return 0;
}

static void a_triple_fault_ends_the_machine(void **state)
{
	assert_int_equal(vmm_run_to_end(triple_fault_script, 1)->end, MACHINE_END_TRIPLE_FAULT);
}

static int emulation_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_INTERNAL_ERROR;
	run->emulation_failure.suberror = KVM_INTERNAL_ERROR_EMULATION;
	run->emulation_failure.ndata = 3;
	run->emulation_failure.flags = KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES;
	run->emulation_failure.insn_size = 3;
	memcpy(run->emulation_failure.insn_bytes, "\x0f\xc7\x21", 3);
	return 0;
}

static void an_instruction_that_kvm_cannot_emulate_is_shown(void **state)
{
	const struct machine_result *r = vmm_run_to_end(emulation_script, 1);

	assert_int_equal(r->end, MACHINE_END_KVM_ERROR);
	assert_string_equal(r->text, "KVM internal error on vCPU 0, suberror 1 (cannot emulate an "
				     "instruction), instruction bytes 0f c7 21");
}

static int delivery_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_INTERNAL_ERROR;
	run->internal.suberror = KVM_INTERNAL_ERROR_DELIVERY_EV;
	run->internal.ndata = 2;
	run->internal.data[0] = 0x80000b0e;
	run->internal.data[1] = 0x31;
	return 0;
}

static void the_data_of_an_internal_error_is_shown(void **state)
{
	assert_string_equal(vmm_run_to_end(delivery_script, 1)->text,
			    "KVM internal error on vCPU 0, suberror 3 (an exit while an event was "
			    "delivered), data 80000b0e 31");
}

static int entry_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_FAIL_ENTRY;
	run->fail_entry.hardware_entry_failure_reason = 0x80000021;
	return 0;
}

static void a_refused_entry_shows_the_hardwares_reason(void **state)
{
	assert_string_equal(vmm_run_to_end(entry_script, 1)->text,
			    "the processor refuses to enter the guest on vCPU 0, hardware reason "
			    "0x80000021");
}

static int unknown_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = 63;
	return 0;
}

static void an_unknown_exit_ends_the_machine_with_its_number(void **state)
{
	assert_string_equal(vmm_run_to_end(unknown_script, 1)->text,
			    "unexpected exit 63 (other) of vCPU 0");
}

static int power_off_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	run->exit_reason = KVM_EXIT_SYSTEM_EVENT;
	run->system_event.type = KVM_SYSTEM_EVENT_SHUTDOWN;
	return 0;
}

static void a_system_event_may_switch_the_machine_off(void **state)
{
	assert_int_equal(vmm_run_to_end(power_off_script, 1)->end, MACHINE_END_POWER_OFF);
}

static int flaky_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	static const int errors[] = {-EINTR, -ENOMEM, -EAGAIN, -EFAULT, -ENOMEM, -EINTR};
	unsigned int n = k->vcpus[0].runs;

	return n <= ARRAY_SIZE(errors) ? errors[n - 1] : script_exit(run, 1);
}

static void passing_errors_of_the_first_runs_do_not_end_the_machine(void **state)
{
	assert_int_equal(vmm_run_to_end(flaky_script, 1)->end, MACHINE_END_EXIT_PORT);
}

static int no_memory_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return -ENOMEM;
}

static void an_error_that_stays_ends_the_machine_after_some_tries(void **state)
{
	const struct machine_result *r = vmm_run_to_end(no_memory_script, 1);

	assert_int_equal(r->end, MACHINE_END_KVM_ERROR);
	assert_string_equal(r->text, KVM_TEXT "Cannot allocate memory");
	/* Sixteen tries, the one that counts, and one to complete accesses, which is not played. */
	assert_int_equal(fake.vcpus[0].runs, 18);
}

static int einval_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return -EINVAL;
}

static void another_error_ends_the_machine_at_once(void **state)
{
	assert_string_equal(vmm_run_to_end(einval_script, 1)->text, KVM_TEXT "Invalid argument");
	assert_int_equal(fake.vcpus[0].runs, 2);
}

static uint32_t read_back[3];

static int unclaimed_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1:
		return script_port(run, false, 0xcfc, 2, "\0\0\0\0", 2); /* rep insw */
	case 2:
		memcpy(&read_back[0], (char *)run + 4096, 4);
		run->exit_reason = KVM_EXIT_MMIO;
		run->mmio.phys_addr = 0xd0000000;
		run->mmio.len = 4;
		run->mmio.is_write = 0;
		memset(run->mmio.data, 0, 8);
		return 0;
	case 3:
		memcpy(&read_back[1], run->mmio.data, 4);
		run->mmio.is_write = 1;
		return 0;
	default:
		return script_exit(run, 0);
	}
}

static void what_nobody_claims_reads_all_ones_and_is_counted(void **state)
{
	vmm_run_to_end(unclaimed_script, 1);
	assert_int_equal(read_back[0], 0xffffffff);
	assert_int_equal(read_back[1], 0xffffffff);
	assert_int_equal(machine_unclaimed(machine), 4);
}

static struct {
	uint64_t count, rows;
} counted;

static void count_exit(void *ctx, const char *reason, const char *detail, uint64_t count,
		       uint64_t ns)
{
	counted.count += count;
	counted.rows++;
	if (strcmp(detail, "out 0x3f8") == 0) {
		assert_string_equal(reason, "io");
		assert_int_equal(count, 2);
		assert_true(ns > 0);
	}
}

static void exits_are_counted_by_reason_and_port(void **state)
{
	uint64_t total;
	uint64_t ns;

	memset(&counted, 0, sizeof(counted));
	vmm_run_to_end(script_output, 1);
	machine_exits_each(machine, count_exit, NULL);
	machine_exits_total(machine, &total, &ns);
	assert_int_equal(total, 4);
	assert_int_equal(counted.count, 4);
	assert_int_equal(counted.rows, 3);
	assert_true(ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(a_write_to_the_exit_port_ends_the_machine_with_its_value),
		VMM_TEST(the_keyboard_controller_resets_the_machine),
		VMM_TEST(a_triple_fault_ends_the_machine),
		VMM_TEST(an_instruction_that_kvm_cannot_emulate_is_shown),
		VMM_TEST(the_data_of_an_internal_error_is_shown),
		VMM_TEST(a_refused_entry_shows_the_hardwares_reason),
		VMM_TEST(an_unknown_exit_ends_the_machine_with_its_number),
		VMM_TEST(a_system_event_may_switch_the_machine_off),
		VMM_TEST(passing_errors_of_the_first_runs_do_not_end_the_machine),
		VMM_TEST(an_error_that_stays_ends_the_machine_after_some_tries),
		VMM_TEST(another_error_ends_the_machine_at_once),
		VMM_TEST(what_nobody_claims_reads_all_ones_and_is_counted),
		VMM_TEST(exits_are_counted_by_reason_and_port),
	};

	return cmocka_run_group_tests_name("vmm_dispatch", tests, vmm_group_setup, NULL);
}
