/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm_guest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static void all_output_is_delivered_before_the_end(void **state)
{
	vmm_run_to_end(script_output, 1);
	assert_string_equal(seen.output[MACHINE_COM1], "hello!");
	assert_string_equal(seen.output[MACHINE_COM2], "x");
	assert_int_equal(seen.output_at_stop, 6);
}

static void a_paused_line_holds_back_the_end(void **state)
{
	struct evloop_source *timer;
	struct machine_config cfg = vmm_config();

	fake.run = script_output;
	vmm_build(&cfg);
	machine_pause_output(machine, MACHINE_COM1, true);
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, NULL), 0);
	assert_int_equal(evloop_add_timer(loop, (evloop_timer_fn)evloop_stop, loop, &timer), 0);
	assert_int_equal(
		evloop_arm_timer(timer, clock_now_ns(&clock_monotonic) + 50 * NS_PER_MSEC, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 0);
	assert_int_equal(seen.output_bytes[MACHINE_COM1], 0);
	machine_pause_output(machine, MACHINE_COM1, false);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(seen.stopped, 1);
	assert_string_equal(seen.output[MACHINE_COM1], "hello!");
}

static int spin_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_spin(run);
}

static void registers_of_a_spinning_vcpu_can_be_read(void **state)
{
	char text[MACHINE_VCPU_TEXT];
	uint64_t rip = 0;

	fake.run = spin_script;
	vmm_start(2);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(machine_vcpu_text(machine, 0, &rip, text, sizeof(text)), 0);
		assert_true(rip == VMM_KERNEL_GPA);
	}
	assert_non_null(strstr(text, "vCPU 0, runnable, 0 exits"));
	assert_non_null(strstr(text, "rip=0000000000100000"));
	assert_non_null(strstr(text, "<f4> eb fd 90"));
	assert_int_equal(machine_vcpu_text(machine, 1, NULL, text, sizeof(text)), 0);
	assert_int_equal(machine_vcpu_text(machine, 2, NULL, text, sizeof(text)), -EINVAL);
	machine_halt(machine);
	assert_int_equal(machine_vcpu_text(machine, 0, &rip, text, sizeof(text)), 0);
	assert_int_equal(seen.stopped, 0);
}

static void a_vcpu_that_spins_gets_an_nmi_by_its_own_thread(void **state)
{
	char text[MACHINE_VCPU_TEXT];

	fake.run = spin_script;
	vmm_start(2);
	machine_nmi(machine, 1);
	machine_nmi(machine, 2);
	/* The thread answers after it has given it. */
	assert_int_equal(machine_vcpu_text(machine, 1, NULL, text, sizeof(text)), 0);
	machine_halt(machine);
	assert_int_equal(fake.vcpus[0].nmis, 0);
	assert_int_equal(fake.vcpus[1].nmis, 1);
}

static int end_on_the_second_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return vcpu == 1 ? script_exit(run, 9) : script_spin(run);
}

static void one_vcpu_ends_the_machine_for_all(void **state)
{
	const struct machine_result *r = vmm_run_to_end(end_on_the_second_script, 3);

	assert_int_equal(r->value, 9);
	assert_int_equal(r->vcpu, 1);
}

static int flood_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	return script_out_byte(run, 0x3f8, 'a');
}

static void a_vcpu_that_waits_for_its_reader_can_be_halted(void **state)
{
	struct machine_config cfg = vmm_config();

	fake.run = flood_script;
	vmm_build(&cfg);
	machine_pause_output(machine, MACHINE_COM1, true);
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, NULL), 0);
	usleep(20000);
	machine_halt(machine);
	assert_int_equal(machine_result(machine)->end, MACHINE_END_NONE);
}

static enum machine_liveness liveness_after(uint32_t mp_state, uint64_t rflags, uint64_t blocking)
{
	struct machine_config cfg = vmm_config();
	enum machine_liveness l = MACHINE_ALIVE;

	fake.run = spin_script;
	vmm_build(&cfg);
	fake.vcpus[0].mp_state = mp_state;
	fake.vcpus[0].regs.rflags = rflags;
	fake.vcpus[0].stats[FAKE_BLOCKING] = blocking;
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, NULL), 0);
	for (int i = 0; i < 13 && l == MACHINE_ALIVE; i++) {
		l = machine_liveness(machine);
		usleep(100000);
	}
	return l;
}

static void a_halt_with_interrupts_off_is_for_good(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_HALTED, 0x2, 1), MACHINE_HALTED);
}

static void a_halt_with_interrupts_on_is_not(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_HALTED, 0x202, 1), MACHINE_ALIVE);
}

static void a_vcpu_that_runs_is_alive_and_not_disturbed(void **state)
{
	assert_int_equal(liveness_after(KVM_MP_STATE_RUNNABLE, 0x2, 0), MACHINE_ALIVE);
	assert_int_equal(fake.vcpus[0].runs, 1);
}

static int echo_script(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run)
{
	switch (k->vcpus[0].runs) {
	case 1: /* the line is opened: RTS */
		return script_out_byte(run, 0x3fc, 0x0b);
	case 2:
		return script_port(run, false, 0x3f8, 1, "\0", 1);
	default:
		return script_exit(run, *((uint8_t *)run + 4096));
	}
}

static void input_reaches_the_guests_receiver(void **state)
{
	struct machine_config cfg = vmm_config();

	fake.run = echo_script;
	vmm_build(&cfg);
	assert_int_equal(machine_input(machine, MACHINE_COM1, "Q", 1), 1);
	assert_int_equal(machine_start(machine, loop, &vmm_events, NULL, NULL), 0);
	assert_int_equal(evloop_run(loop), 0);
	assert_int_equal(machine_result(machine)->value, 'Q');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMM_TEST(all_output_is_delivered_before_the_end),
		VMM_TEST(a_paused_line_holds_back_the_end),
		VMM_TEST(registers_of_a_spinning_vcpu_can_be_read),
		VMM_TEST(a_vcpu_that_spins_gets_an_nmi_by_its_own_thread),
		VMM_TEST(one_vcpu_ends_the_machine_for_all),
		VMM_TEST(a_vcpu_that_waits_for_its_reader_can_be_halted),
		VMM_TEST(a_halt_with_interrupts_off_is_for_good),
		VMM_TEST(a_halt_with_interrupts_on_is_not),
		VMM_TEST(a_vcpu_that_runs_is_alive_and_not_disturbed),
		VMM_TEST(input_reaches_the_guests_receiver),
	};

	return cmocka_run_group_tests_name("vmm_run", tests, vmm_group_setup, NULL);
}
